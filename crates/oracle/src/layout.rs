//! Lays out on the host what containers will see of a case's oracle and rebuild.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::case::OracleCase;
use crate::stages::AttemptDirs;
use crate::tree;

/// Puts `reproduce.sh`, `inject_test/`, `lib/` and `REBUILD.sh` where containers
/// will see them, readable for every user.
pub(crate) fn lay_out(case: &OracleCase, dirs: &AttemptDirs) -> io::Result<()> {
    fs::create_dir(&dirs.oracle)?;
    fs::create_dir(&dirs.build)?;
    copy_readable(
        &case.dir.join("reproduce.sh"),
        &dirs.oracle.join("reproduce.sh"),
    )?;
    copy_readable(
        &case.dir.join("inject_test"),
        &dirs.oracle.join("inject_test"),
    )?;
    copy_readable(&case.library, &dirs.oracle.join("lib"))?;
    if let Some(script) = case.rebuild_script() {
        fs::write(dirs.build.join("REBUILD.sh"), script)?;
    }
    for dir in [&dirs.oracle, &dirs.build] {
        for entry in tree::walk(dir, &|_| false)? {
            let mode = if entry.kind == tree::Kind::Folder {
                0o755
            } else {
                0o644 | entry.meta.permissions().mode() & 0o111
            };
            fs::set_permissions(dir.join(&entry.relative), fs::Permissions::from_mode(mode))?;
        }
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Copies a file or a folder of plain files; what is not there stays away.
fn copy_readable(from: &Path, to: &Path) -> io::Result<()> {
    let meta = match fs::symlink_metadata(from) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    if meta.is_file() {
        fs::copy(from, to)?;
        return Ok(());
    }
    fs::create_dir(to)?;
    for entry in tree::walk(from, &|_| false)? {
        let (source, target) = (from.join(&entry.relative), to.join(&entry.relative));
        match entry.kind {
            tree::Kind::Folder => fs::create_dir(&target)?,
            tree::Kind::File => drop(fs::copy(&source, &target)?),
            tree::Kind::Link => {
                return Err(io::Error::other(format!("{} is a link", source.display())));
            }
        }
    }
    Ok(())
}
