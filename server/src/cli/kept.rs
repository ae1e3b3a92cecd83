//! Uploads that were begun and not finished, kept in the person's state folder
//! so that the next `submit upload` of the same file goes on where it stopped.

use std::collections::BTreeMap;
use std::path::PathBuf;

use faultboard_domain::Digest;

/// The most uploads remembered; the file stays small.
const MOST: usize = 200;

/// The memory; without a place to keep it, it lasts for one command.
#[derive(Debug)]
pub(super) struct Kept {
    file: Option<PathBuf>,
    uploads: BTreeMap<String, String>,
}

/// What tells one upload from another: the site, and the file's bytes.
pub(super) fn key(site: &str, sha256: &Digest) -> String {
    format!("{site} {sha256}")
}

impl Kept {
    /// Reads the memory from `$XDG_STATE_HOME/faultboard` or `~/.local/state/faultboard`.
    pub(super) fn open() -> Self {
        let home = |name: &str| {
            std::env::var_os(name)
                .filter(|v| !v.is_empty())
                .map(PathBuf::from)
        };
        let folder =
            home("XDG_STATE_HOME").or_else(|| home("HOME").map(|h| h.join(".local/state")));
        Self::at(folder.map(|f| f.join("faultboard/uploads.json")))
    }

    /// Reads the memory from a file; one that can't be read counts as empty.
    pub(super) fn at(file: Option<PathBuf>) -> Self {
        let uploads = file
            .as_ref()
            .and_then(|f| std::fs::read(f).ok())
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        Self { file, uploads }
    }

    /// The address of an upload that was begun.
    pub(super) fn get(&self, key: &str) -> Option<&String> {
        self.uploads.get(key)
    }

    /// Remembers an upload's address.
    pub(super) fn set(&mut self, key: &str, url: &str) {
        while self.uploads.len() >= MOST {
            self.uploads.pop_first();
        }
        self.uploads.insert(key.to_owned(), url.to_owned());
        self.save();
    }

    /// Forgets an upload.
    pub(super) fn forget(&mut self, key: &str) {
        if self.uploads.remove(key).is_some() {
            self.save();
        }
    }

    /// Writes the memory. Where that fails, an upload can still be finished by
    /// this command; only a later one couldn't resume it.
    fn save(&self) {
        let Some(file) = &self.file else { return };
        let written = file
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| serde_json::to_vec_pretty(&self.uploads).map_err(Into::into))
            .and_then(|bytes| {
                let beside = file.with_extension("new");
                std::fs::write(&beside, bytes)?;
                std::fs::rename(&beside, file)
            });
        if let Err(e) = written {
            super::out::aside(format_args!(
                "{} can't be written, so a broken upload would begin anew: {e}",
                file.display()
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_again_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/b.json");
        let key = key("http://x", &Digest::of(b"1"));
        Kept::at(Some(file.clone())).set(&key, "/files/p1");
        let mut again = Kept::at(Some(file.clone()));
        assert_eq!(again.get(&key).map(String::as_str), Some("/files/p1"));
        again.forget(&key);
        assert!(Kept::at(Some(file.clone())).get(&key).is_none());
        std::fs::write(&file, b"not json").unwrap();
        assert!(Kept::at(Some(file)).get(&key).is_none());
    }
}
