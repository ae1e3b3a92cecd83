//! The files of a case's faulty tree, as far as they are text: what a diagnosis
//! may name. It reads the prepared tree and keeps nothing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use faultboard_sandbox::{Labels, RunControl};

use crate::case::OracleCase;
use crate::evaluate::{Oracle, OracleError};
use crate::tree::{self, Kind};

impl Oracle {
    /// Paths relative to the tree's root, with `/`, each with its number of
    /// lines. Prepares the tree if it isn't there yet.
    pub async fn tree_files(
        &self,
        case: &OracleCase,
        labels: &Labels,
        control: &RunControl,
    ) -> Result<BTreeMap<String, u32>, OracleError> {
        let prepared = self.prepare(case, labels, control).await?;
        let listed = tokio::task::spawn_blocking(move || list(&prepared.work.join("tree")));
        listed
            .await
            .unwrap_or_else(|e| Err(io::Error::other(e)))
            .map_err(|e| OracleError::host("listing the prepared tree", e))
    }
}

fn list(root: &Path) -> io::Result<BTreeMap<String, u32>> {
    let mut found = BTreeMap::new();
    for entry in tree::walk(root, &|p| p == Path::new(".git"))? {
        if entry.kind == Kind::File
            && let Some(path) = entry.relative.to_str()
        {
            found.insert(path.to_owned(), lines(&root.join(&entry.relative))?);
        }
    }
    Ok(found)
}

/// Lines of a file, an unfinished last one included.
fn lines(path: &Path) -> io::Result<u32> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 64 << 10];
    let (mut count, mut last) = (0_u32, b'\n');
    loop {
        let n = file.read(&mut buffer)?;
        let Some(end) = n.checked_sub(1) else {
            return Ok(count.saturating_add(u32::from(last != b'\n')));
        };
        last = buffer[end];
        let ends = buffer[..n].iter().filter(|b| **b == b'\n').count();
        count = count.saturating_add(u32::try_from(ends).unwrap_or(u32::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_with_their_lines() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("src/a.rs", "1\n2\n3");
        put("b", "");
        put(".git/HEAD", "x\n");
        std::os::unix::fs::symlink("b", dir.path().join("link")).unwrap();
        let found = list(dir.path()).unwrap();
        let all: Vec<(&str, u32)> = found.iter().map(|(p, n)| (p.as_str(), *n)).collect();
        assert_eq!(all, [("b", 0), ("src/a.rs", 3)]);
    }
}
