#!/usr/bin/env bash
# Get the faulty tree, build the library once, and beside it the simulated
# cluster that consumers are tried against. Runs with network; nothing after it does.
set -euo pipefail

fb-fetch /work/tree
rm -f /work/tree/.cargo-ok /work/tree/.cargo_vcs_info.json
rm -rf /work/.home

# Built beside the tree, so that a diff of it shows sources alone.
cp -a /work/tree/librdkafka /work/build
cd /work/build
# Only what a consumer and a simulated broker need: no TLS, no further codecs, and
# no C++, whose compiler configure asks for all the same.
CXX=gcc ./configure --disable-ssl --disable-gssapi --disable-curl --disable-zlib --disable-zstd --disable-lz4-ext \
  --disable-regex-ext --disable-c11threads --disable-optimization >../configure.log
make -s -C src -j2 librdkafka.a

# The cluster keeps the library as it was published: it is the other side of the wire.
mkdir -p /work/deps
gcc -O1 -g -I src -o /work/deps/cluster /case/deps/cluster.c src/librdkafka.a -lm -lpthread -ldl -lrt
