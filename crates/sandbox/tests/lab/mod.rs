//! What tests of the cluster need from this machine: its programs, and a registry
//! of their own. They undo what they did and nothing else.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Runs a program; its output, or what it complained about.
pub(crate) fn tool(program: &str, args: &[&str]) -> Result<String, String> {
    let out = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{program}: {e}"))?;
    if out.status.success() {
        Ok(String::from_utf8_lossy(&out.stdout).trim().to_owned())
    } else {
        let why = String::from_utf8_lossy(&out.stderr);
        Err(format!("{program} {}: {}", args.join(" "), why.trim()))
    }
}

/// A registry on an address of its own, gone with the value.
pub(crate) struct Registry {
    pub(crate) address: String,
    process: Child,
    /// What was brought into it.
    pushed: Vec<String>,
}

impl Registry {
    /// Serves what is in a folder on a free port of the address.
    pub(crate) fn start(folder: &Path, ip: &str) -> Result<Self, String> {
        let port = std::net::TcpListener::bind((ip, 0))
            .and_then(|l| l.local_addr())
            .map_err(|e| format!("no port on {ip}: {e}"))?
            .port();
        let address = format!("{ip}:{port}");
        let settings = folder.join(format!("{port}.yml"));
        let data = folder.join("data");
        std::fs::create_dir_all(&data).map_err(|e| e.to_string())?;
        let text = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage:\n  filesystem: {{rootdirectory: {}}}\nhttp: {{addr: '{address}'}}\n",
            data.display()
        );
        std::fs::write(&settings, text).map_err(|e| e.to_string())?;
        let process = Command::new("docker-registry")
            .arg("serve")
            .arg(&settings)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("docker-registry: {e} (apt-get install docker-registry)"))?;
        let registry = Self {
            address,
            process,
            pushed: Vec::new(),
        };
        for _ in 0..100 {
            if std::net::TcpStream::connect(&registry.address).is_ok() {
                return Ok(registry);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err(format!("no registry answers on {}", registry.address))
    }

    /// Brings an image of this machine's engine into it.
    pub(crate) fn push(&mut self, image: &str) -> Result<(), String> {
        let there = format!("{}/{image}", self.address);
        tool("docker", &["tag", image, &there])?;
        self.pushed.push(image.to_owned());
        tool("docker", &["push", "-q", &there]).map(drop)
    }

    /// Takes back the names that the engine keeps of it; the image has its own.
    fn forget(&self, image: &str) {
        let all =
            "{{range .RepoTags}}{{println .}}{{end}}{{range .RepoDigests}}{{println .}}{{end}}";
        let names = tool("docker", &["image", "inspect", "-f", all, image]).unwrap_or_default();
        for name in names.lines().filter(|n| n.starts_with(&self.address)) {
            let _ = tool("docker", &["rmi", name]);
        }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        for image in &self.pushed {
            self.forget(image);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
