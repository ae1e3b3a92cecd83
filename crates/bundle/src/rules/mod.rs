//! The rules, one file each. A rule looks at the facts of a bundle and tells
//! every problem of its kind; it reads nothing and changes nothing.

mod answer_missing;
mod attempts_missing;
mod case_collision;
mod case_outside;
mod case_unknown;
mod condition;
mod depth;
mod diagnosis_schema;
mod duplicate;
mod faults;
mod link;
mod metadata_form;
mod metadata_meaning;
mod metadata_missing;
mod name;
mod name_encoding;
mod patch_crlf;
mod patch_empty;
mod patch_protected;
mod patch_unreadable;
mod run_folder;
mod special;
mod stats_missing;
mod stats_schema;
mod stray;
mod text_encoding;
mod top_folder;
mod top_name;
mod trace_extra;
mod trace_missing;

use faultboard_domain::{Problem, Report};

use crate::facts::Bundle;
use crate::knowledge::Knowledge;

/// One validation rule.
pub(crate) trait Rule: Sync {
    /// Its stable name, as reports show it.
    fn id(&self) -> &'static str;
    /// What it demands, in one sentence.
    fn describe(&self) -> &'static str;
    /// Tells every problem of its kind.
    fn check(&self, bundle: &Bundle, knowledge: &Knowledge, out: &mut Out<'_>);
}

/// Every rule. Those that reject stand before those that warn, so that a flood
/// of warnings can't crowd an error out of a bounded report.
static RULES: &[&dyn Rule] = &[
    &faults::FORMAT,
    &faults::TRUNCATED,
    &faults::CORRUPT,
    &faults::UNREADABLE,
    &faults::TRAILING,
    &faults::COMPRESSED,
    &faults::UNPACKED,
    &faults::ENTRIES,
    &faults::RATIO,
    &faults::FILE_SIZE,
    &faults::ANSWER_SIZE,
    &depth::Depth,
    &name::Path,
    &name_encoding::Encoding,
    &link::Link,
    &special::Special,
    &duplicate::Duplicate,
    &case_collision::CaseCollision,
    &top_folder::TopFolder,
    &metadata_missing::MetadataMissing,
    &metadata_form::MetadataForm,
    &metadata_meaning::MetadataMeaning,
    &text_encoding::TextEncoding,
    &case_unknown::CaseUnknown,
    &condition::ConditionFolder,
    &run_folder::RunFolder,
    &diagnosis_schema::DiagnosisSchema,
    &stats_schema::StatsSchema,
    &trace_missing::TraceMissing,
    &attempts_missing::AttemptsMissing,
    &answer_missing::AnswerMissing,
    &case_outside::CaseOutside,
    &patch_unreadable::PatchUnreadable,
    &patch_empty::PatchEmpty,
    &patch_crlf::PatchCrlf,
    &patch_protected::PatchProtected,
    &trace_extra::TraceExtra,
    &stats_missing::StatsMissing,
    &top_name::TopName,
    &stray::Stray,
];

/// Every rule's id and what it demands, for documentation.
pub fn rules() -> Vec<(&'static str, &'static str)> {
    RULES.iter().map(|r| (r.id(), r.describe())).collect()
}

/// Where a rule puts its problems.
pub(crate) struct Out<'a> {
    rule: &'static str,
    top: Option<&'a str>,
    report: &'a mut Report,
}

impl Out<'_> {
    /// A problem that rejects. `path` is a full path; the top folder is cut off.
    pub(crate) fn error(&mut self, path: &str, message: impl Into<String>, fix: impl Into<String>) {
        let path = self.shown(path);
        self.report
            .push(Problem::error(path, self.rule, message, fix));
    }

    /// A problem that is only told.
    pub(crate) fn warn(&mut self, path: &str, message: impl Into<String>, fix: impl Into<String>) {
        let path = self.shown(path);
        self.report
            .push(Problem::warning(path, self.rule, message, fix));
    }

    fn shown(&self, path: &str) -> String {
        self.top
            .and_then(|top| path.strip_prefix(top)?.strip_prefix('/'))
            .unwrap_or(path)
            .to_owned()
    }
}

/// Applies every rule.
pub(crate) fn run(bundle: &Bundle, knowledge: &Knowledge) -> Report {
    let mut report = Report::default();
    for rule in RULES {
        let mut out = Out {
            rule: rule.id(),
            top: bundle.top.as_deref(),
            report: &mut report,
        };
        rule.check(bundle, knowledge, &mut out);
    }
    report.sort();
    report
}

/// A list for a sentence: `a, b and 7 more`.
pub(crate) fn some(items: &[String], most: usize) -> String {
    let shown = items.len().min(most);
    let mut text = items[..shown].join(", ");
    if items.len() > shown {
        text.push_str(&format!(" and {} more", items.len() - shown));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_a_rule_in_the_list_under_its_own_id() {
        let mut ids: Vec<&str> = RULES.iter().map(|r| r.id()).collect();
        let listed = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), listed, "an id stands twice");
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/rules");
        let files = std::fs::read_dir(folder).unwrap().count() - 1;
        let fault_rules = 11;
        assert_eq!(listed, files - 1 + fault_rules, "a file is not in the list");
        assert!(RULES.iter().all(|r| r.describe().ends_with('.')));
    }
}
