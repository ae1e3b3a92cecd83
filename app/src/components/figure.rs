//! A figure in the page: the server's own SVG for light and for dark paper
//! (CSS shows the fitting one), its text summary, and its downloads.

use faultboard_domain::view::FigureView;
use leptos::prelude::*;

/// Draws a figure. Its SVG comes from the plot crate, never from a submitter.
pub fn figure(f: &FigureView) -> AnyView {
    let link = |format: &'static str, more: &str| {
        let mut href = format!("/figures/{}.{format}?{}", f.id, f.query);
        if !more.is_empty() {
            href.push_str(if f.query.is_empty() { "" } else { "&" });
            href.push_str(more);
        }
        href
    };
    let label = f.title.clone();
    // Both drawings stand in one document, so their ids must differ.
    let dark = ["title", "desc"]
        .iter()
        .fold(f.svg_dark.clone(), |svg, part| {
            svg.replace(
                &format!("{}-{part}", f.id),
                &format!("{}-dark-{part}", f.id),
            )
        });
    view! {
        <figure class="figure" id=f.id.clone()>
            <figcaption>
                <h2>{f.title.clone()}</h2>
                <p class="remark">{f.summary.clone()}</p>
            </figcaption>
            <div class="scroll" tabindex="0" role="region" aria-label=label>
                <div class="on-light" inner_html=f.svg_light.clone()></div>
                <div class="on-dark" inner_html=dark></div>
            </div>
            <p class="downloads">
                <a href=link("svg", "theme=light")>"SVG"</a>
                <a href=link("png", "theme=light")>"PNG"</a>
                <a href=link("csv", "")>"CSV"</a>
                <a href=link("json", "")>"JSON"</a>
            </p>
        </figure>
    }
    .into_any()
}
