use leptos::prelude::*;
pub(super) fn content() -> AnyView { ().into_any() }
