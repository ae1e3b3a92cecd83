#!/usr/bin/env bash
# Get the faulty tree and build the server once, with the C library's own
# allocator. Runs with network; nothing after it does.
set -euo pipefail

pool=pool/main/r/redis/redis_7.0.15.orig.tar.gz
# The distribution's archive keeps what its mirrors drop one day.
fb-fetch /work/tree ||
  FAULTBOARD_SOURCE_URL="http://snapshot.debian.org/archive/debian/20240601T000000Z/$pool" fb-fetch /work/tree

# Built beside the tree, so that a diff of it shows sources alone.
mkdir /work/build
cp -a /work/tree/src /work/tree/deps /work/tree/utils /work/build/
make -s -C /work/build/src -j2 MALLOC=libc USE_SYSTEMD=no OPTIMIZATION=-O0 redis-server
/work/build/src/redis-server --version
