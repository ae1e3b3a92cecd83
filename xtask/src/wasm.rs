//! The browser's half of the site: compile the app to WebAssembly, make its
//! JavaScript with wasm-bindgen as a library (so that no second tool has to be
//! installed at a matching version), lay both out under `target/site`.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use wasm_bindgen_cli_support::Bindgen;

use crate::{setup, shell, ui};

const TARGET: &str = "wasm32-unknown-unknown";
const PROFILE: &str = "wasm-release";
/// Debian's compiler and the source of its standard library, from one source
/// package: what is needed to build `std` for a target that has none prebuilt.
const DEBIAN: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];

/// How to build.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Take the way without a prebuilt standard library even where there is one.
    pub(crate) build_std: bool,
}

/// Where the site's files lie.
pub(crate) fn site_dir() -> PathBuf {
    shell::target_dir().join("site")
}

/// Builds `target/site/pkg` unless what it is made from is unchanged.
pub(crate) fn build(options: &Options) -> Result<()> {
    let inputs = inputs()?;
    let pkg = site_dir().join("pkg");
    let stamp = site_dir().join("pkg.inputs");
    let current = std::fs::read_to_string(&stamp).is_ok_and(|s| s == inputs);
    if current && pkg.join("faultboard.js").is_file() && !options.build_std {
        ui::step("the browser's half is up to date");
        return Ok(());
    }
    let toolchain = if options.build_std {
        Toolchain::debian()?
    } else {
        Toolchain::choose()?
    };
    ui::step(&format!(
        "compiling the browser's half with {}",
        toolchain.name()
    ));
    let mut command = toolchain.command("build");
    command.args([
        "--package",
        "faultboard-app",
        "--lib",
        "--features",
        "hydrate",
    ]);
    shell::run(&mut command, "The compiler's message above says why.")?;
    let wasm = toolchain
        .target_dir()
        .join(TARGET)
        .join(PROFILE)
        .join("faultboard_app.wasm");
    bind(&wasm, &pkg)?;
    std::fs::write(&stamp, inputs).context("the stamp of the build can't be written")?;
    Ok(())
}

/// Type-checks packages for WebAssembly: those that must stay free of
/// anything that a browser hasn't got.
pub(crate) fn gate(packages: &[&str]) -> Result<()> {
    let toolchain = Toolchain::choose()?;
    let mut command = toolchain.command("check");
    command.arg("--quiet");
    for package in packages {
        command.args(["--package", package]);
    }
    shell::run(
        &mut command,
        "These crates must compile for WebAssembly (ARCHITECTURE.md says why): take out what needs an operating system.",
    )
}

/// A compiler that can make WebAssembly.
enum Toolchain {
    /// The workspace's own, with the target installed.
    Own,
    /// Debian's, which builds the standard library as well.
    Debian { linker: PathBuf },
}

impl Toolchain {
    fn choose() -> Result<Self> {
        if own_has_target() {
            return Ok(Self::Own);
        }
        if shell::find("rustup").is_some() {
            ui::step(&format!("rustup target add {TARGET} (at most 2 minutes)"));
            let mut command = Command::new("rustup");
            command.args(["target", "add", TARGET]);
            match shell::run_quietly(&mut command, Duration::from_secs(120), "") {
                Ok(_) if own_has_target() => return Ok(Self::Own),
                Ok(_) => ui::step("rustup added it to another toolchain than the one in use"),
                Err(error) => ui::step(&format!("that did not work: {}", first_line(&error))),
            }
        }
        Self::debian()
    }

    /// Debian's packages, installed where they are missing.
    fn debian() -> Result<Self> {
        setup::install(&DEBIAN).with_context(|| {
            format!(
                "no standard library for {TARGET}: neither rustup nor Debian's packages give one"
            )
        })?;
        let mut command = Command::new("rustc");
        command.args(["--print", "sysroot"]);
        for name in ["RUSTC", "RUSTUP_TOOLCHAIN"] {
            command.env_remove(name);
        }
        let sysroot = text_of(&mut command)?;
        let host = host_triple()?;
        let lld = Path::new(&sysroot).join(format!("lib/rustlib/{host}/bin/rust-lld"));
        let linker = if lld.is_file() {
            lld
        } else {
            shell::find("wasm-ld").with_context(|| {
                format!("no linker for {TARGET}: {} is missing, and so is wasm-ld (apt-get install lld)", lld.display())
            })?
        };
        Ok(Self::Debian { linker })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Own => "the workspace's toolchain",
            Self::Debian { .. } => {
                "Debian's compiler and a standard library made on the spot (about 2 minutes the first time)"
            }
        }
    }

    fn target_dir(&self) -> PathBuf {
        match self {
            Self::Own => shell::target_dir(),
            // Another compiler version: apart, or each would throw away the
            // other's work.
            Self::Debian { .. } => shell::target_dir().join("wasm"),
        }
    }

    fn command(&self, what: &str) -> Command {
        let mut command = match self {
            Self::Own => shell::cargo(),
            Self::Debian { linker } => {
                let mut command = Command::new("/usr/bin/cargo");
                shell::forget_parent_cargo(&mut command);
                for name in ["RUSTUP_TOOLCHAIN", "RUSTC_WRAPPER", "LD_LIBRARY_PATH"] {
                    command.env_remove(name);
                }
                command
                    .env("RUSTC_BOOTSTRAP", "1")
                    .env("RUSTC", "/usr/bin/rustc")
                    .env("RUSTDOC", "/usr/bin/rustdoc")
                    .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
                command
            }
        };
        command
            .args([what, "--locked", "--target", TARGET, "--profile", PROFILE])
            .arg("--target-dir")
            .arg(self.target_dir());
        if matches!(self, Self::Debian { .. }) {
            command.arg("-Zbuild-std=std,panic_abort");
        }
        command
    }
}

/// Whether the workspace's compiler has a standard library for the target.
fn own_has_target() -> bool {
    let mut command = Command::new("rustc");
    command.args(["--print", "target-libdir", "--target", TARGET]);
    let Ok(dir) = text_of(&mut command) else {
        return false;
    };
    std::fs::read_dir(dir).is_ok_and(|files| {
        files
            .flatten()
            .any(|f| f.file_name().to_string_lossy().starts_with("libstd-"))
    })
}

fn host_triple() -> Result<String> {
    let mut command = Command::new("rustc");
    command.arg("-vV");
    text_of(&mut command)?
        .lines()
        .find_map(|l| l.strip_prefix("host: ").map(str::to_owned))
        .context("`rustc -vV` names no host")
}

fn text_of(command: &mut Command) -> Result<String> {
    let output = shell::run_quietly(command, Duration::from_secs(60), "")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn first_line(error: &anyhow::Error) -> String {
    error
        .to_string()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Makes the JavaScript and the final module, in a new folder that takes the
/// old one's place only when it is complete.
fn bind(wasm: &Path, pkg: &Path) -> Result<()> {
    let fresh = pkg.with_extension("new");
    remove_dir(&fresh)?;
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(wasm)
        .out_name("faultboard")
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .web(true)?
        .generate(&fresh)
        .with_context(|| format!("wasm-bindgen could not read {}", wasm.display()))?;
    // The page names the module itself, by the plain name.
    std::fs::rename(
        fresh.join("faultboard_bg.wasm"),
        fresh.join("faultboard.wasm"),
    )
    .context("the module can't be renamed")?;
    compress(&fresh);
    remove_dir(pkg)?;
    std::fs::rename(&fresh, pkg).with_context(|| format!("{} can't be put in place", pkg.display()))
}

fn remove_dir(dir: &Path) -> Result<()> {
    match std::fs::remove_dir_all(dir) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(e).with_context(|| format!("{} can't be removed", dir.display()))
        }
        _ => Ok(()),
    }
}

/// Lays a compressed neighbour beside each file, which the server sends to
/// those who take it, and says how much a first visit downloads.
fn compress(pkg: &Path) {
    for name in ["faultboard.js", "faultboard.wasm"] {
        let file = pkg.join(name);
        let size = |file: &Path| std::fs::metadata(file).map_or(0, |m| m.len().div_ceil(1000));
        let small = pkg.join(format!("{name}.br"));
        let mut command = Command::new("brotli");
        command
            .args(["-q", "11", "-f", "-o"])
            .arg(&small)
            .arg(&file);
        let packed = shell::output(&mut command, Duration::from_secs(120));
        if packed.is_ok_and(|o| o.status.success()) {
            ui::step(&format!(
                "{name}: {} KB, {} KB by brotli",
                size(&file),
                size(&small)
            ));
        } else {
            // Then the server compresses as it sends.
            let _ = std::fs::remove_file(&small);
            ui::step(&format!("{name}: {} KB", size(&file)));
        }
    }
}

/// A fingerprint of all that the module is made from.
fn inputs() -> Result<String> {
    let mut command = shell::cargo();
    command.args([
        "metadata",
        "--no-deps",
        "--format-version",
        "1",
        "--locked",
        "--offline",
    ]);
    let output = shell::run_quietly(&mut command, Duration::from_secs(120), "")?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).context("cargo's metadata is not JSON")?;
    let mut hasher = DefaultHasher::new();
    let mut command = Command::new("rustc");
    command.arg("-vV");
    text_of(&mut command)?.hash(&mut hasher);
    let mut files = vec![PathBuf::from("Cargo.toml"), PathBuf::from("Cargo.lock")];
    for dir in browser_folders(&metadata, "faultboard-app")? {
        files.push(dir.join("Cargo.toml"));
        files.extend(shell::files(&dir.join("src")));
    }
    for file in files {
        file.hash(&mut hasher);
        std::fs::read(&file)
            .with_context(|| format!("{} can't be read", file.display()))?
            .hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// The folders of a package and of those of this workspace that it needs in
/// the browser.
fn browser_folders(metadata: &Value, name: &str) -> Result<BTreeSet<PathBuf>> {
    let packages = metadata["packages"]
        .as_array()
        .context("cargo names no packages")?;
    let mut folders = BTreeSet::new();
    let mut open = vec![name.to_owned()];
    while let Some(name) = open.pop() {
        let package = packages
            .iter()
            .find(|p| p["name"] == *name)
            .with_context(|| format!("the workspace has no package {name}"))?;
        let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap_or_default());
        if !folders.insert(manifest.parent().unwrap_or(Path::new(".")).to_owned()) {
            continue;
        }
        let hydrate = package["features"]["hydrate"].to_string();
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let child = dependency["name"].as_str().unwrap_or_default();
            let normal = dependency["kind"].is_null() && dependency["path"].is_string();
            let used =
                dependency["optional"] != true || hydrate.contains(&format!("\"dep:{child}\""));
            if normal && used {
                open.push(child.to_owned());
            }
        }
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_reaches_the_browser_is_an_input() {
        let metadata = serde_json::json!({"packages": [
            {"name": "app", "manifest_path": "/w/app/Cargo.toml", "features": {"hydrate": ["dep:pre"]}, "dependencies": [
                {"name": "domain", "kind": null, "path": "/w/domain", "optional": false},
                {"name": "pre", "kind": null, "path": "/w/pre", "optional": true},
                {"name": "portal", "kind": null, "path": "/w/portal", "optional": true},
                {"name": "serde", "kind": null, "optional": false}]},
            {"name": "domain", "manifest_path": "/w/domain/Cargo.toml", "features": {}, "dependencies": [
                {"name": "testing", "kind": "dev", "path": "/w/testing", "optional": false}]},
            {"name": "pre", "manifest_path": "/w/pre/Cargo.toml", "features": {}, "dependencies": []},
        ]});
        let folders = browser_folders(&metadata, "app").unwrap();
        let expected: BTreeSet<PathBuf> =
            ["/w/app", "/w/domain", "/w/pre"].map(PathBuf::from).into();
        assert_eq!(folders, expected);
    }
}
