//! Markdown of case files as safe HTML: raw HTML is shown as text, links keep
//! only http and https, images become their text.

use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

/// Renders Markdown. The result holds no script, no foreign markup and no
/// other link scheme than http(s) or a fragment.
pub(crate) fn html(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut out = String::new();
    let safe = |url: &str| {
        url.starts_with("https://") || url.starts_with("http://") || url.starts_with('#')
    };
    let events = Parser::new_ext(text, options).filter_map(|event| match event {
        Event::Html(t) | Event::InlineHtml(t) => Some(Event::Text(t)),
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) => {
            let dest_url = if safe(&dest_url) {
                dest_url
            } else {
                CowStr::Borrowed("#")
            };
            let link_type = if link_type == LinkType::Email {
                LinkType::Inline
            } else {
                link_type
            };
            Some(Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            }))
        }
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => None,
        // A page has one first heading; those of a file stand below it.
        Event::Start(Tag::Heading { level, .. }) => Some(Event::Start(Tag::Heading {
            level: lower(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        })),
        Event::End(TagEnd::Heading(level)) => Some(Event::End(TagEnd::Heading(lower(level)))),
        other => Some(other),
    });
    pulldown_cmark::html::push_html(&mut out, events);
    out
}

fn lower(level: pulldown_cmark::HeadingLevel) -> pulldown_cmark::HeadingLevel {
    use pulldown_cmark::HeadingLevel as H;
    match level {
        H::H1 => H::H3,
        H::H2 => H::H4,
        H::H3 => H::H5,
        _ => H::H6,
    }
}

#[cfg(test)]
mod tests {
    use super::html;

    #[test]
    fn nothing_active_survives() {
        let out = html(
            "# T\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1)) [y](JAVASCRIPT:a) [z](data:text/html,a) \
             ![i](https://e.org/t.png) a <img src=x onerror=a>\n\n<iframe src=x>\n\n[ok](https://example.org/)",
        );
        for bad in [
            "<script",
            "href=\"javascript",
            "href=\"JAVASCRIPT",
            "href=\"data",
            "<img",
            "<iframe",
        ] {
            assert!(!out.contains(bad), "{bad} in {out}");
        }
        assert!(out.contains("&lt;script&gt;"));
        assert!(out.contains("href=\"https://example.org/\""));
        assert!(out.contains("<h3>T</h3>"));
    }
}
