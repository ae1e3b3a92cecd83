//! What a refused form hands to the page that the browser is sent back to: the
//! reason and what was typed, in a cookie that lives for a minute and is
//! forgotten when the page has shown it. It never carries a password, and an
//! address never carries a message: a link can't put words on a page.

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use faultboard_app::Refused;

use super::cookies;
use super::state::Site;

/// The most bytes of the record before it is encoded: browsers keep 4096 of a cookie.
const MOST_BYTES: usize = 2_700;

/// The record as a cookie's value. What is too long for one is cut from the
/// longest field, so that the reason and the short fields stay.
fn encode(refused: &Refused) -> String {
    let mut refused = refused.clone();
    loop {
        let json = serde_json::to_vec(&refused).unwrap_or_default();
        let Some(longest) = refused
            .fields
            .iter_mut()
            .max_by_key(|(_, v)| v.len())
            .filter(|(_, v)| !v.is_empty() && json.len() > MOST_BYTES)
        else {
            return URL_SAFE_NO_PAD.encode(json);
        };
        // Control characters take six bytes each as JSON.
        let over = (json.len() - MOST_BYTES).div_ceil(6).max(1);
        let keep = longest.1.chars().count().saturating_sub(over);
        longest.1 = longest.1.chars().take(keep).collect();
    }
}

/// The record that a request brings, if it is for the page asked for.
pub(super) fn brought(headers: &HeaderMap, path: &str) -> Option<Refused> {
    let bytes = URL_SAFE_NO_PAD.decode(cookies::refused(headers)?).ok()?;
    let refused: Refused = serde_json::from_slice(&bytes).ok()?;
    (refused.page == path).then_some(refused)
}

/// Puts what a form handler leaves for the next page into the cookie.
pub(super) async fn carry(State(site): State<Site>, request: Request, next: Next) -> Response {
    let form = request.uri().path().to_owned();
    let mut response = next.run(request).await;
    if let Some(mut refused) = response.extensions_mut().remove::<Refused>() {
        refused.form = form;
        cookies::set_refused(&site, response.headers_mut(), &encode(&refused));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderValue, header};

    fn refused(text: &str) -> Refused {
        Refused {
            page: "/sign-up".into(),
            form: "/sign-up".into(),
            error: "The password is too short.".into(),
            fields: vec![
                ("name".into(), text.into()),
                ("email".into(), "a@b.example".into()),
            ],
        }
    }

    fn back(sent: &Refused, path: &str) -> Option<Refused> {
        let mut headers = HeaderMap::new();
        let cookie = format!("fb_refused={}", encode(sent));
        assert!(cookie.len() < 3_800, "{}", cookie.len());
        headers.insert(header::COOKIE, HeaderValue::from_str(&cookie).unwrap());
        brought(&headers, path)
    }

    #[test]
    fn what_was_typed_comes_back_to_its_page_alone() {
        let sent = refused("Zo\u{eb} \"<b>\";");
        assert_eq!(back(&sent, "/sign-up"), Some(sent.clone()));
        assert_eq!(back(&sent, "/sign-in"), None);
    }

    #[test]
    fn long_texts_are_cut_and_short_ones_stay() {
        for long in [
            "x".repeat(9_000),
            "\u{1}".repeat(9_000),
            "\u{1f600}".repeat(3_000),
        ] {
            let got = back(&refused(&long), "/sign-up").unwrap();
            assert!(long.starts_with(&got.fields[0].1) && got.fields[0].1.len() > 300);
            assert_eq!(got.fields[1].1, "a@b.example");
        }
    }

    #[test]
    fn rubbish_is_nothing() {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_static("fb_refused=e30"));
        assert_eq!(brought(&headers, "/"), None);
    }
}
