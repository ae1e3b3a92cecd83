//! A single byte range of a file, as `Range` asks for it. Several ranges at
//! once are not offered; such a request gets the whole file, as it may.

use std::ops::Range;

use axum::http::{HeaderMap, header};

/// What a request wants of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All of it.
    Whole,
    /// A part, half-open, within the file and not empty.
    Part(Range<u64>),
    /// A part that the file doesn't have.
    Unsatisfiable,
}

/// Reads `Range`, under `If-Range`, for a file of `size` bytes with the strong
/// tag `tag`. What can't be understood counts as not asked.
pub(super) fn wanted(headers: &HeaderMap, size: u64, tag: &str) -> Wanted {
    if headers
        .get(header::IF_RANGE)
        .is_some_and(|v| v.as_bytes() != tag.as_bytes())
    {
        return Wanted::Whole;
    }
    headers
        .get(header::RANGE)
        .and_then(|v| v.to_str().ok())
        .and_then(|v| v.trim().strip_prefix("bytes="))
        .and_then(|spec| parse(spec.trim(), size))
        .unwrap_or(Wanted::Whole)
}

fn parse(spec: &str, size: u64) -> Option<Wanted> {
    let (first, last) = spec.split_once('-')?;
    let number = |t: &str| -> Option<u64> {
        (!t.is_empty() && t.bytes().all(|b| b.is_ascii_digit()))
            .then(|| t.parse().unwrap_or(u64::MAX))
    };
    let range = match (first, last) {
        ("", suffix) => size.saturating_sub(number(suffix)?)..size,
        (first, "") => number(first)?..size,
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return None;
            }
            first..last.saturating_add(1).min(size)
        }
    };
    Some(if range.start < range.end {
        Wanted::Part(range)
    } else {
        Wanted::Unsatisfiable
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn of(range: &'static str, size: u64) -> Wanted {
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, HeaderValue::from_static(range));
        wanted(&headers, size, "\"t\"")
    }

    #[test]
    fn parts_as_the_standard_says() {
        assert_eq!(of("bytes=0-0", 10), Wanted::Part(0..1));
        assert_eq!(of("bytes=5-", 10), Wanted::Part(5..10));
        assert_eq!(of("bytes=-3", 10), Wanted::Part(7..10));
        assert_eq!(of("bytes=-30", 10), Wanted::Part(0..10));
        assert_eq!(
            of("bytes=8-99999999999999999999999", 10),
            Wanted::Part(8..10)
        );
        for none in ["bytes=10-", "bytes=10-12", "bytes=-0"] {
            assert_eq!(of(none, 10), Wanted::Unsatisfiable, "{none}");
        }
        assert_eq!(of("bytes=0-", 0), Wanted::Unsatisfiable);
        for odd in [
            "bytes=3-1",
            "bytes=",
            "bytes=-",
            "bytes=a-b",
            "bytes=0-1,3-4",
            "lines=1-2",
            "bytes=+1-2",
        ] {
            assert_eq!(of(odd, 10), Wanted::Whole, "{odd}");
        }
    }

    #[test]
    fn an_older_copy_gets_the_whole() {
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, HeaderValue::from_static("bytes=0-1"));
        headers.insert(header::IF_RANGE, HeaderValue::from_static("\"old\""));
        assert_eq!(wanted(&headers, 10, "\"t\""), Wanted::Whole);
        headers.insert(header::IF_RANGE, HeaderValue::from_static("\"t\""));
        assert_eq!(wanted(&headers, 10, "\"t\""), Wanted::Part(0..2));
    }
}
