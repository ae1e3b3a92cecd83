//! Builds bundles for tests: sound ones, and ones that are broken in every way
//! that the validator must tell. Archives are written byte by byte, because no
//! library writes what must not be written. For tests only.

mod archive;
mod table;

pub use table::{Hostile, knowledge, table};

/// What an item of an archive is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemKind {
    /// A file with the item's bytes.
    File,
    /// A folder.
    Folder,
    /// A symbolic link to the path.
    Symlink(String),
    /// A hard link to the path.
    Hardlink(String),
    /// A character device.
    Device,
    /// A named pipe.
    Pipe,
}

/// One item, exactly as it will stand in the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The bytes of its name.
    pub name: Vec<u8>,
    /// What it is.
    pub kind: ItemKind,
    /// Its bytes.
    pub data: Vec<u8>,
}

/// A bundle in the making.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    /// Name of its top folder.
    pub top: String,
    /// Its items, in the order of the archive.
    pub items: Vec<Item>,
}

/// A patch that any tree might get.
pub const PATCH: &str = "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1 +1 @@\n-old\n+new\n";
/// A trace of two messages in the mini-swe-agent form.
pub const TRACE: &str = r#"{"trajectory_format":"mini-swe-agent-1","info":{"exit_status":"Submitted","submission":""},"messages":[{"role":"system","content":"Mend it."},{"role":"assistant","content":"Done."}]}"#;
/// A diagnosis of one block.
pub const DIAGNOSIS: &str = r#"{"bug_cause_description":"The lock is taken twice.","buggy_blocks":[{"file":"src/lib.rs","function":"f","start_line":1,"end_line":"3"}]}"#;
/// Stats of a short run.
pub const STATS: &str = r#"{"calls":2,"input_tokens":100,"output_tokens":20,"cached_tokens":0,"cost_usd":0.01,"seconds":3.5}"#;

impl Builder {
    /// A bundle with metadata alone.
    pub fn new(track: &str, release: &str, subset: &str, attempts: u32) -> Self {
        let mut builder = Self {
            top: "20260131_agent__model".to_owned(),
            items: Vec::new(),
        };
        let metadata = format!(
            "track: {track}\nsubset: {subset}\nrelease: \"{release}\"\n\
             agent: {{name: Agent, version: \"1.0\", url: https://agent.example, open_source: true}}\n\
             model: {{name: Model, provider: Provider, open_weights: true, settings: {{temperature: 0}}}}\n\
             submitter: {{name: Tester, contact: tester@example.org}}\n\
             attempts_per_case: {attempts}\nnetwork: none\n\
             declarations: {{no_original_issues: true, no_fixes: true, no_benchmark_access: true}}\n"
        );
        builder.put("metadata.yaml", metadata);
        builder
    }

    /// A sound repair bundle: one attempt per case and condition.
    pub fn repair(release: &str, subset: &str, cases: &[&str], conditions: &[&str]) -> Self {
        let mut builder = Self::new("repair", release, subset, 1);
        for case in cases {
            for condition in conditions {
                builder.attempt(&format!("{case}/{condition}/run-01"), "patch.diff", PATCH);
            }
        }
        builder
    }

    /// A sound diagnosis bundle.
    pub fn diagnosis(release: &str, subset: &str, cases: &[&str], runs: u32) -> Self {
        let mut builder = Self::new("diagnosis", release, subset, runs);
        for case in cases {
            for run in 1..=runs {
                builder.attempt(&format!("{case}/run-{run:02}"), "diagnosis.json", DIAGNOSIS);
            }
        }
        builder
    }

    fn attempt(&mut self, folder: &str, answer: &str, content: &str) {
        self.put(&format!("{folder}/{answer}"), content);
        self.put(&format!("{folder}/trajectory.json"), TRACE);
        self.put(&format!("{folder}/session_stats.json"), STATS);
    }

    /// Adds a file below the top folder, or replaces it.
    pub fn put(&mut self, below: &str, data: impl Into<Vec<u8>>) -> &mut Self {
        let name = format!("{}/{below}", self.top).into_bytes();
        let data = data.into();
        match self.items.iter_mut().find(|i| i.name == name) {
            Some(item) => item.data = data,
            None => self.items.push(Item {
                name,
                kind: ItemKind::File,
                data,
            }),
        }
        self
    }

    /// Takes out every item whose path below the top folder starts so.
    pub fn take(&mut self, below: &str) -> &mut Self {
        let start = format!("{}/{below}", self.top).into_bytes();
        self.items.retain(|i| !i.name.starts_with(&start));
        self
    }

    /// Adds an item under exactly this name, whatever else has it.
    pub fn raw(&mut self, name: impl Into<Vec<u8>>, kind: ItemKind, data: &[u8]) -> &mut Self {
        self.items.push(Item {
            name: name.into(),
            kind,
            data: data.to_vec(),
        });
        self
    }

    /// As `.tar.gz`.
    pub fn tar_gz(&self) -> Vec<u8> {
        archive::gzip(&archive::tar(&self.items))
    }

    /// As `.tar.zst`.
    pub fn tar_zst(&self) -> Vec<u8> {
        archive::zstd(&archive::tar(&self.items))
    }

    /// As `.zip`.
    pub fn zip(&self) -> Vec<u8> {
        archive::zip(&self.items)
    }

    /// Writes the files into a folder, which becomes the top folder.
    pub fn write(&self, folder: &std::path::Path) -> std::io::Result<()> {
        for item in &self.items {
            if let Ok(name) = std::str::from_utf8(&item.name)
                && let Some((_, below)) = name.split_once('/')
            {
                let path = folder.join(below);
                if let Some(parent) = path.parent() {
                    std::fs::create_dir_all(parent)?;
                }
                std::fs::write(path, &item.data)?;
            }
        }
        Ok(())
    }
}
