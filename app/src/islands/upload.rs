//! The upload: choose or drop a bundle, see at once what it holds, send it with
//! a progress bar that can be paused and that outlives a reload. Without
//! scripts the same form posts the file the plain way.

use faultboard_domain::Report;
use leptos::prelude::*;

use super::upload_found::found;
use crate::format;

/// Where the upload stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "hydrate"),
    expect(dead_code, reason = "reached in the browser only")
)]
enum Phase {
    Idle,
    Sending,
    Paused,
    Done,
}

/// What the island shows.
#[derive(Debug, Clone, PartialEq)]
struct Shown {
    phase: Phase,
    /// Name and size of the chosen file.
    file: Option<(String, u64)>,
    /// Whether the look into the file is under way.
    looking: bool,
    report: Option<Report>,
    /// Bytes that have arrived.
    sent: f64,
    /// Bytes per second of late; 0: not known.
    rate: f64,
    message: String,
    failed: bool,
    dragging: bool,
    /// Unfinished uploads of this browser: (key, name, size).
    unfinished: Vec<(String, String, u64)>,
}

impl Default for Shown {
    fn default() -> Self {
        Self {
            phase: Phase::Idle,
            file: None,
            looking: false,
            report: None,
            sent: 0.0,
            rate: 0.0,
            message: String::new(),
            failed: false,
            dragging: false,
            unfinished: Vec::new(),
        }
    }
}

/// The three steps of a submission; `max_bytes` is the largest file accepted,
/// `ready` whether the account may send now, `teams` those that it may send for
/// (id, words).
#[island]
pub fn Upload(max_bytes: u64, ready: bool, teams: Vec<(String, String)>) -> impl IntoView {
    let shown = RwSignal::new(Shown::default());
    #[cfg(feature = "hydrate")]
    let control = imp::Control::new(shown, max_bytes);
    #[cfg(feature = "hydrate")]
    Effect::new(move |_| imp::recall(shown));
    #[cfg(not(feature = "hydrate"))]
    let _ = max_bytes;

    let on_choose = move |_: leptos::ev::Event| {
        #[cfg(feature = "hydrate")]
        control.choose_from_input();
    };
    let on_drag = move |over: bool| {
        move |e: leptos::ev::DragEvent| {
            e.prevent_default();
            shown.update(|s| s.dragging = over);
        }
    };
    let on_drop = move |e: leptos::ev::DragEvent| {
        e.prevent_default();
        shown.update(|s| s.dragging = false);
        #[cfg(feature = "hydrate")]
        control.choose_dropped(&e);
    };
    let on_submit = move |e: leptos::ev::SubmitEvent| {
        e.prevent_default();
        #[cfg(feature = "hydrate")]
        control.send();
    };
    let on_pause = move |_: leptos::ev::MouseEvent| {
        #[cfg(feature = "hydrate")]
        control.pause();
    };

    let whose = (!teams.is_empty()).then(|| {
        let options: Vec<AnyView> = teams
            .into_iter()
            .map(|(id, words)| view! { <option value=id>{words}</option> }.into_any())
            .collect();
        view! {
            <div class="field">
                <label for="for-team">"Hand it in for"</label>
                <select id="for-team" name="team"><option value="">"myself"</option>{options}</select>
            </div>
        }
    });
    view! {
        <form method="post" action="/submit" enctype="multipart/form-data" class="upload" on:submit=on_submit>
            <ol class="steps">
                <li class="step">
                    <h2>"Choose the bundle"</h2>
                    <label
                        class="drop"
                        for="bundle"
                        class:over=move || shown.with(|s| s.dragging)
                        on:dragover=on_drag(true)
                        on:dragleave=on_drag(false)
                        on:drop=on_drop
                    >
                        <span class="drop-words">"Bundle as .tar.gz, .tar.zst or .zip"</span>
                        <span class="needs-js drop-hint">"choose it, or drop it here"</span>
                        <input type="file" id="bundle" name="bundle" accept=".gz,.tgz,.zst,.zip" required=true disabled=!ready on:change=on_choose/>
                    </label>
                    <p class="file-name" role="status">{move || shown.with(file_words)}</p>
                    <div class="unfinished-list">{move || shown.with(unfinished_words)}</div>
                    {whose}
                    <details class="more">
                        <summary>"Check the transfer by a SHA-256"</summary>
                        <div class="field">
                            <label for="sha256">"SHA-256 of the file, optional"</label>
                            <input id="sha256" name="sha256" type="text" class="mono" maxlength="64" pattern="[0-9a-fA-F]{64}" autocomplete="off"/>
                        </div>
                    </details>
                </li>
                <li class="step">
                    <h2>"See what was found"</h2>
                    <div role="status">{move || shown.with(|s| found(s.looking, s.report.as_ref()))}</div>
                </li>
                <li class="step">
                    <h2>"Send"</h2>
                    <div class="send-row">
                        <button class="button primary" id="send" disabled=move || !ready || shown.with(|s| matches!(s.phase, Phase::Sending | Phase::Done))>
                            {move || shown.with(|s| match s.phase { Phase::Paused => "Resume", _ => "Send" })}
                        </button>
                        <button type="button" class="button needs-js" id="pause" disabled=move || shown.with(|s| s.phase != Phase::Sending) on:click=on_pause>"Pause"</button>
                    </div>
                    <div class="progress needs-js" hidden=move || shown.with(|s| s.phase == Phase::Idle)>
                        <progress id="upload-bar" aria-label="Bytes sent" max="1000" value=move || shown.with(permille)></progress>
                        <p class="num" id="upload-count">{move || shown.with(progress_words)}</p>
                    </div>
                    <p class=move || if shown.with(|s| s.failed) { "upload-message bad" } else { "upload-message" } role="status">
                        {move || shown.with(|s| s.message.clone())}
                    </p>
                </li>
            </ol>
        </form>
    }
}

fn file_words(s: &Shown) -> String {
    match &s.file {
        Some((name, size)) => format!("{name}, {}", format::bytes(*size)),
        None => String::new(),
    }
}

fn unfinished_words(s: &Shown) -> Vec<AnyView> {
    if s.file.is_some() {
        return Vec::new();
    }
    s.unfinished
        .iter()
        .map(|(_, name, size)| {
            view! {
                <p class="unfinished">{format!("An upload of {name} ({}) is not finished. Choose the same file and press Send: it goes on where it stopped.", format::bytes(*size))}</p>
            }
            .into_any()
        })
        .collect()
}

fn permille(s: &Shown) -> String {
    let size = s.file.as_ref().map_or(1, |f| f.1.max(1));
    #[expect(clippy::cast_precision_loss, reason = "a bar")]
    let share = s.sent / size as f64;
    format!("{:.0}", (share * 1000.0).clamp(0.0, 1000.0))
}

fn progress_words(s: &Shown) -> String {
    let Some((_, size)) = s.file else {
        return String::new();
    };
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "file sizes; as saturates"
    )]
    let (sent, size_f) = (s.sent as u64, size as f64);
    let share = if size == 0 { 1.0 } else { s.sent / size_f };
    let left = if s.rate > 1.0 && s.phase == Phase::Sending && s.sent < size_f {
        format!(
            " · about {} left",
            format::duration((size_f - s.sent) / s.rate)
        )
    } else {
        String::new()
    };
    format!(
        "{} % · {} of {}{left}",
        format::percent(share),
        format::bytes(sent),
        format::bytes(size)
    )
}

#[cfg(feature = "hydrate")]
mod imp {
    use std::cell::RefCell;

    use faultboard_domain::{Problem, Report};
    use leptos::prelude::*;
    use leptos::task::spawn_local;
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_futures::JsFuture;
    use web_sys::{File, HtmlInputElement};

    use super::super::{dom, precheck, tus};
    use super::{Phase, Shown};

    thread_local! {
        /// The chosen file and the handle of its running upload: neither may
        /// leave the thread, so neither fits in a signal.
        static CHOSEN: RefCell<Option<File>> = const { RefCell::new(None) };
        static RUNNING: RefCell<Option<tus::Handle>> = const { RefCell::new(None) };
    }

    /// What the island's handlers do.
    #[derive(Clone, Copy)]
    pub(super) struct Control {
        shown: RwSignal<Shown>,
        max_bytes: u64,
    }

    /// Tells of uploads that an earlier visit left unfinished.
    pub(super) fn recall(shown: RwSignal<Shown>) {
        let left = tus::unfinished()
            .into_iter()
            .map(|u| (u.key, u.name, u.size))
            .collect();
        shown.update(|s| s.unfinished = left);
    }

    impl Control {
        pub(super) fn new(shown: RwSignal<Shown>, max_bytes: u64) -> Self {
            Self { shown, max_bytes }
        }

        pub(super) fn choose_from_input(self) {
            let file = input().and_then(|i| i.files()).and_then(|f| f.item(0));
            if let Some(file) = file {
                self.choose(file);
            }
        }

        pub(super) fn choose_dropped(self, e: &web_sys::DragEvent) {
            let Some(files) = e.data_transfer().and_then(|d| d.files()) else {
                return;
            };
            if let Some(file) = files.item(0) {
                // So that the form is complete for the browser too.
                if let Some(input) = input() {
                    input.set_files(Some(&files));
                }
                self.choose(file);
            }
        }

        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a file's size"
        )]
        fn choose(self, file: File) {
            self.pause();
            let (name, size) = (file.name(), file.size() as u64);
            self.shown.update(|s| {
                *s = Shown {
                    file: Some((name.clone(), size)),
                    looking: true,
                    unfinished: std::mem::take(&mut s.unfinished),
                    ..Shown::default()
                };
            });
            CHOSEN.with(|c| c.replace(Some(file.clone())));
            spawn_local(async move {
                let mut report = look(&file, &name).await;
                if size > self.max_bytes {
                    report.push(Problem::error(
                        name.as_str(),
                        "archive-size",
                        format!(
                            "The file has {}, more than the {} that this site accepts.",
                            crate::format::bytes(size),
                            crate::format::bytes(self.max_bytes)
                        ),
                        "Leave out what no attempt needs, or split long traces.",
                    ));
                    report.sort();
                }
                self.shown.update(|s| {
                    s.looking = false;
                    s.report = Some(report);
                });
            });
        }

        pub(super) fn send(self) {
            let Some(file) = CHOSEN.with(|c| c.borrow().clone()) else {
                self.choose_from_input();
                return;
            };
            let handle = tus::Handle::default();
            RUNNING.with(|r| r.replace(Some(handle.clone())));
            self.shown.update(|s| {
                s.phase = Phase::Sending;
                s.failed = false;
                s.message = String::new();
            });
            let sha256 = dom::document()
                .get_element_by_id("sha256")
                .and_then(|e| e.dyn_into::<HtmlInputElement>().ok())
                .map(|i| i.value().trim().to_lowercase())
                .unwrap_or_default();
            let shown = self.shown;
            let began = js_sys::Date::now();
            let first = std::rc::Rc::new(std::cell::Cell::new(-1.0f64));
            spawn_local(async move {
                let told = move |bytes: f64, remark: &str| {
                    if bytes >= 0.0 && first.get() < 0.0 {
                        first.set(bytes);
                    }
                    let seconds = (js_sys::Date::now() - began) / 1000.0;
                    shown.update(|s| {
                        if bytes >= 0.0 {
                            s.sent = bytes;
                            s.rate = if seconds > 0.5 {
                                (bytes - first.get()) / seconds
                            } else {
                                0.0
                            };
                        }
                        remark.clone_into(&mut s.message);
                    });
                };
                match tus::send(&file, &sha256, &handle, told).await {
                    Ok(id) => {
                        shown.update(|s| {
                            s.phase = Phase::Done;
                            "Everything has arrived. Opening the submission\u{2026}"
                                .clone_into(&mut s.message);
                        });
                        let _ = dom::window()
                            .location()
                            .assign(&format!("/submissions/{id}?notice=uploaded"));
                    }
                    Err(tus::Stop::Paused) => shown.update(|s| {
                        s.phase = Phase::Paused;
                        "Paused. What has arrived is kept, also when you close this page."
                            .clone_into(&mut s.message);
                    }),
                    Err(tus::Stop::Failed(words)) => shown.update(|s| {
                        s.phase = Phase::Paused;
                        s.failed = true;
                        s.message = words;
                    }),
                }
            });
        }

        pub(super) fn pause(self) {
            if let Some(handle) = RUNNING.with(|r| r.take()) {
                handle.pause();
            }
        }
    }

    fn input() -> Option<HtmlInputElement> {
        dom::document().get_element_by_id("bundle")?.dyn_into().ok()
    }

    /// The first look at a file. An archive that can't be opened here gives an
    /// empty report: the server will say.
    async fn look(file: &File, name: &str) -> Report {
        let lower = name.to_lowercase();
        let head = bytes(file, 0.0, 4.0).await.unwrap_or_default();
        let refuse = |message: &str, fix: &str| {
            let mut r = Report::default();
            r.push(Problem::error(name, "archive-format", message, fix));
            r
        };
        if file.size() == 0.0 {
            return refuse("The file is empty.", "Pack the bundle again.");
        }
        if head.starts_with(b"PK") {
            return match zip(file).await {
                Some(entries) => precheck::check(&entries),
                None => refuse(
                    "The zip file has no table of contents: it is cut short or damaged.",
                    "Pack or download it again.",
                ),
            };
        }
        if head.starts_with(&[0x1f, 0x8b]) {
            return match tar_gz(file).await {
                Some(reader) if reader.broken => refuse(
                    "The file holds no tar archive.",
                    "Pack the folder with `tar czf` or with `faultboard submit package`.",
                ),
                Some(reader) if reader.is_whole() => precheck::check(&reader.entries),
                _ => refuse(
                    "The archive is cut short or damaged.",
                    "Pack or download it again.",
                ),
            };
        }
        if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            return Report::default();
        }
        refuse(
            if [".gz", ".tgz", ".zst", ".zip"]
                .iter()
                .any(|e| lower.ends_with(e))
            {
                "The content is not what the file's name says."
            } else {
                "This is no archive of a known kind."
            },
            "Send a .tar.gz, .tar.zst or .zip.",
        )
    }

    async fn bytes(file: &File, from: f64, to: f64) -> Option<Vec<u8>> {
        let blob = file.slice_with_f64_and_f64(from, to).ok()?;
        let buffer = JsFuture::from(blob.array_buffer()).await.ok()?;
        Some(js_sys::Uint8Array::new(&buffer).to_vec())
    }

    async fn zip(file: &File) -> Option<Vec<precheck::Entry>> {
        /// The largest table of contents that is read.
        const MOST: u64 = 64 << 20;
        let from = (file.size() - 66_000.0).max(0.0);
        let tail = bytes(file, from, file.size()).await?;
        let (offset, size) = precheck::zip_directory(&tail).filter(|(_, size)| *size <= MOST)?;
        #[expect(clippy::cast_precision_loss, reason = "offsets below 4 GiB")]
        let directory = bytes(file, offset as f64, (offset + size) as f64).await?;
        precheck::zip_entries(&directory)
    }

    /// Lists a gzipped tar through the browser's own decompressor.
    async fn tar_gz(file: &File) -> Option<precheck::TarReader> {
        let inflate = dom::construct("DecompressionStream", "gzip").ok()?;
        let pair: &web_sys::ReadableWritablePair = inflate.unchecked_ref();
        let reader: web_sys::ReadableStreamDefaultReader = file
            .stream()
            .pipe_through(pair)
            .get_reader()
            .dyn_into()
            .ok()?;
        let mut tar = precheck::TarReader::default();
        loop {
            let step = JsFuture::from(reader.read()).await.ok()?;
            let get = |key: &str| js_sys::Reflect::get(&step, &JsValue::from_str(key)).ok();
            if get("done").is_some_and(|d| d.is_truthy()) {
                return Some(tar);
            }
            let piece: js_sys::Uint8Array = get("value")?.dyn_into().ok()?;
            tar.push(&piece.to_vec());
            if tar.broken {
                let _ = JsFuture::from(reader.cancel()).await;
                return Some(tar);
            }
        }
    }
}
