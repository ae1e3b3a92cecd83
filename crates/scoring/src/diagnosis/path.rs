//! Paths of labels and predictions: normal form (P1) and matching (P2 to P4).
//!
//! Never touches a file system: a path is text here.

/// The normal form of a path (P1): outer space trimmed, `\` turned to `/`,
/// empty and `.` segments dropped, `x/..` resolved, a leading `..` dropped.
/// Letter case, `a/` and `b/`, drive letters and workspace prefixes stay.
#[must_use]
pub fn normalize(path: &str) -> String {
    let path = path.trim();
    let mut normal = String::with_capacity(path.len());
    let mut rest = path;
    while !rest.is_empty() {
        let end = rest
            .bytes()
            .position(|b| matches!(b, b'/' | b'\\'))
            .unwrap_or(rest.len());
        match &rest[..end] {
            "" | "." => {}
            ".." => normal.truncate(normal.rfind('/').unwrap_or(0)),
            other => {
                if !normal.is_empty() {
                    normal.push('/');
                }
                normal.push_str(other);
            }
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    normal
}

/// Whether two normal paths match (P2): equal, or one contains the other as
/// plain text. Case-sensitive (P3); an empty path matches nothing (P4).
#[must_use]
pub fn normalized_match(a: &str, b: &str) -> bool {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    // The same file under another prefix is the usual case, and cheap to see.
    !short.is_empty()
        && (long.ends_with(short)
            || memchr::memmem::find(long.as_bytes(), short.as_bytes()).is_some())
}

/// Whether two paths as written match.
#[must_use]
pub fn paths_match(a: &str, b: &str) -> bool {
    normalized_match(&normalize(a), &normalize(b))
}
