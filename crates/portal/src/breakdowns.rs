//! The breakdowns of a board's rows, by tier, family and system, as data: what
//! the job stored of each row. Never computes any.

use faultboard_domain::view::BoardQuery;
use faultboard_domain::{Actor, CaseId};

use crate::downloads::FileBody;
use crate::{Portal, PortalError, Result, csv};

impl Portal {
    /// The breakdowns of a board's rows, by tier, family and system, as data.
    pub async fn breakdowns_file(
        &self,
        _actor: &Actor,
        query: &BoardQuery,
        format: &str,
    ) -> Result<FileBody> {
        let key = self.key(query).await?;
        let mut c = self.store.reader().await?;
        let view = self
            .stored_board(&mut c, &key)
            .await?
            .ok_or(PortalError::NotFound)?;
        let ids: Vec<CaseId> = self
            .track_cases(key.track, &key.release, &key.subset)?
            .into_iter()
            .map(|c| c.id)
            .collect();
        let mut rows = Vec::new();
        for r in &view.rows {
            let own = self.row_statistics(&mut c, &r.revision, &ids).await?;
            rows.push((
                r.configuration.clone(),
                r.submission.to_string(),
                own.unwrap_or_default(),
            ));
        }
        let name = format!(
            "breakdowns-{}-{}-{}.{format}",
            view.track, view.release, view.subset
        );
        match format {
            "json" => Ok(FileBody::new(
                serde_json::to_vec_pretty(&serde_json::json!({
                    "track": view.track,
                    "release": view.release,
                    "subset": view.subset,
                    "rows": rows.iter().map(|(configuration, submission, statistics)| serde_json::json!({
                        "configuration": configuration,
                        "submission": submission,
                        "statistics": statistics,
                    })).collect::<Vec<_>>(),
                }))
                .map_err(PortalError::internal)?
                .into(),
                "application/json",
                name,
            )),
            "csv" => Ok(FileBody::new(
                csv::breakdowns(&view, &rows).into_bytes().into(),
                "text/csv; charset=utf-8",
                name,
            )),
            _ => Err(PortalError::NotFound),
        }
    }
}
