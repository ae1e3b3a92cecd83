//! The settings file: one `name = value` per line, names as the flags without
//! their dashes. It only supplies defaults, so a flag or a variable wins.

use std::path::PathBuf;

/// The most bytes of a settings file.
const MOST: u64 = 64 * 1024;

/// Finds the settings file before the arguments are parsed: it must be known
/// first, because it changes the defaults that parsing uses.
pub(crate) fn path(args: &[std::ffi::OsString]) -> Option<PathBuf> {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        if text == "--" {
            break;
        }
        if text == "--config" {
            return args.next().map(PathBuf::from);
        }
        if let Some(value) = text.strip_prefix("--config=") {
            return Some(PathBuf::from(value));
        }
    }
    std::env::var_os("FAULTBOARD_CONFIG")
        .filter(|v| !v.is_empty())
        .map(PathBuf::from)
}

/// Reads the file; the error names the line and what to do.
pub(crate) fn read(path: &std::path::Path) -> Result<Vec<(String, String)>, String> {
    use std::io::Read as _;
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|f| f.take(MOST + 1).read_to_string(&mut text))
        .map_err(|e| format!("the settings file {} can't be read: {e}", path.display()))?;
    if text.len() as u64 > MOST {
        return Err(format!(
            "the settings file {} is larger than 64 KiB",
            path.display()
        ));
    }
    parse(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// Parses the lines.
fn parse(text: &str) -> Result<Vec<(String, String)>, String> {
    let known = crate::config::settings();
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            return Err(format!("line {number}: write `name = value`"));
        };
        let (name, value) = (name.trim(), value.trim());
        if name == "config" || !known.iter().any(|s| s.name == name) {
            return Err(format!(
                "line {number}: there is no setting `{}`; `faultboard settings` lists them",
                name.chars().take(60).collect::<String>()
            ));
        }
        if pairs.iter().any(|(n, _)| n == name) {
            return Err(format!("line {number}: `{name}` is set twice"));
        }
        pairs.push((name.to_owned(), value.trim_matches('"').to_owned()));
    }
    Ok(pairs)
}

/// Makes the file's values the defaults of a command's arguments.
pub(crate) fn apply(mut command: clap::Command, pairs: Vec<(String, String)>) -> clap::Command {
    for (name, value) in pairs {
        let id = name.replace('-', "_");
        // The parser keeps defaults for the life of the program; a settings
        // file is read once, and is small.
        let value: &'static str = value.leak();
        command = command.mut_arg(id, |a| a.default_value(value));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blanks_and_quotes() {
        let pairs = parse("# a comment\n\n data-dir = \"/srv/a b\"\nworkers=0\n").unwrap();
        assert_eq!(
            pairs,
            [
                ("data-dir".to_owned(), "/srv/a b".to_owned()),
                ("workers".to_owned(), "0".to_owned())
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, line) in [
            ("workers", "line 1"),
            ("\nwrokers = 1", "line 2"),
            ("workers=1\nworkers=2", "line 2"),
            ("config=x", "line 1"),
        ] {
            assert!(parse(text).unwrap_err().contains(line), "{text}");
        }
    }

    #[test]
    fn the_flag_beats_the_file_and_the_file_beats_the_default() {
        use clap::{Args as _, FromArgMatches as _};
        let command = || {
            crate::config::Config::augment_args(clap::Command::new("faultboard"))
                .mut_args(|a| a.env(None::<&str>))
        };
        let read = |args: &[&str]| {
            let command = apply(command(), parse("workers = 7\ntoken = abc").unwrap());
            let matches = command.try_get_matches_from(args).unwrap();
            crate::config::Config::from_arg_matches(&matches).unwrap()
        };
        assert_eq!(read(&["faultboard"]).workers, 7);
        assert_eq!(read(&["faultboard"]).token.as_deref(), Some("abc"));
        assert_eq!(read(&["faultboard", "--workers", "3"]).workers, 3);
    }
}
