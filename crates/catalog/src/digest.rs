//! Content digests of a case, for cache keys: what was prepared once, or judged
//! once, is found again by them. They cover names, executable bits and bytes of
//! files, and nothing of where or when a file lies on a disk.

use faultboard_domain::Digest;
use sha2::Digest as _;

use crate::folder::{File, Folder};

/// The digests of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseDigests {
    /// Everything in the case's folder.
    pub content: Digest,
    /// What set-up reads: `case.yaml`, `setup.sh`, and every folder but the
    /// oracle's and the evidence (a directory source, lock files ...).
    pub setup: Digest,
    /// What decides: `reproduce.sh`, `inject_test/` and the oracles' shared library.
    pub oracle: Digest,
    /// What an agent is shown: `symptom.md` and `evidence/`.
    pub context: Digest,
}

/// Digests a case folder; `lib` is the folder that all oracles share.
pub fn of(case: &Folder, lib: &Folder) -> CaseDigests {
    CaseDigests {
        content: digest(case.files.iter().map(|(p, f)| (p.clone(), f))),
        setup: digest(
            case.files
                .iter()
                .filter(|(p, _)| is_setup(p))
                .map(|(p, f)| (p.clone(), f)),
        ),
        oracle: digest(
            case.files
                .iter()
                .filter(|(p, _)| is_oracle(p))
                .map(|(p, f)| (p.clone(), f))
                .chain(lib.files.iter().map(|(p, f)| (format!("lib/{p}"), f))),
        ),
        context: digest(
            case.files
                .iter()
                .filter(|(p, _)| is_context(p))
                .map(|(p, f)| (p.clone(), f)),
        ),
    }
}

/// Digests a whole folder.
pub fn folder(folder: &Folder) -> Digest {
    digest(folder.files.iter().map(|(p, f)| (p.clone(), f)))
}

fn is_oracle(path: &str) -> bool {
    path == "reproduce.sh" || path.starts_with("inject_test/")
}

fn is_context(path: &str) -> bool {
    path == "symptom.md" || path.starts_with("evidence/")
}

fn is_setup(path: &str) -> bool {
    let own_folder = path.contains('/')
        && !path.starts_with("artifacts/")
        && !is_oracle(path)
        && !is_context(path);
    path == "case.yaml" || path == "setup.sh" || own_folder
}

fn digest<'a>(files: impl Iterator<Item = (String, &'a File)>) -> Digest {
    // Lengths before contents: no two different folders give the same stream.
    let mut state = sha2::Sha256::new();
    for (path, file) in files {
        state.update((path.len() as u64).to_be_bytes());
        state.update(path.as_bytes());
        state.update([u8::from(file.executable)]);
        state.update((file.bytes.len() as u64).to_be_bytes());
        state.update(&file.bytes);
    }
    Digest::from_bytes(state.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case() -> Folder {
        let mut f = Folder::named("cases/a-1");
        for path in [
            "case.yaml",
            "setup.sh",
            "reproduce.sh",
            "inject_test/j.py",
            "symptom.md",
            "evidence/e.md",
            "tree/x.py",
            "README.md",
        ] {
            f.put(path, path.as_bytes(), path.ends_with(".sh"));
        }
        f
    }

    #[test]
    fn each_digest_moves_with_its_own_files_alone() {
        let lib = Folder::named("cases/lib");
        let before = of(&case(), &lib);
        let changed = |path: &str| {
            let mut f = case();
            f.put(path, b"changed".to_vec(), false);
            of(&f, &lib)
        };
        // path, whether it moves setup, oracle, context
        for (path, setup, oracle, context) in [
            ("case.yaml", true, false, false),
            ("setup.sh", true, false, false),
            ("tree/x.py", true, false, false),
            ("deps/Cargo.lock", true, false, false),
            ("reproduce.sh", false, true, false),
            ("inject_test/j.py", false, true, false),
            ("symptom.md", false, false, true),
            ("evidence/e.md", false, false, true),
            ("README.md", false, false, false),
            ("artifacts/log.txt", false, false, false),
        ] {
            let after = changed(path);
            assert_ne!(after.content, before.content, "{path}");
            assert_eq!(
                (
                    after.setup != before.setup,
                    after.oracle != before.oracle,
                    after.context != before.context
                ),
                (setup, oracle, context),
                "{path}"
            );
        }
    }

    #[test]
    fn the_shared_library_belongs_to_the_oracle() {
        let mut lib = Folder::named("cases/lib");
        let before = of(&case(), &lib);
        lib.put("oracle.sh", b"x".to_vec(), false);
        let after = of(&case(), &lib);
        assert_ne!(after.oracle, before.oracle);
        assert_eq!(after.setup, before.setup);
    }

    #[test]
    fn bytes_cannot_move_between_files_and_modes_count() {
        let lib = Folder::default();
        let make = |a: &str, b: &str, executable| {
            let mut f = Folder::named("x");
            f.put("a", a, executable);
            f.put("b", b, false);
            of(&f, &lib).content
        };
        assert_ne!(make("xy", "z", false), make("x", "yz", false));
        assert_ne!(make("x", "y", true), make("x", "y", false));
    }
}
