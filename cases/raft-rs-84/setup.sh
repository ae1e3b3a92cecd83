#!/usr/bin/env bash
# Get the faulty tree and everything that building it needs, then build it once.
# Runs with network; nothing after it does.
set -euo pipefail

fb-fetch /work/tree
rm -f /work/tree/.cargo-ok /work/tree/.cargo_vcs_info.json
cp /case/deps/Cargo.lock /work/tree/Cargo.lock

# Dependencies, vendored. Those for Windows are named by the lock file but never
# built here: their import libraries (100 MB) go.
mkdir -p /work/deps /work/.cargo
cd /work/tree
CARGO_HOME=/work/deps/fetch cargo vendor --locked --versioned-dirs /work/deps/vendor >/dev/null
rm -rf /work/deps/fetch /work/deps/vendor/winapi-*-pc-windows-gnu-*/lib

# Found by cargo from anywhere below /work, offline.
cat >/work/.cargo/config.toml <<'TOML'
[source.crates-io]
replace-with = "vendored"

[source.vendored]
directory = "/work/deps/vendor"

[net]
offline = true

[build]
target-dir = "/work/target"
# The crate is of 2018; today's compiler finds much to say about its style.
rustflags = ["--cap-lints", "allow"]

[profile.dev]
debug = 0
incremental = false
TOML

CARGO_HOME=/work/.home/.cargo cargo build --offline --locked
