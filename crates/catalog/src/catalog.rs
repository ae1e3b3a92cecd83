//! The catalog: every case with its texts, digests and solution, and the
//! releases that list them. Loaded whole and checked before anything is used;
//! immutable afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use faultboard_domain::release::Release;
use faultboard_domain::{Case, CaseId, Problem, ReleaseId, Report, SubsetId};

use crate::digest::{self, CaseDigests};
use crate::folder::Folder;
use crate::lints::{self, Subject};
use crate::loader;
use crate::markdown;
use crate::release_file::{self, STANDARD_SUBSETS};
use crate::solution::Solution;
use crate::specificity::{self, Finding};
use crate::{case_file, solution, variants};

/// One Markdown file of the default debug context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// File name, such as `timeline.md`.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its length in tokens (1.3 for each word).
    pub tokens: u64,
}

/// The parts of a case that anybody may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseTexts {
    /// `symptom.md`.
    pub symptom: String,
    /// `reproduce.md`.
    pub reproduce: String,
    /// `verification.md`.
    pub verification: String,
    /// `setup.md`.
    pub setup: String,
    /// `evidence/*.md`, by name.
    pub evidence: Vec<Evidence>,
}

/// One case, complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What `case.yaml` says.
    pub case: Case,
    /// The public texts.
    pub texts: CaseTexts,
    /// Digests for cache keys.
    pub digests: CaseDigests,
    /// The solution; never for agents or the public.
    pub solution: Solution,
    /// Tricks in its oracle, worst first.
    pub findings: Vec<Finding>,
    /// The case's folder on disk.
    pub dir: PathBuf,
}

/// Why a catalog could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// A folder can't be read at all.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Something in it is wrong; the report lists everything.
    #[error("the cases have {} problem{}; the first: {}", .0.errors(), if .0.errors() == 1 { "" } else { "s" }, first(.0))]
    Problems(Report),
}

fn first(report: &Report) -> String {
    report.problems.first().map_or_else(String::new, |p| {
        format!("{}: {} ({})", p.path, p.message, p.fix)
    })
}

/// All cases and releases.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    cases: BTreeMap<CaseId, Entry>,
    releases: BTreeMap<ReleaseId, Release>,
    library: PathBuf,
}

impl Catalog {
    /// Loads and checks both folders. Warnings are in the returned report; any
    /// error refuses the whole catalog, with every problem listed.
    pub fn load(cases: &Path, solutions: &Path) -> Result<(Self, Report), CatalogError> {
        let (catalog, mut report) = Self::inspect(cases, solutions)?;
        report.sort();
        if report.is_ok() {
            Ok((catalog, report))
        } else {
            Err(CatalogError::Problems(report))
        }
    }

    /// Loads what is sound and reports everything that is not.
    pub fn inspect(cases: &Path, solutions: &Path) -> Result<(Self, Report), CatalogError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| CatalogError::Io { path, source }
        };
        let mut report = Report::default();
        let mut catalog = Catalog {
            library: cases.join("lib"),
            ..Catalog::default()
        };
        let names = loader::folders(cases).map_err(io(cases))?;
        let solved = loader::folders(solutions).map_err(io(solutions))?;
        let (library, found) = loader::read_folder(&catalog.library, "cases/lib");
        add(&mut report, found);

        for name in names
            .iter()
            .filter(|n| !matches!(n.as_str(), "lib" | "releases"))
        {
            let (case, mut found) =
                loader::read_folder(&cases.join(name), &format!("cases/{name}"));
            let mut answer = Folder::named(format!("cases-solution/{name}"));
            if solved.contains(name) {
                let (folder, more) = loader::read_folder(&solutions.join(name), &answer.name);
                answer = folder;
                found.extend(more);
            }
            add(&mut report, found);
            if let Some(entry) = entry(
                name,
                &case,
                &answer,
                &library,
                cases.join(name),
                &mut report,
            ) {
                catalog.cases.insert(entry.case.id.clone(), entry);
            }
        }
        for name in solved.iter().filter(|s| !names.contains(s)) {
            report.push(Problem::error(
                format!("cases-solution/{name}"),
                "solution-without-case",
                "there is no case of this name",
                "add the case or remove its solution",
            ));
        }
        catalog.read_releases(cases, &mut report);
        report.counts = vec![
            ("cases".to_owned(), catalog.cases.len() as u64),
            ("releases".to_owned(), catalog.releases.len() as u64),
        ];
        Ok((catalog, report))
    }

    fn read_releases(&mut self, cases: &Path, report: &mut Report) {
        let root = cases.join("releases");
        if !root.is_dir() {
            return;
        }
        let (folder, found) = loader::read_folder(&root, "cases/releases");
        add(report, found);
        for (path, file) in &folder.files {
            let at = folder.at(path);
            let Some(stem) = path.strip_suffix(".yaml") else {
                report.push(Problem::warning(
                    at,
                    "release-file",
                    "is not a release file",
                    "name releases `<release>.yaml`",
                ));
                continue;
            };
            let (release, mut problems) = release_file::parse(&at, &file.bytes);
            if let Some(release) = &release {
                if release.id.as_str() != stem {
                    let message = format!("the release calls itself `{}`", release.id);
                    problems.push(Problem::error(
                        &at,
                        "release-file",
                        message,
                        "give file and id the same name",
                    ));
                }
                for id in release
                    .cases
                    .iter()
                    .chain(release.subsets.values().flatten())
                {
                    if !self.cases.contains_key(id) {
                        let message = format!("names `{id}`, which is no sound case here");
                        problems.push(Problem::error(
                            &at,
                            "release-cases",
                            message,
                            "add the case or take it out",
                        ));
                    }
                }
            }
            let sound = problems.is_empty();
            add(report, problems);
            if let (true, Some(release)) = (sound, release) {
                add(report, self.lacking(&release));
                self.releases.insert(release.id.clone(), release);
            }
        }
    }

    /// Cases of a release that too few variants prove.
    fn lacking(&self, release: &Release) -> Vec<Problem> {
        let named: BTreeSet<&CaseId> = release
            .cases
            .iter()
            .chain(release.subsets.values().flatten())
            .collect();
        named
            .into_iter()
            .filter_map(|id| {
                let lacking = variants::lacking(&self.cases.get(id)?.solution.variants)?;
                Some(Problem::warning(
                    format!("cases-solution/{id}/{}", variants::FOLDER),
                    "variants",
                    format!("the case stands in release {} and {lacking}", release.id),
                    "add `alternative-<what>.diff` (must pass) and `wrong-<what>.diff` (must fail)",
                ))
            })
            .collect()
    }

    /// Every case, by id.
    pub fn cases(&self) -> impl Iterator<Item = &Entry> {
        self.cases.values()
    }

    /// One case.
    pub fn case(&self, id: &CaseId) -> Option<&Entry> {
        self.cases.get(id)
    }

    /// Every release, oldest id first.
    pub fn releases(&self) -> impl Iterator<Item = &Release> {
        self.releases.values()
    }

    /// One release.
    pub fn release(&self, id: &ReleaseId) -> Option<&Release> {
        self.releases.get(id)
    }

    /// The release of the latest date (of equal dates, the greatest id).
    pub fn latest_release(&self) -> Option<&Release> {
        self.releases.values().max_by_key(|r| (&r.date, &r.id))
    }

    /// The folder with what all oracles share.
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// Names of a release's subsets that hold at least one case: the standard
    /// ones first, then its own by name.
    pub fn subsets(&self, release: &Release) -> Vec<SubsetId> {
        let standard = STANDARD_SUBSETS
            .iter()
            .filter_map(|name| SubsetId::parse(name).ok());
        standard
            .chain(release.subsets.keys().cloned())
            .filter(|s| !self.subset(release, s).is_empty())
            .collect()
    }

    /// The cases of a subset, sorted by id; empty when the release has none of that name.
    pub fn subset(&self, release: &Release, subset: &SubsetId) -> Vec<CaseId> {
        let mut ids: Vec<CaseId> = match release.subsets.get(subset) {
            Some(own) => own.clone(),
            None => release
                .cases
                .iter()
                .filter(|id| {
                    self.cases
                        .get(id)
                        .and_then(|e| e.case.in_standard_subset(subset.as_str()))
                        == Some(true)
                })
                .cloned()
                .collect(),
        };
        ids.sort();
        ids.dedup();
        ids
    }
}

fn add(report: &mut Report, problems: Vec<Problem>) {
    for problem in problems {
        report.push(problem);
    }
}

/// Reads one case and its solution; nothing when an error is among its problems.
fn entry(
    name: &str,
    case: &Folder,
    answer: &Folder,
    library: &Folder,
    dir: PathBuf,
    report: &mut Report,
) -> Option<Entry> {
    let (parsed, mut problems) = match case.bytes("case.yaml") {
        Some(bytes) => case_file::parse(&case.at("case.yaml"), bytes),
        None => (None, Vec::new()),
    };
    let (solution, found) = solution::read(answer);
    problems.extend(found);
    problems.extend(lints::run(&Subject {
        name,
        case,
        parsed: parsed.as_ref(),
        solution: solution.as_ref(),
    }));
    let sound = !problems
        .iter()
        .any(|p| p.severity == faultboard_domain::Severity::Error);
    add(report, problems);
    if !sound {
        return None;
    }
    let text = |path: &str| case.text(path).unwrap_or_default().to_owned();
    Some(Entry {
        case: parsed?,
        texts: CaseTexts {
            symptom: text("symptom.md"),
            reproduce: text("reproduce.md"),
            verification: text("verification.md"),
            setup: text("setup.md"),
            evidence: case
                .below("evidence")
                .filter_map(|(path, file)| {
                    let text = std::str::from_utf8(&file.bytes).ok()?.to_owned();
                    let name = path.rsplit_once('/').map_or(path, |(_, n)| n).to_owned();
                    Some(Evidence {
                        name,
                        tokens: markdown::tokens(&text),
                        text,
                    })
                })
                .collect(),
        },
        digests: digest::of(case, library),
        solution: solution?,
        findings: specificity::scan(case),
        dir,
    })
}
