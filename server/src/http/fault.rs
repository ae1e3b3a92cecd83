//! A refusal or a failure on its way to the reader. Handlers return it; the
//! envelope gives it the form that fits the request: a page, a problem document
//! or a line of text. The text of an internal failure goes to the log alone.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use faultboard_domain::Report;
use faultboard_portal::PortalError;

/// Why a request wasn't served.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) status: StatusCode,
    /// What happened and what to do, for the reader.
    pub(super) message: String,
    /// Seconds until it may be tried again.
    pub(super) retry_after: Option<u64>,
    /// The validator's report, if that is why.
    pub(super) report: Option<Box<Report>>,
}

impl Fault {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            retry_after: None,
            report: None,
        }
    }

    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// There is nothing here, or the reader may not know of it.
    pub(super) fn missing() -> Self {
        PortalError::NotFound.into()
    }

    /// The service can't do it now.
    pub(super) fn busy(message: impl Into<String>, retry_after: u64) -> Self {
        Self {
            retry_after: Some(retry_after),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, message)
        }
    }

    /// An internal failure: logged here, told without its text.
    pub(super) fn internal(e: impl std::fmt::Display) -> Self {
        PortalError::internal(e).into()
    }
}

impl From<PortalError> for Fault {
    fn from(e: PortalError) -> Self {
        if let PortalError::Internal(text) = &e {
            tracing::error!(error = %text, "a use case failed");
        }
        let status = StatusCode::from_u16(e.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut fault = Self::new(status, e.public_message());
        match e {
            PortalError::TooMany { retry_after_s, .. } => fault.retry_after = Some(retry_after_s),
            PortalError::Rejected(report) => fault.report = Some(report),
            _ => {}
        }
        fault
    }
}

impl From<faultboard_domain::IdError> for Fault {
    /// An address with a malformed id names nothing.
    fn from(_: faultboard_domain::IdError) -> Self {
        Self::missing()
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        if let Some(seconds) = self.retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// For a known address asked in a way that it doesn't offer.
pub(super) async fn wrong_method() -> Fault {
    Fault::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "This address can't be used in this way. If you followed a link, tell the maintainers where it is.",
    )
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Page,
    Problem,
    Line,
}

impl Form {
    /// The form that fits a request.
    pub(super) fn of(path: &str, headers: &HeaderMap) -> Self {
        if path.starts_with("/api/") {
            return Self::Problem;
        }
        let accepts_html = headers
            .get(header::ACCEPT)
            .and_then(|v| v.to_str().ok())
            .is_some_and(|v| v.contains("text/html"));
        if accepts_html && !path.starts_with("/files") {
            Self::Page
        } else {
            Self::Line
        }
    }
}

/// Gives a fault its form, keeping the headers that its handler set.
pub(super) fn render(
    fault: &Fault,
    form: Form,
    request_id: &str,
    mut response: Response,
) -> Response {
    let title = fault.status.canonical_reason().unwrap_or("Error");
    let (kind, text) = match form {
        Form::Line => (
            "text/plain; charset=utf-8",
            format!("{}\nrequest id: {request_id}\n", fault.message),
        ),
        Form::Problem => {
            let mut problem = serde_json::json!({
                "type": "about:blank",
                "title": title,
                "status": fault.status.as_u16(),
                "detail": fault.message,
                "request_id": request_id,
            });
            if let Some(report) = &fault.report {
                problem["report"] = serde_json::json!(report);
            }
            ("application/problem+json", problem.to_string())
        }
        Form::Page => ("text/html; charset=utf-8", page(fault, title, request_id)),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.remove(header::CONTENT_LENGTH);
    headers.remove(header::ETAG);
    *response.body_mut() = Body::from(text);
    response
}

/// A plain page: it must come out even when the renderer of pages is what failed.
fn page(fault: &Fault, title: &str, request_id: &str) -> String {
    let sign_in = if fault.status == StatusCode::UNAUTHORIZED {
        "<p><a href=\"/sign-in\">Sign in</a></p>"
    } else {
        ""
    };
    let problems: String = fault
        .report
        .iter()
        .flat_map(|r| r.problems.iter().take(100))
        .map(|p| {
            format!(
                "<li><code>{}</code> {} {}</li>",
                escape(&p.path),
                escape(&p.message),
                escape(&p.fix)
            )
        })
        .collect();
    let problems = if problems.is_empty() {
        String::new()
    } else {
        format!("<ul>{problems}</ul>")
    };
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title} · Faultboard</title>\
         <link rel=\"stylesheet\" href=\"/static/faultboard.css\"></head><body><main id=\"main\">\
         <h1>{title}</h1><p>{}</p>{problems}{sign_in}<p><a href=\"/\">To the first page</a></p>\
         <p>Request id: <code>{request_id}</code></p></main></body></html>",
        escape(&fault.message)
    )
}

/// Makes a text inert within HTML.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_inert_on_the_page() {
        let fault = Fault::bad("<script>alert('1')</script>");
        let html = page(&fault, "Bad Request", "q1");
        assert!(!html.contains("<script"));
        assert!(html.contains("&lt;script&gt;"));
    }

    #[test]
    fn the_form_follows_the_request() {
        let mut browser = HeaderMap::new();
        browser.insert(header::ACCEPT, HeaderValue::from_static("text/html,*/*"));
        assert_eq!(Form::of("/cases", &browser), Form::Page);
        assert_eq!(Form::of("/api/v1/cases", &browser), Form::Problem);
        assert_eq!(Form::of("/files", &browser), Form::Line);
        assert_eq!(Form::of("/cases", &HeaderMap::new()), Form::Line);
    }
}
