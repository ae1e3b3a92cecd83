//! Which container runtime this machine has. It only asks; it starts nothing.

use std::process::Command;
use std::time::Duration;

use crate::shell;

/// What can run the cases here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Engine {
    /// A Docker engine answers; its version.
    Docker(String),
    /// No engine, with the reason; bubblewrap takes its place.
    None(String),
}

/// Asks the engine that `DOCKER_HOST` (or the default socket) names.
pub(crate) fn ask() -> Engine {
    if shell::find("docker").is_none() {
        return Engine::None("the docker command is not installed".to_owned());
    }
    let mut command = Command::new("docker");
    command.args(["version", "--format", "{{.Server.Version}}"]);
    match shell::output(&mut command, Duration::from_secs(15)) {
        Ok(output) if output.status.success() => {
            Engine::Docker(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
        Ok(output) => Engine::None(shell::tail(&output, 1)),
        Err(error) => Engine::None(error.to_string()),
    }
}
