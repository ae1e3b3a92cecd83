//! Query strings: reading them into the queries of the use cases, and writing
//! them back so that every state of a page has an address. Pages, downloads and
//! figures use these functions alike. Never fails: what it doesn't understand
//! it leaves out.

use faultboard_domain::view::{BoardQuery, COMPARED, CompareQuery, TraceQuery, TraceSetQuery};
use faultboard_domain::{ReleaseId, SubmissionId, SubsetId, Track};

/// The pairs of a query string, decoded, in their order.
pub fn pairs(query: &str) -> Vec<(String, String)> {
    query
        .trim_start_matches('?')
        .split('&')
        .filter(|p| !p.is_empty())
        .map(|p| {
            let (key, value) = p.split_once('=').unwrap_or((p, ""));
            (decode(key), decode(value))
        })
        .collect()
}

/// The first value of a key that isn't blank.
pub fn get<'a>(pairs: &'a [(String, String)], key: &str) -> Option<&'a str> {
    pairs
        .iter()
        .find(|(k, v)| k == key && !v.trim().is_empty())
        .map(|(_, v)| v.as_str())
}

/// A query string from pairs, without its `?`; blank values are left out.
pub fn string<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::new();
    for (key, value) in pairs {
        if value.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push('&');
        }
        out.push_str(&encode(key));
        out.push('=');
        out.push_str(&encode(value));
    }
    out
}

/// An address from a path and a query string that may be empty.
pub fn href(path: &str, query: &str) -> String {
    if query.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{query}")
    }
}

/// The board query of an address: `release`, `subset`, `slice`, `sort`,
/// `reverse=1`, `agent`, `model`, `open_weights=1`.
pub fn board(track: Track, query: &str) -> BoardQuery {
    let pairs = pairs(query);
    let text = |key: &str| get(&pairs, key).map(|v| v.trim().chars().take(100).collect::<String>());
    let flag = |key: &str| get(&pairs, key).is_some_and(|v| matches!(v, "1" | "on" | "true"));
    BoardQuery {
        track,
        release: text("release").and_then(|t| ReleaseId::parse(&t).ok()),
        subset: text("subset").and_then(|t| SubsetId::parse(&t).ok()),
        slice: text("slice"),
        sort: text("sort"),
        reverse: flag("reverse"),
        agent: text("agent"),
        model: text("model"),
        open_weights: flag("open_weights"),
    }
}

/// The query string of a board query: the inverse of [`board`].
pub fn board_string(q: &BoardQuery) -> String {
    let flag = |on: bool| if on { "1" } else { "" };
    string([
        ("release", q.release.as_ref().map_or("", |r| r.as_str())),
        ("subset", q.subset.as_ref().map_or("", |s| s.as_str())),
        ("slice", q.slice.as_deref().unwrap_or("")),
        ("agent", q.agent.as_deref().unwrap_or("")),
        ("model", q.model.as_deref().unwrap_or("")),
        ("open_weights", flag(q.open_weights)),
        ("sort", q.sort.as_deref().unwrap_or("")),
        ("reverse", flag(q.reverse)),
    ])
}

/// The comparison of an address: `rows=a,b,c` or `row=a&row=b`, and `slice`.
pub fn compare(query: &str) -> CompareQuery {
    let pairs = pairs(query);
    let mut rows: Vec<SubmissionId> = Vec::new();
    for id in pairs
        .iter()
        .filter(|(k, _)| k == "rows" || k == "row")
        .flat_map(|(_, v)| v.split(','))
        .filter_map(|t| SubmissionId::parse(t.trim()).ok())
    {
        if !rows.contains(&id) && rows.len() <= COMPARED.1 {
            rows.push(id);
        }
    }
    CompareQuery {
        rows,
        slice: get(&pairs, "slice").map(|t| t.trim().chars().take(100).collect()),
    }
}

/// The query string of a comparison: the inverse of [`compare`].
pub fn compare_string(q: &CompareQuery) -> String {
    let rows: Vec<&str> = q.rows.iter().map(|r| r.as_str()).collect();
    // Commas are plain in a query, and an address is read by people too.
    let rows = if rows.is_empty() {
        String::new()
    } else {
        format!("rows={}", rows.join(","))
    };
    let rest = string([("slice", q.slice.as_deref().unwrap_or(""))]);
    match (rows.is_empty(), rest.is_empty()) {
        (false, false) => format!("{rows}&{rest}"),
        (false, true) => rows,
        _ => rest,
    }
}

/// The trace query of an address: `step` (0-based) and `q`.
pub fn trace(query: &str) -> TraceQuery {
    let pairs = pairs(query);
    TraceQuery {
        step: get(&pairs, "step").and_then(|s| s.trim().parse().ok()),
        q: get(&pairs, "q").map(|q| q.chars().take(200).collect()),
    }
}

/// The set of traces of an address: `track`, `release`, `case`, `condition`,
/// `outcome`, `form`, each as it stands there.
pub fn trace_set(query: &str) -> TraceSetQuery {
    let pairs = pairs(query);
    let text = |key: &str| get(&pairs, key).map(|v| v.trim().chars().take(100).collect::<String>());
    TraceSetQuery {
        submission: None,
        track: text("track"),
        release: text("release"),
        case: text("case"),
        condition: text("condition"),
        outcome: text("outcome"),
        form: text("form"),
    }
}

/// The query string that selects a step, keeping the search.
pub fn trace_string(step: u32, q: Option<&str>) -> String {
    string([("step", step.to_string().as_str()), ("q", q.unwrap_or(""))])
}

/// Percent-encodes everything but unreserved characters.
pub fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for b in text.bytes() {
        match b {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(b));
            }
            _ => {
                const HEX: &[u8; 16] = b"0123456789ABCDEF";
                out.push('%');
                out.push(char::from(HEX[usize::from(b >> 4)]));
                out.push(char::from(HEX[usize::from(b & 15)]));
            }
        }
    }
    out
}

/// Decodes percent-escapes and `+`; a broken escape stays as it is, broken
/// UTF-8 becomes replacement characters.
pub fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let escaped = bytes.get(i + 1..i + 3).and_then(|h| {
            let digit = |b: u8| char::from(b).to_digit(16);
            u8::try_from(digit(h[0])? * 16 + digit(h[1])?).ok()
        });
        match (bytes[i], escaped) {
            (b'%', Some(b)) => {
                out.push(b);
                i += 3;
            }
            (b'+', _) => {
                out.push(b' ');
                i += 1;
            }
            (b, _) => {
                out.push(b);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A link that may be followed: `http` or `https` only, whatever a submitter wrote.
pub fn web_link(url: &str) -> Option<String> {
    let url = url.trim();
    let lower = url.to_ascii_lowercase();
    (lower.starts_with("https://") || lower.starts_with("http://"))
        .then(|| url.to_owned())
        .filter(|u| u.len() <= 2_000 && !u.chars().any(|c| c.is_control() || c.is_whitespace()))
}

/// A path within this site, for `next` after signing in; anything else is refused.
pub fn local_path(path: &str) -> Option<String> {
    (path.starts_with('/')
        && !path.starts_with("//")
        && !path.contains('\\')
        && path.len() <= 2_000
        && !path.chars().any(char::is_control))
    .then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_query_survives_its_address() {
        let text = "release=2026.1&subset=lite&slice=tier-1&agent=A%26B%20%2B&open_weights=1&sort=cost&reverse=1";
        let q = board(Track::Repair, text);
        assert_eq!(q.agent.as_deref(), Some("A&B +"));
        assert_eq!(board_string(&q), text);
        assert_eq!(board(Track::Repair, &board_string(&q)), q);
    }

    #[test]
    fn a_comparison_survives_its_address_and_reads_a_form() {
        let q = compare("rows=s00000001,s00000002&slice=tier-1");
        assert_eq!(q.rows.len(), 2);
        assert_eq!(compare_string(&q), "rows=s00000001,s00000002&slice=tier-1");
        assert_eq!(compare(&compare_string(&q)), q);
        let form = compare("row=s00000001&row=s00000002&row=s00000001&row=../x&slice=");
        assert_eq!((form.rows.len(), form.slice), (2, None));
    }

    #[test]
    fn rubbish_in_an_address_is_left_out() {
        let q = board(
            Track::Diagnosis,
            "?release=../x&subset=A b&reverse=maybe&&=&%zz=%4",
        );
        assert_eq!(q.release, None);
        assert_eq!(q.subset, None);
        assert!(!q.reverse);
        assert_eq!(decode("%zz%4%41+é%ff"), "%zz%4A é\u{fffd}");
    }

    #[test]
    fn only_web_links_and_local_paths_pass() {
        assert!(web_link("HTTPS://example.org/a").is_some());
        for bad in [
            "javascript:alert(1)",
            " data:x",
            "//example.org",
            "http://a b",
            "ftp://x",
        ] {
            assert!(web_link(bad).is_none(), "{bad}");
        }
        assert!(local_path("/submissions/s1?x=1").is_some());
        for bad in ["//evil.example", "https://evil.example", "/\\evil", "x"] {
            assert!(local_path(bad).is_none(), "{bad}");
        }
    }
}
