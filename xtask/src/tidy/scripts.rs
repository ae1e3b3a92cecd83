//! Shell scripts: they parse, and exactly those that are meant to be started
//! (they open with `#!`) may be executed.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::Tree;
use crate::shell;

/// Lists scripts that bash refuses or whose mode is wrong.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for file in tree
        .with_extension(&["sh"])
        .map(|f| f.as_path())
        .chain([Path::new(".ci/run")])
    {
        let (Ok(bytes), Ok(meta)) = (std::fs::read(file), std::fs::metadata(file)) else {
            problems.push(format!("{} can't be read", file.display()));
            continue;
        };
        match (
            bytes.starts_with(b"#!"),
            meta.permissions().mode() & 0o111 != 0,
        ) {
            (true, false) => problems.push(format!(
                "{} opens with #! but is not executable (chmod +x)",
                file.display()
            )),
            (false, true) => problems.push(format!(
                "{} is executable but does not open with #!",
                file.display()
            )),
            _ => {}
        }
        let mut command = Command::new("bash");
        command.arg("-n").arg(file);
        match shell::output(&mut command, Duration::from_secs(20)) {
            Ok(output) if output.status.success() => {}
            Ok(output) => problems.push(shell::tail(&output, 1)),
            Err(error) => problems.push(error.to_string()),
        }
    }
    problems
}
