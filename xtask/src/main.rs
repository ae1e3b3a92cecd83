//! The workspace's own tasks: `cargo xtask setup | wasm | images | run | test | bench | fuzz | chaos | tidy`.
//! Each does its own set-up, may be repeated at any time, says what it does, and
//! ends with a plain error when it can't. It is never part of the product.

mod bench;
mod chaos;
mod engine;
mod fuzz;
mod images;
mod rootfs;
mod run;
mod setup;
mod shell;
mod test;
mod tidy;
mod ui;
mod wasm;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  run     build the site and serve it on 127.0.0.1:3000, with the shipped cases and a demo board
            --port N       another port
            --data DIR     where the database, uploads and blobs live   (./data)
            --release      build with optimisation
            --no-demo      start with an empty board
  test    set up, build, and run every test; the last line counts them
            --no-lint      leave out tidy, fmt and clippy
  chaos   kill server and workers at random moments while they score, then count everything
            --kills N      how often   (8)
            --seed N       which moments   (1)
  images  build the images of the cases (where no Docker engine runs: folders for bubblewrap)
            --force        build them even if nothing changed
            --rootfs       make the folders for bubblewrap even where an engine runs
  wasm    build the browser's half of the site into target/site
            --build-std    with Debian's compiler and a standard library made on the spot
  bench   measure the product's bars as ratios (all, or the rows named: P2 P3 P4 P5 P6 P7 P8 P10 P12)
  fuzz    libFuzzer on every parser of foreign bytes (all targets, or those that are named)
            --seconds N    for how long each   (600)
            --keep         make the corpus in fuzz/corpus anew of what was found
  tidy    check what ARCHITECTURE.md and CONTRIBUTING.md claim about the source
  setup   install what the others need and this machine lacks
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(code) => code,
        Err(error) => {
            ui::failure(&error);
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Result<ExitCode> {
    let (command, rest) = args
        .split_first()
        .map_or(("help", &[][..]), |(c, r)| (c.as_str(), r));
    shell::enter_workspace()?;
    match command {
        "setup" => {
            no_more(rest)?;
            setup::setup(&setup::Wanted::everything())?;
        }
        "wasm" => {
            let mut options = wasm::Options::default();
            for arg in rest {
                match arg.as_str() {
                    "--build-std" => options.build_std = true,
                    other => bail!("wasm does not know '{other}'\n\n{USAGE}"),
                }
            }
            setup::setup(&setup::Wanted::to_build())?;
            wasm::build(&options)?;
        }
        "images" => {
            let (mut force, mut folders) = (false, false);
            for arg in rest {
                match arg.as_str() {
                    "--force" => force = true,
                    "--rootfs" => folders = true,
                    other => bail!("images does not know '{other}'\n\n{USAGE}"),
                }
            }
            setup::setup(&setup::Wanted::to_sandbox())?;
            if folders {
                rootfs::build(force)?;
            } else {
                images::build(force)?;
            }
        }
        "run" => run::run(&run::Options::parse(rest)?)?,
        "chaos" => chaos::run(&chaos::Options::parse(rest)?)?,
        "test" => return test::test(rest),
        "fuzz" => return fuzz::run(&fuzz::Options::parse(rest)?),
        "bench" => return bench::bench(rest),
        "tidy" => {
            no_more(rest)?;
            tidy::tidy()?;
        }
        "help" | "-h" | "--help" => ui::plain(USAGE),
        other => bail!("there is no task '{other}'\n\n{USAGE}"),
    }
    Ok(ExitCode::SUCCESS)
}

fn no_more(rest: &[String]) -> Result<()> {
    match rest.first() {
        None => Ok(()),
        Some(arg) => bail!("this task takes no arguments, but got '{arg}'"),
    }
}
