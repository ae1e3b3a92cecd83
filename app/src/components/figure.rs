//! A figure in the page: the server's own SVG, which the style sheet gives the
//! page's colours, its text summary, and its forms to take away.

use faultboard_domain::view::FigureView;
use leptos::prelude::*;

use crate::{format, query};

/// Draws a figure, with a link to its own page. Its SVG comes from the plot
/// crate, never from a submitter.
pub fn figure(f: &FigureView) -> AnyView {
    drawn(f, Some(query::href(&f.path, &f.query)))
}

/// Draws a figure that has no page of its own.
pub fn alone(f: &FigureView) -> AnyView {
    drawn(f, None)
}

fn drawn(f: &FigureView, page: Option<String>) -> AnyView {
    let heading = match page {
        Some(href) => view! { <a href=href>{f.title.clone()}</a> }.into_any(),
        None => f.title.clone().into_any(),
    };
    view! {
        <figure class="figure" id=f.id.clone()>
            <figcaption>
                <h2>{heading}</h2>
                <p class="remark">{f.shows.clone()}</p>
            </figcaption>
            {canvas(f)}
        </figure>
    }
    .into_any()
}

/// The drawing, what it says in words, and its forms to take away.
pub fn canvas(f: &FigureView) -> AnyView {
    let label = f.title.clone();
    let part = f.of_rows.map(|all| {
        let all = format::count(all.into());
        view! {
            <p class="remark">"Of a figure with a row for each of the " {all} " configurations the first ones are drawn. The files below have all of them."</p>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=label inner_html=f.svg.clone()></div>
        <details class="in-words">
            <summary>"In words"</summary>
            <p class="remark">{f.summary.clone()}</p>
        </details>
        {part}
        {downloads(&f.path, &f.query)}
    }
    .into_any()
}

/// Links to every form of a figure.
pub fn downloads(path: &str, filters: &str) -> AnyView {
    let link = |format: &str, theme: &str| {
        let mut query = filters.to_owned();
        if !theme.is_empty() {
            if !query.is_empty() {
                query.push('&');
            }
            query.push_str("theme=");
            query.push_str(theme);
        }
        query::href(&format!("{path}.{format}"), &query)
    };
    view! {
        <p class="downloads">
            <a href=link("svg", "light")>"SVG"</a>
            <a href=link("svg", "dark")>"SVG, dark"</a>
            <a href=link("svg", "print")>"SVG, print"</a>
            <a href=link("png", "light")>"PNG"</a>
            <a href=link("png", "dark")>"PNG, dark"</a>
            <a href=link("csv", "")>"CSV"</a>
            <a href=link("json", "")>"JSON"</a>
        </p>
    }
    .into_any()
}
