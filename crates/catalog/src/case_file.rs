//! `case.yaml`: its form, and reading it into a [`Case`]. Reports every mistake,
//! each with file, line and the allowed values; never looks at other files.

use faultboard_domain::case::{CrashDistance, Family, TextAnchor};
use faultboard_domain::{Case, CaseId, Problem, SystemId};

use crate::form::{self, Field, Kind, id, may, must};
use crate::yaml;

/// Kinds of systems that a case may name; a new kind is a new line here.
pub const CATEGORIES: &[&str] = &[
    "key-value store",
    "consensus library",
    "messaging",
    "service mesh",
    "streaming engine",
    "storage engine",
    "task queue",
    "membership",
    "coordination service",
    "transport library",
    "database",
    "replication library",
];

/// Languages that a case may name.
pub const LANGUAGES: &[&str] = &[
    "C",
    "C++",
    "Elixir",
    "Erlang",
    "Go",
    "Java",
    "JavaScript",
    "Kotlin",
    "Python",
    "Ruby",
    "Rust",
    "Scala",
    "TypeScript",
];

/// Capabilities that an oracle's container may keep.
pub const CAPABILITIES: &[&str] = &[
    "SETUID",
    "SETGID",
    "KILL",
    "CHOWN",
    "NET_BIND_SERVICE",
    "NET_RAW",
];

const FAMILIES: &[&str] = &[
    Family::ProtocolRecovery.as_str(),
    Family::Concurrency.as_str(),
    Family::ReplicationConsistency.as_str(),
    Family::InputCrash.as_str(),
    Family::ResourceDelivery.as_str(),
];
const ANCHORS: &[&str] = &[
    TextAnchor::Opaque.as_str(),
    TextAnchor::NamesFileOrClass.as_str(),
    TextAnchor::NamesMethod.as_str(),
];
const DISTANCES: &[&str] = &[
    CrashDistance::None.as_str(),
    CrashDistance::Local.as_str(),
    CrashDistance::Adjacent.as_str(),
    CrashDistance::CrossComponent.as_str(),
];
const TRACKS: Kind = Kind::Word(&["repair", "diagnosis", "recovery"]);
const CAPS: Kind = Kind::Word(CAPABILITIES);

const SHA256: Kind = Kind::Checked(|t| {
    hex_of(t, &[64]).ok_or_else(|| "a SHA-256: 64 lower-case hexadecimal digits".to_owned())
});
const COMMIT: Kind = Kind::Checked(|t| {
    hex_of(t, &[40, 64])
        .ok_or_else(|| "a full commit id: 40 or 64 lower-case hexadecimal digits".to_owned())
});
const URL: Kind = Kind::Checked(|t| {
    let rest = t
        .strip_prefix("https://")
        .or_else(|| t.strip_prefix("http://"))
        .unwrap_or_default();
    if rest.is_empty() || t.len() > 500 || t.contains(|c: char| c.is_whitespace() || c.is_control())
    {
        Err("an http or https address without spaces".to_owned())
    } else {
        Ok(())
    }
});
const NAME: Kind = Kind::Checked(|t| {
    let good = |b: u8| b.is_ascii_alphanumeric() || b"._+-~:".contains(&b);
    if !t.is_empty() && t.len() <= 120 && t.bytes().all(good) && !t.starts_with('-') {
        Ok(())
    } else {
        Err("letters, digits and . _ + - ~ : (quote what looks like a number)".to_owned())
    }
});
const INNER_PATH: Kind = Kind::Checked(|t| {
    if inner_path(t) {
        Ok(())
    } else {
        Err("a relative path inside the case's folder, without `..`".to_owned())
    }
});
const IMAGE: Kind = Kind::Checked(|t| {
    let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-/:@".contains(&b);
    let tagged = t
        .rsplit_once('/')
        .map_or(t, |(_, last)| last)
        .split_once(':')
        .is_some_and(|(n, tag)| !n.is_empty() && !tag.is_empty());
    if tagged && t.len() <= 200 && t.bytes().all(good) {
        Ok(())
    } else {
        Err("an image with a tag, such as `faultboard/python:1`".to_owned())
    }
});
const SPDX: Kind = Kind::Checked(|t| {
    let word = |w: &str| {
        matches!(w, "AND" | "OR" | "WITH")
            || w.trim_matches(['(', ')'])
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b".-+".contains(&b))
    };
    if !t.is_empty() && t.len() <= 120 && t.split(' ').all(|w| !w.is_empty() && word(w)) {
        Ok(())
    } else {
        Err("an SPDX expression, such as `MIT OR Apache-2.0`".to_owned())
    }
});

const SOURCES: &[(&str, &[Field])] = &[
    ("git", &[must("url", URL), must("commit", COMMIT)]),
    (
        "pypi",
        &[
            must("name", NAME),
            must("version", NAME),
            must("sha256", SHA256),
        ],
    ),
    (
        "crate",
        &[
            must("name", NAME),
            must("version", NAME),
            must("sha256", SHA256),
        ],
    ),
    (
        "debian",
        &[
            must("package", NAME),
            must("package_kind", Kind::Word(&["source", "binary"])),
            must("version", NAME),
            must("suite", NAME),
        ],
    ),
    ("archive", &[must("url", URL), must("sha256", SHA256)]),
    ("directory", &[must("path", INNER_PATH)]),
];

/// The form of `case.yaml`.
const FORM: &[Field] = &[
    must("id", Kind::Checked(|t| id(CaseId::parse(t)))),
    must("title", Kind::Line(120)),
    must("system", Kind::Checked(|t| id(SystemId::parse(t)))),
    must("language", Kind::Word(LANGUAGES)),
    must("category", Kind::Word(CATEGORIES)),
    must("family", Kind::Word(FAMILIES)),
    must("tier", Kind::Int(1, 3)),
    must("tracks", Kind::List(1, &TRACKS)),
    must("lite", Kind::Bool),
    must("license", SPDX),
    must("severity", Kind::Word(&["critical", "major", "minor"])),
    must("root_cause_type", Kind::Line(60)),
    must("complexity", Kind::Word(&["low", "medium", "high"])),
    must(
        "evidence",
        Kind::Section(&[
            must("contains_logs", Kind::Bool),
            must("contains_stack_traces", Kind::Bool),
            must("contains_analysis", Kind::Bool),
        ]),
    ),
    must(
        "report",
        Kind::Section(&[
            must("text_anchor", Kind::Word(ANCHORS)),
            must("crash_distance", Kind::Word(DISTANCES)),
        ]),
    ),
    must("source", Kind::Variant(SOURCES)),
    must("image", IMAGE),
    must("caps", Kind::List(0, &CAPS)),
    may(
        "limits",
        Kind::Section(&[
            may("memory_mib", Kind::Int(64, 65_536)),
            may("cpus", Kind::Number(0.1, 64.0)),
            may("pids", Kind::Int(16, 32_768)),
            may("setup_timeout_s", Kind::Int(1, 7_200)),
            may("rebuild_timeout_s", Kind::Int(1, 7_200)),
            may("reproduce_timeout_s", Kind::Int(1, 3_600)),
        ]),
    ),
    must("rebuild", Kind::Text(8_192)),
    must(
        "oracle",
        Kind::Section(&[
            must("repeats", Kind::Int(1, 20)),
            may("parallel_safe", Kind::Bool),
            may("nonce", Kind::Bool),
        ]),
    ),
    must("fix_size", Kind::Int(1, 10_000)),
];

/// Whether a path is relative, plain and stays inside.
pub(crate) fn inner_path(path: &str) -> bool {
    !path.is_empty()
        && path.len() <= 240
        && !path.contains(['\\', '\0', '\n'])
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn hex_of(text: &str, lengths: &[usize]) -> Option<()> {
    let digits = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    (lengths.contains(&text.len()) && text.bytes().all(digits)).then_some(())
}

/// Reads a `case.yaml`. `path` names the file in the problems. The case is
/// there only when nothing is wrong.
pub fn parse(path: &str, bytes: &[u8]) -> (Option<Case>, Vec<Problem>) {
    typed(path, bytes, FORM)
}

/// Checks a document against its form, then reads it into the type.
pub(crate) fn typed<T: serde::de::DeserializeOwned>(
    path: &str,
    bytes: &[u8],
    fields: &[Field],
) -> (Option<T>, Vec<Problem>) {
    let mut problems = Vec::new();
    match yaml::parse(bytes) {
        Ok(node) => form::check(path, &node, fields, &mut problems),
        Err(e) => problems.push(Problem::error(
            format!("{path}:{}", e.line),
            "yaml",
            e.message,
            "mend the YAML",
        )),
    }
    if !problems.is_empty() {
        return (None, problems);
    }
    // The type is the last word: a form that is laxer than it must not pass.
    match serde_saphyr::from_slice::<T>(bytes) {
        Ok(value) => (Some(value), problems),
        Err(e) => {
            let e = yaml::yaml_error(&e);
            problems.push(Problem::error(
                format!("{path}:{}", e.line),
                "schema",
                e.message,
                "see the field's description",
            ));
            (None, problems)
        }
    }
}
