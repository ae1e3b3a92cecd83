//! A bundle's `metadata.yaml` as a type. Checking its meaning (does the release
//! exist, is the contact plausible) is the bundle validator's work.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::condition::Track;
use crate::ids::{ReleaseId, SubsetId};

/// What a bundle says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The track.
    pub track: Track,
    /// The subset.
    pub subset: SubsetId,
    /// The release.
    pub release: ReleaseId,
    /// The agent scaffold.
    pub agent: AgentInfo,
    /// The model behind it.
    pub model: ModelInfo,
    /// Who hands it in.
    pub submitter: Submitter,
    /// A page about the work, http or https.
    #[serde(default)]
    pub report_url: Option<String>,
    /// How many attempts each case (and condition) has; repair 1, diagnosis 3 by default.
    #[serde(default)]
    pub attempts_per_case: Option<u32>,
    /// What an attempt might spend.
    #[serde(default)]
    pub budget: Option<Budget>,
    /// What the agent could reach.
    pub network: Network,
    /// What the submitter declares.
    pub declarations: Declarations,
}

/// The agent scaffold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its page, http or https.
    #[serde(default)]
    pub url: Option<String>,
    /// Whether its source is open.
    #[serde(default)]
    pub open_source: bool,
}

/// The model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelInfo {
    /// Its name.
    pub name: String,
    /// Its version, if it has one.
    #[serde(default)]
    pub version: Option<String>,
    /// Who offers it.
    #[serde(default)]
    pub provider: Option<String>,
    /// Whether its weights are open.
    #[serde(default)]
    pub open_weights: bool,
    /// Settings that the runs used (temperature, effort ...).
    #[serde(default)]
    pub settings: BTreeMap<String, Scalar>,
}

/// A setting's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
}

// A float setting is only ever compared with itself, as read from one file.
impl Eq for Scalar {}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Scalar::Bool(v) => v.fmt(f),
            Scalar::Int(v) => v.fmt(f),
            Scalar::Float(v) => v.fmt(f),
            Scalar::Text(v) => v.fmt(f),
        }
    }
}

/// Who hands a bundle in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submitter {
    /// Their name, shown with the row.
    pub name: String,
    /// Their organisation, shown with the row.
    #[serde(default)]
    pub organisation: Option<String>,
    /// How maintainers reach them; never public.
    pub contact: String,
}

/// What one attempt might spend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Steps.
    #[serde(default)]
    pub max_steps: Option<u64>,
    /// US dollars.
    #[serde(default)]
    pub max_cost_usd: Option<f64>,
    /// Minutes.
    #[serde(default)]
    pub max_minutes: Option<f64>,
}

impl Eq for Budget {}

/// What the agent could reach while it worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// Nothing.
    None,
    /// Documentation only.
    DocsOnly,
    /// Everything.
    Open,
}

/// What the submitter declares; each must be true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declarations {
    /// The agent had no access to the original issues.
    pub no_original_issues: bool,
    /// The agent had no access to their fixes.
    pub no_fixes: bool,
    /// The agent had no access to this benchmark's repository and site.
    pub no_benchmark_access: bool,
}

impl Metadata {
    /// Attempts per case that selection keeps: what the bundle says, else the track's usual.
    pub fn attempts_wanted(&self) -> u32 {
        self.attempts_per_case
            .unwrap_or(Self::usual_attempts(self.track))
    }

    /// Attempts per case that a track keeps where a bundle says nothing else.
    pub const fn usual_attempts(track: Track) -> u32 {
        match track {
            Track::Diagnosis => 3,
            Track::Repair | Track::Recovery => 1,
        }
    }

    /// The configuration's name for people: agent, version and model.
    pub fn configuration(&self) -> String {
        format!(
            "{} {} · {}",
            self.agent.name, self.agent.version, self.model.name
        )
    }

    /// The key that says whether two submissions are of one configuration, in
    /// one track, subset and release: the later one supersedes the earlier.
    pub fn configuration_key(&self) -> String {
        let settings: Vec<String> = self
            .model
            .settings
            .iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect();
        [
            self.track.as_str(),
            self.release.as_str(),
            self.subset.as_str(),
            &self.agent.name,
            &self.agent.version,
            &self.model.name,
            self.model.version.as_deref().unwrap_or(""),
            &settings.join(","),
        ]
        .join("\u{1f}")
    }
}
