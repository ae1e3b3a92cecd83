//! The first page and the list of changes.

use faultboard_domain::Actor;
use faultboard_domain::Track;
use faultboard_domain::view::{BoardQuery, ChangeView, HomeView, ReportedSet};
use faultboard_store::submissions;

use crate::{Portal, Result};

/// Rows of each board on the first page.
const TOP: usize = 5;

impl Portal {
    /// The first page.
    pub async fn home(&self, actor: &Actor) -> Result<HomeView> {
        let mut boards = Vec::new();
        for track in [Track::Repair, Track::Diagnosis] {
            if self.newest_release().is_none() {
                break;
            }
            let query = BoardQuery {
                track,
                release: None,
                subset: None,
                slice: None,
                sort: None,
                reverse: false,
                agent: None,
                model: None,
                open_weights: false,
            };
            let mut board = self.board(actor, &query).await?;
            board.rows.truncate(TOP);
            boards.push(board);
        }
        let (cases, systems) = self.release_counts();
        let mut c = self.store.reader().await?;
        let (published, attempts) = submissions::published_counts(&mut c).await?;
        Ok(HomeView {
            release: self.newest_release(),
            cases,
            systems,
            submissions: published,
            attempts,
            boards,
            changes: submissions::changes(&mut c, 5).await?,
        })
    }

    /// What publications report and nobody rescored here.
    pub fn reported(&self, _actor: &Actor) -> Vec<ReportedSet> {
        faultboard_catalog::reported::all()
    }

    /// The newest public changes.
    pub async fn changes(&self, _actor: &Actor) -> Result<Vec<ChangeView>> {
        Ok(submissions::changes(&mut *self.store.reader().await?, 200).await?)
    }
}
