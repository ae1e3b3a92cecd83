//! Applying a patch to a tree on the host. The patch decides names and bytes, so
//! nothing is trusted: a path is walked part by part, and neither a link nor a
//! special file is ever passed through, read or written.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use faultboard_domain::patch::{FileChange, FilePatch, Patch, apply_file};
use faultboard_sandbox::User;

use crate::PROTECTED_PATHS;
use crate::tree;

/// Files larger than this are not patched.
const MAX_FILE: u64 = 64 << 20;

/// What became of a patch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Applied {
    /// Protected paths whose changes were left out.
    pub dropped: Vec<String>,
    /// What was tolerated, in words.
    pub notes: Vec<String>,
    /// Why it does not fit, one sentence for each hunk or file; empty: applied.
    pub failures: Vec<String>,
    /// Files that were written, moved or removed.
    pub changed: usize,
    /// Whether there was nothing to apply (left).
    pub empty: bool,
}

impl Applied {
    /// The report as a log.
    pub fn log(&self) -> String {
        let lines = |what: &'static str, items: &[String]| {
            items
                .iter()
                .map(|i| format!("{what}: {i}\n"))
                .collect::<String>()
        };
        format!(
            "{}{}{}{} file{} changed\n",
            lines("dropped, protected path", &self.dropped),
            lines("note", &self.notes),
            lines("failed", &self.failures),
            self.changed,
            if self.changed == 1 { "" } else { "s" }
        )
    }
}

/// Applies the patch to the tree. When it does not fit, the tree may be changed
/// in part and must be thrown away. `Err` is the host's failure.
pub fn apply(tree_root: &Path, bytes: &[u8], owner: User) -> io::Result<Applied> {
    let mut report = Applied::default();
    let mut patch = match Patch::parse(bytes) {
        Ok(patch) => patch,
        Err(e) => {
            report.failures.push(e.to_string());
            return Ok(report);
        }
    };
    let protected: Vec<String> = PROTECTED_PATHS.iter().map(|p| (*p).to_owned()).collect();
    report.dropped = patch.drop_protected(&protected);
    report.notes.append(&mut patch.notes);
    if patch.is_empty() {
        report.empty = true;
        return Ok(report);
    }
    for file in &patch.files {
        match apply_one(tree_root, file, owner, &mut report.notes)? {
            Ok(()) => report.changed += 1,
            Err(mut failures) => report.failures.append(&mut failures),
        }
    }
    Ok(report)
}

/// Why a file can't be patched, in sentences.
type Refused = Vec<String>;

fn apply_one(
    root: &Path,
    file: &FilePatch,
    owner: User,
    notes: &mut Vec<String>,
) -> io::Result<Result<(), Refused>> {
    let old_path = match locate(root, &file.old_path)? {
        Ok(path) => path,
        Err(why) => return Ok(Err(vec![why])),
    };
    let new_path = match locate(root, &file.new_path)? {
        Ok(path) => path,
        Err(why) => return Ok(Err(vec![why])),
    };
    let old = match read(&old_path, &file.old_path)? {
        Ok(old) => old,
        Err(why) => return Ok(Err(vec![why])),
    };
    if old_path != new_path && fs::symlink_metadata(&new_path).is_ok() {
        return Ok(Err(vec![format!(
            "`{}` is to be moved to `{}`, which exists already",
            file.old_path, file.new_path
        )]));
    }
    let applied = match apply_file(old.as_ref().map(|(bytes, _)| bytes.as_slice()), file) {
        Ok(applied) => applied,
        Err(failures) => {
            let name = if file.change == FileChange::Create {
                &file.new_path
            } else {
                &file.old_path
            };
            let say = |f: &faultboard_domain::patch::HunkFailure| match f.hunk {
                0 => f.why.clone(),
                n => format!("{name}: hunk {n}: {}", f.why),
            };
            return Ok(Err(failures.iter().map(say).collect()));
        }
    };
    notes.extend(applied.notes);
    let Some(bytes) = applied.bytes else {
        fs::remove_file(&old_path)?;
        return Ok(Ok(()));
    };
    let mode = match (file.executable, old.as_ref().map(|(_, mode)| *mode)) {
        (Some(true), _) => 0o755,
        (Some(false), _) | (None, None) => 0o644,
        (None, Some(mode)) => mode,
    };
    if let Some(parent) = new_path.parent() {
        make_folders(root, parent, owner)?;
    }
    // A new file in its place: an old one may be read-only, or linked elsewhere.
    if old.is_some() {
        fs::remove_file(&old_path)?;
    }
    fs::write(&new_path, bytes)?;
    fs::set_permissions(&new_path, fs::Permissions::from_mode(mode & 0o777 | 0o600))?;
    tree::give(&new_path, owner)?;
    Ok(Ok(()))
}

/// The host's path of a file in the tree, if every part above it is a folder or
/// not there yet, and the file itself is a regular one or not there yet.
fn locate(root: &Path, relative: &str) -> io::Result<Result<PathBuf, String>> {
    let mut path = root.to_owned();
    let mut parts = relative.split('/').peekable();
    while let Some(part) = parts.next() {
        if matches!(part, "" | "." | "..") {
            return Ok(Err(format!("`{relative}` is no plain path")));
        }
        path.push(part);
        match fs::symlink_metadata(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e)
                if e.kind() == io::ErrorKind::NotADirectory
                    || e.kind() == io::ErrorKind::InvalidFilename =>
            {
                return Ok(Err(format!(
                    "`{relative}` can't be a file of this tree: {e}"
                )));
            }
            Err(e) => return Err(e),
            Ok(meta) if meta.is_symlink() => {
                return Ok(Err(format!(
                    "`{relative}` passes through a link, which patches may not do"
                )));
            }
            Ok(meta) if parts.peek().is_some() && !meta.is_dir() => {
                return Ok(Err(format!(
                    "a part of `{relative}` is a file, not a folder"
                )));
            }
            Ok(meta) if parts.peek().is_none() && !meta.is_file() => {
                return Ok(Err(format!("`{relative}` is no regular file")));
            }
            Ok(_) => {}
        }
    }
    Ok(Ok(path))
}

/// Bytes and mode of a file; `None` if it is not there.
#[expect(
    clippy::type_complexity,
    reason = "the host's failure, the patch's failure, absence: each means something else"
)]
fn read(path: &Path, name: &str) -> io::Result<Result<Option<(Vec<u8>, u32)>, String>> {
    let meta = match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Ok(None)),
        other => other?,
    };
    if meta.len() > MAX_FILE {
        return Ok(Err(format!(
            "`{name}` has {} bytes; files over {MAX_FILE} are not patched",
            meta.len()
        )));
    }
    Ok(Ok(Some((fs::read(path)?, meta.permissions().mode()))))
}

fn make_folders(root: &Path, folder: &Path, owner: User) -> io::Result<()> {
    let Ok(below) = folder.strip_prefix(root) else {
        return Ok(());
    };
    let mut path = root.to_owned();
    for part in below {
        path.push(part);
        match fs::create_dir(&path) {
            Ok(()) => tree::give(&path, owner)?,
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: User = User {
        uid: 1000,
        gid: 1000,
    };

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("src")).unwrap();
        fs::write(dir.path().join("src/a.py"), "one\ntwo\nthree\n").unwrap();
        dir
    }

    fn run(dir: &Path, patch: &str) -> Applied {
        apply(dir, patch.as_bytes(), OWNER).unwrap()
    }

    #[test]
    fn changes_creates_moves_and_deletes() {
        let dir = tree();
        let report = run(
            dir.path(),
            "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n",
        );
        assert_eq!((report.failures.as_slice(), report.changed), (&[][..], 1));
        assert_eq!(
            fs::read_to_string(dir.path().join("src/a.py")).unwrap(),
            "one\nzwei\nthree\n"
        );
        run(
            dir.path(),
            "--- /dev/null\n+++ b/new/deep/b.py\n@@ -0,0 +1 @@\n+made\n",
        );
        assert_eq!(
            fs::read_to_string(dir.path().join("new/deep/b.py")).unwrap(),
            "made\n"
        );
        let moved = "diff --git a/src/a.py b/src/c.py\nsimilarity index 100%\nrename from src/a.py\nrename to src/c.py\n";
        assert_eq!(run(dir.path(), moved).failures, Vec::<String>::new());
        assert!(!dir.path().join("src/a.py").exists() && dir.path().join("src/c.py").exists());
        run(
            dir.path(),
            "--- a/new/deep/b.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-made\n",
        );
        assert!(!dir.path().join("new/deep/b.py").exists());
    }

    #[test]
    fn every_failure_is_reported() {
        let dir = tree();
        let report = run(
            dir.path(),
            "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,1 +1,1 @@\n-nothing\n+x\n--- a/gone.py\n+++ b/gone.py\n@@ -1 +1 @@\n-a\n+b\n",
        );
        assert_eq!(report.failures.len(), 2, "{report:?}");
        assert!(
            report.failures[0].contains("src/a.py: hunk 1")
                && report.failures[1].contains("gone.py")
        );
        assert!(report.log().contains("failed: "));
    }

    #[test]
    fn protected_paths_are_dropped_and_named() {
        let dir = tree();
        let report = run(
            dir.path(),
            "--- a/SYMPTOM.md\n+++ b/SYMPTOM.md\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/inject_test/x.py\n@@ -0,0 +1 @@\n+x\n",
        );
        assert_eq!(report.dropped, ["SYMPTOM.md", "inject_test/x.py"]);
        assert!(report.empty && report.changed == 0);
        assert!(run(dir.path(), "").empty);
    }

    #[test]
    fn links_lead_nowhere() {
        let dir = tree();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("victim"), "safe\n").unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("out")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("victim"), dir.path().join("v")).unwrap();
        for patch in [
            "--- a/out/victim\n+++ b/out/victim\n@@ -1 +1 @@\n-safe\n+hit\n",
            "--- a/v\n+++ b/v\n@@ -1 +1 @@\n-safe\n+hit\n",
            "--- /dev/null\n+++ b/out/new\n@@ -0,0 +1 @@\n+hit\n",
            "--- /dev/null\n+++ b/src/a.py/x\n@@ -0,0 +1 @@\n+hit\n",
            "--- /dev/null\n+++ b/src\n@@ -0,0 +1 @@\n+hit\n",
        ] {
            let report = run(dir.path(), patch);
            assert_eq!(report.failures.len(), 1, "{patch}: {report:?}");
        }
        assert_eq!(
            fs::read_to_string(outside.path().join("victim")).unwrap(),
            "safe\n"
        );
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_patch_that_leaves_the_tree_is_refused_whole() {
        let dir = tree();
        for path in [
            "../x",
            "/etc/passwd",
            "a/../../x",
            ".git/hooks/post-checkout",
        ] {
            let report = run(
                dir.path(),
                &format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"),
            );
            assert!(
                !report.failures.is_empty() || !report.dropped.is_empty(),
                "{path}: {report:?}"
            );
            assert_eq!(report.changed, 0, "{path}: {report:?}");
        }
    }

    #[test]
    fn modes_follow_the_patch_else_the_file() {
        let dir = tree();
        let file = dir.path().join("src/a.py");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        run(
            dir.path(),
            "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,1 +1,1 @@\n-one\n+1\n",
        );
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o755
        );
        run(
            dir.path(),
            "diff --git a/src/a.py b/src/a.py\nold mode 100755\nnew mode 100644\n",
        );
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o644
        );
    }
}
