//! A sender of uploads that does what no polite client does: it stops in
//! mid-sentence, and sends the same upload twice at once.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use anyhow::{Context, Result, ensure};
use reqwest::{Client, Method, Response};

use crate::reader::Reader;
use crate::server::Server;

/// Somebody with a token who uploads.
#[derive(Debug, Clone)]
pub struct Sender {
    base: String,
    token: String,
    client: Client,
}

/// How far an upload is, as the site says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The status of the answer.
    pub status: u16,
    /// Bytes that have arrived.
    pub offset: u64,
    /// What it became.
    pub submission: Option<String>,
}

impl Sender {
    /// A sender with a new account's token.
    pub async fn new(server: &Server, name: &str) -> Result<Self> {
        let reader = Reader::submitter(server, name).await?;
        let made = reader
            .post("/me/tokens", &[("name", "sender"), ("days", "30")])
            .await?;
        let token = made
            .page
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .find(|word| word.starts_with("fb_") && word.len() > 20)
            .context("no token on the page")?
            .to_owned();
        Ok(Self {
            base: server.base(),
            token,
            client: Client::builder()
                .pool_max_idle_per_host(0)
                .timeout(std::time::Duration::from_secs(60))
                .build()?,
        })
    }

    /// The token.
    pub fn token(&self) -> &str {
        &self.token
    }

    fn ask(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client
            .request(method, format!("{}{path}", self.base))
            .bearer_auth(&self.token)
            .header("tus-resumable", "1.0.0")
    }

    /// Begins an upload of a length; its path.
    pub async fn create(&self, length: usize) -> Result<String> {
        let answer = self
            .ask(Method::POST, "/files")
            .header("upload-length", length)
            .send()
            .await?;
        ensure!(answer.status() == 201, "{}", answer.status());
        let place = answer.headers().get("location").context("no address")?;
        Ok(place.to_str()?.to_owned())
    }

    /// How far an upload is.
    pub async fn head(&self, path: &str) -> Result<Told> {
        told(&self.ask(Method::HEAD, path).send().await?)
    }

    /// Sends bytes from an offset on.
    pub async fn patch(&self, path: &str, offset: u64, bytes: &[u8]) -> Result<(Told, String)> {
        let answer = self
            .ask(Method::PATCH, path)
            .header("upload-offset", offset)
            .header("content-type", "application/offset+octet-stream")
            .body(bytes.to_vec())
            .send()
            .await?;
        let told = told(&answer)?;
        Ok((told, answer.text().await?))
    }

    /// Announces bytes from an offset on and sends nothing of them yet.
    pub fn begin(&self, path: &str, offset: u64, length: usize) -> Result<Line> {
        let host = self.base.trim_start_matches("http://");
        let mut line = TcpStream::connect(host)?;
        line.set_read_timeout(Some(std::time::Duration::from_secs(60)))?;
        write!(
            line,
            "PATCH {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\n\
             Tus-Resumable: 1.0.0\r\nUpload-Offset: {offset}\r\nContent-Length: {length}\r\n\
             Content-Type: application/offset+octet-stream\r\nConnection: close\r\n\r\n",
            self.token
        )?;
        Ok(Line(line))
    }
}

fn told(answer: &Response) -> Result<Told> {
    let header = |name: &str| answer.headers().get(name).and_then(|v| v.to_str().ok());
    Ok(Told {
        status: answer.status().as_u16(),
        offset: header("upload-offset").unwrap_or("0").parse()?,
        submission: header("faultboard-submission").map(str::to_owned),
    })
}

/// A request under way.
#[derive(Debug)]
pub struct Line(TcpStream);

impl Line {
    /// Sends more of the announced bytes.
    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.0.write_all(bytes)?)
    }

    /// Breaks off.
    pub fn drop_connection(self) {
        // The other side may have been faster.
        let _ = self.0.shutdown(Shutdown::Both);
    }

    /// The answer, when everything was sent.
    pub fn answer(mut self) -> Result<String> {
        let mut text = String::new();
        self.0.read_to_string(&mut text)?;
        Ok(text)
    }
}

/// Bytes that no compression shortens, always the same for a seed.
pub fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        bytes.extend_from_slice(&(state >> 32).to_le_bytes()[..4]);
    }
    bytes.truncate(length);
    bytes
}
