//! Folders on disk as a tree, and a converted bundle written to disk. Links are
//! never followed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::{Content, Found, Tree, metadata};

/// The most files of a folder.
const MOST_FILES: usize = 200_000;

/// One folder, or several laid over each other.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    files: BTreeMap<String, PathBuf>,
    paths: Vec<String>,
}

impl Folders {
    /// Lists the folders; of two files with one path the first counts.
    pub fn open(folders: &[&Path]) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        for folder in folders {
            let mut waiting = vec![PathBuf::new()];
            while let Some(below) = waiting.pop() {
                for item in std::fs::read_dir(folder.join(&below))? {
                    let item = item?;
                    let path = below.join(item.file_name());
                    let kind = item.file_type()?;
                    if kind.is_dir() {
                        waiting.push(path);
                    } else if kind.is_file()
                        && let Some(name) = path.to_str()
                    {
                        files
                            .entry(name.to_owned())
                            .or_insert_with(|| folder.join(&path));
                    }
                    if files.len() > MOST_FILES {
                        return Err(io::Error::other(format!(
                            "there are more than {MOST_FILES} files"
                        )));
                    }
                }
            }
        }
        let paths = files.keys().cloned().collect();
        Ok(Self { files, paths })
    }
}

impl Tree for Folders {
    fn paths(&self) -> &[String] {
        &self.paths
    }

    fn read(&self, path: &str, most: u64) -> io::Result<Vec<u8>> {
        let real = self.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        let mut bytes = Vec::new();
        File::open(real)?.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(io::Error::other(format!(
                "the file has more than {most} bytes"
            )));
        }
        Ok(bytes)
    }
}

/// Writes a bundle's folder, which must not exist yet.
pub fn write(
    found: &Found,
    from: &Folders,
    to: &Path,
    release: &str,
    subset: &str,
) -> io::Result<()> {
    std::fs::create_dir(to)?;
    File::create_new(to.join("metadata.yaml"))?
        .write_all(metadata(found, release, subset).as_bytes())?;
    for (path, content) in &found.files {
        let target = to.join(path);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut out = File::create_new(&target)?;
        match content {
            Content::Bytes(bytes) => out.write_all(bytes)?,
            Content::Same(path) => {
                let real = from.files.get(path).ok_or(io::ErrorKind::NotFound)?;
                io::copy(&mut File::open(real)?, &mut out)?;
            }
        }
    }
    Ok(())
}
