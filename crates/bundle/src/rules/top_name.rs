//! How the top folder is named. Nothing depends on it, so it only warns.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct TopName;

impl Rule for TopName {
    fn id(&self) -> &'static str {
        "top-folder-name"
    }

    fn describe(&self) -> &'static str {
        "The top folder is named `<date>_<agent>__<model>`."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        if let Some(top) = &bundle.top
            && !well_named(top)
        {
            out.warn(
                "",
                format!("the top folder `{top}` is not named `<date>_<agent>__<model>`"),
                "Rename it, for example to `20260131_my-agent__my-model`.",
            );
        }
    }
}

/// A date as eight digits or `yyyy-mm-dd`, an agent and a model.
fn well_named(name: &str) -> bool {
    let Some((date, rest)) = name.split_once('_') else {
        return false;
    };
    let digits = date.bytes().filter(u8::is_ascii_digit).count();
    let date_fine = digits == 8 && date.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    date_fine
        && rest
            .split_once("__")
            .is_some_and(|(agent, model)| !agent.is_empty() && !model.is_empty())
}

#[cfg(test)]
mod tests {
    use super::well_named;

    #[test]
    fn names_hold_date_agent_and_model() {
        assert!(well_named("20260131_a__m"));
        assert!(well_named("2026-01-31_my_agent__some.model-4"));
        for bad in ["", "a__m", "20260131_a", "20260131_a__", "2026_a__m"] {
            assert!(!well_named(bad), "{bad}");
        }
    }
}
