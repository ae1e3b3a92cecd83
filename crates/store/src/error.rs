//! What can go wrong between the database and the domain. It never reaches a page.

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database refused or could not be reached.
    #[error("database: {0}")]
    Database(#[from] sqlx::Error),
    /// The schema could not be brought up to date.
    #[error("migration: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// A row holds what the domain does not know.
    #[error("row: {0}")]
    Corrupt(String),
    /// A value could not be written as JSON, or read back.
    #[error("json: {0}")]
    Json(#[from] serde_json::Error),
}

impl StoreError {
    /// Whether the statement broke a uniqueness rule.
    pub fn is_unique_violation(&self) -> bool {
        matches!(self, Self::Database(sqlx::Error::Database(e)) if e.is_unique_violation())
    }
}

impl From<faultboard_domain::IdError> for StoreError {
    fn from(e: faultboard_domain::IdError) -> Self {
        Self::Corrupt(e.to_string())
    }
}

/// Turns a missing word into a named error.
pub(crate) fn known<T>(value: Option<T>, what: &str, text: &str) -> Result<T, StoreError> {
    value.ok_or_else(|| StoreError::Corrupt(format!("unknown {what} `{text}`")))
}
