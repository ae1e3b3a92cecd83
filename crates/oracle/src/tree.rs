//! File trees on the host: digest, copy, removal. Trees may be hostile: links
//! are never followed, nothing recurses on their depth, and special files are
//! refused. Everything here blocks; callers move it off the async threads.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use faultboard_sandbox::User;
use sha2::{Digest as _, Sha256};

/// What became of one entry of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    File,
    Link,
}

/// One entry: path relative to the root, and its metadata.
pub(crate) struct Entry {
    pub(crate) relative: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) meta: fs::Metadata,
}

/// All entries below `root`, parents before children, siblings by name. `skip`
/// leaves out an entry and what is below it.
pub(crate) fn walk(root: &Path, skip: &dyn Fn(&Path) -> bool) -> io::Result<Vec<Entry>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let mut names: Vec<_> = fs::read_dir(root.join(&folder))?.collect::<Result<_, _>>()?;
        names.sort_by_key(fs::DirEntry::file_name);
        for item in names {
            let relative = folder.join(item.file_name());
            if skip(&relative) {
                continue;
            }
            let meta = item.metadata()?;
            let kind = if meta.is_dir() {
                folders.push(relative.clone());
                Kind::Folder
            } else if meta.is_file() {
                Kind::File
            } else if meta.is_symlink() {
                Kind::Link
            } else {
                return Err(io::Error::other(format!(
                    "{} is a special file",
                    relative.display()
                )));
            };
            found.push(Entry {
                relative,
                kind,
                meta,
            });
        }
    }
    Ok(found)
}

/// SHA-256 over names, kinds, executable bits and contents.
pub fn digest(root: &Path, skip: &dyn Fn(&Path) -> bool) -> io::Result<String> {
    digest_with(root, skip, true)
}

/// SHA-256 over names, kinds, executable bits and sizes: what a large folder of
/// dependencies can be checked by before each use.
pub fn outline(root: &Path, skip: &dyn Fn(&Path) -> bool) -> io::Result<String> {
    digest_with(root, skip, false)
}

fn digest_with(root: &Path, skip: &dyn Fn(&Path) -> bool, contents: bool) -> io::Result<String> {
    let mut entries = walk(root, skip)?;
    entries.sort_by(|a, b| a.relative.cmp(&b.relative));
    let mut all = Sha256::new();
    let mut buffer = vec![0u8; 64 * 1024];
    for entry in entries {
        let name = entry.relative.as_os_str().as_bytes();
        all.update((name.len() as u64).to_be_bytes());
        all.update(name);
        match entry.kind {
            Kind::Folder => all.update(b"d"),
            Kind::Link => {
                let goal = fs::read_link(root.join(&entry.relative))?;
                let goal = goal.as_os_str().as_bytes();
                all.update(b"l");
                all.update((goal.len() as u64).to_be_bytes());
                all.update(goal);
            }
            Kind::File => {
                all.update(if entry.meta.mode() & 0o100 == 0 {
                    b"f"
                } else {
                    b"x"
                });
                all.update(entry.meta.len().to_be_bytes());
                if contents {
                    let mut one = Sha256::new();
                    let mut file = fs::File::open(root.join(&entry.relative))?;
                    loop {
                        let n = file.read(&mut buffer)?;
                        if n == 0 {
                            break;
                        }
                        one.update(&buffer[..n]);
                    }
                    all.update(one.finalize());
                }
            }
        }
    }
    Ok(hex::encode(all.finalize()))
}

/// Copies a tree into a new folder, with modes and times (builds go by them),
/// and gives it to `owner` where this process may.
pub fn copy(from: &Path, to: &Path, owner: User) -> io::Result<()> {
    fs::create_dir(to)?;
    give(to, owner)?;
    for entry in walk(from, &|_| false)? {
        let (source, target) = (from.join(&entry.relative), to.join(&entry.relative));
        match entry.kind {
            Kind::Folder => {
                fs::create_dir(&target)?;
                fs::set_permissions(
                    &target,
                    fs::Permissions::from_mode(entry.meta.mode() & 0o777 | 0o700),
                )?;
            }
            Kind::File => {
                fs::copy(&source, &target)?;
                let mode = entry.meta.mode() & 0o777 | 0o400;
                let file = fs::File::options()
                    .write(true)
                    .open(&target)
                    .or_else(|_| fs::File::open(&target))?;
                file.set_permissions(fs::Permissions::from_mode(mode))?;
                file.set_times(fs::FileTimes::new().set_modified(entry.meta.modified()?))?;
            }
            Kind::Link => std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?,
        }
        give(&target, owner)?;
    }
    Ok(())
}

/// Makes `owner` the owner, if this process is root; never follows a link.
pub(crate) fn give(path: &Path, owner: User) -> io::Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    std::os::unix::fs::lchown(path, Some(owner.uid), Some(owner.gid))
}

/// Removes a file or a tree of any depth. That it is not there is no error.
///
/// A program may nest folders deeper than a recursion or a path can go, so
/// folders are first moved side by side, then emptied one by one.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(e),
        Ok(meta) if !meta.is_dir() => return fs::remove_file(path),
        Ok(_) => {}
    }
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    let trash = path.with_file_name(format!(
        ".{name}.trash-{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    ));
    fs::create_dir(&trash)?;
    fs::rename(path, trash.join("0"))?;
    empty(&trash)?;
    fs::remove_dir(&trash)
}

/// Empties a folder that holds folders with numbers for names.
fn empty(trash: &Path) -> io::Result<()> {
    let mut next = 1u64;
    let mut pending = vec![trash.join("0")];
    while let Some(folder) = pending.pop() {
        // Its owner may have shut itself out; root ignores that anyway.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        for item in fs::read_dir(&folder)? {
            let item = item?;
            if item.file_type()?.is_dir() {
                let aside = trash.join(next.to_string());
                next += 1;
                // Moving a folder writes to it (its `..` changes).
                fs::set_permissions(item.path(), fs::Permissions::from_mode(0o700))?;
                fs::rename(item.path(), &aside)?;
                pending.push(aside);
            } else {
                fs::remove_file(item.path())?;
            }
        }
        fs::remove_dir(&folder)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(_: &Path) -> bool {
        false
    }

    fn sample(root: &Path) {
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/x.py"), "one").unwrap();
        fs::write(root.join("run.sh"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", root.join("link")).unwrap();
    }

    #[test]
    fn a_copy_has_the_same_digest_times_and_modes() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        sample(&from);
        let past =
            std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        fs::File::options()
            .write(true)
            .open(from.join("a/b/x.py"))
            .unwrap()
            .set_modified(past)
            .unwrap();
        copy(
            &from,
            &to,
            User {
                uid: 1000,
                gid: 1000,
            },
        )
        .unwrap();
        assert_eq!(digest(&from, &all).unwrap(), digest(&to, &all).unwrap());
        assert_eq!(
            fs::metadata(to.join("a/b/x.py"))
                .unwrap()
                .modified()
                .unwrap(),
            past
        );
        assert_eq!(
            fs::metadata(to.join("run.sh")).unwrap().mode() & 0o777,
            0o755
        );
        assert_eq!(
            fs::read_link(to.join("link")).unwrap(),
            Path::new("/etc/passwd")
        );
    }

    #[test]
    fn every_difference_shows_in_the_digest() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("t");
        sample(&root);
        let mut seen = vec![digest(&root, &all).unwrap()];
        fs::write(root.join("a/b/x.py"), "two").unwrap();
        seen.push(digest(&root, &all).unwrap());
        fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o644)).unwrap();
        seen.push(digest(&root, &all).unwrap());
        fs::rename(root.join("a/b"), root.join("a/c")).unwrap();
        seen.push(digest(&root, &all).unwrap());
        fs::remove_file(root.join("link")).unwrap();
        seen.push(digest(&root, &all).unwrap());
        let count = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), count);
        // The outline looks at names, kinds and sizes only.
        let outlined = outline(&root, &all).unwrap();
        fs::write(root.join("a/c/x.py"), "six").unwrap();
        assert_eq!(outline(&root, &all).unwrap(), outlined);
    }

    #[test]
    fn special_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("s")).unwrap();
        assert!(
            digest(dir.path(), &all)
                .unwrap_err()
                .to_string()
                .contains("special")
        );
    }

    #[test]
    fn removal_copes_with_depth_locks_and_links() {
        let dir = tempfile::tempdir().unwrap();
        let keep = dir.path().join("keep");
        fs::write(&keep, "kept").unwrap();
        let root = dir.path().join("deep");
        // Deeper than a path may be long, made the way a program would.
        fs::create_dir(&root).unwrap();
        let long = "d".repeat(200);
        for _ in 0..60 {
            // Grow from the top: put what there is into a new folder.
            let outer = dir.path().join("outer");
            fs::create_dir(&outer).unwrap();
            fs::rename(&root, outer.join(&long)).unwrap();
            fs::rename(&outer, &root).unwrap();
        }
        fs::create_dir(root.join("locked")).unwrap();
        fs::write(root.join("locked/f"), "x").unwrap();
        fs::set_permissions(root.join("locked"), fs::Permissions::from_mode(0o000)).unwrap();
        std::os::unix::fs::symlink(&keep, root.join("link")).unwrap();
        remove(&root).unwrap();
        remove(&root).unwrap();
        assert!(!root.exists());
        assert_eq!(fs::read_to_string(&keep).unwrap(), "kept");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
