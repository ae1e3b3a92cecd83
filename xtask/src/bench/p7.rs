//! P7: an upload of 1 GiB by tus, against the same client sending the same bytes to
//! nginx's WebDAV on the same disk. nginx leaves the bytes to the system's cache; the
//! product computes their digest and has them on the disk before it answers.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::{Measured, folder, tools};
use crate::{shell, ui};

const SIZE: usize = 1 << 30;
const TIMES: usize = 3;
const MEMORY: f64 = 150.0 * 1024.0 * 1024.0;

pub(super) fn run() -> Result<Vec<Measured>> {
    let folder = folder()?.join("p7");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("upload");
    noise(&file)?;
    let nginx = Nginx::start(&folder.join("nginx"))?;
    let mut theirs = f64::INFINITY;
    for _ in 0..TIMES {
        let begun = Instant::now();
        shell::run_quietly(
            Command::new("curl")
                .args(["--silent", "--show-error", "--fail", "-H", "Expect:", "-T"])
                .arg(&file)
                .arg(format!("http://127.0.0.1:{}/upload", nginx.port)),
            Duration::from_secs(600),
            "",
        )?;
        theirs = theirs.min(begun.elapsed().as_secs_f64());
    }
    drop(nginx);
    let times = TIMES.to_string();
    let ours = tools::site(&["upload", &file.display().to_string(), &times], &folder)?;
    std::fs::remove_dir_all(&folder)?;
    let best = tools::number(&ours, "best")?;
    let memory = tools::number(&ours, "memory")?;
    let rate = |s: f64| SIZE as f64 / s / 1024.0 / 1024.0;
    let detail = json!({ "ours": ours, "nginx": theirs });
    Ok(vec![
        Measured {
            what: "upload of 1 GiB, best of three".to_owned(),
            figures: format!("{:.0} MiB/s, nginx {:.0} MiB/s", rate(best), rate(theirs)),
            ratio: theirs / best,
            bar: 0.6,
            sound: true,
            detail: detail.clone(),
        },
        Measured {
            what: "memory of the server meanwhile, against 150 MiB".to_owned(),
            figures: format!("{:.0} MiB", memory / 1024.0 / 1024.0),
            ratio: MEMORY / memory,
            bar: 1.0,
            sound: true,
            detail,
        },
    ])
}

/// Bytes that no compression shortens.
fn noise(file: &Path) -> Result<()> {
    ui::step("writing 1 GiB");
    let mut out = std::io::BufWriter::with_capacity(1 << 20, std::fs::File::create(file)?);
    let mut state: u64 = 7;
    for _ in 0..SIZE / 8 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out.write_all(&state.to_le_bytes())?;
    }
    let out = out.into_inner().context("the file can't be written")?;
    Ok(out.sync_all()?)
}

/// nginx with WebDAV's PUT, and nothing else.
struct Nginx {
    child: Child,
    port: u16,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Its workers end with it when it is asked, not when it is killed.
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &id]).status();
        let _ = self.child.wait();
    }
}

impl Nginx {
    fn start(folder: &Path) -> Result<Self> {
        let root = tools::debian("nginx", "usr/sbin/nginx")?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        std::fs::create_dir_all(folder.join("www"))?;
        let user = if shell::is_root() { "user root;" } else { "" };
        let here = folder.display();
        let text = format!(
            "{user}\ndaemon off;\nworker_processes 2;\npid {here}/pid;\nerror_log {here}/error.log;\n\
             events {{}}\nhttp {{\n  access_log off;\n  client_max_body_size 0;\n\
             client_body_temp_path {here}/body;\n  proxy_temp_path {here}/proxy;\n\
             fastcgi_temp_path {here}/fastcgi;\n  uwsgi_temp_path {here}/uwsgi;\n  scgi_temp_path {here}/scgi;\n\
             server {{\n    listen 127.0.0.1:{port};\n    location / {{ root {here}/www; dav_methods PUT; }}\n  }}\n}}\n"
        );
        let settings = folder.join("nginx.conf");
        std::fs::write(&settings, text)?;
        let mut child = Command::new(root.join("usr/sbin/nginx"))
            .arg("-c")
            .arg(&settings)
            .arg("-e")
            .arg(folder.join("error.log"))
            .env("LD_LIBRARY_PATH", root.join("usr/lib/x86_64-linux-gnu"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .context("nginx could not be started")?;
        let begun = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Some(status) = child.try_wait()? {
                bail!("nginx ended ({status}); its messages are in {here}/error.log");
            }
            if begun.elapsed() > Duration::from_secs(20) {
                bail!("nginx does not answer");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(Self { child, port })
    }
}
