//! Proofs of cases as text: a few lines for the terminal, and a report as
//! Markdown and JSON. It is for those who keep the cases: it names other fixes.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use faultboard_domain::CaseId;
use faultboard_domain::view::ProofStatus;
use faultboard_portal::MadeProof;
use serde::Serialize;

use super::out::tame;

/// One case's part of the report.
#[derive(Debug, Serialize)]
pub(super) struct Part {
    /// The case.
    pub case: CaseId,
    /// Whether it is proven.
    pub holds: bool,
    /// Seconds that the proof took.
    pub seconds: f64,
    /// The proof.
    #[serde(flatten)]
    pub made: Option<MadeProof>,
    /// Why there is none.
    pub error: Option<String>,
}

impl Part {
    /// What came of it.
    pub(super) fn new(case: CaseId, seconds: f64, made: Result<MadeProof, String>) -> Self {
        let (made, error) = match made {
            Ok(made) => (Some(made), None),
            Err(e) => (None, Some(e)),
        };
        let holds = made
            .as_ref()
            .is_some_and(|m| m.proof.holds() && m.view.holds());
        Self {
            case,
            holds,
            seconds,
            made,
            error,
        }
    }

    fn words(&self) -> (String, String) {
        match &self.made {
            None => ("-".to_owned(), "-".to_owned()),
            Some(m) => (
                m.proof.status.to_string(),
                m.proof
                    .soundness
                    .map_or_else(|| "-".to_owned(), |s| s.to_string()),
            ),
        }
    }
}

fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}

/// A case's proof for the terminal.
pub(super) fn lines(part: &Part) -> String {
    let verdict = if part.holds { "proven" } else { "NOT PROVEN" };
    let (status, soundness) = part.words();
    let mut out = format!("{}: {verdict}: {status}, {soundness}", part.case);
    let Some(made) = &part.made else {
        let _ = write!(out, "\n  {}", part.error.as_deref().unwrap_or_default());
        return tame(&out);
    };
    let (view, proof) = (&made.view, &made.proof);
    let _ = write!(
        out,
        "\n  {} ({}, {:.0} s)",
        view.sentence(),
        view.runtime,
        part.seconds
    );
    let times: Vec<String> = view
        .timings
        .iter()
        .map(|t| match t.runs {
            1 => format!("{} {}", t.what, seconds(t.mean_ms)),
            n => format!("{} {n} x {}", t.what, seconds(t.mean_ms)),
        })
        .collect();
    let _ = write!(out, "\n  {}", times.join("; "));
    if let Some(h) = &view.hygiene {
        let _ = write!(
            out,
            "\n  workspace: {} commit, {} ref, {} objects, {} unreachable; {} terms searched in {} files",
            h.commits, h.refs, h.objects, h.unreachable, h.terms, h.files
        );
    }
    for v in &proof.variants {
        let must = if v.must_pass { "PASS" } else { "FAIL" };
        let told = if v.run.agreed == v.run.runs {
            "as it must"
        } else {
            "WRONG"
        };
        let _ = write!(
            out,
            "\n  {}: must {must}: {} ({told}): {}",
            v.name, v.run.result.outcome, v.run.result.reason
        );
    }
    for f in &proof.findings {
        let _ = write!(
            out,
            "\n  {} {} at {}: {}\n    hint: {}",
            f.weight.as_str(),
            f.rule,
            f.place,
            f.excerpt,
            f.hint
        );
    }
    for problem in &proof.problems {
        let _ = write!(out, "\n  problem: {problem}");
    }
    if !part.holds {
        if !proof.tail.is_empty() {
            out.push_str("\n  the log's end:");
            for line in &proof.tail {
                let _ = write!(out, "\n    {line}");
            }
        }
        let _ = write!(out, "\n  next: {}", proof.next_step);
    }
    tame(&out)
}

/// Writes `proofs.json` and `proofs.md` into a folder.
pub(super) fn write(dir: &Path, parts: &[Part]) -> anyhow::Result<()> {
    let put = |name: &str, text: &str| {
        let path = dir.join(name);
        // A reader never finds half a report.
        let beside = dir.join(format!(".{name}.new"));
        std::fs::write(&beside, text)
            .and_then(|()| std::fs::rename(&beside, &path))
            .with_context(|| format!("{} can't be written", path.display()))
    };
    std::fs::create_dir_all(dir).with_context(|| format!("{} can't be made", dir.display()))?;
    put("proofs.json", &serde_json::to_string_pretty(parts)?)?;
    put("proofs.md", &markdown(parts))
}

/// The report as Markdown.
fn markdown(parts: &[Part]) -> String {
    let proven = parts.iter().filter(|p| p.holds).count();
    let mut out = format!(
        "# Proofs of cases\n\n{proven} of {} proven. Times are means on the machine that made the proofs.\n\n\
         | case | proven | container | oracle | reference passes | faulty fails | other right fixes | wrong fixes caught | set-up | oracle, one run | in all |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        parts.len()
    );
    for p in parts {
        let (status, soundness) = p.words();
        let proven = if p.holds { "yes" } else { "**no**" };
        let rest = p.made.as_ref().map_or_else(
            || "- | - | - | - | - | -".to_owned(),
            |m| {
                let v = &m.view;
                let time = |what: &str| {
                    let found = v.timings.iter().find(|t| t.what == what);
                    found.map_or_else(|| "-".to_owned(), |t| seconds(t.mean_ms))
                };
                format!(
                    "{} of {} | {} of {} | {} of {} | {} of {} | {} | {}",
                    v.reference_passed,
                    v.reference_runs,
                    v.faulty_failed,
                    v.faulty_runs,
                    v.alternatives_passed,
                    v.alternatives,
                    v.wrong_caught,
                    v.wrong,
                    time("set-up"),
                    time("oracle, faulty tree")
                )
            },
        );
        let _ = writeln!(
            out,
            "| {} | {proven} | {status} | {soundness} | {rest} | {:.0} s |",
            p.case, p.seconds
        );
    }
    for p in parts {
        section(p, &mut out);
    }
    out
}

fn section(p: &Part, out: &mut String) {
    let _ = writeln!(out, "\n## {}\n", p.case);
    let Some(made) = &p.made else {
        let _ = writeln!(
            out,
            "No proof: {}",
            cell(p.error.as_deref().unwrap_or_default())
        );
        return;
    };
    let (view, proof) = (&made.view, &made.proof);
    let (status, soundness) = p.words();
    let _ = writeln!(out, "- container: {status}\n- oracle: {soundness}");
    let _ = writeln!(out, "- {}", view.sentence());
    let _ = writeln!(
        out,
        "- images {}; rules {}; case {}; runtime {}; {}",
        view.image_digests.join(", "),
        view.scorer_version,
        view.case_digest,
        view.runtime,
        view.verified.date()
    );
    if let Some(h) = &view.hygiene {
        let _ = writeln!(
            out,
            "- workspace: {} commit, {} ref, {} objects, {} of them unreachable; {} terms of the solution looked for in {} files and every object ({} bytes): {} found",
            h.commits, h.refs, h.objects, h.unreachable, h.terms, h.files, h.bytes, h.problems
        );
    }
    if proof.status != ProofStatus::InfraError && proof.setup.is_some() {
        let _ = writeln!(
            out,
            "- reset: every run began from a copy that was compared with what set-up left"
        );
    }
    if !view.timings.is_empty() {
        out.push_str("\n| stage | runs | mean | longest |\n| --- | --- | --- | --- |\n");
        for t in &view.timings {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                t.what,
                t.runs,
                seconds(t.mean_ms),
                seconds(t.max_ms)
            );
        }
    }
    if !proof.variants.is_empty() {
        out.push_str("\n| other fix | what it is | must | outcome | the oracle said |\n| --- | --- | --- | --- | --- |\n");
        for v in &proof.variants {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                v.name,
                cell(&v.about),
                if v.must_pass { "PASS" } else { "FAIL" },
                v.run.result.outcome,
                cell(&v.run.result.reason)
            );
        }
    }
    if !proof.findings.is_empty() {
        out.push_str("\nTricks in the oracle:\n\n");
        for f in &proof.findings {
            let _ = writeln!(
                out,
                "- {} `{}` at {}: `{}`; {}",
                f.weight.as_str(),
                f.rule,
                f.place,
                cell(&f.excerpt).replace('`', "'"),
                f.hint
            );
        }
    }
    if !proof.problems.is_empty() {
        out.push_str("\nProblems:\n\n");
        for problem in &proof.problems {
            let _ = writeln!(out, "- {}", cell(problem));
        }
    }
    if !p.holds && !proof.tail.is_empty() {
        out.push_str("\nThe log's end:\n\n");
        for line in &proof.tail {
            let _ = writeln!(out, "    {}", tame(line));
        }
    }
    let _ = writeln!(out, "\nNext: {}", proof.next_step);
}

/// Text that stays within a cell of a table.
fn cell(text: &str) -> String {
    tame(text).replace('\n', " ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_without_a_proof_is_in_the_report() {
        let dir = tempfile::tempdir().unwrap();
        let part = Part::new(
            CaseId::parse("a-1").unwrap(),
            1.0,
            Err("it | broke\n\u{1b}[31m".to_owned()),
        );
        assert!(!part.holds);
        assert!(lines(&part).starts_with("a-1: NOT PROVEN: -, -\n  it | broke"));
        write(dir.path(), &[part]).unwrap();
        let text = std::fs::read_to_string(dir.path().join("proofs.md")).unwrap();
        assert!(text.contains("0 of 1 proven") && text.contains("| a-1 | **no** |"));
        assert!(text.contains("No proof: it \\| broke") && !text.contains('\u{1b}'));
        let json: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(dir.path().join("proofs.json")).unwrap())
                .unwrap();
        assert_eq!(
            (json[0]["case"].as_str(), json[0]["holds"].as_bool()),
            (Some("a-1"), Some(false))
        );
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
