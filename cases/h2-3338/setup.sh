#!/usr/bin/env bash
# Get the faulty tree and everything that building it needs, then build it once.
# Runs with network; nothing after it does.
set -euo pipefail

fb-fetch /work/tree
rm -f /work/tree/.cargo-ok /work/tree/.cargo_vcs_info.json

# A package of its own names the versions of all dependencies in its lock file.
# Vendored; import libraries for Windows are never linked here and go.
cp -r /case/deps /work/harness
chmod -R u+w /work/harness
mkdir -p /work/.cargo
cd /work/harness
CARGO_HOME=/work/.fetch cargo vendor --locked --versioned-dirs /work/vendor >/dev/null
rm -rf /work/.fetch /work/vendor/windows*/lib /work/vendor/winapi-*-pc-windows-gnu-*/lib

# Found by cargo from anywhere below /work, offline.
cat >/work/.cargo/config.toml <<'TOML'
[source.crates-io]
replace-with = "vendored"

[source.vendored]
directory = "/work/vendor"

[net]
offline = true

[build]
target-dir = "/work/target"
# Today's compiler finds much to say about the style of older crates.
rustflags = ["--cap-lints", "allow"]

[profile.dev]
debug = 0
incremental = false
TOML

CARGO_HOME=/work/.home/.cargo cargo build --offline --locked
