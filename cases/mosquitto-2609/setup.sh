#!/usr/bin/env bash
# Get the faulty tree and build the broker once, without the parts that need
# further libraries. Runs with network; nothing after it does.
set -euo pipefail

pool=pool/main/m/mosquitto/mosquitto_2.0.11.orig.tar.gz
# The distribution's archive keeps what its mirrors drop one day.
fb-fetch /work/tree ||
  FAULTBOARD_SOURCE_URL="http://snapshot.debian.org/archive/debian/20230611T000000Z/$pool" fb-fetch /work/tree

# Built beside the tree, so that a diff of it shows sources alone.
cp -a /work/tree /work/build
cd /work/build
make -s -C src -j2 WITH_TLS=no WITH_CJSON=no WITH_DOCS=no WITH_SRV=no WITH_STRIP=no CFLAGS='-O1 -g -w' mosquitto
ls -l src/mosquitto
