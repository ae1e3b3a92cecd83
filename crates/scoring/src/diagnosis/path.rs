//! Paths of labels and predictions: normal form (P1) and matching (P2 to P4).
//!
//! Never touches a file system: a path is text here.

/// The normal form of a path (P1): outer space trimmed, `\` turned to `/`,
/// empty and `.` segments dropped, `x/..` resolved, a leading `..` dropped.
/// Letter case, `a/` and `b/`, drive letters and workspace prefixes stay.
#[must_use]
pub fn normalize(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.trim().split(['/', '\\']) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    segments.join("/")
}

/// Whether two normal paths match (P2): equal, or one contains the other as
/// plain text. Case-sensitive (P3); an empty path matches nothing (P4).
#[must_use]
pub fn normalized_match(a: &str, b: &str) -> bool {
    !a.is_empty() && !b.is_empty() && (a.contains(b) || b.contains(a))
}

/// Whether two paths as written match.
#[must_use]
pub fn paths_match(a: &str, b: &str) -> bool {
    normalized_match(&normalize(a), &normalize(b))
}
