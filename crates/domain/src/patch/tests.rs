//! Patches as agents really send them.

use super::*;

const FILE: &[u8] = b"one\ntwo\nthree\nfour\nfive\n";

fn apply(old: &[u8], diff: &str) -> Result<AppliedFile, Vec<HunkFailure>> {
    let patch = Patch::parse(diff.as_bytes()).unwrap();
    apply_file(Some(old), &patch.files[0])
}

fn bytes(result: Result<AppliedFile, Vec<HunkFailure>>) -> String {
    String::from_utf8(result.unwrap().bytes.unwrap()).unwrap()
}

#[test]
fn a_plain_git_diff_applies() {
    let diff = "diff --git a/x.txt b/x.txt\nindex 1..2 100644\n--- a/x.txt\n+++ b/x.txt\n@@ -2,2 +2,2 @@ one\n two\n-three\n+THREE\n";
    let patch = Patch::parse(diff.as_bytes()).unwrap();
    assert_eq!(patch.files[0].new_path, "x.txt");
    assert!(patch.notes.is_empty());
    assert_eq!(bytes(apply(FILE, diff)), "one\ntwo\nTHREE\nfour\nfive\n");
}

#[test]
fn paths_without_prefixes_apply() {
    let patch = Patch::parse(b"--- src/x.rs\n+++ src/x.rs\n@@ -1 +1 @@\n-a\n+b\n").unwrap();
    assert_eq!(patch.files[0].new_path, "src/x.rs");
    let a_folder = Patch::parse(b"--- a/x.rs\n+++ a/x.rs\n@@ -1 +1 @@\n-a\n+b\n").unwrap();
    assert_eq!(
        a_folder.files[0].new_path, "a/x.rs",
        "a folder that is called a"
    );
}

#[test]
fn crlf_in_the_patch_or_in_the_file_does_no_harm() {
    let diff = "--- a/x\r\n+++ b/x\r\n@@ -2 +2 @@\r\n-two\r\n+TWO\r\n";
    assert_eq!(bytes(apply(FILE, diff)), "one\nTWO\nthree\nfour\nfive\n");
    let unix = "--- a/x\n+++ b/x\n@@ -2 +2 @@\n-two\n+TWO\n";
    assert_eq!(bytes(apply(b"one\r\ntwo\r\n", unix)), "one\r\nTWO\r\n");
}

#[test]
fn moved_hunks_apply_but_changed_context_never_does() {
    let diff = "--- a/x\n+++ b/x\n@@ -40,2 +40,2 @@\n four\n-five\n+FIVE\n";
    assert_eq!(bytes(apply(FILE, diff)), "one\ntwo\nthree\nfour\nFIVE\n");
    let wrong = "--- a/x\n+++ b/x\n@@ -4,2 +4,2 @@\n fuor\n-five\n+FIVE\n";
    let failures = apply(FILE, wrong).unwrap_err();
    assert_eq!(failures.len(), 1);
    assert!(failures[0].why.contains("fuor"), "{}", failures[0].why);
}

#[test]
fn every_failed_hunk_is_reported() {
    let diff =
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-uno\n+1\n@@ -2 +2 @@\n-two\n+2\n@@ -3 +3 @@\n-tres\n+3\n";
    let failed: Vec<usize> = apply(FILE, diff)
        .unwrap_err()
        .iter()
        .map(|f| f.hunk)
        .collect();
    assert_eq!(failed, [1, 3]);
}

#[test]
fn wrong_counts_are_recounted_and_said() {
    let diff = "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n one\n-two\n+2\n+zwei\n three\n";
    let patch = Patch::parse(diff.as_bytes()).unwrap();
    assert_eq!(patch.notes.len(), 1);
    assert_eq!(
        bytes(apply_file(Some(FILE), &patch.files[0])),
        "one\n2\nzwei\nthree\nfour\nfive\n"
    );
}

#[test]
fn a_missing_last_newline_of_the_patch_is_mended() {
    assert_eq!(
        bytes(apply(FILE, "--- a/x\n+++ b/x\n@@ -5 +5 @@\n-five\n+5")),
        "one\ntwo\nthree\nfour\n5\n"
    );
}

#[test]
fn no_newline_markers_are_kept() {
    let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n";
    assert_eq!(bytes(apply(b"a", diff)), "b");
}

#[test]
fn a_stripped_blank_context_line_is_still_context() {
    assert_eq!(
        bytes(apply(
            b"a\n\nb\n",
            "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n"
        )),
        "a\n\nc\n"
    );
}

#[test]
fn removed_lines_that_look_like_headers_are_lines() {
    let old = b"-- drop\nkeep\n";
    assert_eq!(
        bytes(apply(
            old,
            "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- drop\n+++ add\n keep\n"
        )),
        "++ add\nkeep\n"
    );
}

#[test]
fn files_come_go_and_move() {
    let diff = "diff --git a/new.sh b/new.sh\nnew file mode 100755\n--- /dev/null\n+++ b/new.sh\n@@ -0,0 +1 @@\n+echo\ndiff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/p b/q\nsimilarity index 100%\nrename from p\nrename to q\n";
    let patch = Patch::parse(diff.as_bytes()).unwrap();
    let kinds: Vec<_> = patch.files.iter().map(|f| f.change).collect();
    assert_eq!(
        kinds,
        [FileChange::Create, FileChange::Delete, FileChange::Rename]
    );
    assert_eq!(patch.files[0].executable, Some(true));
    assert_eq!(
        apply_file(None, &patch.files[0]).unwrap().bytes.unwrap(),
        b"echo\n"
    );
    assert_eq!(
        apply_file(Some(b"x\n"), &patch.files[1]).unwrap().bytes,
        None
    );
    assert!(apply_file(None, &patch.files[1]).is_err());
    assert_eq!(
        (
            patch.files[2].old_path.as_str(),
            patch.files[2].new_path.as_str()
        ),
        ("p", "q")
    );
}

#[test]
fn hostile_patches_are_refused() {
    for (diff, what) in [
        (
            "--- a/../etc/passwd\n+++ b/../etc/passwd\n@@ -1 +1 @@\n-a\n+b\n",
            "leaves",
        ),
        (
            "--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n",
            "absolute",
        ),
        (
            "--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-a\n+b\n",
            ".git",
        ),
        (
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n",
            "symbolic",
        ),
        (
            "diff --git a/b b/b\nGIT binary patch\nliteral 3\n",
            "binary",
        ),
        ("hello, I fixed it", "header"),
    ] {
        let error = Patch::parse(diff.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn white_space_is_an_empty_patch() {
    assert!(Patch::parse(b" \n\r\n").unwrap().is_empty());
}

#[test]
fn protected_paths_are_dropped_and_named() {
    let diff = "--- a/REBUILD.sh\n+++ b/REBUILD.sh\n@@ -1 +1 @@\n-a\n+b\n--- a/evidence/a.md\n+++ b/evidence/a.md\n@@ -1 +1 @@\n-a\n+b\n--- a/evidence.rs\n+++ b/evidence.rs\n@@ -1 +1 @@\n-a\n+b\n";
    let mut patch = Patch::parse(diff.as_bytes()).unwrap();
    let dropped = patch.drop_protected(&["REBUILD.sh".to_owned(), "evidence/".to_owned()]);
    assert_eq!(dropped, ["REBUILD.sh", "evidence/a.md"]);
    assert_eq!(patch.files.len(), 1);
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(0u8..=255, 0..400)) {
        let _ = Patch::parse(&bytes);
    }

    #[test]
    fn no_diff_like_text_makes_it_panic(lines in proptest::collection::vec("(---|\\+\\+\\+|@@|diff --git|[ +-\\\\]) ?[ab]?/?[a-c@,0-9 +-]{0,12}", 0..30), old in "[a-c\n]{0,40}") {
        if let Ok(patch) = Patch::parse(lines.join("\n").as_bytes()) {
            for file in &patch.files {
                let _ = apply_file(Some(old.as_bytes()), file);
            }
        }
    }

    #[test]
    fn a_line_replaced_by_a_diff_is_replaced(lines in proptest::collection::vec("[a-z]{1,6}", 1..20), pick in 0usize..20) {
        let pick = pick % lines.len();
        let old: String = lines.iter().map(|l| format!("{l}\n")).collect();
        let diff = format!("--- a/f\n+++ b/f\n@@ -{0} +{0} @@\n-{1}\n+NEW\n", pick + 1, lines[pick]);
        let mut want = lines.clone();
        want[pick] = "NEW".to_owned();
        let want: String = want.iter().map(|l| format!("{l}\n")).collect();
        proptest::prop_assert_eq!(bytes(apply(old.as_bytes(), &diff)), want);
    }
}
