//! SQLite: pools, migrations, and one module of statements per aggregate. It
//! knows rows and transactions; it never knows HTTP, containers or what a role
//! may do.
//!
//! One connection writes, several read (WAL). Every write runs in an immediate
//! transaction, so a writer waits at its start and never fails half-way with a
//! busy database. The functions of the modules take a connection: a reader's,
//! or the one inside a [`Tx`], so that a use case can join several aggregates
//! in one transaction.

pub mod accounts;
pub mod attempts;
pub mod audit;
pub mod boards;
pub mod error;
pub mod figures;
pub mod identities;
pub mod jobs;
pub mod reevaluations;
pub mod replays;
pub mod revisions;
pub mod statistics;
pub mod submissions;
pub mod teams;
pub mod uploads;
pub mod workers;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Sqlite, SqlitePool, Transaction};

pub use error::StoreError;
pub use sqlx::SqliteConnection as Connection;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, StoreError>;

/// An immediate write transaction; dropped without [`Tx::commit`] it changes nothing.
pub struct Tx(Transaction<'static, Sqlite>);

impl Tx {
    /// Makes everything since the beginning durable.
    pub async fn commit(self) -> Result<()> {
        Ok(self.0.commit().await?)
    }
}

impl std::ops::Deref for Tx {
    type Target = Connection;
    fn deref(&self) -> &Connection {
        &self.0
    }
}

impl std::ops::DerefMut for Tx {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.0
    }
}

/// The database.
#[derive(Debug, Clone)]
pub struct Store {
    writer: SqlitePool,
    readers: SqlitePool,
    waits: Arc<Waits>,
}

/// Writers that wait for their turn. What takes long is somebody else's lock on
/// the file: this process's own writes are short.
#[derive(Debug, Default)]
struct Waits {
    next: AtomicU64,
    since: Mutex<BTreeMap<u64, Instant>>,
}

impl Waits {
    fn begin(self: &Arc<Self>) -> Waiting {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.lock().insert(number, Instant::now());
        Waiting(Arc::clone(self), number)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Instant>> {
        self.since
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// One waiting writer; dropped when its turn has come, or it gave up.
struct Waiting(Arc<Waits>, u64);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.lock().remove(&self.1);
    }
}

/// The schema's steps, in order.
static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations");

impl Store {
    /// Opens (or makes) the database file and brings its schema up to date.
    pub async fn open(path: &Path) -> Result<Self> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(30));
        let writer = SqlitePoolOptions::new()
            .max_connections(1)
            .acquire_timeout(Duration::from_secs(60))
            .connect_with(options.clone())
            .await?;
        MIGRATOR.run(&writer).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(8)
            .acquire_timeout(Duration::from_secs(30))
            .connect_with(options.read_only(true))
            .await?;
        Ok(Self {
            writer,
            readers,
            waits: Arc::default(),
        })
    }

    /// A connection for reading.
    pub async fn reader(&self) -> Result<PoolConnection<Sqlite>> {
        Ok(self.readers.acquire().await?)
    }

    /// Begins a write transaction; waits while another one runs.
    pub async fn begin(&self) -> Result<Tx> {
        const BEGIN: &str = "begin immediate";
        let _waiting = self.waits.begin();
        match self.writer.begin_with(BEGIN).await {
            Ok(tx) => Ok(Tx(tx)),
            Err(e @ (sqlx::Error::Database(_) | sqlx::Error::PoolTimedOut)) => Err(e.into()),
            Err(_) => {
                // SQLite ends a transaction by itself when the disk is full; the
                // connection goes on counting it, and would never begin another.
                self.writer.acquire().await?.close().await?;
                Ok(Tx(self.writer.begin_with(BEGIN).await?))
            }
        }
    }

    /// How long the writer that waits longest has waited so far; zero if none does.
    pub fn longest_wait(&self) -> Duration {
        self.waits
            .lock()
            .values()
            .next()
            .map_or(Duration::ZERO, Instant::elapsed)
    }

    /// Closes both pools after the last statement.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

/// Reads one text value out of the table of flags.
pub async fn flag(c: &mut Connection, name: &str) -> Result<Option<String>> {
    Ok(sqlx::query_scalar("select value from flags where name = ?")
        .bind(name)
        .fetch_optional(c)
        .await?)
}

/// Sets a flag.
pub async fn set_flag(c: &mut Connection, name: &str, value: &str) -> Result<()> {
    sqlx::query("insert into flags (name, value) values (?, ?) on conflict (name) do update set value = excluded.value")
        .bind(name)
        .bind(value)
        .execute(c)
        .await?;
    Ok(())
}
