#!/usr/bin/env bash
# Get the faulty tree and build it once, so that a rebuild compiles what changed.
# Runs with network; nothing after it does.
set -euo pipefail

import=github.com/hashicorp/memberlist
fb-fetch /work/package /case/causal.sha256
mv "/work/package/usr/share/gocode/src/$import" /work/tree
rm -rf /work/package

# The tree is found under its import path; what it depends on is in the image.
mkdir -p "/work/go/src/$(dirname "$import")"
ln -s /work/tree "/work/go/src/$import"
go build "$import"
