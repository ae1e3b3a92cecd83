//! Reads the folders `cases/` and `cases-solution/` from disk, within limits.
//! The only module here that touches a file system; it never follows a link and
//! never writes.

use std::path::Path;

use faultboard_domain::Problem;

use crate::folder::{Folder, MAX_DEPTH, MAX_FILE_BYTES, MAX_FILES, MAX_FOLDER_BYTES};

/// Reads a folder whole. What can't be read, is no plain file, or goes beyond
/// the limits becomes a problem and is left out.
pub fn read_folder(root: &Path, name: &str) -> (Folder, Vec<Problem>) {
    let mut reader = Reader {
        folder: Folder::named(name),
        problems: Vec::new(),
        bytes: 0,
        full: false,
    };
    reader.walk(root, "", 0);
    (reader.folder, reader.problems)
}

/// Names of the folders directly below, in order; files beside them are ignored.
pub(crate) fn folders(root: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_type()?.is_dir()
            && let Ok(name) = entry.file_name().into_string()
            && !name.starts_with('.')
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

struct Reader {
    folder: Folder,
    problems: Vec<Problem>,
    bytes: u64,
    full: bool,
}

impl Reader {
    fn say(&mut self, path: &str, rule: &str, message: String, fix: &str) {
        let at = if path.is_empty() {
            self.folder.name.clone()
        } else {
            self.folder.at(path)
        };
        self.problems.push(Problem::error(at, rule, message, fix));
    }

    fn walk(&mut self, dir: &Path, prefix: &str, depth: usize) {
        if depth > MAX_DEPTH {
            return self.say(
                prefix,
                "sizes",
                format!("folders are nested deeper than {MAX_DEPTH}"),
                "flatten the folder",
            );
        }
        let entries = match std::fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(e) => {
                return self.say(
                    prefix,
                    "readable",
                    format!("cannot be read: {e}"),
                    "check its permissions",
                );
            }
        };
        let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            if self.full {
                return;
            }
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                self.say(
                    prefix,
                    "file-name",
                    "a file name is not UTF-8".to_owned(),
                    "rename the file",
                );
                continue;
            };
            // Left by interpreters and editors; never part of a case.
            if name == "__pycache__" || name == ".DS_Store" {
                continue;
            }
            let path = if prefix.is_empty() {
                name.to_owned()
            } else {
                format!("{prefix}/{name}")
            };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.walk(&entry.path(), &path, depth + 1),
                Ok(kind) if kind.is_file() => self.file(&entry, path),
                Ok(_) => self.say(
                    &path,
                    "plain-files",
                    "is neither a file nor a folder".to_owned(),
                    "put a plain file in its place",
                ),
                Err(e) => self.say(
                    &path,
                    "readable",
                    format!("cannot be read: {e}"),
                    "check its permissions",
                ),
            }
        }
    }

    fn file(&mut self, entry: &std::fs::DirEntry, path: String) {
        let meta = match entry.metadata() {
            Ok(meta) => meta,
            Err(e) => {
                return self.say(
                    &path,
                    "readable",
                    format!("cannot be read: {e}"),
                    "check its permissions",
                );
            }
        };
        if meta.len() > MAX_FILE_BYTES {
            let message = format!("has {} bytes, more than {MAX_FILE_BYTES}", meta.len());
            return self.say(&path, "sizes", message, "shorten the file");
        }
        if self.folder.files.len() >= MAX_FILES || self.bytes + meta.len() > MAX_FOLDER_BYTES {
            self.full = true;
            let message =
                format!("the folder holds more than {MAX_FILES} files or {MAX_FOLDER_BYTES} bytes");
            return self.say(
                "",
                "sizes",
                message,
                "leave out what the case does not need",
            );
        }
        match std::fs::read(entry.path()) {
            Ok(bytes) => {
                self.bytes += bytes.len() as u64;
                self.folder.put(path, bytes, is_executable(&meta));
            }
            Err(e) => self.say(
                &path,
                "readable",
                format!("cannot be read: {e}"),
                "check its permissions",
            ),
        }
    }
}

#[cfg(unix)]
fn is_executable(meta: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    meta.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    false
}
