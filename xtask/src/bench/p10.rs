//! P10: growth. Two synthetic sites of the same cases, one of 10 and one of
//! 1,000 submissions (3,600 and 360,000 attempts): how much slower board, case
//! and compare pages are, and whether filling a site is linear.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{Measured, folder, tools};
use crate::{shell, ui};

const SMALL: u32 = 10;
const LARGE: u32 = 1_000;
const REQUESTS: usize = 200;
const LONG: Duration = Duration::from_secs(3_600);

pub(super) fn run() -> Result<Vec<Measured>> {
    let binary = tools::faultboard()?;
    let small = Site::fill(&binary, SMALL)?;
    let large = Site::fill(&binary, LARGE)?;
    let (a, b) = (small.measure(&binary)?, large.measure(&binary)?);
    let mut found = Vec::new();
    for page in ["board", "case", "compare"] {
        for kind in ["kept", "made"] {
            let key = format!("{page}_{kind}");
            let (x, y) = (tools::number(&a, &key)?, tools::number(&b, &key)?);
            found.push(Measured {
                what: format!("{page} page, {kind}"),
                figures: format!("{:.2} ms at {SMALL}, {:.2} ms at {LARGE}", x * 1e3, y * 1e3),
                // The bar: at most 1.5 times as slow.
                ratio: x / y,
                bar: 1.0 / 1.5,
                sound: true,
                detail: json!({ "small": x, "large": y }),
            });
        }
    }
    let per = |s: &Site| s.seconds / f64::from(s.submissions);
    found.push(Measured {
        what: "filling a site, per submission".to_owned(),
        figures: format!(
            "{:.0} ms at {SMALL}, {:.0} ms at {LARGE}",
            per(&small) * 1e3,
            per(&large) * 1e3
        ),
        ratio: per(&small) / per(&large),
        bar: 1.0 / 1.5,
        sound: true,
        detail: json!({ "small": small.seconds, "large": large.seconds }),
    });
    Ok(found)
}

struct Site {
    data: PathBuf,
    submissions: u32,
    seconds: f64,
}

impl Site {
    /// Generates a site, unless an earlier bench has.
    fn fill(binary: &Path, n: u32) -> Result<Self> {
        let data = folder()?.join(format!("p10-{n}"));
        let note = data.join("seconds");
        if let Ok(text) = std::fs::read_to_string(&note) {
            return Ok(Self {
                data,
                submissions: n,
                seconds: text.trim().parse()?,
            });
        }
        let _ = std::fs::remove_dir_all(&data);
        ui::step(&format!("generating a site of {n} submissions"));
        let begun = Instant::now();
        shell::run_quietly(
            Command::new(binary)
                .args([
                    "demo",
                    "--synthetic",
                    &format!("diagnosis:120x{n}x3"),
                    "--data-dir",
                ])
                .arg(&data),
            LONG,
            "",
        )?;
        let seconds = begun.elapsed().as_secs_f64();
        std::fs::write(&note, seconds.to_string())?;
        Ok(Self {
            data,
            submissions: n,
            seconds,
        })
    }

    /// Median seconds of each page: kept in the server's memory as anonymous
    /// readers get it, and made anew for each request.
    fn measure(&self, binary: &Path) -> Result<Value> {
        let server = Server::start(binary, &self.data)?;
        let rows: Value =
            serde_json::from_slice(&server.get("/api/v1/submissions?of=public&limit=2")?.1)?;
        let ids: Vec<&str> = rows["items"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|i| i["row"]["submission"].as_str())
            .collect();
        let cases: Value = serde_json::from_slice(&server.get("/api/v1/cases?limit=1")?.1)?;
        let case = cases["items"][0]["case"]["id"]
            .as_str()
            .context("the site has no case")?;
        let pages = [
            ("board", "/board/diagnosis".to_owned()),
            ("case", format!("/cases/{case}")),
            ("compare", format!("/compare?rows={}", ids.join(","))),
        ];
        let mut found = serde_json::Map::new();
        for (name, path) in pages {
            // A pair that nobody asked for before is computed first.
            for _ in 0..150 {
                let (status, body) = server.get(&path)?;
                if status != 200 {
                    bail!("{path} answered {status}");
                }
                if !String::from_utf8_lossy(&body).contains("id=\"computing\"") {
                    break;
                }
                std::thread::sleep(Duration::from_millis(200));
            }
            let kept = server.median(|_| path.clone())?;
            let made = server.median(|i| {
                let sign = if path.contains('?') { '&' } else { '?' };
                format!("{path}{sign}nothing={i}")
            })?;
            found.insert(format!("{name}_kept"), json!(kept));
            found.insert(format!("{name}_made"), json!(made));
        }
        Ok(Value::Object(found))
    }
}

struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(binary: &Path, data: &Path) -> Result<Self> {
        let port = std::net::TcpListener::bind("127.0.0.1:0")?
            .local_addr()?
            .port();
        let child = Command::new(binary)
            .args([
                "serve",
                "--workers",
                "1",
                "--listen",
                &format!("127.0.0.1:{port}"),
                "--data-dir",
            ])
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let server = Self { child, port };
        let begun = Instant::now();
        while server
            .get("/readyz")
            .map_or(true, |(status, _)| status != 200)
        {
            if begun.elapsed() > Duration::from_secs(60) {
                bail!("the server was not ready within a minute");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(server)
    }

    fn get(&self, path: &str) -> Result<(u16, Vec<u8>)> {
        Connection::open(self.port)?.get(path)
    }

    fn median(&self, path: impl Fn(usize) -> String) -> Result<f64> {
        let mut connection = Connection::open(self.port)?;
        let mut spent = Vec::new();
        for i in 0..REQUESTS {
            let path = path(i);
            let begun = Instant::now();
            let (status, _) = connection.get(&path)?;
            if status != 200 {
                bail!("{path} answered {status}");
            }
            spent.push(begun.elapsed().as_secs_f64());
        }
        spent.sort_by(f64::total_cmp);
        Ok(spent[spent.len() / 2])
    }
}

/// One kept-alive HTTP/1.1 connection.
struct Connection(BufReader<TcpStream>);

impl Connection {
    fn open(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(120)))?;
        Ok(Self(BufReader::new(stream)))
    }

    fn get(&mut self, path: &str) -> Result<(u16, Vec<u8>)> {
        let request = format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
        self.0.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        let status = line
            .split(' ')
            .nth(1)
            .and_then(|s| s.parse().ok())
            .context("no status line")?;
        let (mut length, mut chunked) = (0, false);
        loop {
            line.clear();
            self.0.read_line(&mut line)?;
            let header = line.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(n) = header.strip_prefix("content-length:") {
                length = n.trim().parse()?;
            }
            chunked |= header == "transfer-encoding: chunked";
        }
        let mut body = Vec::new();
        if !chunked {
            body.resize(length, 0);
            self.0.read_exact(&mut body)?;
            return Ok((status, body));
        }
        loop {
            line.clear();
            self.0.read_line(&mut line)?;
            let size = usize::from_str_radix(line.trim(), 16)?;
            let start = body.len();
            body.resize(start + size, 0);
            self.0.read_exact(&mut body[start..])?;
            // The line end after each chunk, and after the last, empty one.
            line.clear();
            self.0.read_line(&mut line)?;
            if size == 0 {
                return Ok((status, body));
            }
        }
    }
}
