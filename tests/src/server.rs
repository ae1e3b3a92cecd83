//! The real binary, serving on a free port with a data folder of its own. It
//! can be killed at any moment and started again on the same data.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::{machine, wait_for};

/// How a server is started.
#[derive(Debug, Clone)]
pub struct Options {
    /// The test's name: its evidence lies under it.
    pub name: &'static str,
    /// Worker tasks.
    pub workers: u32,
    /// Further settings, as (variable, value).
    pub settings: Vec<(&'static str, String)>,
}

impl Options {
    /// One worker, nothing special.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            workers: 1,
            settings: Vec::new(),
        }
    }

    /// With a number of worker tasks.
    pub fn workers(mut self, workers: u32) -> Self {
        self.workers = workers;
        self
    }

    /// With one more setting.
    pub fn setting(mut self, variable: &'static str, value: impl Into<String>) -> Self {
        self.settings.push((variable, value.into()));
        self
    }
}

/// A running server; it ends with this value.
#[derive(Debug)]
pub struct Server {
    options: Options,
    data: tempfile::TempDir,
    port: u16,
    log: PathBuf,
    child: Option<Child>,
}

impl Server {
    /// Starts it and waits until it answers.
    pub async fn start(options: Options) -> Result<Self> {
        Self::start_in(options, &std::env::temp_dir()).await
    }

    /// Starts it with its data below a folder.
    pub async fn start_in(options: Options, below: &Path) -> Result<Self> {
        let binary = machine::binary();
        ensure!(
            binary.is_file(),
            "{} is missing: cargo build -p faultboard-server",
            binary.display()
        );
        let evidence = machine::evidence_dir().join(options.name);
        std::fs::create_dir_all(&evidence)?;
        let log = evidence.join("server.log");
        File::create(&log)?;
        let mut server = Self {
            options,
            data: tempfile::Builder::new()
                .prefix("faultboard-e2e-")
                .tempdir_in(below)?,
            port: free_port()?,
            log,
            child: None,
        };
        server.begin().await?;
        Ok(server)
    }

    /// The process's number.
    pub fn pid(&self) -> Result<u32> {
        Ok(self.child.as_ref().context("the server is down")?.id())
    }

    /// Fills a data folder below another with a synthetic board and serves it.
    pub async fn start_synthetic(options: Options, below: &Path, size: &str) -> Result<Self> {
        let mut server = Self::start_in(options, below).await?;
        server.stop().await?;
        std::fs::remove_dir_all(server.data_dir())?;
        let filled = server
            .binary("demo")?
            .args(["--synthetic", size])
            .status()?;
        ensure!(
            filled.success(),
            "no synthetic board:\n{}",
            server.log_tail()
        );
        server.begin().await?;
        Ok(server)
    }

    /// The most bytes of memory that the process has held so far.
    pub fn memory_peak(&self) -> Result<u64> {
        machine::memory_peak(self.pid()?)
    }

    /// The binary with this server's settings and its log.
    fn binary(&self, verb: &str) -> Result<Command> {
        let root = machine::root();
        let log = File::options().append(true).open(&self.log)?;
        let mut command = Command::new(machine::binary());
        command
            .arg(verb)
            .current_dir(&root)
            .env("FAULTBOARD_LISTEN", format!("127.0.0.1:{}", self.port))
            .env("FAULTBOARD_BASE_URL", self.base())
            .env("FAULTBOARD_DATA_DIR", self.data.path().join("data"))
            .env("FAULTBOARD_WORKERS", self.options.workers.to_string())
            .env("FAULTBOARD_SIGN_IN_RATE", "1000")
            .env("FAULTBOARD_DAILY_SCORINGS", "1000")
            .env("FAULTBOARD_PAGE_CACHE", "0")
            .env("FAULTBOARD_LOG", "info")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        if let Ok(site) = machine::site() {
            command.env("FAULTBOARD_SITE_ROOT", site);
        }
        if let Ok(runtime) = machine::runtime() {
            command.env("FAULTBOARD_RUNTIME", runtime);
        }
        let bundle = Path::new("/etc/ssl/certs/ca-certificates.crt");
        if std::env::var_os("FAULTBOARD_CA_BUNDLE").is_none() && bundle.is_file() {
            // Set-up containers trust what this machine trusts.
            command.env("FAULTBOARD_CA_BUNDLE", bundle);
        }
        for (name, value) in &self.options.settings {
            command.env(name, value);
        }
        Ok(command)
    }

    /// Starts a process that only works, on the same data.
    pub fn worker(&self, workers: u32) -> Result<WorkerProcess> {
        let child = self
            .binary("worker")?
            .env("FAULTBOARD_WORKERS", workers.to_string())
            .spawn()
            .context("the worker could not be started")?;
        Ok(WorkerProcess { child })
    }

    /// Starts the binary on the data that is there.
    pub async fn begin(&mut self) -> Result<()> {
        let mut command = self.binary("serve")?;
        self.child = Some(command.spawn().context("the server could not be started")?);
        let health = self.url("/healthz");
        wait_for("the server's first answer", 60, async || {
            if let Some(status) = self
                .child
                .as_mut()
                .and_then(|c| c.try_wait().ok().flatten())
            {
                bail!("the server ended ({status}):\n{}", self.log_tail());
            }
            crate::name_tls_provider();
            let answer = reqwest::get(&health).await;
            Ok(answer.is_ok_and(|a| a.status().is_success()).then_some(()))
        })
        .await
    }

    /// Changes a setting for the next start.
    pub fn set(&mut self, variable: &'static str, value: &str) {
        self.options.settings.retain(|(name, _)| *name != variable);
        self.options.settings.push((variable, value.to_owned()));
    }

    /// The address, such as `http://127.0.0.1:40123`.
    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// A page's address.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base())
    }

    /// The folder that holds its data.
    pub fn data_dir(&self) -> PathBuf {
        self.data.path().join("data")
    }

    /// The path and query of the one-time link that it printed last.
    pub async fn one_time_link(&self) -> Result<String> {
        wait_for("the one-time link", 30, async || {
            let log = std::fs::read_to_string(&self.log)?;
            Ok(log.rsplit_once("/first-admin?token=").map(|(_, rest)| {
                let token: String = rest
                    .chars()
                    .take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c))
                    .collect();
                format!("/first-admin?token={token}")
            }))
        })
        .await
    }

    /// Everything that it said.
    pub fn log(&self) -> String {
        let bytes = std::fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The last lines that it said.
    pub fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }

    /// Answers with a status of 500 or more, as the log tells them.
    pub fn server_errors(&self) -> Vec<String> {
        self.log()
            .lines()
            .filter(|l| l.contains("status=5") || l.contains("panicked at"))
            .map(str::to_owned)
            .collect()
    }

    /// Ends it at once, as a crash would: no clean-up runs.
    pub fn kill(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Asks it to end and waits until it has drained.
    pub async fn stop(&mut self) -> Result<()> {
        let Some(mut child) = self.child.take() else {
            return Ok(());
        };
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.context("no process id")?, Signal::TERM)?;
        let ended = wait_for("the server's end", 60, async || Ok(child.try_wait()?)).await;
        if ended.is_err() {
            child.kill()?;
            child.wait()?;
        }
        ended.map(|_| ())
    }

    /// Runs the binary's command line with this server's folders.
    pub fn command(&self) -> Command {
        let mut command = Command::new(machine::binary());
        command
            .current_dir(machine::root())
            .env("FAULTBOARD_DATA_DIR", self.data_dir())
            .env("FAULTBOARD_URL", self.base())
            .stdin(Stdio::null());
        command
    }
}

/// A running `faultboard worker`; it ends with this value.
#[derive(Debug)]
pub struct WorkerProcess {
    child: Child,
}

impl WorkerProcess {
    /// Ends it at once, as a crash would.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Result<Option<std::process::ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Asks it to end and waits until it has drained.
    pub async fn stop(mut self) -> Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.context("no process id")?, Signal::TERM)?;
        wait_for("the worker's end", 60, async || self.ended()).await?;
        Ok(())
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        // Best effort: it may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Best effort: a test that ends has nothing left to say.
            let _ = child.kill();
            let _ = child.wait();
        }
        remove_containers(&self.data_dir());
        // Programs in containers wrote there under other users' names and
        // took rights away.
        let _ = Command::new("chmod")
            .args(["-R", "u+rwX"])
            .arg(self.data.path())
            .status();
    }
}

/// Removes what a killed server left running: containers that mount its folder.
fn remove_containers(data: &Path) {
    for id in containers(data) {
        let _ = Command::new("docker")
            .args(["rm", "--force", "--volumes", &id])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

/// Containers, running or not, that mount anything below a folder.
pub fn containers(data: &Path) -> Vec<String> {
    if machine::docker().is_err() {
        return Vec::new();
    }
    let list = Command::new("docker")
        .args(["ps", "--all", "--quiet", "--no-trunc"])
        .output();
    let ids = list
        .map(|o| String::from_utf8_lossy(&o.stdout).into_owned())
        .unwrap_or_default();
    let folder = data.to_string_lossy().into_owned();
    ids.lines()
        .filter(|id| {
            Command::new("docker")
                .args([
                    "inspect",
                    "--format",
                    "{{json .HostConfig}}{{json .Mounts}}",
                    id,
                ])
                .output()
                .is_ok_and(|o| String::from_utf8_lossy(&o.stdout).contains(&folder))
        })
        .map(str::to_owned)
        .collect()
}

/// Containers that mount anything below a folder, and labelled volumes and
/// networks that name it.
pub fn labelled(data: &Path) -> Vec<String> {
    let mut found = containers(data);
    for kind in ["volume", "network"] {
        let list = Command::new("docker")
            .args([
                kind,
                "ls",
                "--quiet",
                "--filter",
                "label=org.faultboard.instance",
            ])
            .output();
        let names = list
            .map(|o| String::from_utf8_lossy(&o.stdout).into_owned())
            .unwrap_or_default();
        let folder = data.to_string_lossy().into_owned();
        found.extend(
            names
                .lines()
                .filter(|name| {
                    Command::new("docker")
                        .args([kind, "inspect", name])
                        .output()
                        .is_ok_and(|o| String::from_utf8_lossy(&o.stdout).contains(&folder))
                })
                .map(|name| format!("{kind} {name}")),
        );
    }
    found
}

/// A port that was free a moment ago.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
