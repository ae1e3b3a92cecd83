//! The use cases of Faultboard, each with its authorisation: hand in, check,
//! scan, score, review, publish, re-evaluate, read, download. It knows every
//! crate below and no web framework: pages, routes and commands only translate.
//!
//! Every public method takes the [`Actor`] and decides itself what they may do;
//! nothing relies on a page having hidden a button.

mod accounts;
mod admin;
mod attempt_page;
mod begin;
mod bench;
mod board;
mod breakdowns;
mod cases;
mod checksum;
mod compare;
mod csv;
mod deeds;
mod demo;
mod downloads;
mod error;
mod figures;
mod finish;
mod home;
mod identities;
mod intake;
mod knowledge;
mod machine;
mod markdown;
pub mod offline;
mod operations;
mod parsed;
mod people;
mod proof_schedule;
mod proofs;
mod random;
mod reevaluation;
mod reevaluation_page;
mod replays;
pub mod reproduce;
mod resubmission;
mod rows;
mod scan;
mod score;
mod settings;
mod statistics;
mod submission_page;
mod sweep;
pub mod synthetic;
mod teams;
mod template;
mod trace_set;
mod uploads;
mod verify;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use faultboard_blob::{BlobError, Blobs};
use faultboard_catalog::Catalog;
use faultboard_domain::{Actor, Clock, JobId, Report, SubmissionId, Timestamp, UploadId, UserId};
use faultboard_oracle::Oracle;
use faultboard_sandbox::Runtime;
use faultboard_store::{Store, StoreError};
use tokio::sync::{Notify, OnceCell, broadcast};

pub use accounts::{SESSION_DAYS, Session};
pub use bench::{BenchTree, BenchWorkspace};
pub use checksum::Checksum;
pub use downloads::{AttemptFile, BlobFile, FileBody};
pub use error::PortalError;
pub use faultboard_sandbox::{Terminal, TerminalSize};
pub use identities::{Identity, Leaving, Returned};
pub use proofs::{MadeProof, ProofTimes};
pub use reevaluation::Decided;
pub use settings::{RuntimeChoice, Settings};
pub use template::Template;
pub use uploads::UploadStatus;

/// Result of a use case.
pub type Result<T> = std::result::Result<T, PortalError>;

/// Something that a page which watches may want to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A submission, one of its attempts or its timeline.
    Submission(SubmissionId),
    /// A job's state.
    Job(JobId),
    /// A piece of a job's log.
    JobLog(JobId, String),
    /// The queue as a whole.
    Queue,
}

/// The site's use cases over one database, blob store, catalog and runtime.
pub struct Portal {
    settings: Settings,
    clock: Arc<dyn Clock>,
    store: Store,
    blobs: Blobs,
    catalog: Arc<Catalog>,
    runtime: Arc<dyn Runtime>,
    oracle: Oracle,
    changes: broadcast::Sender<Change>,
    bell: Arc<Notify>,
    busy_uploads: Mutex<HashSet<UploadId>>,
    parsed: parsed::ParsedBoards,
    decoy: OnceCell<String>,
    runtime_checked: tokio::sync::Mutex<Option<(Timestamp, std::result::Result<(), String>)>>,
}

impl From<StoreError> for PortalError {
    fn from(e: StoreError) -> Self {
        Self::Internal(e.to_string())
    }
}

impl From<BlobError> for PortalError {
    fn from(e: BlobError) -> Self {
        Self::Internal(e.to_string())
    }
}

impl Portal {
    /// Opens the data folder (made if it is missing), brings the database up to
    /// date, reads the cases and finds the container runtime.
    ///
    /// # Errors
    /// [`PortalError::Rejected`] with every problem if the cases are not in order;
    /// [`PortalError::Internal`] if the folder can't be used.
    pub async fn open(settings: Settings, clock: Arc<dyn Clock>) -> Result<Arc<Self>> {
        let settings = settings.absolute().map_err(PortalError::internal)?;
        let runtime = machine::find_runtime(&settings).await?;
        Self::open_on(settings, clock, runtime).await
    }

    /// Opens it for work on cases: one that is not in order doesn't keep the
    /// others from being used. What is wrong comes back beside it. Boards are
    /// not touched, so this is no way to open a site.
    pub async fn open_bench(
        settings: Settings,
        clock: Arc<dyn Clock>,
    ) -> Result<(Arc<Self>, Report)> {
        let settings = settings.absolute().map_err(PortalError::internal)?;
        let (catalog, report) = knowledge::inspect_catalog(&settings)?;
        let runtime = machine::find_runtime(&settings).await?;
        let portal = Self::with_catalog(settings, clock, runtime, catalog).await?;
        Ok((portal, report))
    }

    /// The same on a given container runtime.
    pub async fn open_on(
        settings: Settings,
        clock: Arc<dyn Clock>,
        runtime: Arc<dyn Runtime>,
    ) -> Result<Arc<Self>> {
        let settings = settings.absolute().map_err(PortalError::internal)?;
        let settings = synthetic::adopt(settings);
        let catalog = knowledge::load_catalog(&settings)?;
        let portal = Self::with_catalog(settings, clock, runtime, catalog).await?;
        portal.ensure_boards().await?;
        portal.ensure_figures().await?;
        Ok(portal)
    }

    async fn with_catalog(
        settings: Settings,
        clock: Arc<dyn Clock>,
        runtime: Arc<dyn Runtime>,
        catalog: Catalog,
    ) -> Result<Arc<Self>> {
        let data = &settings.data_dir;
        for folder in ["uploads", "tmp"] {
            std::fs::create_dir_all(data.join(folder)).map_err(|e| {
                PortalError::Internal(format!("{}: {e}", data.join(folder).display()))
            })?;
        }
        let store = Store::open(&data.join("faultboard.sqlite")).await?;
        let blobs = Blobs::local(&data.join("blobs"))?;
        let oracle = verify::oracle(&settings, Arc::clone(&runtime), Arc::clone(&clock))?;
        let (changes, _) = broadcast::channel(1024);
        Ok(Arc::new(Self {
            settings,
            clock,
            store,
            blobs,
            catalog: Arc::new(catalog),
            runtime,
            oracle,
            changes,
            bell: Arc::default(),
            parsed: parsed::ParsedBoards::default(),
            busy_uploads: Mutex::default(),
            decoy: OnceCell::new(),
            runtime_checked: tokio::sync::Mutex::default(),
        }))
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The container runtime's name, and what it can't enforce here.
    pub fn runtime(&self) -> (&'static str, Vec<String>) {
        (self.runtime.name(), self.runtime.not_enforced())
    }

    /// Changes from now on. A reader that falls behind misses some and should
    /// read the state anew.
    pub fn subscribe(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// Closes the database after the last statement.
    pub async fn close(&self) {
        self.store.close().await;
    }

    fn tell(&self, change: Change) {
        // Nobody watching is no error.
        let _ = self.changes.send(change);
    }

    fn wake(&self) {
        self.bell.notify_waiters();
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// The actor, if they may review.
fn maintainer(actor: &Actor) -> Result<()> {
    match actor {
        Actor::Anonymous => Err(PortalError::SignInNeeded),
        a if a.is_maintainer() => Ok(()),
        _ => Err(PortalError::Forbidden),
    }
}

/// The actor's account, if they may hand in and change what is theirs.
fn submitter(actor: &Actor) -> Result<&UserId> {
    let user = actor.user_id().ok_or(PortalError::SignInNeeded)?;
    if actor.is_read_only() {
        return Err(PortalError::Forbidden);
    }
    Ok(user)
}

/// The actor, if they administer the site.
fn admin(actor: &Actor) -> Result<()> {
    match actor {
        Actor::Anonymous => Err(PortalError::SignInNeeded),
        a if a.is_admin() => Ok(()),
        _ => Err(PortalError::Forbidden),
    }
}
