//! Identifier newtypes. Each parses on the way in, so a value of the type is
//! always well formed; none is ever built from unchecked text.

use serde::{Deserialize, Serialize};

/// Why a text is no identifier of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a valid {kind}: {rule}")]
pub struct IdError {
    /// What was wanted, in words.
    pub kind: &'static str,
    /// The rule that the text breaks.
    pub rule: &'static str,
    /// The text, shortened to 80 characters.
    pub text: String,
}

/// Declares a validated text newtype with its serde, display and parse code.
macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $rule:literal, $valid:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Parses the text; the error names the rule.
            pub fn parse(text: &str) -> Result<Self, IdError> {
                let valid: fn(&str) -> bool = $valid;
                if valid(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(IdError { kind: $kind, rule: $rule, text: text.chars().take(80).collect() })
                }
            }

            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::parse(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }
    };
}

fn slug(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 64
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.contains("--")
}

fn token(prefix: &str, text: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|rest| {
        (8..=32).contains(&rest.len())
            && rest
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    })
}

text_id!(
    /// A case, `<system>-<number>` in lower case.
    CaseId, "case id", "lower-case letters, digits and single hyphens, ending in `-<number>`",
    |t| slug(t) && t.rsplit_once('-').is_some_and(|(s, n)| !s.is_empty() && !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
);
text_id!(
    /// An upstream project.
    SystemId, "system id", "lower-case letters, digits and single hyphens", slug
);
text_id!(
    /// A case set release such as `2026.1`.
    ReleaseId, "release id", "digits and dots, such as `2026.1`",
    |t| !t.is_empty() && t.len() <= 24 && t.bytes().all(|b| b.is_ascii_digit() || b == b'.') && t.as_bytes()[0].is_ascii_digit() && !t.ends_with('.') && !t.contains("..")
);
text_id!(
    /// A named part of a release: `full`, `lite`, `tier-1` ... or one that the release defines.
    SubsetId, "subset", "lower-case letters, digits and single hyphens", slug
);
text_id!(
    /// A debug-context bundle: `default`, or a tool's.
    ContextBundleId, "context bundle id", "lower-case letters, digits and single hyphens", slug
);
text_id!(
    /// A submission, `s` and random characters; public once the submission is.
    SubmissionId, "submission id", "`s` followed by 8 to 32 lower-case letters and digits", |t| token("s", t)
);
text_id!(
    /// One attempt of a submission, `a` and random characters.
    AttemptId, "attempt id", "`a` followed by 8 to 32 lower-case letters and digits", |t| token("a", t)
);
text_id!(
    /// A score revision of a submission, `r` and random characters.
    RevisionId, "revision id", "`r` followed by 8 to 32 lower-case letters and digits", |t| token("r", t)
);
text_id!(
    /// A re-evaluation of a set of submissions, `e` and random characters.
    ReevaluationId, "re-evaluation id", "`e` followed by 8 to 32 lower-case letters and digits", |t| token("e", t)
);
text_id!(
    /// A person's account, `u` and random characters.
    UserId, "user id", "`u` followed by 8 to 32 lower-case letters and digits", |t| token("u", t)
);
text_id!(
    /// A team of people, `t` and random characters.
    TeamId, "team id", "`t` followed by 8 to 32 lower-case letters and digits", |t| token("t", t)
);
text_id!(
    /// An upload in progress, `p` and random characters.
    UploadId, "upload id", "`p` followed by 8 to 32 lower-case letters and digits", |t| token("p", t)
);
text_id!(
    /// A SHA-256 digest in lower-case hexadecimal (64 characters, no prefix).
    Digest, "SHA-256 digest", "64 lower-case hexadecimal characters",
    |t| t.len() == 64 && t.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
);

impl CaseId {
    /// The part before the number, as the case's name tells it. The binding
    /// system of a case is the `system` field of its `case.yaml`.
    pub fn system_part(&self) -> &str {
        self.0.rsplit_once('-').map_or("", |(s, _)| s)
    }
}

impl Digest {
    /// The digest of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::Digest as _;
        Self(hex::encode(sha2::Sha256::digest(bytes)))
    }

    /// The digest that a finished SHA-256 state holds.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(hex::encode(bytes))
    }

    /// The first 12 characters, enough to tell digests apart on a page.
    pub fn short(&self) -> &str {
        &self.0[..12]
    }
}

/// The number of an attempt within its case: `run-01` is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunNumber(pub u32);

impl RunNumber {
    /// Parses a folder name `run-<digits>`, at most six digits.
    pub fn parse_folder(name: &str) -> Result<Self, IdError> {
        let error = || IdError {
            kind: "run folder",
            rule: "`run-` followed by one to six digits, counting from 1",
            text: name.chars().take(80).collect(),
        };
        let digits = name.strip_prefix("run-").ok_or_else(error)?;
        if digits.is_empty() || digits.len() > 6 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(error());
        }
        match digits.parse() {
            Ok(0) | Err(_) => Err(error()),
            Ok(n) => Ok(Self(n)),
        }
    }

    /// The folder name, at least two digits.
    pub fn folder(self) -> String {
        format!("run-{:02}", self.0)
    }
}

impl std::fmt::Display for RunNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "run-{:02}", self.0)
    }
}

/// A job's row number in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub i64);

impl std::fmt::Display for JobId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Makes identifier text out of random bytes: base 36 digits of each byte pair.
/// The caller brings the randomness (at least 16 bytes for an unguessable id).
pub fn random_id_text(prefix: char, random: &[u8]) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut text = String::with_capacity(random.len() + 1);
    text.push(prefix);
    text.extend(
        random
            .iter()
            .map(|b| char::from(ALPHABET[usize::from(b & 31)])),
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_ids_are_lower_case_and_end_in_a_number() {
        for good in ["raft-rs-76", "h2-041", "redis-py-2624"] {
            assert_eq!(CaseId::parse(good).unwrap().as_str(), good);
        }
        for bad in [
            "", "raft", "Raft-1", "raft-", "-1", "raft--1", "raft-1a", "raft 1", "ra/ft-1", "..-1",
        ] {
            assert!(CaseId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn run_folders_count_from_one() {
        assert_eq!(RunNumber::parse_folder("run-07").unwrap().0, 7);
        assert_eq!(
            RunNumber::parse_folder("run-10").unwrap().folder(),
            "run-10"
        );
        for bad in [
            "run-",
            "run-0",
            "run-00",
            "run--1",
            "run-1x",
            "run-1234567",
            "Run-1",
            "7",
        ] {
            assert!(RunNumber::parse_folder(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn random_ids_parse_as_their_kind() {
        let text = random_id_text('s', &[0, 255, 7, 31, 32, 100, 200, 9, 1, 2, 3, 4]);
        assert!(SubmissionId::parse(&text).is_ok());
        assert!(AttemptId::parse(&text).is_err());
    }
}
