//! The crash test in full: builds the product, then lets its end-to-end test
//! kill server and workers as often as asked. What it finds is the test's word.

use anyhow::{Context, Result, bail};

use crate::{images, setup, shell, ui};

/// What the person asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    kills: u32,
    seed: u64,
}

impl Options {
    /// Reads the arguments after `chaos`.
    pub(crate) fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self { kills: 8, seed: 1 };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let text = args
                .next()
                .with_context(|| format!("{arg} needs a value"))?;
            let wrong = || format!("{arg}: '{text}' is no number");
            match arg.as_str() {
                "--kills" => options.kills = text.parse().with_context(wrong)?,
                "--seed" => options.seed = text.parse().with_context(wrong)?,
                other => bail!("chaos does not know '{other}' (it knows --kills, --seed)"),
            }
        }
        Ok(options)
    }
}

/// Builds what is not up to date and runs the test.
pub(crate) fn run(options: &Options) -> Result<()> {
    let phase = ui::phase("set-up");
    setup::setup(&setup::Wanted::to_sandbox())?;
    phase.done();

    let phase = ui::phase("images");
    images::build(false)?;
    phase.done();

    let phase = ui::phase("the server");
    let mut build = shell::cargo();
    // As `cargo xtask test` builds it: nothing is compiled twice.
    build.args(["build", "--locked", "--workspace", "--bin", "faultboard"]);
    shell::run(&mut build, "The compiler's message above says why.")?;
    phase.done();

    let phase = ui::phase(&format!(
        "chaos: {} kills, seed {}",
        options.kills, options.seed
    ));
    let mut test = shell::cargo();
    test.args([
        "test",
        "--locked",
        "--workspace",
        "--test",
        "chaos",
        "--",
        "--nocapture",
    ]);
    test.env("FAULTBOARD_CHAOS_KILLS", options.kills.to_string())
        .env("FAULTBOARD_CHAOS_SEED", options.seed.to_string())
        .env("RUST_LIB_BACKTRACE", "0");
    if let Some(bundle) = shell::certificates() {
        test.env("FAULTBOARD_CA_BUNDLE", bundle);
    }
    shell::run(&mut test, "What went wrong is told above.")?;
    phase.done();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options> {
        Options::parse(&args.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn kills_and_seed_are_read_and_nonsense_is_named() {
        let options = parse(&["--kills", "200", "--seed", "7"]).unwrap();
        assert_eq!((options.kills, options.seed), (200, 7));
        assert_eq!(parse(&[]).unwrap(), Options { kills: 8, seed: 1 });
        for bad in [&["--kills"][..], &["--kills", "many"], &["--kill", "1"]] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
