//! This machine's engine as a cluster of one, and back if it was none before.

use crate::lab::tool;

/// Makes this machine's engine a manager, and no longer one with the value if
/// it was none before.
pub(crate) struct OwnSwarm {
    made: bool,
}

impl OwnSwarm {
    pub(crate) fn enter() -> Result<Self, String> {
        let state = tool("docker", &["info", "--format", "{{.Swarm.LocalNodeState}}"])?;
        let made = state == "inactive";
        if made {
            let args = ["swarm", "init", "--advertise-addr", "127.0.0.1"];
            let args = [&args[..], &["--listen-addr", "127.0.0.1:2377"]].concat();
            tool("docker", &args)?;
        }
        Ok(Self { made })
    }
}

impl Drop for OwnSwarm {
    fn drop(&mut self) {
        if self.made {
            let _ = tool("docker", &["swarm", "leave", "--force"]);
        }
    }
}
