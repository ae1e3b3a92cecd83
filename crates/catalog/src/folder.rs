//! A folder of small files held in memory: what lints, digests and readers work
//! on. It is filled by the loader, or by hand in tests, and never touches a disk.

use std::collections::BTreeMap;

/// The most files that a case or its solution may have.
pub const MAX_FILES: usize = 2_000;

/// The largest single file, in bytes.
pub const MAX_FILE_BYTES: u64 = 2 * 1024 * 1024;

/// The most bytes that a folder may hold in all.
pub const MAX_FOLDER_BYTES: u64 = 16 * 1024 * 1024;

/// The deepest nesting of folders.
pub const MAX_DEPTH: usize = 12;

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether its owner may execute it.
    pub executable: bool,
}

/// Files by path relative to the folder, `/` between parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folder {
    /// Name of the folder in problems, such as `cases/relay-1`.
    pub name: String,
    /// The files.
    pub files: BTreeMap<String, File>,
}

impl Folder {
    /// An empty folder of that name.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            files: BTreeMap::new(),
        }
    }

    /// Adds or replaces a file.
    pub fn put(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>, executable: bool) {
        self.files.insert(
            path.into(),
            File {
                bytes: bytes.into(),
                executable,
            },
        );
    }

    /// The content of a file.
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(|f| f.bytes.as_slice())
    }

    /// The content of a file as text; `None` if it is missing or not UTF-8.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.bytes(path).and_then(|b| std::str::from_utf8(b).ok())
    }

    /// Paths below a sub-folder (given without a final slash), in order.
    pub fn below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a File)> {
        self.files
            .iter()
            .filter(move |(path, _)| {
                path.strip_prefix(prefix)
                    .is_some_and(|rest| rest.starts_with('/'))
            })
            .map(|(path, file)| (path.as_str(), file))
    }

    /// A file's name in problems.
    pub fn at(&self, path: &str) -> String {
        format!("{}/{path}", self.name)
    }
}
