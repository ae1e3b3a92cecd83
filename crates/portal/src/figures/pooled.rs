//! What several figures need: rates by case over all rows, differences against a
//! row, and figures of the cases themselves. Pure.

use std::collections::BTreeMap;

use faultboard_domain::score::Estimate;
use faultboard_domain::view::{BoardRow, Difference, MeasureKind};
use faultboard_domain::{Case, CaseId, SubmissionId};
use faultboard_plot::{
    BundleSize, ContextSize, Coverage, CoveredCase, DifferenceRow, PairedDifferences,
    PairwiseMatrix, Panel, PanelPair, PanelRow,
};
use faultboard_stats::paired::{self, Pairing};
use faultboard_stats::{bootstrap, summary};

use super::Source;
use crate::statistics::profile::{Profile, difference, estimate, profile};

/// Values by case.
pub(crate) type ByCase = BTreeMap<CaseId, f64>;

/// Each row's values on the source's cases.
pub(crate) fn profiles(source: &Source<'_>) -> Vec<Profile> {
    source
        .rows
        .iter()
        .map(|(_, e)| profile(source.view.track, e, |c| source.within(c)))
        .collect()
}

/// The mean over rows for each case; rows without the case don't count.
pub(crate) fn mean_over_rows<'a>(rows: impl Iterator<Item = &'a ByCase>) -> ByCase {
    let mut lists: BTreeMap<CaseId, Vec<f64>> = BTreeMap::new();
    for row in rows {
        for (case, value) in row {
            lists.entry(case.clone()).or_default().push(*value);
        }
    }
    lists
        .into_iter()
        .filter_map(|(case, values)| Some((case, summary::mean(&values)?)))
        .collect()
}

/// The same for one measure.
pub(crate) fn pooled(profiles: &[Profile], kind: MeasureKind) -> ByCase {
    mean_over_rows(profiles.iter().filter_map(|p| Some(&p.get(&kind)?.by_case)))
}

/// The mean over the cases that are kept.
pub(crate) fn mean_where(values: &ByCase, keep: impl Fn(&CaseId) -> bool) -> Option<Estimate> {
    let kept: Vec<f64> = values
        .iter()
        .filter(|(c, _)| keep(c))
        .map(|(_, v)| *v)
        .collect();
    estimate(&bootstrap::mean_interval(&kept))
}

/// First minus second on the common cases that are kept.
pub(crate) fn difference_where(
    first: &ByCase,
    second: &ByCase,
    keep: impl Fn(&CaseId) -> bool,
) -> Option<Difference> {
    let kept = |values: &ByCase| -> ByCase {
        values
            .iter()
            .filter(|(c, _)| keep(c))
            .map(|(c, v)| (c.clone(), *v))
            .collect()
    };
    let joined = Pairing::join(&kept(first), &kept(second));
    difference(&paired::difference(&joined.a, &joined.b))
}

/// A row's page.
pub(crate) fn href(row: &BoardRow) -> Option<String> {
    Some(format!("/submissions/{}", row.submission))
}

/// Every row against the first one, by the headline.
pub(crate) fn paired_differences(source: &Source<'_>, profiles: &[Profile]) -> PairedDifferences {
    let kind = MeasureKind::of(source.view.track)[0];
    let empty = ByCase::new();
    let values = |i: usize| {
        profiles
            .get(i)
            .and_then(|p| p.get(&kind))
            .map_or(&empty, |v| &v.by_case)
    };
    PairedDifferences {
        about: source.about.clone(),
        measure: kind.title().to_owned(),
        reference: source
            .rows
            .first()
            .map(|(r, _)| r.configuration.clone())
            .unwrap_or_default(),
        rows: source
            .rows
            .iter()
            .enumerate()
            .skip(1)
            .map(|(i, (row, _))| DifferenceRow {
                name: row.configuration.clone(),
                difference: difference_where(values(i), values(0), |_| true),
                href: href(row),
            })
            .collect(),
    }
}

/// The board's panel of pairs; none where it is not computed (yet).
pub(crate) fn pairwise(source: &Source<'_>) -> Option<PairwiseMatrix> {
    let statistics = source.statistics?;
    let rows: Vec<&BoardRow> = statistics
        .panel_rows
        .iter()
        .filter_map(|id| source.view.rows.iter().find(|r| r.submission == *id))
        .collect();
    let at = |id: &SubmissionId| rows.iter().position(|r| r.submission == *id);
    let key = match statistics.measure {
        MeasureKind::Block => "block",
        MeasureKind::File => "file",
        MeasureKind::Symptom => "symptom",
        MeasureKind::Context => "context",
    };
    let panel = Panel {
        title: statistics.measure.title().to_owned(),
        reported: false,
        source: String::new(),
        n: statistics
            .panel
            .iter()
            .map(|p| p.difference.n)
            .max()
            .unwrap_or(source.view.n_cases),
        rows: rows
            .iter()
            .map(|r| PanelRow {
                name: r.configuration.clone(),
                rate: r.value(key),
            })
            .collect(),
        pairs: statistics
            .panel
            .iter()
            .filter_map(|p| {
                Some(PanelPair {
                    a: at(&p.a)?,
                    b: at(&p.b)?,
                    difference: Some(p.difference.mean),
                    p: p.difference.p,
                    p_holm: p.p_holm,
                })
            })
            .collect(),
    };
    Some(PairwiseMatrix {
        about: source.about.clone(),
        panels: std::iter::once(panel)
            .chain(super::reported::panel(source.view.track))
            .collect(),
    })
}

/// What the cases are of.
pub(crate) fn coverage(source: &Source<'_>) -> Coverage {
    let covered = |c: &&Case| CoveredCase {
        case: c.id.to_string(),
        system: c.system.to_string(),
        language: c.language.clone(),
        category: c.category.clone(),
        family: c.family.as_str().to_owned(),
        tier: c.tier,
        license: c.license.clone(),
    };
    Coverage {
        about: source.about.clone(),
        cases: source.cases.iter().map(covered).collect(),
    }
}

/// How large the default bundles are.
pub(crate) fn context_size(source: &Source<'_>) -> ContextSize {
    ContextSize {
        about: source.about.clone(),
        bundle: "default".to_owned(),
        cases: source
            .bundles
            .iter()
            .filter(|b| source.within(&b.case))
            .map(|b| BundleSize {
                case: b.case.to_string(),
                tokens: b.tokens,
                kilobytes: b.kilobytes,
                files: b.files,
                kinds: b.kinds.clone(),
            })
            .collect(),
    }
}

/// Words in the names of evidence files, and the kind that they tell.
const KINDS: [(&[&str], &str); 8] = [
    (&["race", "sanitizer"], "race detector or sanitizer report"),
    (&["crash", "panic", "backtrace", "stack"], "crash output"),
    (&["log"], "log"),
    (&["timeline"], "timeline"),
    (&["trace", "wire", "packet"], "trace"),
    (&["test"], "test output"),
    (&["code", "investigation", "source"], "code investigation"),
    (&["dump", "state", "nodes", "queue", "set"], "runtime state"),
];

/// The kinds of evidence in files of these names, each once.
pub(crate) fn kinds<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in names {
        let stem = name.rsplit_once('.').map_or(name, |(s, _)| s);
        let kind = KINDS
            .iter()
            .find(|(words, _)| {
                stem.split(['-', '_']).any(|part| {
                    words.contains(&part.trim_end_matches('s')) || words.contains(&part)
                })
            })
            .map_or("other", |(_, kind)| kind);
        if !found.iter().any(|k| k == kind) {
            found.push(kind.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_come_from_file_names() {
        let of = |names: &[&str]| kinds(names.iter().copied());
        assert_eq!(of(&["leader-log.md", "follower-log.md"]), ["log"]);
        assert_eq!(
            of(&["crash.md", "nodes.md"]),
            ["crash output", "runtime state"]
        );
        assert_eq!(of(&["silent-pair.md"]), ["other"]);
    }

    #[test]
    fn rows_without_a_case_do_not_count_in_its_mean() {
        let case = |t: &str| CaseId::parse(t).unwrap();
        let a: ByCase = [(case("relay-1"), 1.0), (case("relay-2"), 0.0)].into();
        let b: ByCase = [(case("relay-1"), 0.0)].into();
        let mean = mean_over_rows([&a, &b].into_iter());
        assert_eq!(mean[&case("relay-1")], 0.5);
        assert_eq!(mean[&case("relay-2")], 0.0);
    }
}
