//! Somebody without scripts: plain requests, plain forms, a cookie jar. What
//! works here works in a text browser.

use anyhow::{Context, Result, ensure};
use reqwest::header::{LOCATION, ORIGIN};
use reqwest::{Client, Response, StatusCode, redirect};
use serde_json::Value;

use crate::server::Server;

/// One reader with their own cookies.
#[derive(Debug, Clone)]
pub struct Reader {
    base: String,
    client: Client,
}

/// Where a form led.
#[derive(Debug)]
pub struct Landed {
    /// Path and query of the page that the form led to.
    pub location: String,
    /// The page.
    pub page: String,
}

impl Reader {
    /// A reader of this server, not signed in.
    pub fn new(server: &Server) -> Result<Self> {
        Self::at(&server.base())
    }

    /// A reader of the site at an address.
    pub fn at(base: &str) -> Result<Self> {
        crate::name_tls_provider();
        let client = Client::builder()
            .cookie_store(true)
            .redirect(redirect::Policy::none())
            .timeout(std::time::Duration::from_secs(60))
            // Sooner than the server gives an idle connection up.
            .pool_idle_timeout(std::time::Duration::from_secs(5))
            .build()?;
        Ok(Self {
            base: base.to_owned(),
            client,
        })
    }

    /// A reader who made the administrator's account by the one-time link.
    pub async fn admin(server: &Server) -> Result<Self> {
        let reader = Self::new(server)?;
        let link = server.one_time_link().await?;
        let form = reader.text(&link).await?;
        ensure!(
            form.contains("action=\"/first-admin\""),
            "the link shows no form:\n{form}"
        );
        let token = link.split("token=").nth(1).unwrap_or_default();
        let landed = reader
            .post(
                "/first-admin",
                &[
                    ("token", token),
                    ("name", "Ada"),
                    ("email", ADMIN.0),
                    ("password", ADMIN.1),
                ],
            )
            .await?;
        ensure!(
            landed.page.contains("Ada"),
            "not signed in after the link: {}",
            landed.location
        );
        Ok(reader)
    }

    /// A reader with a new account.
    pub async fn submitter(server: &Server, name: &str) -> Result<Self> {
        let reader = Self::new(server)?;
        reader.sign_up(name).await?;
        Ok(reader)
    }

    /// Makes an account and is signed in with it.
    pub async fn sign_up(&self, name: &str) -> Result<()> {
        let email = format!("{}@example.org", name.to_lowercase());
        let landed = self
            .post(
                "/sign-up",
                &[
                    ("name", name),
                    ("email", &email),
                    ("password", "a long enough password"),
                ],
            )
            .await?;
        ensure!(
            landed.page.contains(name),
            "not signed in after sign-up: {}",
            landed.location
        );
        Ok(())
    }

    /// The answer to a plain request.
    pub async fn get(&self, path: &str) -> Result<Response> {
        let url = format!("{}{path}", self.base);
        self.client
            .get(&url)
            .send()
            .await
            .with_context(|| format!("GET {path}"))
    }

    /// A page that must be there.
    pub async fn text(&self, path: &str) -> Result<String> {
        let answer = self.get(path).await?;
        let status = answer.status();
        let text = answer.text().await?;
        ensure!(
            status == StatusCode::OK,
            "GET {path}: {status}\n{}",
            excerpt(&text)
        );
        Ok(text)
    }

    /// A JSON document that must be there.
    pub async fn json(&self, path: &str) -> Result<Value> {
        let text = self.text(path).await?;
        serde_json::from_str(&text)
            .with_context(|| format!("{path} is not JSON:\n{}", excerpt(&text)))
    }

    /// The bytes of a download that must be there.
    pub async fn bytes(&self, path: &str) -> Result<Vec<u8>> {
        let answer = self.get(path).await?;
        ensure!(
            answer.status() == StatusCode::OK,
            "GET {path}: {}",
            answer.status()
        );
        Ok(answer.bytes().await?.to_vec())
    }

    /// Sends a form and follows where it leads.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Result<Landed> {
        let answer = self
            .client
            .post(format!("{}{path}", self.base))
            .header(ORIGIN, &self.base)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(encode(fields))
            .send()
            .await?;
        self.follow(path, answer).await
    }

    /// Sends a bundle by the plain form; the submission's id.
    pub async fn submit(&self, name: &str, bundle: Vec<u8>) -> Result<String> {
        let part = reqwest::multipart::Part::bytes(bundle).file_name(name.to_owned());
        let form = reqwest::multipart::Form::new().part("bundle", part);
        let answer = self
            .client
            .post(format!("{}/submit", self.base))
            .header(ORIGIN, &self.base)
            .multipart(form)
            .send()
            .await?;
        let landed = self.follow("/submit", answer).await?;
        landed
            .location
            .strip_prefix("/submissions/")
            .map(|rest| rest.split(['?', '/']).next().unwrap_or_default().to_owned())
            .with_context(|| {
                format!(
                    "the upload led to {}\n{}",
                    landed.location,
                    excerpt(&landed.page)
                )
            })
    }

    async fn follow(&self, path: &str, answer: Response) -> Result<Landed> {
        let status = answer.status();
        let location = answer
            .headers()
            .get(LOCATION)
            .and_then(|v| v.to_str().ok())
            .map(|l| l.strip_prefix(&self.base).unwrap_or(l).to_owned());
        let Some(location) = location.filter(|_| status.is_redirection()) else {
            let text = answer.text().await?;
            anyhow::bail!("POST {path}: {status}\n{}", excerpt(&text));
        };
        let page = self.text(&location).await?;
        Ok(Landed { location, page })
    }
}

/// E-mail and password of the first administrator.
pub const ADMIN: (&str, &str) = ("ada@example.org", "correct horse battery staple");

/// The first value of an attribute in a page.
pub fn attribute(page: &str, name: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!("{name}=\""))?;
    Some(rest.split('"').next()?.to_owned())
}

/// A page's text without its tags, entities resolved, blanks made single.
pub fn words(page: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in page.chars() {
        match c {
            '<' => {
                inside = true;
                text.push(' ');
            }
            '>' => inside = false,
            c if !inside => text.push(c),
            _ => {}
        }
    }
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#x27;", "'")
        .replace("&#39;", "'")
        .replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning of a page's words, for messages.
pub fn excerpt(page: &str) -> String {
    words(page).chars().take(1_500).collect()
}

/// Fields as a form sends them.
fn encode(fields: &[(&str, &str)]) -> String {
    let quote = |text: &str| -> String {
        text.bytes()
            .map(|b| {
                if b.is_ascii_alphanumeric() || b"-_.~".contains(&b) {
                    char::from(b).to_string()
                } else {
                    format!("%{b:02X}")
                }
            })
            .collect()
    };
    fields
        .iter()
        .map(|(name, value)| format!("{}={}", quote(name), quote(value)))
        .collect::<Vec<_>>()
        .join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_a_reader_sees() {
        assert_eq!(words("<p>a &amp; <b>b</b>\n c</p>"), "a & b c");
        assert_eq!(
            attribute("<p data-state=\"scored\">", "data-state").as_deref(),
            Some("scored")
        );
        assert_eq!(
            encode(&[("a", "b c&d"), ("e", "ä")]),
            "a=b%20c%26d&e=%C3%A4"
        );
    }
}
