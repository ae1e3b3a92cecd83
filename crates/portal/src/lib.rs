//! The use cases, with their authorisation.

pub mod error;
pub use error::PortalError;

use faultboard_domain::{Actor, AttemptId, CaseId, JobId, SubmissionId, view::*};

/// The site's use cases.
pub struct Portal {}

type Result<T> = std::result::Result<T, PortalError>;

#[expect(clippy::unused_async, missing_docs, reason = "signatures")]
impl Portal {
    pub async fn home(&self, _: &Actor) -> Result<HomeView> { Err(PortalError::NotFound) }
    pub async fn board(&self, _: &Actor, _: &BoardQuery) -> Result<BoardView> { Err(PortalError::NotFound) }
    pub async fn board_figures(&self, _: &Actor, _: &BoardQuery) -> Result<Vec<FigureView>> { Err(PortalError::NotFound) }
    pub async fn cases(&self, _: &Actor) -> Result<CasesView> { Err(PortalError::NotFound) }
    pub async fn case(&self, _: &Actor, _: &CaseId) -> Result<CaseView> { Err(PortalError::NotFound) }
    pub async fn submission(&self, _: &Actor, _: &SubmissionId) -> Result<SubmissionView> { Err(PortalError::NotFound) }
    pub async fn attempt(&self, _: &Actor, _: &AttemptId, _: &TraceQuery) -> Result<AttemptView> { Err(PortalError::NotFound) }
    pub async fn me(&self, _: &Actor) -> Result<MeView> { Err(PortalError::NotFound) }
    pub async fn quota(&self, _: &Actor) -> Result<QuotaView> { Err(PortalError::NotFound) }
    pub async fn admin(&self, _: &Actor) -> Result<AdminView> { Err(PortalError::NotFound) }
    pub async fn queue(&self, _: &Actor) -> Result<QueueView> { Err(PortalError::NotFound) }
    pub async fn job(&self, _: &Actor, _: JobId) -> Result<JobDetail> { Err(PortalError::NotFound) }
    pub async fn changes(&self, _: &Actor) -> Result<Vec<ChangeView>> { Err(PortalError::NotFound) }
}
