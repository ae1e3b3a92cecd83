//! An attempt's page: its result and one page of its trace, read by range from
//! the normalised trace, so that a trace of any size opens as fast as a small one.

use std::io::Cursor;

use faultboard_domain::finding::Disposition;
use faultboard_domain::outcome::RepairResult;
use faultboard_domain::trace::Step;
use faultboard_domain::view::{AttemptView, DiffLine, Span, StepLine, TraceQuery};
use faultboard_domain::{Actor, AttemptId, Diagnosis};
use faultboard_store::attempts::{Attempt, Stored};
use faultboard_store::revisions;
use faultboard_trace::{
    Colour, Outline, StepIndex, Style, ansi_to_spans, failed, read_page, search,
};

use crate::finish::DIAGNOSIS_MOST;
use crate::submission_page::Progress;
use crate::{Portal, PortalError, Result};

/// Steps in the list beside the selected one.
const PAGE: u32 = 200;
/// Lines of a patch that a page shows.
const DIFF_LINES: usize = 5_000;
/// The most bytes of a patch that a page reads.
const DIFF_MOST: u64 = 4 << 20;
/// Hits of a search that a page lists.
const FOUND: usize = 1_000;
/// A normalised trace up to this size is searched while its page is made.
const SEARCH_MOST: u64 = 256 << 20;
/// Characters of one text of the selected step that a page shows.
const TEXT_MOST: usize = 200_000;

impl Portal {
    /// An attempt's page around the selected step.
    pub async fn attempt(
        &self,
        actor: &Actor,
        id: &AttemptId,
        query: &TraceQuery,
    ) -> Result<AttemptView> {
        let (a, s) = self.readable_attempt(actor, id).await?;
        let insider = self.is_insider(actor, &s);
        let mut c = self.store.reader().await?;
        let progress = Progress::load(&mut c, &s).await?;
        let cell = progress.cell(&a, insider)?;
        let shown = Progress::shown(&s, &progress.revisions);
        let mut result: Option<RepairResult> = None;
        if let Some(r) = shown
            && a.condition.is_some()
            && cell.outcome.is_some()
        {
            result = revisions::outcome_of(&mut c, &r.id, id)
                .await?
                .map(|o| o.result())
                .transpose()?;
        }
        drop(c);
        if let Some(r) = &mut result {
            // An oracle's log may tell what it checks; the submitter gets the
            // stages of their own patch, and the verdict with its reason.
            if !actor.is_maintainer() {
                for stage in &mut r.stages {
                    if stage.stage == faultboard_domain::StageKind::Verify {
                        stage.log.clear();
                    }
                }
                if !insider {
                    r.cache_key.clear();
                }
            }
        }
        let findings: Vec<_> = progress
            .findings
            .iter()
            .filter(|f| insider && f.attempt == *id)
            .cloned()
            .collect();
        let hit_steps: Vec<u32> = findings
            .iter()
            .filter(|f| f.disposition != Disposition::Cleared)
            .filter_map(|f| f.finding.step)
            .collect();
        let index: StepIndex = a
            .step_index
            .as_deref()
            .map(serde_json::from_str)
            .transpose()
            .map_err(PortalError::internal)?
            .unwrap_or_default();
        let selected = query.step.unwrap_or(0).min(index.steps.saturating_sub(1));
        let first = (selected / PAGE) * PAGE;
        let page = self.steps(&a, &index, first).await?;
        let steps = page.iter().map(|step| line(step, &hit_steps)).collect();
        let selected_step = page
            .into_iter()
            .find(|step| step.index == selected)
            .map(shortened);
        let found = self.find(&a, query).await?;
        let (diff, diff_left_out) = self.diff(&a).await?;
        let at = progress.attempts.iter().position(|other| other.id == *id);
        let neighbour = |d: isize| {
            at.and_then(|i| i.checked_add_signed(d))
                .and_then(|i| progress.attempts.get(i))
                .map(|n| n.id.clone())
        };
        let metadata = s.metadata.as_ref();
        Ok(AttemptView {
            id: a.id.clone(),
            submission: s.id.clone(),
            configuration: metadata.map(|m| m.configuration()).unwrap_or_default(),
            track: metadata.map_or(faultboard_domain::Track::Repair, |m| m.track),
            case: a.case.clone(),
            case_title: self
                .case_of(&a.case)
                .map(|c| c.title.clone())
                .unwrap_or_default(),
            condition: a.condition,
            run: a.run,
            cell,
            result,
            diagnosis: self.read_diagnosis(&a).await?,
            diff,
            diff_left_out,
            summary: a.summary.clone(),
            trace_name: a.trace_name.clone(),
            trace_bytes: a.trace.size,
            total_steps: index.steps,
            steps,
            selected_output: selected_step
                .as_ref()
                .and_then(|s| s.observation.as_ref())
                .map(|o| spans(&o.text))
                .unwrap_or_default(),
            selected: selected_step,
            found,
            first_edit: index.first_edit,
            next_error: index.next_failure(query.step),
            next_hit: hit_steps
                .iter()
                .copied()
                .filter(|h| query.step.is_none_or(|at| *h > at))
                .min(),
            findings,
            neighbours: (neighbour(-1), neighbour(1)),
            privileged: insider,
        })
    }

    async fn steps(&self, a: &Attempt, index: &StepIndex, first: u32) -> Result<Vec<Step>> {
        let (Some(file), Some(range)) = (&a.normalised, index.page(first, PAGE)) else {
            return Ok(Vec::new());
        };
        let bytes = self
            .blobs
            .range(&file.digest, range.start..range.end)
            .await?;
        read_page(&bytes, &range).map_err(PortalError::internal)
    }

    async fn find(&self, a: &Attempt, query: &TraceQuery) -> Result<Vec<u32>> {
        let words = query
            .q
            .as_deref()
            .map(str::trim)
            .unwrap_or_default()
            .to_owned();
        let Some(file) = a
            .normalised
            .clone()
            .filter(|f| !words.is_empty() && f.size <= SEARCH_MOST)
        else {
            return Ok(Vec::new());
        };
        let local = self
            .blobs
            .local_file(&file.digest, &self.settings.data_dir.join("tmp"))
            .await?;
        let hits = tokio::task::spawn_blocking(move || {
            let mut input = std::io::BufReader::with_capacity(
                1 << 17,
                std::fs::File::open(local.path()).map_err(PortalError::internal)?,
            );
            search(
                &mut input,
                &words,
                0,
                FOUND,
                &faultboard_trace::Limits::default(),
            )
            .map_err(PortalError::internal)
        })
        .await
        .map_err(PortalError::internal)??;
        let mut steps: Vec<u32> = hits.into_iter().map(|h| h.step).collect();
        steps.dedup();
        Ok(steps)
    }

    pub(crate) async fn read_diagnosis(&self, a: &Attempt) -> Result<Option<Diagnosis>> {
        let Some(Stored { digest, .. }) = &a.diagnosis else {
            return Ok(None);
        };
        let bytes = self.blobs.get(digest, DIAGNOSIS_MOST).await?;
        Ok(Diagnosis::parse(&bytes).ok())
    }

    async fn diff(&self, a: &Attempt) -> Result<(Vec<DiffLine>, u64)> {
        let Some(patch) = &a.patch else {
            return Ok((Vec::new(), 0));
        };
        let most = patch.size.min(DIFF_MOST);
        let bytes = if most == patch.size {
            self.blobs.get(&patch.digest, most).await?
        } else {
            self.blobs.range(&patch.digest, 0..most).await?
        };
        Ok(diff_lines(&bytes))
    }
}

fn line(step: &Step, hits: &[u32]) -> StepLine {
    let outline = Outline::of(step);
    StepLine {
        index: step.index,
        role: step.role.as_str().to_owned(),
        kind: step
            .action
            .as_ref()
            .map(|a| a.kind.as_str().to_owned())
            .unwrap_or_default(),
        line: outline.line,
        failed: failed(step),
        hits: u32::try_from(hits.iter().filter(|h| **h == step.index).count()).unwrap_or(u32::MAX),
        cost: step.cost,
    }
}

/// A step whose texts a page can carry; what is left out is said.
fn shortened(mut step: Step) -> Step {
    let cut = |text: &mut String| {
        if text.len() > TEXT_MOST {
            let left_out = text.len() - TEXT_MOST;
            let mut at = TEXT_MOST;
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            text.truncate(at);
            text.push_str(&format!(
                "\n… {left_out} more bytes: download the trace to see them"
            ));
        }
    };
    cut(&mut step.thought);
    if let Some(a) = &mut step.action {
        cut(&mut a.command);
    }
    if let Some(o) = &mut step.observation {
        cut(&mut o.text);
    }
    step
}

fn spans(text: &str) -> Vec<Span> {
    ansi_to_spans(text)
        .into_iter()
        .map(|(style, text)| Span {
            class: classes(&style),
            text,
        })
        .collect()
}

/// CSS classes of a style; colours outside the 16 named ones stay plain.
fn classes(style: &Style) -> String {
    const NAMES: [&str; 8] = [
        "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
    ];
    let mut classes = Vec::new();
    let mut colour = |c: Option<Colour>, prefix: &str| {
        if let Some(Colour::Named(n)) = c {
            let bright = if n >= 8 { "bright-" } else { "" };
            classes.push(format!("{prefix}{bright}{}", NAMES[usize::from(n % 8)]));
        }
    };
    colour(style.ink, "ansi-");
    colour(style.paper, "ansi-bg-");
    for (on, class) in [
        (style.bold, "bold"),
        (style.dim, "dim"),
        (style.italic, "italic"),
        (style.underline, "underline"),
        (style.strike, "strike"),
        (style.inverse, "inverse"),
    ] {
        if on {
            classes.push(format!("ansi-{class}"));
        }
    }
    classes.join(" ")
}

/// The lines of a patch with their numbers; text that is no diff is shown as it is.
fn diff_lines(bytes: &[u8]) -> (Vec<DiffLine>, u64) {
    use std::io::BufRead as _;
    let mut lines = Vec::new();
    let mut left_out = 0;
    let (mut old, mut new) = (0_u32, 0_u32);
    let mut in_hunk = false;
    for raw in Cursor::new(bytes).split(b'\n') {
        let Ok(raw) = raw else { break };
        if lines.len() >= DIFF_LINES {
            left_out += 1;
            continue;
        }
        let text = String::from_utf8_lossy(raw.strip_suffix(b"\r").unwrap_or(&raw)).into_owned();
        let header = text.starts_with("diff --git")
            || (!in_hunk
                && (text.starts_with("--- ")
                    || text.starts_with("+++ ")
                    || text.starts_with("index ")));
        let (kind, o, n) = if header {
            in_hunk = false;
            ("file", None, None)
        } else if let Some((a, b)) = hunk_starts(&text) {
            (old, new, in_hunk) = (a, b, true);
            ("hunk", None, None)
        } else if in_hunk && text.starts_with('+') {
            new += 1;
            ("add", None, Some(new - 1))
        } else if in_hunk && text.starts_with('-') {
            old += 1;
            ("remove", Some(old - 1), None)
        } else if in_hunk && text.starts_with(' ') {
            old += 1;
            new += 1;
            ("context", Some(old - 1), Some(new - 1))
        } else {
            ("file", None, None)
        };
        lines.push(DiffLine {
            kind: kind.to_owned(),
            old: o,
            new: n,
            text,
        });
    }
    (lines, left_out)
}

fn hunk_starts(text: &str) -> Option<(u32, u32)> {
    let rest = text.strip_prefix("@@ -")?;
    let mut parts = rest.split(' ');
    let start = |part: &str| part.split(',').next().and_then(|n| n.parse().ok());
    Some((
        start(parts.next()?)?,
        start(parts.next()?.strip_prefix('+')?)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diff_lines_carry_their_numbers() {
        let (lines, left) = diff_lines(
            b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -3,2 +3,2 @@ fn\n same\n--- old\n+new\n",
        );
        let told: Vec<_> = lines
            .iter()
            .map(|l| (l.kind.as_str(), l.old, l.new))
            .collect();
        assert_eq!(
            told[3..],
            [
                ("hunk", None, None),
                ("context", Some(3), Some(3)),
                ("remove", Some(4), None),
                ("add", None, Some(4))
            ]
        );
        assert_eq!(left, 0);
    }
}
