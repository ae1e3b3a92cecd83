//! The site on this machine, in one command: set-up, images, the browser's
//! half, the binary, and then the server itself in this process's place.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::engine::Engine;
use crate::{images, rootfs, setup, shell, ui, wasm};

/// What the person asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    port: u16,
    data: PathBuf,
    release: bool,
    demo: bool,
}

impl Options {
    /// Reads the arguments after `run`.
    pub(crate) fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self {
            port: 3000,
            data: PathBuf::from("data"),
            release: false,
            demo: true,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--port" => {
                    let text = value()?;
                    options.port = text
                        .parse()
                        .with_context(|| format!("'{text}' is no port (1 to 65535)"))?;
                }
                "--data" => options.data = PathBuf::from(value()?),
                "--release" => options.release = true,
                "--no-demo" => options.demo = false,
                other => bail!(
                    "run does not know '{other}' (it knows --port, --data, --release, --no-demo)"
                ),
            }
        }
        Ok(options)
    }
}

/// Builds what is not up to date and becomes the server.
pub(crate) fn run(options: &Options) -> Result<()> {
    let phase = ui::phase("set-up");
    setup::setup(&setup::Wanted::to_sandbox())?;
    phase.done();

    let phase = ui::phase("images");
    let engine = images::build(false)?;
    phase.done();

    let phase = ui::phase("the browser's half");
    wasm::build(&wasm::Options::default())?;
    phase.done();

    let phase = ui::phase("the server");
    let mut build = shell::cargo();
    build.args(["build", "--locked", "--package", "faultboard-server"]);
    if options.release {
        build.arg("--release");
    }
    shell::run(&mut build, "The compiler's message above says why.")?;
    phase.done();

    let profile = if options.release { "release" } else { "debug" };
    let mut server = Command::new(shell::target_dir().join(profile).join("faultboard"));
    server
        .arg("serve")
        .args(["--listen", &format!("127.0.0.1:{}", options.port)])
        .args(["--base-url", &format!("http://127.0.0.1:{}", options.port)])
        .arg("--data-dir")
        .arg(&options.data)
        .arg("--site-root")
        .arg(wasm::site_dir());
    if let Some(bundle) = shell::certificates() {
        server.arg("--ca-bundle").arg(bundle);
    }
    if options.demo {
        server.args(["--demo", "samples"]);
    }
    if let Engine::None(_) = engine {
        server
            .args(["--runtime", "bubblewrap"])
            .arg("--rootfs-dir")
            .arg(rootfs::dir());
    }
    let _ = ui::phase(&format!(
        "serving on http://127.0.0.1:{} (Ctrl-C ends it)",
        options.port
    ));
    // In our place, so that signals reach it directly.
    let error = server.exec();
    Err(error).with_context(|| format!("`{}` could not be started", shell::show(&server)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options> {
        Options::parse(&args.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn arguments_are_read_and_wrong_ones_named() {
        let options = parse(&["--port", "3100", "--data", "/tmp/x", "--no-demo"]).unwrap();
        assert_eq!((options.port, options.demo), (3100, false));
        assert!(
            parse(&["--port"])
                .unwrap_err()
                .to_string()
                .contains("needs a value")
        );
        assert!(
            parse(&["--port", "many"])
                .unwrap_err()
                .to_string()
                .contains("no port")
        );
        assert!(
            parse(&["--prot", "1"])
                .unwrap_err()
                .to_string()
                .contains("--prot")
        );
    }
}
