//! The one-commit repository that makes `git diff` work in a prepared tree, and
//! the proof that nothing later than the faulty state can be read from it. The
//! repository is made inside a container: the host never runs git on a tree.

use std::fs;
use std::io;
use std::path::Path;

use crate::PROTECTED_PATHS;
use crate::tree;

/// Folders in which version control keeps its data.
const VCS: &[&str] = &[".git", ".hg", ".svn", ".bzr", "_darcs"];

/// Makes the repository and counts what is in it. Files that the tree ignores
/// but ships are added too (build output is not), so that edits to them show.
/// Dates, names and options are fixed: the same tree gives the same commit.
pub(crate) const SCRIPT: &str = r#"
set -euo pipefail
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME=faultboard GIT_AUTHOR_EMAIL=snapshot@faultboard.invalid GIT_AUTHOR_DATE='2000-01-01T00:00:00Z'
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
git -c init.defaultBranch=main init -q --template=
git config core.logAllRefUpdates false
git config core.autocrlf false
git config gc.auto 0
mkdir -p .git/info
printf '%s\n' "$@" > .git/info/exclude
git add -A
git ls-files -z -o -i --exclude-standard --directory | while IFS= read -r -d '' path; do
  case "$path" in
    */|*.pyc|*.pyo|*.o|*.a|*.so|*.rlib|*.rmeta|*.class) ;;
    *) git add -f -- "$path" ;;
  esac
done
git commit -q --no-verify --allow-empty -m snapshot
rm -rf .git/logs .git/COMMIT_EDITMSG .git/ORIG_HEAD .git/FETCH_HEAD .git/hooks .git/branches .git/description
printf 'commit=%s\n' "$(git rev-parse HEAD)"
printf 'commits=%s\n' "$(git rev-list --all --count)"
printf 'refs=%s\n' "$(git for-each-ref | wc -l)"
printf 'remotes=%s\n' "$(git remote | wc -l)"
printf 'reachable=%s\n' "$(git rev-list --objects --all | wc -l)"
printf 'objects=%s\n' "$(git cat-file --batch-all-objects --batch-check | wc -l)"
"#;

/// What the exclude file lists: everything that the platform puts into a tree.
pub(crate) fn excluded() -> impl Iterator<Item = String> {
    PROTECTED_PATHS
        .iter()
        .filter(|p| **p != ".git/")
        .map(|p| format!("/{p}"))
}

/// Reads what [`SCRIPT`] counted; the commit's id, or why the repository is not clean.
pub(crate) fn read_counts(stdout: &str) -> Result<String, String> {
    let field = |key: &str| {
        let found = stdout
            .lines()
            .find_map(|l| l.strip_prefix(key)?.strip_prefix('='));
        found
            .map(str::trim)
            .ok_or_else(|| format!("making the snapshot gave no `{key}`"))
    };
    for (key, wanted) in [("commits", "1"), ("refs", "1"), ("remotes", "0")] {
        let found = field(key)?;
        if found != wanted {
            return Err(format!("the snapshot has {found} {key}, not {wanted}"));
        }
    }
    if field("reachable")? != field("objects")? {
        return Err("the snapshot holds objects that its one commit does not need".to_owned());
    }
    Ok(field("commit")?.to_owned())
}

/// Whether a path is that of version-control data.
pub(crate) fn is_vcs(path: &Path) -> bool {
    path.file_name()
        .and_then(|n| n.to_str())
        .is_some_and(|n| VCS.contains(&n))
}

/// Version-control data and platform files that set-up may not leave behind;
/// looked for in all of `/work`.
pub(crate) fn forbidden(work: &Path) -> io::Result<Vec<String>> {
    let entries = tree::walk(work, &|_| false)?;
    let vcs = entries
        .iter()
        .filter(|e| is_vcs(&e.relative))
        .map(|e| format!("version-control data at {}", e.relative.display()));
    let ours = PROTECTED_PATHS
        .iter()
        .filter(|p| fs::symlink_metadata(work.join("tree").join(p)).is_ok())
        .map(|p| format!("`{p}` in the tree, a name that the platform uses itself"));
    Ok(vcs.chain(ours).collect())
}

/// What in a repository's own folder could hold more than one commit.
pub(crate) fn unclean(git: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    let gone = [
        "logs",
        "packed-refs",
        "ORIG_HEAD",
        "FETCH_HEAD",
        "MERGE_HEAD",
        "objects/info/alternates",
        "shallow",
        "modules",
        "worktrees",
        "lost-found",
        "refs/stash",
        "refs/remotes",
    ];
    found.extend(
        gone.iter()
            .filter(|p| fs::symlink_metadata(git.join(p)).is_ok())
            .map(|p| format!("`{p}` exists")),
    );
    let refs = tree::walk(&git.join("refs"), &|_| false)?;
    let refs = refs.iter().filter(|e| e.kind != tree::Kind::Folder).count();
    if refs != 1 {
        found.push(format!("{refs} refs"));
    }
    if fs::read_to_string(git.join("config"))?
        .lines()
        .any(|l| l.trim_start().starts_with("[remote"))
    {
        found.push("a remote".to_owned());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "commit=abc\ncommits=1\nrefs=1\nremotes=0\nreachable=4\nobjects=4\n";

    #[test]
    fn a_snapshot_with_more_than_its_commit_is_refused() {
        assert_eq!(read_counts(GOOD).unwrap(), "abc");
        for (from, to) in [
            ("commits=1", "commits=2"),
            ("refs=1", "refs=3"),
            ("remotes=0", "remotes=1"),
            ("objects=4", "objects=5"),
            ("commit=abc\n", ""),
        ] {
            assert!(read_counts(&GOOD.replace(from, to)).is_err(), "{to}");
        }
    }

    #[test]
    fn leftovers_of_set_up_are_found_wherever_they_are() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("deps/x/.git")).unwrap();
        fs::create_dir_all(dir.path().join("tree/inject_test")).unwrap();
        let found = forbidden(dir.path()).unwrap();
        assert!(found.iter().any(|f| f.contains("deps/x/.git")), "{found:?}");
        assert!(found.iter().any(|f| f.contains("inject_test")), "{found:?}");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_reflog_or_a_second_ref_is_unclean() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("refs/heads")).unwrap();
        fs::write(dir.path().join("refs/heads/main"), "abc").unwrap();
        fs::write(dir.path().join("config"), "[core]\n").unwrap();
        assert!(unclean(dir.path()).unwrap().is_empty());
        fs::create_dir(dir.path().join("logs")).unwrap();
        fs::write(dir.path().join("refs/heads/fix"), "def").unwrap();
        fs::write(dir.path().join("config"), "[core]\n[remote \"origin\"]\n").unwrap();
        assert_eq!(unclean(dir.path()).unwrap().len(), 3);
    }
}
