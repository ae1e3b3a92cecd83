//! The label map of a diagnosis: where it and the configuration's other runs at
//! the case looked for the cause. Labelled blocks are part of the solution:
//! maintainers see them, and which blocks meet them; nobody else sees either.

use faultboard_domain::view::FigureView;
use faultboard_domain::{Actor, AttemptId, Block};
use faultboard_plot::{About, Figure, LabelMap, MapBlock, MapRow, Theme};
use faultboard_scoring::diagnosis::{PreparedBlocks, compare};
use faultboard_store::attempts::{self, Attempt};

use super::gallery::form_of;
use crate::downloads::FileBody;
use crate::{Portal, PortalError, Result};

/// Blocks of one attempt that are drawn: an honest diagnosis has a handful.
const MOST_BLOCKS: usize = 200;

fn line(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

/// Blocks as they are drawn; with the other side, whether each meets it.
fn map(blocks: &[Block], other: Option<&[Block]>) -> Vec<MapBlock> {
    let other = other.map(PreparedBlocks::new);
    blocks
        .iter()
        .take(MOST_BLOCKS)
        .map(|b| MapBlock {
            file: b.file.clone(),
            start: line(b.start_line),
            end: line(b.end_line),
            function: b.function.clone(),
            hit: other.as_ref().map(|o| {
                let found = compare(o, std::slice::from_ref(b), None);
                found.scores().block_precision > 0.0
            }),
        })
        .collect()
}

impl Portal {
    async fn map_of(&self, actor: &Actor, id: &AttemptId) -> Result<Option<LabelMap>> {
        let (a, s) = self.readable_attempt(actor, id).await?;
        if a.diagnosis.is_none() {
            return Ok(None);
        }
        let all = attempts::of_submission(&mut *self.store.reader().await?, &s.id).await?;
        let runs: Vec<&Attempt> = all.iter().filter(|o| o.case == a.case).collect();
        let labels = if actor.is_maintainer() {
            Some(self.labels(&a.case)?)
        } else {
            None
        };
        let mut rows = Vec::new();
        let mut suspected = Vec::new();
        for run in runs {
            let Some(d) = self.read_diagnosis(run).await? else {
                continue;
            };
            rows.push(MapRow {
                name: if run.id == *id {
                    format!("this attempt ({})", run.run)
                } else {
                    run.run.to_string()
                },
                blocks: map(&d.buggy_blocks, labels),
                href: Some(format!("/attempts/{}", run.id)),
            });
            suspected.extend(d.buggy_blocks.into_iter().take(MOST_BLOCKS));
        }
        let metadata = s.metadata.as_ref();
        Ok(Some(LabelMap {
            about: About {
                release: metadata.map(|m| m.release.to_string()).unwrap_or_default(),
                date: s.published.unwrap_or_else(|| self.now()).date(),
                scope: metadata.map(|m| m.configuration()).unwrap_or_default(),
            },
            case: a.case.to_string(),
            labels: labels.map(|l| map(l, Some(&suspected))),
            attempts: rows,
        }))
    }

    /// The label map of an attempt's page; none for a repair attempt.
    pub async fn label_map(&self, actor: &Actor, id: &AttemptId) -> Result<Option<FigureView>> {
        let Some(figure) = self.map_of(actor, id).await? else {
            return Ok(None);
        };
        Ok(Some(FigureView {
            id: LabelMap::ID.to_owned(),
            title: LabelMap::TITLE.to_owned(),
            shows: LabelMap::SHOWS.to_owned(),
            summary: figure.summary(),
            svg: figure.svg(Theme::Light).map_err(PortalError::internal)?,
            of_rows: None,
            computed: self.now(),
            path: format!("/attempts/{id}/label-map"),
            query: String::new(),
        }))
    }

    /// One form of a label map.
    pub async fn label_map_file(
        &self,
        actor: &Actor,
        id: &AttemptId,
        format: &str,
        theme: Option<&str>,
    ) -> Result<FileBody> {
        let theme = theme.and_then(Theme::parse).unwrap_or_default();
        let (form, content_type) = form_of(format, theme)?;
        let figure = self.map_of(actor, id).await?.ok_or(PortalError::NotFound)?;
        let bytes = tokio::task::spawn_blocking(move || form.of(&figure))
            .await
            .map_err(PortalError::internal)?
            .map_err(PortalError::internal)?;
        Ok(FileBody::new(
            bytes.into(),
            content_type,
            format!("label-map-{id}.{format}"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(file: &str, start: i64, end: i64) -> Block {
        Block {
            file: file.to_owned(),
            function: String::new(),
            start_line: start,
            end_line: end,
            bug_contribution: None,
            patch: None,
        }
    }

    #[test]
    fn what_meets_a_label_is_told_only_beside_labels() {
        let labels = [block("src/a.py", 100, 110)];
        let suspected = [
            block("src/a.py", 112, 120),
            block("src/a.py", 300, 310),
            block("src/b.py", 100, 110),
        ];
        let hits = |m: Vec<MapBlock>| m.into_iter().map(|b| b.hit).collect::<Vec<_>>();
        assert_eq!(
            hits(map(&suspected, Some(&labels))),
            [Some(true), Some(false), Some(false)]
        );
        assert_eq!(hits(map(&suspected, None)), [None, None, None]);
        assert_eq!(hits(map(&labels, Some(&suspected))), [Some(true)]);
    }

    #[test]
    fn odd_lines_are_drawn_and_many_blocks_are_cut() {
        let odd = map(&[block("a", -5, i64::MAX)], None);
        assert_eq!((odd[0].start, odd[0].end), (0, i64::MAX as u64));
        let many = vec![block("a", 1, 2); MOST_BLOCKS + 1];
        assert_eq!(map(&many, None).len(), MOST_BLOCKS);
    }
}
