//! A real browser: Chromium under its own driver on a free port, with a new
//! profile. When a test fails, a screenshot and the page's source stay behind.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, anyhow};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use thirtyfour::prelude::*;
use thirtyfour::{ChromiumLikeCapabilities, DesiredCapabilities};

use crate::server::{Server, free_port};
use crate::{machine, wait_for};

/// A browser with one page.
#[derive(Debug)]
pub struct Browser {
    name: &'static str,
    base: String,
    driver: Child,
    driver_url: String,
    web: WebDriver,
    // Removed with this value, after the browser has gone.
    _profile: tempfile::TempDir,
}

/// Runs a test in a browser; if it fails, keeps what was on the screen.
pub async fn with_browser<F>(server: &Server, name: &'static str, test: F) -> Result<()>
where
    F: AsyncFnOnce(&Browser) -> Result<()>,
{
    let browser = Browser::open(server, name).await?;
    let result = test(&browser).await;
    if result.is_err() {
        browser.keep_evidence().await;
    }
    browser.close().await;
    result
}

impl Browser {
    /// Opens a browser for a server's pages.
    pub async fn open(server: &Server, name: &'static str) -> Result<Self> {
        let (chromium, chromedriver) = machine::browser().map_err(|e| anyhow!(e))?;
        let port = free_port()?;
        let driver = Command::new(chromedriver)
            .arg(format!("--port={port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // One group, so that the browser ends with its driver.
            .process_group(0)
            .spawn()
            .context("chromedriver could not be started")?;
        let driver_url = format!("http://127.0.0.1:{port}");
        let profile = tempfile::Builder::new()
            .prefix("faultboard-browser-")
            .tempdir()?;
        let mut guard = Guard(Some(driver));
        let status = format!("{driver_url}/status");
        wait_for("chromedriver", 30, async || {
            crate::name_tls_provider();
            Ok(reqwest::get(&status)
                .await
                .is_ok_and(|a| a.status().is_success())
                .then_some(()))
        })
        .await?;
        let mut caps = DesiredCapabilities::chrome();
        caps.set_binary(&chromium.to_string_lossy())?;
        for flag in [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--window-size=1280,900",
        ] {
            caps.add_arg(flag)?;
        }
        caps.add_arg(&format!("--user-data-dir={}", profile.path().display()))?;
        let web = WebDriver::new(&driver_url, caps)
            .await
            .context("Chromium could not be started")?;
        Ok(Self {
            name,
            base: server.base(),
            driver: guard.0.take().context("the driver is ours")?,
            driver_url,
            web,
            _profile: profile,
        })
    }

    /// Opens a page and waits until its islands are alive: a click before that
    /// would be lost.
    pub async fn goto(&self, path: &str) -> Result<()> {
        self.web.goto(format!("{}{path}", self.base)).await?;
        self.hydrated().await
    }

    /// Waits until the present page's islands are alive.
    pub async fn hydrated(&self) -> Result<()> {
        wait_for("the page to come alive", 30, async || {
            let alive = self
                .js("return document.documentElement.dataset.hydrated !== undefined")
                .await?;
            Ok((alive == json!(true)).then_some(()))
        })
        .await
    }

    /// Runs a script in the page; its value.
    pub async fn js(&self, script: &str) -> Result<Value> {
        Ok(self.web.execute(script, Vec::new()).await?.json().clone())
    }

    /// Runs a script that calls back.
    pub async fn js_async(&self, script: &str) -> Result<Value> {
        Ok(self
            .web
            .execute_async(script, Vec::new())
            .await?
            .json()
            .clone())
    }

    /// The first element that a CSS selector finds, once it is there.
    pub async fn find(&self, css: &str) -> Result<WebElement> {
        self.find_within(css, 20).await
    }

    /// The same with another patience.
    pub async fn find_within(&self, css: &str, seconds: u64) -> Result<WebElement> {
        wait_for(css, seconds, async || {
            Ok(self.web.find_all(By::Css(css)).await?.into_iter().next())
        })
        .await
    }

    /// Whether an element is there now.
    pub async fn has(&self, css: &str) -> Result<bool> {
        Ok(!self.web.find_all(By::Css(css)).await?.is_empty())
    }

    /// Clicks an element.
    pub async fn click(&self, css: &str) -> Result<()> {
        let element = self.find(css).await?;
        element.scroll_into_view().await?;
        element
            .click()
            .await
            .with_context(|| format!("clicking {css}"))
    }

    /// Clicks an element that leads to another page, and waits for that one.
    pub async fn follow(&self, css: &str) -> Result<()> {
        self.js("window.faultboardLeft = true").await?;
        self.click(css).await?;
        wait_for("the next page", 30, async || {
            // Between two pages there is no document to ask.
            let same = self.js("return window.faultboardLeft === true").await;
            Ok(same.is_ok_and(|v| v == json!(false)).then_some(()))
        })
        .await?;
        self.hydrated().await
    }

    /// Types into a field, in place of what was there.
    pub async fn fill(&self, css: &str, text: &str) -> Result<()> {
        let field = self.find(css).await?;
        field.clear().await?;
        field
            .send_keys(text)
            .await
            .with_context(|| format!("typing into {css}"))
    }

    /// Gives a file to a file field.
    pub async fn choose_file(&self, css: &str, file: &Path) -> Result<()> {
        let field = self.find(css).await?;
        Ok(field.send_keys(file.to_string_lossy()).await?)
    }

    /// The text that a reader sees in an element.
    pub async fn text(&self, css: &str) -> Result<String> {
        Ok(self.find(css).await?.text().await?)
    }

    /// The text of the whole page.
    pub async fn page_text(&self) -> Result<String> {
        self.text("body").await
    }

    /// Path and query of the present page.
    pub async fn path(&self) -> Result<String> {
        let url = self.web.current_url().await?.to_string();
        Ok(url.strip_prefix(&self.base).unwrap_or(&url).to_owned())
    }

    /// Presses a key, as a person would anywhere on the page.
    pub async fn press(&self, key: &str) -> Result<()> {
        Ok(self.find("body").await?.send_keys(key).await?)
    }

    /// Shows pages in the light or the dark scheme from here on.
    pub async fn scheme(&self, dark: bool) -> Result<()> {
        let value = if dark { "dark" } else { "light" };
        self.devtools(
            "Emulation.setEmulatedMedia",
            json!({"features": [{"name": "prefers-color-scheme", "value": value}]}),
        )
        .await
    }

    /// Changes the window's size, in CSS pixels.
    pub async fn resize(&self, width: u32, height: u32) -> Result<()> {
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}),
        )
        .await
    }

    async fn devtools(&self, command: &str, params: Value) -> Result<()> {
        let session = self.web.session_id().to_string();
        let body = json!({"cmd": command, "params": params});
        crate::name_tls_provider();
        let answer = reqwest::Client::new()
            .post(format!(
                "{}/session/{session}/goog/cdp/execute",
                self.driver_url
            ))
            .json(&body)
            .send()
            .await?;
        answer
            .error_for_status()
            .with_context(|| command.to_owned())?;
        Ok(())
    }

    /// Signs in by the page.
    pub async fn sign_in(&self, email: &str, password: &str) -> Result<()> {
        self.goto("/sign-in").await?;
        self.fill("#email", email).await?;
        self.fill("#password", password).await?;
        self.follow("form[action^='/sign-in'] button").await
    }

    /// What the page's scripts complained about.
    pub async fn console_errors(&self) -> Result<Vec<String>> {
        let session = self.web.session_id().to_string();
        crate::name_tls_provider();
        let answer: Value = reqwest::Client::new()
            .post(format!("{}/session/{session}/se/log", self.driver_url))
            .json(&json!({"type": "browser"}))
            .send()
            .await?
            .json()
            .await?;
        let entries = answer["value"].as_array().cloned().unwrap_or_default();
        Ok(entries
            .iter()
            .filter(|e| e["level"] == "SEVERE")
            .map(|e| e["message"].as_str().unwrap_or_default().to_owned())
            .collect())
    }

    /// Bytes of memory of the process that shows pages: the most that it held, its
    /// libraries and what it shares with the browser's other processes included.
    pub fn memory(&self) -> Result<u64> {
        let mut most = 0;
        for entry in std::fs::read_dir("/proc")? {
            let path = entry?.path();
            let Ok(line) = std::fs::read(path.join("cmdline")) else {
                continue;
            };
            // It does not name the profile, its group tells whose it is; and its words
            // may have been joined by blanks.
            let is_page = line
                .split(|b| matches!(b, 0 | b' '))
                .any(|word| word == b"--type=renderer");
            let id = path.file_name().and_then(|n| n.to_str()?.parse().ok());
            if let Some(id) = id.filter(|_| is_page)
                && self.is_ours(&path)
            {
                most = most.max(machine::memory_peak(id)?);
            }
        }
        anyhow::ensure!(most > 0, "no process shows pages");
        Ok(most)
    }

    /// Whether a process is of the driver's group.
    fn is_ours(&self, process: &Path) -> bool {
        let text = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
        // After the name in brackets: state, parent, group.
        text.rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(2)?.parse().ok())
            == Some(self.driver.id())
    }

    /// A picture of the page, under the test's evidence.
    pub async fn screenshot(&self, name: &str) -> Result<()> {
        let dir = machine::evidence_dir().join(self.name);
        std::fs::create_dir_all(&dir)?;
        Ok(self
            .web
            .screenshot(&dir.join(format!("{name}.png")))
            .await?)
    }

    async fn keep_evidence(&self) {
        let dir = machine::evidence_dir().join(self.name);
        // The test's own failure is what counts; this only helps to read it.
        let _ = self.screenshot("failed").await;
        if let Ok(source) = self.web.source().await {
            let _ = std::fs::write(dir.join("failed.html"), source);
        }
        if let Ok(errors) = self.console_errors().await {
            let _ = std::fs::write(dir.join("console.txt"), errors.join("\n"));
        }
    }

    /// Ends the browser.
    pub async fn close(self) {
        // The driver's group is ended in any case.
        let _ = self.web.clone().quit().await;
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        end_group(&mut self.driver);
    }
}

/// Ends a driver whose browser never came up.
struct Guard(Option<Child>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(driver) = &mut self.0 {
            end_group(driver);
        }
    }
}

fn end_group(driver: &mut Child) {
    if let Some(group) = i32::try_from(driver.id()).ok().and_then(Pid::from_raw) {
        // It may have ended by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = driver.wait();
}
