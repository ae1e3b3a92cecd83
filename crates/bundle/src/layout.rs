//! Where a path stands in a bundle's layout, by its parts alone. Whether the
//! case, the condition and the run exist is for the rules to say.

/// What a file is to the bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// `metadata.yaml`.
    Metadata,
    /// A file of an attempt.
    Attempt(Slot, Role),
    /// A dropping of an operating system, such as `.DS_Store`.
    Dropping,
    /// Nothing that a bundle has.
    Stray,
}

/// An attempt's folder as its path names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot {
    pub case: String,
    pub condition: Option<String>,
    pub run: String,
}

impl Slot {
    /// The folder's path below the top folder.
    pub(crate) fn path(&self) -> String {
        match &self.condition {
            Some(condition) => format!("{}/{condition}/{}", self.case, self.run),
            None => format!("{}/{}", self.case, self.run),
        }
    }
}

/// What a file is to its attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Patch,
    Diagnosis,
    Stats,
    /// With its place in the order of preference, should there be several.
    Trace(TraceName),
}

/// The names under which a trace is found, the preferred first. The format is
/// told from the content, never from the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TraceName {
    Json,
    JsonLines,
    TrajJson,
    Traj,
    Markdown,
    Text,
    Eval,
}

impl TraceName {
    /// Whether the content is JSON and so must be UTF-8.
    pub(crate) const fn is_json(self) -> bool {
        matches!(
            self,
            Self::Json | Self::JsonLines | Self::TrajJson | Self::Traj
        )
    }
}

/// The role of a file name within an attempt.
pub(crate) fn role(file: &str) -> Option<Role> {
    Some(match file {
        "patch.diff" => Role::Patch,
        "diagnosis.json" => Role::Diagnosis,
        "session_stats.json" => Role::Stats,
        "trajectory.json" => Role::Trace(TraceName::Json),
        "trajectory.jsonl" => Role::Trace(TraceName::JsonLines),
        "trajectory.md" => Role::Trace(TraceName::Markdown),
        "trajectory.txt" => Role::Trace(TraceName::Text),
        "trajectory.eval" => Role::Trace(TraceName::Eval),
        f if f.len() > 10 && f.ends_with(".traj.json") => Role::Trace(TraceName::TrajJson),
        f if f.len() > 5 && f.ends_with(".traj") => Role::Trace(TraceName::Traj),
        _ => return None,
    })
}

/// The place of a clean path, its top folder included.
pub(crate) fn place(path: &str) -> Place {
    let parts: Vec<&str> = path.split('/').collect();
    let file = parts.last().copied().unwrap_or_default();
    if parts.first() == Some(&"__MACOSX")
        || matches!(file, ".DS_Store" | "Thumbs.db" | "desktop.ini")
        || file.starts_with("._")
    {
        return Place::Dropping;
    }
    match parts[..] {
        [_, "metadata.yaml"] => Place::Metadata,
        [_, case, run, file] => attempt(case, None, run, file),
        [_, case, condition, run, file] => attempt(case, Some(condition), run, file),
        _ => Place::Stray,
    }
}

fn attempt(case: &str, condition: Option<&str>, run: &str, file: &str) -> Place {
    let slot = Slot {
        case: case.to_owned(),
        condition: condition.map(str::to_owned),
        run: run.to_owned(),
    };
    role(file).map_or(Place::Stray, |role| Place::Attempt(slot, role))
}

/// A path without its top folder; the path itself if it has none.
pub(crate) fn below_top(path: &str) -> &str {
    path.split_once('/').map_or(path, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_by_depth_and_name() {
        assert_eq!(place("t/metadata.yaml"), Place::Metadata);
        assert_eq!(place("metadata.yaml"), Place::Stray);
        let Place::Attempt(slot, Role::Patch) = place("t/kv-1/symptom-only/run-01/patch.diff")
        else {
            panic!("a patch is one");
        };
        assert_eq!(slot.path(), "kv-1/symptom-only/run-01");
        assert!(matches!(
            place("t/kv-1/run-01/kv-1.traj.json"),
            Place::Attempt(_, Role::Trace(TraceName::TrajJson))
        ));
        assert_eq!(place("t/kv-1/run-01/notes.md"), Place::Stray);
        assert_eq!(place("t/a/b/c/d/patch.diff"), Place::Stray);
        assert_eq!(place("__MACOSX/t/._metadata.yaml"), Place::Dropping);
        assert_eq!(place("t/kv-1/.DS_Store"), Place::Dropping);
        assert_eq!(place("t/.traj.json"), Place::Stray);
    }
}
