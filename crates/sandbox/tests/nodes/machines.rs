//! Several machines on one: each an engine of its own in its own network, mount,
//! host name and process namespaces, so that killing one process is pulling the
//! plug. They hang on a switch in a namespace of its own, where no rule of this
//! machine's firewall applies. The folders of this machine are theirs too, as if
//! by a shared file system.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::lab::tool;

/// One machine with an engine.
pub(crate) struct Machine {
    pub(crate) name: String,
    pub(crate) ip: String,
    socket: String,
    namespace: String,
    process: Child,
}

impl Machine {
    /// Where its engine listens.
    pub(crate) fn host(&self) -> String {
        format!("unix://{}", self.socket)
    }

    /// Calls `docker` on it.
    pub(crate) fn docker(&self, args: &[&str]) -> Result<String, String> {
        let host = self.host();
        tool("docker", &[&["-H", host.as_str()], args].concat())
    }

    /// Pulls its plug.
    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.kill();
        let _ = tool("ip", &["netns", "del", &self.namespace]);
    }
}

/// The switch that machines hang on.
pub(crate) struct Switch {
    namespace: String,
    uplink: String,
    net: String,
    next: u8,
}

impl Switch {
    pub(crate) fn new() -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("machines need root".to_owned());
        }
        for program in ["ip", "nsenter", "unshare", "dockerd", "docker-registry"] {
            tool("sh", &["-c", &format!("command -v {program}")])
                .map_err(|_| format!("`{program}` is not installed"))?;
        }
        let pid = std::process::id();
        let switch = Self {
            namespace: format!("fb{pid}s"),
            uplink: format!("fb{pid}u"),
            net: format!("10.231.{}", pid % 250 + 1),
            next: 2,
        };
        let (ns, up) = (switch.namespace.as_str(), switch.uplink.as_str());
        tool("ip", &["netns", "add", ns])?;
        tool("ip", &["-n", ns, "link", "add", "sw0", "type", "bridge"])?;
        tool("ip", &["-n", ns, "link", "set", "sw0", "up"])?;
        tool(
            "ip",
            &[
                "link", "add", up, "type", "veth", "peer", "name", "port1", "netns", ns,
            ],
        )?;
        tool(
            "ip",
            &["-n", ns, "link", "set", "port1", "master", "sw0", "up"],
        )?;
        let here = format!("{}/24", switch.address());
        tool("ip", &["addr", "add", &here, "dev", up])?;
        tool("ip", &["link", "set", up, "up"])?;
        Ok(switch)
    }

    /// This machine's own address on it.
    pub(crate) fn address(&self) -> String {
        format!("{}.1", self.net)
    }

    /// Starts a machine whose engine believes the registry.
    pub(crate) fn machine(
        &mut self,
        folder: &Path,
        name: &str,
        registry: &str,
    ) -> Result<Machine, String> {
        let number = self.next;
        self.next += 1;
        let namespace = format!("fb{}n{number}", std::process::id());
        let (ns, port) = (namespace.as_str(), format!("port{number}"));
        let ip = format!("{}.{number}", self.net);
        tool("ip", &["netns", "add", ns])?;
        let link = ["link", "add", "eth0", "type", "veth", "peer", "name"];
        tool(
            "ip",
            &[
                &["-n", ns][..],
                &link,
                &[port.as_str(), "netns", &self.namespace],
            ]
            .concat(),
        )?;
        let plug = ["link", "set", &port, "master", "sw0", "up"];
        tool(
            "ip",
            &[&["-n", self.namespace.as_str()][..], &plug].concat(),
        )?;
        let mask = format!("{ip}/24");
        tool("ip", &["-n", ns, "addr", "add", &mask, "dev", "eth0"])?;
        tool("ip", &["-n", ns, "link", "set", "eth0", "up"])?;
        tool("ip", &["-n", ns, "link", "set", "lo", "up"])?;
        let gateway = self.address();
        tool(
            "ip",
            &["-n", ns, "route", "add", "default", "via", &gateway],
        )?;
        let dir = folder.join(name);
        std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
        std::fs::write(dir.join("daemon.json"), "{}").map_err(|e| e.to_string())?;
        let socket = dir.join("sock").display().to_string();
        let script = "hostname \"$0\" && exec dockerd --config-file \"$1/daemon.json\" \
            --data-root \"$1/data\" --exec-root \"$1/exec\" --pidfile \"$1/pid\" \
            -H \"unix://$1/sock\" --insecure-registry \"$2\"";
        let log = std::fs::File::create(dir.join("log")).map_err(|e| e.to_string())?;
        let process = Command::new("nsenter")
            .arg(format!("--net=/var/run/netns/{ns}"))
            .args([
                "unshare",
                "--uts",
                "--pid",
                "--fork",
                "--kill-child=SIGKILL",
            ])
            .args(["--mount-proc", "--mount", "--propagation", "private"])
            .args(["sh", "-c", script, name])
            .arg(&dir)
            .arg(registry)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|e| format!("nsenter: {e}"))?;
        let machine = Machine {
            name: name.to_owned(),
            ip,
            socket,
            namespace,
            process,
        };
        for _ in 0..200 {
            if machine.docker(&["version"]).is_ok() {
                return Ok(machine);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        let log = std::fs::read_to_string(dir.join("log")).unwrap_or_default();
        let last = log.lines().next_back().unwrap_or_default().to_owned();
        Err(format!(
            "the engine of machine {name} does not start: {last}"
        ))
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        let _ = tool("ip", &["link", "del", &self.uplink]);
        let _ = tool("ip", &["netns", "del", &self.namespace]);
    }
}
