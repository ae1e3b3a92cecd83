//! Form fields: a label, its control, and the rule that the value must meet.

use leptos::prelude::*;

/// What was typed before the form was refused; the browser's half never asks.
fn typed(form: &str, field: &str) -> String {
    #[cfg(feature = "ssr")]
    let text = crate::context::typed(form, field);
    #[cfg(not(feature = "ssr"))]
    let text = {
        let _ = (form, field);
        String::new()
    };
    text
}

/// A labelled line of text.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name in the form, also its id.
    pub name: &'static str,
    /// Its label.
    pub label: &'static str,
    /// The type of its input.
    pub kind: &'static str,
    /// What a browser may fill in.
    pub autocomplete: &'static str,
    /// The rule or a hint; may be empty.
    pub hint: &'static str,
    /// Whether it may stay blank.
    pub optional: bool,
}

/// Draws the field of the form with this address, with what was typed into it
/// where the form was refused a moment ago.
pub fn field(f: Field, form: &str) -> AnyView {
    let value = if f.kind == "password" {
        String::new()
    } else {
        typed(form, f.name)
    };
    let hint_id = format!("{}-hint", f.name);
    let described = (!f.hint.is_empty()).then(|| hint_id.clone());
    let hint =
        (!f.hint.is_empty()).then(|| view! { <span class="hint" id=hint_id>{f.hint}</span> });
    view! {
        <div class="field">
            <label for=f.name>{f.label}</label>
            <input
                id=f.name
                name=f.name
                type=f.kind
                autocomplete=f.autocomplete
                required=!f.optional
                aria-describedby=described
                value=value
                maxlength="300"
            />
            {hint}
        </div>
    }
    .into_any()
}

/// A button that posts, with a reason or note beside it: a whole small form.
pub fn reasoned(
    action: String,
    name: &'static str,
    label: &'static str,
    button: &'static str,
    tone: &'static str,
    required: bool,
) -> AnyView {
    let id = format!(
        "{name}-{}",
        action.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
    );
    let typed = typed(&action, name);
    view! {
        <form method="post" action=action class="reasoned">
            <label for=id.clone()>{label}</label>
            <textarea id=id name=name rows="2" maxlength="2000" required=required>{typed}</textarea>
            <button class="button" data-tone=tone>{button}</button>
        </form>
    }
    .into_any()
}

/// A button that posts and sends nothing else.
pub fn post_button(action: String, label: impl Into<String>, tone: &'static str) -> AnyView {
    let label: String = label.into();
    view! {
        <form method="post" action=action class="one-button"><button class="button" data-tone=tone>{label}</button></form>
    }
    .into_any()
}
