//! A few figures side by side, each with its name; and lists of facts.

use leptos::prelude::*;

/// One figure with its name and, if need be, a remark.
pub fn stat(name: &'static str, value: impl Into<String>, remark: impl Into<String>) -> AnyView {
    let (value, remark): (String, String) = (value.into(), remark.into());
    let remark = (!remark.is_empty()).then(|| view! { <span class="remark">{remark}</span> });
    view! {
        <div class="stat"><dt>{name}</dt><dd>{value}{remark}</dd></div>
    }
    .into_any()
}

/// Figures side by side.
pub fn stats(of: Vec<AnyView>) -> AnyView {
    view! { <dl class="stats">{of}</dl> }.into_any()
}

/// One line of a list of facts.
pub fn fact(name: impl Into<String>, value: impl IntoView + 'static) -> AnyView {
    let name: String = name.into();
    view! { <div><dt>{name}</dt><dd>{value}</dd></div> }.into_any()
}

/// A list of facts.
pub fn facts(of: Vec<AnyView>) -> AnyView {
    view! { <dl class="facts">{of}</dl> }.into_any()
}

/// A text in monospace with a shortened form shown and the whole in its title.
pub fn digest(whole: &str) -> AnyView {
    let short = crate::format::short_digest(whole);
    let whole = whole.to_owned();
    view! { <code class="digest" title=whole>{short}</code> }.into_any()
}
