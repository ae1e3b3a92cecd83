//! The client half: talks to a site as a person with a token. Uploads follow
//! tus 1.0: what has arrived is never sent again, failures that may pass are
//! retried with growing waits.

use std::io::SeekFrom;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use base64::Engine as _;
use bytes::Bytes;
use faultboard_domain::{Digest, SubmissionId, TeamId};
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Method, Response, StatusCode};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};

use super::kept::{self, Kept};
use crate::http::{PIECE, SUBMISSION, VERSION};

/// Bytes per request; a lost connection costs at most these.
const PIECE_BYTES: u64 = 8 << 20;
/// Seconds to wait before the next try, after each failure in a row.
const WAITS: [u64; 8] = [1, 2, 4, 8, 15, 30, 30, 30];

/// A site, and who talks to it.
pub(super) struct Client {
    http: reqwest::Client,
    base: String,
    /// The team that uploads are for.
    team: Option<TeamId>,
}

/// A failure that may pass by itself, or one that won't.
enum Trouble {
    Passing(String),
    Final(anyhow::Error),
}

impl From<reqwest::Error> for Trouble {
    fn from(e: reqwest::Error) -> Self {
        Self::Passing(format!("the site can't be reached: {}", chain(&e)))
    }
}

/// An error with its causes; a client's own says little.
fn chain(e: &dyn std::error::Error) -> String {
    let mut text = e.to_string();
    let mut next = e.source();
    while let Some(cause) = next {
        text.push_str(&format!(": {cause}"));
        next = cause.source();
    }
    text
}

impl Client {
    /// A client for the site at `base`; most calls need the token.
    pub(super) fn new(base: &str, token: Option<&str>) -> anyhow::Result<Self> {
        let token = token.filter(|t| !t.is_empty()).context(
            "no token is set: make one on the page /me of the site and set FAULTBOARD_TOKEN to it",
        )?;
        let mut bearer = HeaderValue::from_str(&format!("Bearer {token}"))
            .context("the token has characters that no token has")?;
        bearer.set_sensitive(true);
        let headers = HeaderMap::from_iter([(reqwest::header::AUTHORIZATION, bearer)]);
        let http = reqwest::Client::builder()
            .user_agent(concat!("faultboard/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_secs(10))
            .timeout(Duration::from_secs(180))
            .build()
            .context("the HTTP client can't be made")?;
        Ok(Self {
            http,
            base: base.to_owned(),
            team: None,
        })
    }

    /// The same, with uploads for a team.
    pub(super) fn for_team(self, team: Option<TeamId>) -> Self {
        Self { team, ..self }
    }

    /// Calls the API: the JSON of the answer.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<serde_json::Value>,
    ) -> anyhow::Result<serde_json::Value> {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request
            .send()
            .await
            .map_err(|e| anyhow::anyhow!("the site can't be reached: {}", chain(&e)))?;
        let status = answer.status();
        if !status.is_success() {
            bail!(refusal(answer).await);
        }
        answer
            .json()
            .await
            .with_context(|| format!("the site answered {status}, but not with JSON"))
    }

    /// Sends a file and gives the submission that it became. `told` hears the
    /// bytes that have arrived, the bytes in all, and a remark.
    pub(super) async fn upload(
        &self,
        file: &Path,
        sha256: &Digest,
        kept: &mut Kept,
        mut told: impl FnMut(u64, u64, &str),
    ) -> anyhow::Result<SubmissionId> {
        let length = tokio::fs::metadata(file).await?.len();
        let whose = self.team.as_ref().map_or("", TeamId::as_str);
        let key = kept::key(&format!("{}{whose}", self.base), sha256);
        let mut failures = 0;
        let mut reached = 0;
        loop {
            let mut arrived = |at: u64| {
                if at > reached {
                    reached = at;
                    failures = 0;
                }
                told(at, length, "");
            };
            let trouble = match self
                .try_upload(file, length, sha256, &key, kept, &mut arrived)
                .await
            {
                Ok(id) => {
                    kept.forget(&key);
                    return Ok(id);
                }
                Err(Trouble::Final(e)) => return Err(e),
                Err(Trouble::Passing(words)) => words,
            };
            let Some(wait) = WAITS.get(failures) else {
                bail!(
                    "{trouble}; gave up after {failures} tries. What has arrived is kept: run the same command again to go on"
                );
            };
            failures += 1;
            told(
                reached,
                length,
                &format!("{trouble}; trying again in {wait} s"),
            );
            tokio::time::sleep(Duration::from_secs(*wait)).await;
        }
    }

    async fn try_upload(
        &self,
        file: &Path,
        length: u64,
        sha256: &Digest,
        key: &str,
        kept: &mut Kept,
        arrived: &mut impl FnMut(u64),
    ) -> Result<SubmissionId, Trouble> {
        let (url, mut at) = match self.resume(key, kept).await? {
            Resumed::Done(id) => return Ok(id),
            Resumed::At(url, at) => (url, at),
            Resumed::Not => {
                let url = self.begin(file, length, sha256).await?;
                kept.set(key, &url);
                (url, 0)
            }
        };
        arrived(at);
        let mut source = tokio::fs::File::open(file).await.map_err(gone)?;
        loop {
            source.seek(SeekFrom::Start(at)).await.map_err(gone)?;
            let mut piece = Vec::new();
            (&mut source)
                .take(PIECE_BYTES)
                .read_to_end(&mut piece)
                .await
                .map_err(gone)?;
            let answer = self
                .tus(Method::PATCH, &url)
                .header("upload-offset", at)
                .header(reqwest::header::CONTENT_TYPE, PIECE)
                .body(Bytes::from(piece))
                .send()
                .await?;
            let answer = good(answer, key, kept).await?;
            if let Some(id) = submission(&answer) {
                return Ok(id);
            }
            let next = number(&answer, "upload-offset").ok_or_else(|| {
                Trouble::Final(anyhow::anyhow!(
                    "the site did not tell how far the upload is"
                ))
            })?;
            if next <= at {
                return Err(Trouble::Passing("the upload does not get on".to_owned()));
            }
            at = next;
            arrived(at);
        }
    }

    fn tus(&self, method: Method, url: &str) -> reqwest::RequestBuilder {
        self.http
            .request(method, url)
            .header("tus-resumable", VERSION)
    }

    /// Asks how far an upload of the same file is, if one was begun.
    async fn resume(&self, key: &str, kept: &mut Kept) -> Result<Resumed, Trouble> {
        let Some(url) = kept.get(key).cloned() else {
            return Ok(Resumed::Not);
        };
        let answer = self.tus(Method::HEAD, &url).send().await?;
        if matches!(answer.status(), StatusCode::NOT_FOUND | StatusCode::GONE) {
            kept.forget(key);
            return Ok(Resumed::Not);
        }
        let answer = good(answer, key, kept).await?;
        if let Some(id) = submission(&answer) {
            return Ok(Resumed::Done(id));
        }
        Ok(number(&answer, "upload-offset").map_or(Resumed::Not, |at| Resumed::At(url, at)))
    }

    /// Begins an upload: its address.
    async fn begin(&self, file: &Path, length: u64, sha256: &Digest) -> Result<String, Trouble> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let b64 = |t: &str| base64::engine::general_purpose::STANDARD.encode(t);
        let mut metadata = format!("filename {},sha256 {}", b64(&name), b64(sha256.as_str()));
        if let Some(team) = &self.team {
            metadata.push_str(&format!(",team {}", b64(team.as_str())));
        }
        let answer = self
            .tus(Method::POST, &format!("{}/files", self.base))
            .header("upload-length", length)
            .header("upload-metadata", metadata)
            .send()
            .await?;
        if answer.status() != StatusCode::CREATED {
            return Err(trouble(answer).await);
        }
        let location = answer
            .headers()
            .get(reqwest::header::LOCATION)
            .and_then(|l| l.to_str().ok())
            .and_then(|l| reqwest::Url::parse(&self.base).ok()?.join(l).ok())
            .filter(|url| url.as_str().starts_with(&format!("{}/", self.base)));
        location.map(String::from).ok_or_else(|| {
            Trouble::Final(anyhow::anyhow!(
                "the site named no address of its own for the upload"
            ))
        })
    }
}

/// What became of an upload that was begun before.
enum Resumed {
    Not,
    At(String, u64),
    Done(SubmissionId),
}

fn gone(e: std::io::Error) -> Trouble {
    Trouble::Final(anyhow::Error::new(e).context("the file can't be read any more"))
}

fn number(answer: &Response, name: &str) -> Option<u64> {
    answer.headers().get(name)?.to_str().ok()?.parse().ok()
}

fn submission(answer: &Response) -> Option<SubmissionId> {
    SubmissionId::parse(answer.headers().get(SUBMISSION)?.to_str().ok()?).ok()
}

/// The answer, if it is a success. An upload that the site can't go on with is
/// forgotten, so that the next try begins anew.
async fn good(answer: Response, key: &str, kept: &mut Kept) -> Result<Response, Trouble> {
    if answer.status().is_success() {
        return Ok(answer);
    }
    if matches!(
        answer.status(),
        StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::GONE
    ) {
        kept.forget(key);
    }
    Err(trouble(answer).await)
}

/// Tells failures that may pass from those that won't.
async fn trouble(answer: Response) -> Trouble {
    let status = answer.status();
    let passing = status.is_server_error()
        || matches!(
            status,
            StatusCode::CONFLICT | StatusCode::REQUEST_TIMEOUT | StatusCode::LOCKED
        );
    let words = refusal(answer).await;
    if passing {
        Trouble::Passing(words)
    } else {
        Trouble::Final(anyhow::anyhow!(words))
    }
}

/// A refusal in words: the site's own, as far as it gave any.
async fn refusal(answer: Response) -> String {
    let status = answer.status();
    let wait = number(&answer, "retry-after");
    let body = answer.text().await.unwrap_or_default();
    let detail = serde_json::from_str::<serde_json::Value>(&body)
        .ok()
        .and_then(|v| v["detail"].as_str().map(str::to_owned))
        .unwrap_or(body);
    let detail: String = super::out::tame(detail.trim()).chars().take(600).collect();
    let detail = if detail.is_empty() {
        "no reason given".to_owned()
    } else {
        detail
    };
    let wait = wait
        .map(|s| format!(" (try again in {s} s)"))
        .unwrap_or_default();
    format!("the site refused it ({status}): {detail}{wait}")
}
