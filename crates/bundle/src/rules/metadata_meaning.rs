//! What metadata.yaml says must make sense: a known release and subset, names
//! that can be shown, addresses that can be followed, declarations that hold.

use faultboard_domain::Track;
use faultboard_domain::metadata::Metadata;

use super::{Out, Rule, some};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct MetadataMeaning;

/// The most characters of a name.
const NAME: usize = 120;
/// The most attempts per case that a bundle may announce.
const ATTEMPTS: u32 = 20;

impl Rule for MetadataMeaning {
    fn id(&self) -> &'static str {
        "metadata-value"
    }

    fn describe(&self) -> &'static str {
        "What metadata.yaml says makes sense: release, subset, names, addresses, declarations."
    }

    fn check(&self, bundle: &Bundle, knowledge: &Knowledge, out: &mut Out<'_>) {
        let (Some(entry), Some(metadata)) = (bundle.metadata_entry, bundle.metadata()) else {
            return;
        };
        let path = &bundle.entries[entry].path;
        let mut problem = |field: &str, message: String, fix: String| {
            out.error(&format!("{path}#/{field}"), message, fix);
        };
        release(metadata, knowledge, &mut problem);
        if metadata.track == Track::Recovery {
            problem(
                "track",
                "bundles are taken for the repair and the diagnosis track".to_owned(),
                "Write `repair` or `diagnosis`.".to_owned(),
            );
        }
        for (field, value, required) in names(metadata) {
            if let Some(why) = bad_name(value, required) {
                problem(
                    field,
                    format!("`{}` {why}", field.replace('/', ".")),
                    format!("Write 1 to {NAME} printable characters."),
                );
            }
        }
        let urls = [
            ("report_url", &metadata.report_url),
            ("agent/url", &metadata.agent.url),
        ];
        for (field, url) in urls {
            if let Some(url) = url
                && !is_web_address(url)
            {
                problem(
                    field,
                    format!("`{}` is no http or https address", field.replace('/', ".")),
                    "Write a whole address such as `https://example.org/report`.".to_owned(),
                );
            }
        }
        let contact = &metadata.submitter.contact;
        if !is_mail(contact) && !is_web_address(contact) {
            problem(
                "submitter/contact",
                "`submitter.contact` is neither a mail address nor a web address".to_owned(),
                "Write how maintainers can reach you; it is never shown.".to_owned(),
            );
        }
        if !(1..=ATTEMPTS).contains(&metadata.attempts_wanted()) {
            problem(
                "attempts_per_case",
                format!("`attempts_per_case` must be 1 to {ATTEMPTS}"),
                "Write how many attempts each case has.".to_owned(),
            );
        }
        if metadata.model.settings.len() > 50 {
            problem(
                "model/settings",
                "`model.settings` holds more than 50 settings".to_owned(),
                "Keep those that a reader needs to repeat the runs.".to_owned(),
            );
        }
        declarations(metadata, &mut problem);
    }
}

type Tell<'a> = dyn FnMut(&str, String, String) + 'a;

fn release(metadata: &Metadata, knowledge: &Knowledge, problem: &mut Tell<'_>) {
    match knowledge.releases.get(&metadata.release) {
        None => {
            let known: Vec<String> = knowledge
                .releases
                .keys()
                .map(|r| format!("`{r}`"))
                .collect();
            problem(
                "release",
                format!("there is no release `{}`", metadata.release),
                if known.is_empty() {
                    "Ask the site's maintainers: no release takes submissions.".to_owned()
                } else {
                    format!("Known releases: {}.", some(&known, 10))
                },
            );
        }
        Some(subsets) if !subsets.contains_key(&metadata.subset) => {
            let known: Vec<String> = subsets.keys().map(|s| format!("`{s}`")).collect();
            problem(
                "subset",
                format!(
                    "release {} has no subset `{}`",
                    metadata.release, metadata.subset
                ),
                format!("Known subsets: {}.", some(&known, 20)),
            );
        }
        Some(_) => {
            let cases = knowledge.cases_of(&metadata.release, &metadata.subset, metadata.track);
            if cases.is_some_and(|c| c.is_empty()) {
                problem(
                    "subset",
                    format!(
                        "the subset `{}` has no case for the {} track",
                        metadata.subset, metadata.track
                    ),
                    "Choose another subset or track.".to_owned(),
                );
            }
        }
    }
}

fn names(metadata: &Metadata) -> Vec<(&'static str, &str, bool)> {
    let mut names = vec![
        ("agent/name", metadata.agent.name.as_str(), true),
        ("agent/version", &metadata.agent.version, true),
        ("model/name", &metadata.model.name, true),
        ("submitter/name", &metadata.submitter.name, true),
        ("submitter/contact", &metadata.submitter.contact, true),
    ];
    let optional = [
        ("model/version", &metadata.model.version),
        ("model/provider", &metadata.model.provider),
        ("submitter/organisation", &metadata.submitter.organisation),
    ];
    for (field, value) in optional {
        if let Some(value) = value {
            names.push((field, value, false));
        }
    }
    for (key, value) in &metadata.model.settings {
        names.push(("model/settings", key, true));
        if let faultboard_domain::metadata::Scalar::Text(text) = value {
            names.push(("model/settings", text, false));
        }
    }
    names
}

fn bad_name(value: &str, required: bool) -> Option<&'static str> {
    if required && value.trim().is_empty() {
        return Some("is empty");
    }
    if value.chars().count() > NAME {
        return Some("is too long");
    }
    // Direction marks and invisible characters make a name look like another's.
    let odd = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    value
        .chars()
        .any(odd)
        .then_some("holds invisible characters")
}

fn is_web_address(text: &str) -> bool {
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        text.len() <= 500
            && !host.is_empty()
            && !host.contains('@')
            && text.chars().all(|c| !c.is_whitespace() && !c.is_control())
            && !text.contains(['"', '<', '>', '\\'])
    })
}

fn is_mail(text: &str) -> bool {
    text.len() <= 200
        && text.chars().all(|c| !c.is_whitespace() && !c.is_control())
        && text
            .split_once('@')
            .is_some_and(|(name, host)| !name.is_empty() && host.len() >= 3 && !host.contains('@'))
}

fn declarations(metadata: &Metadata, problem: &mut Tell<'_>) {
    let d = &metadata.declarations;
    let all = [
        (
            "no_original_issues",
            d.no_original_issues,
            "the original issues",
        ),
        ("no_fixes", d.no_fixes, "their fixes"),
        (
            "no_benchmark_access",
            d.no_benchmark_access,
            "this benchmark's repository and site",
        ),
    ];
    for (field, holds, what) in all {
        if !holds {
            problem(
                &format!("declarations/{field}"),
                format!("it is declared that the agent had access to {what}"),
                "Such runs can't be listed; repeat them without that access.".to_owned(),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_looked_at() {
        assert!(is_web_address("https://a.example/x?y=1"));
        for bad in [
            "",
            "ftp://a",
            "https://",
            "javascript:alert(1)",
            "https://a b",
            "https://u@h/",
            "https://a/\"x",
            "HTTPS//a",
        ] {
            assert!(!is_web_address(bad), "{bad}");
        }
        assert!(is_mail("a@b.example"));
        for bad in ["", "a", "@b.c", "a@b@c.d", "a b@c.d"] {
            assert!(!is_mail(bad), "{bad}");
        }
    }

    #[test]
    fn names_may_not_hide_characters() {
        assert_eq!(bad_name("Agent ü", true), None);
        assert!(bad_name(" ", true).is_some());
        assert!(bad_name("a\u{202e}b", true).is_some());
        assert!(bad_name(&"x".repeat(121), true).is_some());
    }
}
