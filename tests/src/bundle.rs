//! Bundles made on the spot: small, for the teaching case, packed in memory.
//! The shipped samples are read as they are.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::machine;

/// The teaching case: it needs no registry and is judged within seconds.
pub const CASE: &str = "relay-1";

/// A patch that mends the teaching case.
pub const GOOD_PATCH: &str = "\
--- a/relay/receiver.py
+++ b/relay/receiver.py
@@ -73,7 +73,7 @@
         if self.journal.has(self.stream, number):
             log.debug(\"%s: %d again\", self.stream, number)
             self.channel.send(ack=number)
-        elif not self.admission.take():
+        elif number != self.journal.last.get(self.stream, 0) + 1 or not self.admission.take():
             log.debug(\"%s: %d refused\", self.stream, number)
             self.channel.send(busy=number)
         else:
";

/// A patch that applies and mends nothing.
pub const IDLE_PATCH: &str = "\
--- /dev/null
+++ b/NOTES.txt
@@ -0,0 +1 @@
+Looked at the sender, found nothing.
";

/// The patch with one more file that does nothing: another patch with the same
/// effect, so that no verdict of before fits it.
pub fn distinct(patch: &str, mark: &str) -> String {
    format!("{patch}--- /dev/null\n+++ b/notes-{mark}.txt\n@@ -0,0 +1 @@\n+{mark}\n")
}

/// A patch that fits nowhere.
pub const MISFIT_PATCH: &str = "\
--- a/relay/receiver.py
+++ b/relay/receiver.py
@@ -1,2 +1,2 @@
-this line stands nowhere
-nor does this one
+so this
+can't be applied
";

/// A bundle to be.
#[derive(Debug, Clone)]
pub struct Draft {
    top: String,
    files: BTreeMap<String, Vec<u8>>,
}

impl Draft {
    /// A repair bundle for the subset of the teaching case, without attempts.
    pub fn repair(agent: &str) -> Self {
        Self::new("repair", agent)
    }

    /// A diagnosis bundle for it, without attempts.
    pub fn diagnosis(agent: &str) -> Self {
        Self::new("diagnosis", agent)
    }

    fn new(track: &str, agent: &str) -> Self {
        let mut metadata = String::new();
        // Writing to a String can't fail.
        let _ = write!(
            metadata,
            "track: {track}\nsubset: teaching\nrelease: \"2026.1\"\n\
             agent:\n  name: {agent}\n  version: \"1.0\"\n  open_source: true\n\
             model:\n  name: Hand\n  version: \"1\"\n  open_weights: false\n\
             submitter:\n  name: Test\n  contact: test@example.org\n\
             network: none\n\
             declarations:\n  no_original_issues: true\n  no_fixes: true\n  no_benchmark_access: true\n"
        );
        let slug: String = agent.to_lowercase().replace(' ', "-");
        let mut files = BTreeMap::new();
        files.insert("metadata.yaml".to_owned(), metadata.into_bytes());
        Self {
            top: format!("2026-01-31_{slug}__hand"),
            files,
        }
    }

    /// For another subset of the release.
    pub fn of_subset(self, subset: &str) -> Self {
        self.replacing("subset: teaching", &format!("subset: {subset}"))
    }

    /// With other words in its metadata.
    pub fn replacing(mut self, words: &str, others: &str) -> Self {
        if let Some(metadata) = self.files.get_mut("metadata.yaml") {
            let text = String::from_utf8_lossy(metadata);
            *metadata = text.replace(words, others).into_bytes();
        }
        self
    }

    /// With a file, its path below the top folder.
    pub fn file(mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.to_owned(), bytes.into());
        self
    }

    /// With a repair attempt under both conditions.
    pub fn patches(self, symptom_only: &str, with_context: &str) -> Self {
        self.patch("symptom-only", symptom_only, TRACE).patch(
            "context-augmented",
            with_context,
            TRACE,
        )
    }

    /// With one repair attempt.
    pub fn patch(self, condition: &str, patch: &str, trace: &str) -> Self {
        let dir = format!("{CASE}/{condition}/run-01");
        self.file(&format!("{dir}/patch.diff"), patch)
            .file(&format!("{dir}/trajectory.json"), trace)
    }

    /// With three equal diagnoses.
    pub fn diagnoses(mut self, diagnosis: &str) -> Self {
        for run in 1..=3 {
            let dir = format!("{CASE}/run-{run:02}");
            self = self
                .file(&format!("{dir}/diagnosis.json"), diagnosis)
                .file(&format!("{dir}/trajectory.json"), TRACE);
        }
        self
    }

    /// The archive's file name.
    pub fn file_name(&self) -> String {
        format!("{}.tar.gz", self.top)
    }

    /// The archive.
    pub fn pack(&self) -> Result<Vec<u8>> {
        let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, bytes) in &self.files {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            tar.append_data(&mut header, format!("{}/{path}", self.top), &bytes[..])?;
        }
        Ok(tar.into_inner()?.finish()?)
    }

    /// The folder, written below another.
    pub fn write(&self, below: &Path) -> Result<PathBuf> {
        let top = below.join(&self.top);
        for (path, bytes) in &self.files {
            let file = top.join(path);
            std::fs::create_dir_all(file.parent().context("a file has a folder")?)?;
            std::fs::write(file, bytes)?;
        }
        Ok(top)
    }
}

/// A trace of two steps, in mini-swe-agent's form.
pub const TRACE: &str = r#"{
  "trajectory_format": "mini-swe-agent-1.1",
  "info": {"exit_status": "Submitted", "submission": "", "model_stats": {"instance_cost": 0.02, "api_calls": 2}},
  "messages": [
    {"role": "system", "content": "You mend programs."},
    {"role": "user", "content": "Records get lost when many arrive at once. Read SYMPTOM.md first."},
    {"role": "assistant", "content": "Let me look.\n\n```bash\ncat relay/receiver.py\n```"},
    {"role": "user", "content": "<returncode>0</returncode>\n<output>\nclass Connection:\n</output>"},
    {"role": "assistant", "content": "Enough seen.\n\n```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```"}
  ]
}
"#;

/// The shipped sample bundles of a kind (`repair`, `diagnosis`, `teaching`).
pub fn samples(kind: &str) -> Result<Vec<PathBuf>, String> {
    let dir = machine::root().join("samples").join(kind);
    let mut found: Vec<PathBuf> = std::fs::read_dir(&dir)
        .map_err(|e| format!("{} can't be read: {e}", dir.display()))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("metadata.yaml").is_file())
        .collect();
    found.sort();
    if found.is_empty() {
        return Err(format!("{} holds no bundle", dir.display()));
    }
    Ok(found)
}

/// The first sample of a kind.
pub fn first_sample(kind: &str) -> Result<PathBuf> {
    let all = samples(kind).map_err(anyhow::Error::msg)?;
    all.into_iter().next().context("no sample")
}

/// The attempts of a bundle's folder and the bytes of their traces:
/// (`case/condition/run` or `case/run`, trace).
pub fn traces(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir)? {
            let path = entry?.path();
            let name = path
                .file_name()
                .and_then(|n| n.to_str())
                .unwrap_or_default();
            if path.is_dir() {
                open.push(path);
            } else if name.starts_with("trajectory") {
                let attempt = dir.strip_prefix(folder)?.display().to_string();
                found.insert(attempt, std::fs::read(&path)?);
            }
        }
    }
    Ok(found)
}

/// Packs a folder as it lies there.
pub fn pack_folder(dir: &Path) -> Result<(String, Vec<u8>)> {
    let top = dir
        .file_name()
        .and_then(|n| n.to_str())
        .context("the folder has no name")?
        .to_owned();
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    tar.append_dir_all(&top, dir)?;
    Ok((format!("{top}.tar.gz"), tar.into_inner()?.finish()?))
}
