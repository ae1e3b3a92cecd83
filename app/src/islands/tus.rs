//! The client side of a resumable upload (tus 1.0): create, ask how far it got,
//! send the rest piece by piece. It keeps the upload's address so that a reload,
//! a lost connection or a killed server costs at most one piece.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, ProgressEvent, Request, RequestInit, Response, XmlHttpRequest};

use super::dom;

/// Bytes per request.
const PIECE: f64 = 8.0 * 1024.0 * 1024.0;
/// Seconds to wait before the next try after a failure.
const WAITS: [u32; 8] = [1, 2, 4, 8, 15, 30, 30, 30];
/// Prefix of the keys under which unfinished uploads are kept.
const KEPT: &str = "fb-upload:";

/// Why sending stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    /// The reader paused it.
    Paused,
    /// The server refused, or could not be reached for long; the words say what to do.
    Failed(String),
}

/// Lets the page pause a running upload.
#[derive(Debug, Clone, Default)]
pub(super) struct Handle {
    paused: Rc<Cell<bool>>,
    request: Rc<RefCell<Option<XmlHttpRequest>>>,
}

impl Handle {
    /// Stops sending at once; what has arrived stays.
    pub(super) fn pause(&self) {
        self.paused.set(true);
        if let Some(x) = self.request.borrow().as_ref() {
            let _ = x.abort();
        }
    }
}

/// An upload that was begun and not finished: the file's name and size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unfinished {
    pub(super) key: String,
    pub(super) name: String,
    pub(super) size: u64,
}

/// The uploads that this browser began and did not finish.
pub(super) fn unfinished() -> Vec<Unfinished> {
    let Some(store) = dom::storage() else {
        return Vec::new();
    };
    (0..store.length().unwrap_or(0))
        .filter_map(|i| store.key(i).ok().flatten())
        .filter_map(|key| {
            let mut parts = key.strip_prefix(KEPT)?.splitn(3, ':');
            let (size, _modified, name) = (parts.next()?, parts.next()?, parts.next()?);
            Some(Unfinished {
                name: name.to_owned(),
                size: size.parse().ok()?,
                key: key.clone(),
            })
        })
        .collect()
}

/// Forgets an unfinished upload.
pub(super) fn forget(key: &str) {
    if let Some(store) = dom::storage() {
        let _ = store.remove_item(key);
    }
}

fn key_of(file: &File) -> String {
    format!(
        "{KEPT}{:.0}:{:.0}:{}",
        file.size(),
        file.last_modified(),
        file.name()
    )
}

/// Sends a file and returns the submission's id. `told` hears (bytes that have
/// arrived, a remark that may be empty).
pub(super) async fn send(
    file: &File,
    sha256: &str,
    handle: &Handle,
    told: impl Fn(f64, &str) + Clone + 'static,
) -> Result<String, Stop> {
    let key = key_of(file);
    let mut url = dom::storage().and_then(|s| s.get_item(&key).ok().flatten());
    let mut failures = 0;
    loop {
        match attempt(file, sha256, handle, &key, &mut url, &told, &mut failures).await {
            Ok(id) => {
                forget(&key);
                return Ok(id);
            }
            Err(_) if handle.paused.get() => return Err(Stop::Paused),
            Err(Trouble::Refused(words)) => return Err(Stop::Failed(words)),
            Err(Trouble::Passing(words)) => {
                let Some(wait) = WAITS.get(failures) else {
                    return Err(Stop::Failed(format!(
                        "{words} Nothing that has arrived is lost: press Resume to go on."
                    )));
                };
                failures += 1;
                for left in (1..=*wait).rev() {
                    told(
                        -1.0,
                        &format!("{words} Trying again in {left} s; what has arrived is safe."),
                    );
                    dom::sleep(1_000).await;
                    if handle.paused.get() {
                        return Err(Stop::Paused);
                    }
                }
            }
        }
    }
}

enum Trouble {
    /// May be gone in a moment.
    Passing(String),
    /// Will not go away by itself.
    Refused(String),
}

async fn attempt(
    file: &File,
    sha256: &str,
    handle: &Handle,
    key: &str,
    url: &mut Option<String>,
    told: &(impl Fn(f64, &str) + Clone + 'static),
    failures: &mut usize,
) -> Result<String, Trouble> {
    let mut offset = None;
    if let Some(known) = url.as_deref() {
        let head = call(known, "HEAD", &[]).await?;
        match head.status() {
            200..=299 => {
                if let Some(id) = header(&head, "Faultboard-Submission") {
                    return Ok(id);
                }
                offset = header(&head, "Upload-Offset").and_then(|o| o.parse::<f64>().ok());
            }
            404 | 410 => {
                forget(key);
                *url = None;
            }
            _ => return Err(refusal(&head).await),
        }
    }
    if url.is_none() {
        let mut metadata = format!("filename {}", base64(&file.name()));
        if !sha256.is_empty() {
            metadata.push_str(&format!(",sha256 {}", base64(sha256)));
        }
        if let Some(team) = dom::chosen("for-team") {
            metadata.push_str(&format!(",team {}", base64(&team)));
        }
        let size = format!("{:.0}", file.size());
        let made = call(
            "/files",
            "POST",
            &[("Upload-Length", &size), ("Upload-Metadata", &metadata)],
        )
        .await?;
        if made.status() != 201 {
            return Err(refusal(&made).await);
        }
        let location = header(&made, "Location").ok_or_else(|| {
            Trouble::Refused(
                "The server named no address for the upload. Reload the page and try again."
                    .to_owned(),
            )
        })?;
        if let Some(store) = dom::storage() {
            let _ = store.set_item(key, &location);
        }
        *url = Some(location);
        offset = Some(0.0);
    }
    let target = url.clone().unwrap_or_default();
    let mut at = offset.unwrap_or(0.0);
    told(at, "");
    loop {
        let end = (at + PIECE).min(file.size());
        let piece = file.slice_with_f64_and_f64(at, end).map_err(|_| {
            Trouble::Refused("The file can't be read any more. Choose it again.".to_owned())
        })?;
        let answer = patch(&target, at, &piece, handle, told).await?;
        match answer.status {
            200..=299 => {
                *failures = 0;
                at = answer.offset.unwrap_or(end);
                told(at, "");
                if let Some(id) = answer.submission {
                    return Ok(id);
                }
                if at >= file.size() {
                    // The last piece is in, yet its answer named no submission: ask.
                    return Err(Trouble::Passing(
                        "The upload is complete; its submission is not ready yet.".to_owned(),
                    ));
                }
            }
            409 => {
                return Err(Trouble::Passing(
                    "The server has another count of the bytes.".to_owned(),
                ));
            }
            408 | 423 | 429 | 500..=599 | 0 => {
                return Err(Trouble::Passing(said(&answer.body, answer.status)));
            }
            status => return Err(Trouble::Refused(said(&answer.body, status))),
        }
    }
}

struct Answer {
    status: u16,
    offset: Option<f64>,
    submission: Option<String>,
    body: String,
}

/// One PATCH, by the interface that tells how far it is.
async fn patch(
    url: &str,
    at: f64,
    piece: &web_sys::Blob,
    handle: &Handle,
    told: &(impl Fn(f64, &str) + Clone + 'static),
) -> Result<Answer, Trouble> {
    let lost = || Trouble::Passing("The connection was lost.".to_owned());
    let x = XmlHttpRequest::new().map_err(|_| lost())?;
    x.open_with_async("PATCH", url, true).map_err(|_| lost())?;
    for (name, value) in [
        ("Tus-Resumable", "1.0.0"),
        ("Content-Type", "application/offset+octet-stream"),
        ("Upload-Offset", &format!("{at:.0}")),
    ] {
        let _ = x.set_request_header(name, value);
    }
    if let Ok(upload) = x.upload() {
        let told = told.clone();
        dom::listen::<ProgressEvent>(&upload, "progress", move |e| told(at + e.loaded(), ""));
    }
    handle.request.replace(Some(x.clone()));
    let done = js_sys::Promise::new(&mut |resolve, _| {
        dom::listen::<ProgressEvent>(&x, "loadend", move |_| {
            let _ = resolve.call0(&JsValue::NULL);
        });
    });
    x.send_with_opt_blob(Some(piece)).map_err(|_| lost())?;
    let _ = JsFuture::from(done).await;
    handle.request.replace(None);
    let status = x.status().unwrap_or(0);
    if status == 0 {
        return Err(lost());
    }
    let header = |name: &str| x.get_response_header(name).ok().flatten();
    Ok(Answer {
        status,
        offset: header("Upload-Offset").and_then(|o| o.parse().ok()),
        submission: header("Faultboard-Submission"),
        body: x.response_text().ok().flatten().unwrap_or_default(),
    })
}

async fn call(url: &str, method: &str, headers: &[(&str, &str)]) -> Result<Response, Trouble> {
    let lost = |_: JsValue| Trouble::Passing("The server can't be reached.".to_owned());
    let init = RequestInit::new();
    init.set_method(method);
    let request = Request::new_with_str_and_init(url, &init).map_err(lost)?;
    let _ = request.headers().set("Tus-Resumable", "1.0.0");
    for (name, value) in headers {
        let _ = request.headers().set(name, value);
    }
    JsFuture::from(dom::window().fetch_with_request(&request))
        .await
        .map_err(lost)?
        .dyn_into()
        .map_err(lost)
}

fn header(response: &Response, name: &str) -> Option<String> {
    response.headers().get(name).ok().flatten()
}

async fn refusal(response: &Response) -> Trouble {
    let body = match response.text() {
        Ok(text) => JsFuture::from(text)
            .await
            .ok()
            .and_then(|t| t.as_string())
            .unwrap_or_default(),
        Err(_) => String::new(),
    };
    let words = said(&body, response.status());
    if matches!(response.status(), 408 | 423 | 500..=599) {
        Trouble::Passing(words)
    } else {
        Trouble::Refused(words)
    }
}

/// The sentence in an answer's body, or one of our own for its status.
fn said(body: &str, status: u16) -> String {
    let detail = serde_json::from_str::<serde_json::Value>(body)
        .ok()
        .and_then(|v| {
            ["detail", "message", "title"]
                .iter()
                .find_map(|k| v.get(k).and_then(|t| t.as_str()).map(str::to_owned))
        });
    let plain = || {
        let text = body.trim();
        (!text.is_empty() && !text.starts_with(['<', '{'])).then(|| text.to_owned())
    };
    match detail.or_else(plain) {
        Some(text) => text.chars().take(300).collect(),
        None => match status {
            401 => "You are no longer signed in. Sign in again in another tab, then press Resume."
                .to_owned(),
            403 => "Your account may not submit.".to_owned(),
            413 => "The bundle is larger than this site accepts.".to_owned(),
            429 => "Today's quota is used up. Try again tomorrow.".to_owned(),
            _ => format!("The server answered with status {status}."),
        },
    }
}

/// Base64 of a text's UTF-8 bytes.
fn base64(text: &str) -> String {
    let bytes: String = text.bytes().map(char::from).collect();
    dom::window().btoa(&bytes).unwrap_or_default()
}
