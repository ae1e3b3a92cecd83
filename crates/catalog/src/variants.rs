//! The variants of a solution: other fixes that are right, and fixes that look
//! right and are not. An oracle that judges behaviour passes the first and fails
//! the second; whether it does is shown by running it, not here.

use faultboard_domain::Problem;
use faultboard_domain::patch::Patch;

use crate::folder::{File, Folder};

/// The folder of the variants, below a solution's.
pub const FOLDER: &str = "variants";

/// The fewest right fixes besides the solution that a released case has.
pub const ALTERNATIVES: usize = 1;

/// The fewest wrong fixes that a released case has.
pub const WRONG: usize = 2;

/// What the oracle must say of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expect {
    /// It mends the bug another way: PASS.
    Pass,
    /// It does not mend the bug: FAIL.
    Fail,
}

impl Expect {
    /// What names of such variants begin with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Expect::Pass => "alternative",
            Expect::Fail => "wrong",
        }
    }
}

/// One variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Its file's name without the ending, such as `wrong-hides-the-error`.
    pub name: String,
    /// What the oracle must say.
    pub expect: Expect,
    /// What it is, from the comment at its head.
    pub about: String,
    /// The patch, without that comment.
    pub diff: String,
}

/// Reads the variants of a solution folder, those that must pass first. One with
/// a mistake is left out, and the mistake told.
pub(crate) fn read(folder: &Folder, problems: &mut Vec<Problem>) -> Vec<Variant> {
    let mut found: Vec<Variant> = folder
        .below(FOLDER)
        .filter_map(|(path, file)| match variant(path, file) {
            Ok(variant) => Some(variant),
            Err((message, fix)) => {
                problems.push(Problem::error(folder.at(path), "variant", message, fix));
                None
            }
        })
        .collect();
    found.sort_by(|a, b| (a.expect, &a.name).cmp(&(b.expect, &b.name)));
    for (i, v) in found.iter().enumerate() {
        if found[..i].iter().any(|earlier| earlier.diff == v.diff) {
            problems.push(Problem::error(
                folder.at(&format!("{FOLDER}/{}.diff", v.name)),
                "variant",
                "is the same patch as another variant".to_owned(),
                "keep one of them",
            ));
        }
    }
    found
}

fn variant(path: &str, file: &File) -> Result<Variant, (String, &'static str)> {
    let rest = path.strip_prefix(FOLDER).unwrap_or(path);
    let name = rest.trim_start_matches('/');
    let named = name.strip_suffix(".diff").and_then(|stem| {
        let expect = [Expect::Pass, Expect::Fail].into_iter().find(|e| {
            stem.strip_prefix(e.prefix())
                .and_then(|rest| rest.strip_prefix('-'))
                .is_some_and(slug)
        })?;
        Some((stem.to_owned(), expect))
    });
    let Some((name, expect)) = named else {
        return Err((
            "is no name of a variant".to_owned(),
            "name it `alternative-<what>.diff` or `wrong-<what>.diff`, in small letters, digits and hyphens",
        ));
    };
    let text = std::str::from_utf8(&file.bytes)
        .map_err(|_| ("is not UTF-8".to_owned(), "save it as UTF-8"))?;
    let comment = |line: &&str| line.starts_with('#');
    let head: Vec<&str> = text.lines().take_while(comment).collect();
    let about = head
        .iter()
        .map(|l| l.trim_start_matches('#').trim())
        .filter(|l| !l.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    if about.is_empty() {
        return Err((
            "does not say what it is".to_owned(),
            "begin the file with one or two lines `# ...`",
        ));
    }
    let diff: String = text
        .split_inclusive('\n')
        .skip(head.len())
        .collect::<String>();
    match Patch::parse(diff.as_bytes()) {
        Err(e) => Err((
            format!("the diff cannot be read: {e}"),
            "write a unified diff against the faulty tree",
        )),
        Ok(patch) if patch.is_empty() => Err((
            "the diff changes nothing".to_owned(),
            "write a unified diff against the faulty tree",
        )),
        Ok(_) => Ok(Variant {
            name,
            expect,
            about,
            diff,
        }),
    }
}

fn slug(text: &str) -> bool {
    (1..=60).contains(&text.len())
        && !text.starts_with('-')
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// What a released case lacks; `None`: enough.
pub(crate) fn lacking(variants: &[Variant]) -> Option<String> {
    let count = |e: Expect| variants.iter().filter(|v| v.expect == e).count();
    let (right, wrong) = (count(Expect::Pass), count(Expect::Fail));
    (right < ALTERNATIVES || wrong < WRONG).then(|| {
        format!("has {right} alternative and {wrong} wrong fixes, not at least {ALTERNATIVES} and {WRONG}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/src/x.py\n+++ b/src/x.py\n@@ -1,2 +1,2 @@\n-a\n+c\n d\n";

    fn folder(files: &[(&str, &str)]) -> Folder {
        let mut f = Folder::named("cases-solution/a-1");
        for (name, text) in files {
            f.put(format!("variants/{name}"), *text, false);
        }
        f
    }

    #[test]
    fn variants_are_read_with_what_they_are() {
        let told = format!("# Locks twice.\n#\n# Slow, but right.\n{DIFF}");
        let other = format!("# Hides it.\n{}", DIFF.replace("+c", "+e"));
        let mut problems = Vec::new();
        let found = read(
            &folder(&[
                ("wrong-hides-it.diff", &other),
                ("alternative-two-locks.diff", &told),
            ]),
            &mut problems,
        );
        assert_eq!(problems, []);
        assert_eq!(found[0].name, "alternative-two-locks");
        assert_eq!(found[0].about, "Locks twice. Slow, but right.");
        assert_eq!(found[0].diff, DIFF);
        assert_eq!(
            (found[0].expect, found[1].expect),
            (Expect::Pass, Expect::Fail)
        );
    }

    #[test]
    fn mistakes_are_told_and_leave_the_variant_out() {
        for (name, text) in [
            ("right-x.diff", format!("# x\n{DIFF}")),
            ("wrong-.diff", format!("# x\n{DIFF}")),
            ("wrong-X.diff", format!("# x\n{DIFF}")),
            ("wrong-x.patch", format!("# x\n{DIFF}")),
            ("deeper/wrong-x.diff", format!("# x\n{DIFF}")),
            ("wrong-x.diff", DIFF.to_owned()),
            ("wrong-x.diff", format!("#\n{DIFF}")),
            ("wrong-x.diff", "# x\n".to_owned()),
            ("wrong-x.diff", "# x\nnonsense\n".to_owned()),
        ] {
            let mut problems = Vec::new();
            let found = read(&folder(&[(name, &text)]), &mut problems);
            assert!(found.is_empty(), "{name}");
            assert_eq!(problems.len(), 1, "{name}: {problems:?}");
        }
    }

    #[test]
    fn the_same_patch_twice_is_no_second_variant() {
        let text = format!("# x\n{DIFF}");
        let mut problems = Vec::new();
        read(
            &folder(&[("wrong-a.diff", &text), ("wrong-b.diff", &text)]),
            &mut problems,
        );
        assert_eq!(problems.len(), 1);
    }

    #[test]
    fn a_released_case_needs_enough_of_both() {
        let of = |name: &str, expect| Variant {
            name: name.to_owned(),
            expect,
            about: String::new(),
            diff: String::new(),
        };
        let (right, wrong) = (of("a", Expect::Pass), of("w", Expect::Fail));
        assert!(lacking(&[]).is_some());
        assert!(lacking(&[right.clone(), wrong.clone()]).is_some());
        assert!(lacking(&[wrong.clone(), wrong.clone()]).is_some());
        assert!(lacking(&[right, wrong.clone(), wrong]).is_none());
    }
}
