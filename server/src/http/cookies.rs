//! The cookies of the site: the session, one that goes with a sign-in at a
//! provider, and two that live for a minute: the secret of a new token and what a refused form held, each on its way to the
//! page that shows it once. No other state lives in the browser.

use axum::http::{HeaderMap, HeaderValue, header};

use super::state::Site;

/// Seconds that a browser keeps the session: as long as the database does.
const SESSION_S: i64 = faultboard_portal::SESSION_DAYS * 86_400;
/// The new token's cookie.
const NEW_TOKEN: &str = "fb_new_token";
/// The cookie of a sign-in that has gone to a provider.
const LEAVING: &str = "fb_leaving";
/// How long it may be away.
const LEAVING_S: i64 = 600;
/// The cookie of a refused form.
const REFUSED: &str = "fb_refused";

/// The session cookie's name. Browsers take `__Host-` from HTTPS alone, and
/// then refuse it to subdomains.
fn session_name(site: &Site) -> &'static str {
    if site.config.secure_cookies {
        "__Host-fb_session"
    } else {
        "fb_session"
    }
}

/// The value of a cookie: at most so many bytes of letters, digits, `-`, `_`, `.`.
fn value(headers: &HeaderMap, name: &str, longest: usize) -> Option<String> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|v| v.to_str().ok())
        .flat_map(|v| v.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(n, _)| *n == name)
        .map(|(_, v)| v.trim_matches('"'))
        .filter(|v| !v.is_empty() && v.len() <= longest)
        .filter(|v| {
            v.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        })
        .map(str::to_owned)
}

/// The session's secret that a request brings.
pub(super) fn session(site: &Site, headers: &HeaderMap) -> Option<String> {
    value(headers, session_name(site), 512)
}

/// The new token's secret that a request brings.
pub(super) fn new_token(headers: &HeaderMap) -> Option<String> {
    value(headers, NEW_TOKEN, 512)
}

/// The record of a refused form that a request brings.
pub(super) fn refused(headers: &HeaderMap) -> Option<String> {
    value(headers, REFUSED, 4_096)
}

fn make(
    site: &Site,
    name: &str,
    value: &str,
    path: &str,
    same_site: &str,
    seconds: i64,
) -> Option<HeaderValue> {
    let secure = if site.config.secure_cookies {
        "; Secure"
    } else {
        ""
    };
    let mut header = HeaderValue::from_str(&format!(
        "{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite={same_site}{secure}"
    ))
    .ok()?;
    header.set_sensitive(true);
    Some(header)
}

/// Adds a cookie to an answer.
fn add(headers: &mut HeaderMap, cookie: Option<HeaderValue>) {
    if let Some(cookie) = cookie {
        headers.append(header::SET_COOKIE, cookie);
    }
}

/// Gives the browser a session.
pub(super) fn set_session(site: &Site, headers: &mut HeaderMap, secret: &str) {
    add(
        headers,
        make(site, session_name(site), secret, "/", "Lax", SESSION_S),
    );
}

/// Takes the session from the browser.
pub(super) fn clear_session(site: &Site, headers: &mut HeaderMap) {
    add(headers, make(site, session_name(site), "", "/", "Lax", 0));
}

/// Hands a new token's secret to the page that shows it, for a minute.
pub(super) fn set_new_token(site: &Site, headers: &mut HeaderMap, page: &str, secret: &str) {
    add(headers, make(site, NEW_TOKEN, secret, page, "Strict", 60));
}

/// Forgets the new token's secret.
pub(super) fn clear_new_token(site: &Site, headers: &mut HeaderMap, page: &str) {
    add(headers, make(site, NEW_TOKEN, "", page, "Strict", 0));
}

/// The state of the sign-in that this browser began at a provider.
pub(super) fn leaving(headers: &HeaderMap) -> Option<String> {
    value(headers, LEAVING, 512)
}

/// Keeps the state of a sign-in while the browser is at the provider. `Lax`,
/// because it comes back from another site.
pub(super) fn set_leaving(site: &Site, headers: &mut HeaderMap, state: &str) {
    let cookie = make(site, LEAVING, state, "/sign-in/provider", "Lax", LEAVING_S);
    add(headers, cookie);
}

/// Forgets it.
pub(super) fn clear_leaving(site: &Site, headers: &mut HeaderMap) {
    add(
        headers,
        make(site, LEAVING, "", "/sign-in/provider", "Lax", 0),
    );
}

/// Hands the record of a refused form to the next page, for a minute.
pub(super) fn set_refused(site: &Site, headers: &mut HeaderMap, record: &str) {
    add(headers, make(site, REFUSED, record, "/", "Strict", 60));
}

/// Forgets the record of a refused form.
pub(super) fn clear_refused(site: &Site, headers: &mut HeaderMap) {
    add(headers, make(site, REFUSED, "", "/", "Strict", 0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_among_others_and_rubbish_is_refused() {
        let mut headers = HeaderMap::new();
        headers.append(
            header::COOKIE,
            HeaderValue::from_static("a=1; fb_new_token=x_Y-1; b"),
        );
        assert_eq!(new_token(&headers).as_deref(), Some("x_Y-1"));
        headers.insert(
            header::COOKIE,
            HeaderValue::from_static("fb_new_token=<script>"),
        );
        assert_eq!(new_token(&headers), None);
    }
}
