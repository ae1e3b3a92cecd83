//! A small disk that can be filled to its last byte. It never touches the
//! machine's own disks.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::machine;

/// A small disk of its own, in memory.
#[derive(Debug)]
pub struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Mounts one of a size.
    pub fn mount(megabytes: u32) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("faultboard-disk-")
            .tempdir()?;
        let status = Command::new("mount")
            .args([
                "-t",
                "tmpfs",
                "-o",
                &format!("size={megabytes}m,mode=755"),
                "tmpfs",
            ])
            .arg(folder.path())
            .status()?;
        ensure!(status.success(), "no disk could be mounted");
        Ok(Self(folder))
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount")
            .arg("--lazy")
            .arg(self.0.path())
            .status();
    }
}

/// Whether such a disk can be had here.
pub fn may_mount() -> std::result::Result<(), String> {
    machine::root_user()?;
    match SmallDisk::mount(1) {
        Ok(_) => Ok(()),
        Err(e) => Err(format!("no small disk can be mounted here: {e}")),
    }
}
