//! Scenes as SVG: plotters draws the shapes, in tenths of a pixel because it
//! counts in whole units; around them come the roles, titles and links that it
//! has no word for.

use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::style::{RGBColor, ShapeStyle};

use crate::figure::PlotError;
use crate::scene::{Anchor, Item, Mark, Scene, Shape};
use crate::text::{self, Weight};
use crate::theme::{Paint, Theme};

/// Units of the drawing per pixel.
const FINE: f64 = 10.0;
/// Marks that can be reached by Tab, one by one; of more, only the first is.
const MAX_STOPS: usize = 400;

pub(crate) fn style(theme: Theme, paint: Paint, width: f64) -> ShapeStyle {
    let (r, g, b) = theme.colour(paint);
    ShapeStyle {
        color: RGBColor(r, g, b).into(),
        filled: true,
        stroke_width: (width.round() as u32).max(1),
    }
}

/// Draws a shape; units are scaled by `fine` and moved up by `above` pixels.
pub(crate) fn draw<B: DrawingBackend>(
    backend: &mut B,
    shape: &Shape,
    theme: Theme,
    fine: f64,
    above: f64,
) -> Result<(), PlotError> {
    let at = |p: (f64, f64)| -> (i32, i32) {
        (
            (p.0 * fine).round() as i32,
            ((p.1 - above) * fine).round() as i32,
        )
    };
    let units = |v: f64| (v * fine).round().max(1.0) as u32;
    let done = match shape {
        Shape::Rect {
            at: corner,
            size,
            fill,
        } => {
            let (x0, y0) = at(*corner);
            let (x1, y1) = at((corner.0 + size.0, corner.1 + size.1));
            backend.draw_rect((x0, y0), (x1, y1), &style(theme, *fill, 1.0), true)
        }
        Shape::Line {
            points,
            stroke,
            width,
        } => backend.draw_path(
            points.iter().map(|p| at(*p)),
            &style(theme, *stroke, f64::from(units(*width))),
        ),
        Shape::Polygon { points, fill } => {
            backend.fill_polygon(points.iter().map(|p| at(*p)), &style(theme, *fill, 1.0))
        }
        Shape::Disc {
            at: centre,
            radius,
            fill,
        } => backend.draw_circle(at(*centre), units(*radius), &style(theme, *fill, 1.0), true),
        Shape::Ring {
            at: centre,
            radius,
            stroke,
            width,
        } => backend.draw_circle(
            at(*centre),
            units(*radius),
            &style(theme, *stroke, f64::from(units(*width))),
            false,
        ),
    };
    done.map_err(|e| PlotError::Draw(e.to_string()))
}

/// Text safe inside elements and quoted attributes. Characters that XML has no
/// place for are left out, and so are those that turn the direction of writing:
/// a name must not rearrange what stands around it.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if (c as u32) < 0x20
                || matches!(c as u32, 0x202a..=0x202e | 0x2066..=0x2069 | 0xfffe | 0xffff) => {}
            c => out.push(c),
        }
    }
    out
}

/// Addresses of the site and of the web; anything else could run.
fn safe_link(href: &str) -> bool {
    let local = href.starts_with('/') && !href.starts_with("//");
    local || href.starts_with("https://") || href.starts_with("http://")
}

/// What stands around a scene.
pub(crate) struct Frame<'a> {
    pub(crate) id: &'a str,
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
}

pub(crate) fn render(scene: &Scene, theme: Theme, frame: &Frame<'_>) -> Result<String, PlotError> {
    let elements = elements(scene, theme)?;
    let id = frame.id;
    let (width, height) = (scene.width.ceil(), scene.height.ceil());
    let mut out = String::with_capacity(elements.len() * 2 + 4096);
    let marks = scene
        .items
        .iter()
        .filter(|i| matches!(i, Item::Mark(_)))
        .count();
    // What is inside an image can't be reached; marks must be.
    let role = if marks == 0 { "img" } else { "group" };
    out.push_str(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fb-figure\" data-figure=\"{id}\" role=\"{role}\" \
         aria-labelledby=\"{id}-title {id}-desc\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>\n",
        escape(frame.title),
        escape(frame.description)
    ));
    let (r, g, b) = theme.colour(Paint::Paper);
    out.push_str(&format!("<rect class=\"f-paper\" width=\"{width}\" height=\"{height}\" fill=\"#{r:02X}{g:02X}{b:02X}\"/>\n"));
    out.push_str(&format!(
        "<g transform=\"scale({})\" stroke-linejoin=\"round\" stroke-linecap=\"round\">\n",
        1.0 / FINE
    ));
    let mut drawn = elements.lines().filter(|l| l.starts_with('<'));
    let mut stop = 0;
    for item in &scene.items {
        match item {
            Item::Plain(shape) => push_shape(&mut out, drawn.next(), shape)?,
            Item::Mark(mark) => {
                let reachable = marks <= MAX_STOPS || stop == 0;
                stop += 1;
                open_mark(&mut out, mark, reachable);
                for shape in &mark.shapes {
                    push_shape(&mut out, drawn.next(), shape)?;
                }
                out.push_str(if link(mark).is_some() {
                    "</a>\n"
                } else {
                    "</g>\n"
                });
            }
        }
    }
    out.push_str("</g>\n");
    if !scene.labels.is_empty() {
        out.push_str(&format!(
            "<g font-family=\"{}\" pointer-events=\"none\" aria-hidden=\"true\">\n",
            escape(text::FAMILY)
        ));
        for label in &scene.labels {
            push_label(&mut out, label, theme);
        }
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    Ok(out)
}

/// All shapes as elements, one a line, as plotters writes them.
fn elements(scene: &Scene, theme: Theme) -> Result<String, PlotError> {
    let mut text = String::new();
    {
        let size = ((scene.width * FINE) as u32, (scene.height * FINE) as u32);
        let mut backend = SVGBackend::with_string(&mut text, size);
        for shape in scene.shapes() {
            draw(&mut backend, shape, theme, FINE, 0.0)?;
        }
        backend
            .present()
            .map_err(|e| PlotError::Draw(e.to_string()))?;
    }
    let start = text
        .find("xmlns")
        .and_then(|at| text[at..].find('\n').map(|n| at + n + 1));
    let end = text.rfind("</svg>").unwrap_or(text.len());
    Ok(start
        .and_then(|s| text.get(s..end))
        .unwrap_or_default()
        .to_owned())
}

fn push_shape(out: &mut String, element: Option<&str>, shape: &Shape) -> Result<(), PlotError> {
    let element = element.ok_or_else(|| PlotError::Draw("a shape was not drawn".to_owned()))?;
    let name_end = element.find(' ').unwrap_or(element.len());
    let (paint, is_stroke) = shape.paint();
    let kind = if is_stroke { 's' } else { 'f' };
    out.push_str(&element[..name_end]);
    out.push_str(&format!(" class=\"{kind}-{}\"", paint.word()));
    out.push_str(
        &element[name_end..]
            .replace(" opacity=\"1\"", "")
            .replace(" stroke=\"none\"", ""),
    );
    out.push('\n');
    Ok(())
}

fn link(mark: &Mark) -> Option<&str> {
    mark.href.as_deref().filter(|h| safe_link(h))
}

fn open_mark(out: &mut String, mark: &Mark, reachable: bool) {
    let stop = if reachable { "0" } else { "-1" };
    match link(mark) {
        Some(href) => out.push_str(&format!("<a class=\"mark\" href=\"{}\"", escape(href))),
        None => out.push_str("<g class=\"mark\" role=\"img\""),
    }
    out.push_str(&format!(" tabindex=\"{stop}\""));
    for (key, value) in &mark.data {
        out.push_str(&format!(" data-{key}=\"{}\"", escape(value)));
    }
    out.push_str(&format!("><title>{}</title>\n", escape(&mark.tip)));
}

fn push_label(out: &mut String, label: &crate::scene::Label, theme: Theme) {
    let (r, g, b) = theme.colour(label.paint);
    let (x, y) = (round(label.at.0), round(label.at.1));
    let anchor = match label.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let weight = if label.weight == Weight::SemiBold {
        " font-weight=\"600\""
    } else {
        ""
    };
    let turn = if label.upward {
        format!(" transform=\"rotate(-90 {x} {y})\"")
    } else {
        String::new()
    };
    // Whoever lacks the font must not see names run into each other: the reader's
    // font is fitted to the room that was measured.
    let length = round(text::width(&label.text, label.size, label.weight));
    let fitted = if length > 0.0 && label.text.chars().nth(1).is_some() {
        format!(" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\"")
    } else {
        String::new()
    };
    out.push_str(&format!(
        "<text class=\"f-{}\" x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"#{r:02X}{g:02X}{b:02X}\"{anchor}{weight}{fitted}{turn}>{}</text>\n",
        label.paint.word(),
        round(label.size),
        escape(&label.text)
    ));
}

fn round(v: f64) -> f64 {
    (v * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_could_run_are_dropped_and_text_is_escaped() {
        for bad in [
            "javascript:alert(1)",
            "//evil.example",
            "data:text/html,x",
            " https://x",
            "",
        ] {
            assert!(!safe_link(bad), "{bad}");
        }
        assert!(safe_link("/attempts/1") && safe_link("https://x.example"));
        assert_eq!(escape("<a b='\"&\u{0}"), "&lt;a b=&#39;&quot;&amp;");
    }
}
