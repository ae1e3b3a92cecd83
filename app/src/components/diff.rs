//! A patch with line numbers, and a text with ANSI styles. Both show foreign
//! text, always escaped.

use faultboard_domain::view::{DiffLine, Span};
use leptos::prelude::*;

use crate::format;

/// A patch, line by line.
pub fn diff(lines: &[DiffLine], left_out: u64) -> AnyView {
    let rows: Vec<AnyView> = lines
        .iter()
        .map(|l| {
            let number = |n: Option<u32>| n.map(|n| n.to_string()).unwrap_or_default();
            let (class, sign, said) = match l.kind.as_str() {
                "file" => ("d-file", "", ""),
                "hunk" => ("d-hunk", "", ""),
                "add" => ("d-add", "+", "added "),
                "remove" => ("d-remove", "\u{2212}", "removed "),
                _ => ("d-context", "", ""),
            };
            // The sign has a column of its own, so that a copied line is a line of code.
            let prefix = match class {
                "d-add" => '+',
                "d-remove" => '-',
                _ => ' ',
            };
            let text = l.text.strip_prefix(prefix).unwrap_or(&l.text);
            if class == "d-file" || class == "d-hunk" {
                return view! { <tr class=class><td colspan="4">{l.text.clone()}</td></tr> }.into_any();
            }
            view! {
                <tr class=class>
                    <td class="ln">{number(l.old)}</td>
                    <td class="ln">{number(l.new)}</td>
                    <td class="sign"><span aria-hidden="true">{sign}</span><span class="sr">{said}</span></td>
                    <td class="code">{text.to_owned()}</td>
                </tr>
            }
            .into_any()
        })
        .collect();
    let rest = (left_out > 0).then(|| {
        view! { <p class="remark">{format!("{} more lines are in the download.", format::count(left_out))}</p> }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Lines of the patch">
            <table class="diff"><tbody>{rows}</tbody></table>
        </div>
        {rest}
    }
    .into_any()
}

/// A text with ANSI styles as classes. Only classes of our own making pass.
pub fn ansi(spans: &[Span]) -> AnyView {
    let runs: Vec<AnyView> = spans
        .iter()
        .map(|s| {
            let ours = !s.class.is_empty()
                && s.class
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b' ');
            if ours {
                view! { <span class=s.class.clone()>{s.text.clone()}</span> }.into_any()
            } else {
                s.text.clone().into_any()
            }
        })
        .collect();
    view! { <pre class="output" tabindex="0">{runs}</pre> }.into_any()
}
