//! The images that cases run in. docker/build.sh makes them where an engine
//! runs; elsewhere they become folders for bubblewrap.

use std::process::Command;

use anyhow::Result;

use crate::engine::{self, Engine};
use crate::{rootfs, shell, ui};

/// Builds what changed, and says which runtime the cases will use.
pub(crate) fn build(force: bool) -> Result<Engine> {
    let engine = engine::ask();
    match &engine {
        Engine::Docker(version) => {
            ui::step(&format!("Docker engine {version} answers"));
            let mut command = Command::new("bash");
            command.arg("docker/build.sh");
            if force {
                command.arg("--force");
            }
            shell::run(
                &mut command,
                "The lines above say which image and why; docker/build.sh lists the settings for mirrors and CA bundles.",
            )?;
        }
        Engine::None(reason) => {
            ui::warn(&format!("no Docker engine runs ({reason})"));
            ui::warn(
                "cases run under bubblewrap instead, which limits less: see docs/operating.md",
            );
            rootfs::build(force)?;
        }
    }
    Ok(engine)
}
