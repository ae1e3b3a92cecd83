//! The shipped cases are complete, clean, and listed by the shipped release.

use std::collections::BTreeSet;
use std::path::Path;

use faultboard_catalog::{Catalog, Entry, Expect, digest, loader, specificity};
use faultboard_domain::{Case, CaseId, ReleaseId, SubsetId};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn shipped() -> Catalog {
    let (catalog, report) =
        Catalog::load(&root().join("cases"), &root().join("cases-solution")).unwrap();
    assert_eq!(report.problems, [], "not even a warning");
    catalog
}

fn ids(cases: &[CaseId]) -> Vec<&str> {
    cases.iter().map(CaseId::as_str).collect()
}

#[test]
fn the_release_lists_its_cases_and_subsets() {
    let catalog = shipped();
    let release = catalog
        .release(&ReleaseId::parse("2026.1").unwrap())
        .unwrap();
    let subset = |name: &str| catalog.subset(release, &SubsetId::parse(name).unwrap());
    assert_eq!(
        ids(&subset("full")),
        ["pysyncobj-169", "raft-rs-76", "raft-rs-84", "redis-py-2624"]
    );
    assert_eq!(subset("lite").len(), 2);
    assert_eq!(ids(&subset("tier-1")), ["pysyncobj-169", "redis-py-2624"]);
    assert_eq!(ids(&subset("teaching")), ["relay-1"]);
    assert!(
        subset("tier-3").is_empty(),
        "the teaching case is not in `full`"
    );
    let names: Vec<String> = catalog
        .subsets(release)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(names, ["full", "lite", "tier-1", "tier-2", "teaching"]);
}

#[test]
fn the_newest_release_holds_the_cases_of_every_earlier_one() {
    let catalog = shipped();
    let newest = catalog.latest_release().unwrap();
    assert_eq!(newest.id, ReleaseId::parse("2026.3").unwrap());
    for release in catalog.releases() {
        for case in &release.cases {
            assert!(newest.cases.contains(case), "{case} of {}", release.id);
        }
    }
    let mut sorted = newest.cases.clone();
    sorted.sort();
    assert_eq!(newest.cases, sorted, "one line per case, sorted");
    let names: Vec<String> = catalog
        .subsets(newest)
        .iter()
        .map(ToString::to_string)
        .collect();
    for name in ["full", "lite", "tier-1", "tier-2", "teaching"] {
        assert!(names.iter().any(|n| n == name), "{name}: {names:?}");
    }
    let entries = || newest.cases.iter().filter_map(|id| catalog.case(id));
    let distinct = |of: fn(&Case) -> String| {
        let all: BTreeSet<String> = entries().map(|e| of(&e.case)).collect();
        all.len()
    };
    assert!(entries().count() >= 24);
    assert!(distinct(|c| c.system.to_string()) >= 13);
    assert_eq!(distinct(|c| c.language.clone()), 6, "languages");
    assert_eq!(distinct(|c| format!("{:?}", c.family)), 5, "families");
    assert_eq!(distinct(|c| format!("{:?}", c.tier)), 3, "tiers");
    for entry in entries() {
        let count = |expect| {
            let all = entry.solution.variants.iter();
            all.filter(|v| v.expect == expect).count()
        };
        assert!(
            count(Expect::Pass) >= 1 && count(Expect::Fail) >= 2,
            "{}",
            entry.case.id
        );
    }
}

#[test]
fn at_least_three_systems_in_two_languages() {
    let catalog = shipped();
    let count = |of: fn(&Entry) -> String| {
        let mut all: Vec<String> = catalog.cases().map(of).collect();
        all.sort();
        all.dedup();
        all.len()
    };
    assert!(count(|e| e.case.system.to_string()) >= 3);
    assert!(count(|e| e.case.language.clone()) >= 2);
}

#[test]
fn no_oracle_hangs_on_one_fix() {
    for entry in shipped().cases() {
        let (folder, problems) = loader::read_folder(&entry.dir, entry.case.id.as_str());
        assert_eq!(problems, []);
        assert_eq!(specificity::scan(&folder), [], "{}", entry.case.id);
    }
}

#[test]
fn digests_are_the_same_twice_and_differ_between_cases() {
    let (a, b) = (shipped(), shipped());
    let mut seen = Vec::new();
    for entry in a.cases() {
        assert_eq!(b.case(&entry.case.id).unwrap().digests, entry.digests);
        assert!(!seen.contains(&entry.digests.oracle));
        seen.push(entry.digests.oracle.clone());
    }
    let empty = faultboard_catalog::folder::Folder::default();
    assert!(!seen.contains(&digest::of(&empty, &empty).oracle));
}

#[test]
fn everything_wrong_with_a_spoiled_folder_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let (cases, solutions) = (dir.path().join("cases"), dir.path().join("cases-solution"));
    copy(&root().join("cases"), &cases);
    copy(&root().join("cases-solution"), &solutions);
    std::fs::write(cases.join("relay-1/case.yaml"), "id: relay-1\n").unwrap();
    std::fs::remove_file(cases.join("raft-rs-76/symptom.md")).unwrap();
    std::fs::write(
        cases.join("releases/2026.3.yaml"),
        "id: \"2026.3\"\ntitle: t\ndate: 2026-12-01\ncases: [nobody-1]\n",
    )
    .unwrap();
    std::fs::create_dir(solutions.join("ghost-9")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", cases.join("pysyncobj-169/evidence/link.md"))
        .unwrap();
    let (catalog, report) = Catalog::inspect(&cases, &solutions).unwrap();
    let rules: Vec<&str> = report.problems.iter().map(|p| p.rule.as_str()).collect();
    for rule in [
        "schema",
        "required-file",
        "release-cases",
        "solution-without-case",
    ] {
        assert!(rules.contains(&rule), "{rule} in {rules:?}");
    }
    #[cfg(unix)]
    assert!(rules.contains(&"plain-files"), "{rules:?}");
    assert!(
        catalog
            .case(&CaseId::parse("redis-py-2624").unwrap())
            .is_some(),
        "what is sound is still there"
    );
    assert!(catalog.case(&CaseId::parse("relay-1").unwrap()).is_none());
    assert!(Catalog::load(&cases, &solutions).is_err());
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
