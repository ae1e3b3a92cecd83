#!/usr/bin/env bash
# Get the faulty tree and the three libraries that it needs, all from one
# archive, and build them once. Runs with network; nothing after it does.
set -euo pipefail

pool=pool/main/r/rabbitmq-server/rabbitmq-server_3.10.8.orig.tar.xz
# The distribution's archive keeps what its mirrors drop one day.
fb-fetch /work/all ||
  FAULTBOARD_SOURCE_URL="http://snapshot.debian.org/archive/debian/20230611T000000Z/$pool" fb-fetch /work/all
mv /work/all/deps/ra /work/tree

mkdir -p /work/deps /work/ebin
for name in aten gen_batch_server seshat; do
  mkdir -p "/work/deps/$name/ebin"
  cp -r "/work/all/deps/$name/src" "/work/deps/$name/"
  erlc -pa /work/ebin -o "/work/deps/$name/ebin" "/work/deps/$name"/src/*.erl
  sed 's/{vsn, *[^}]*}/{vsn, "1"}/' "/work/deps/$name/src/$name.app.src" >"/work/deps/$name/ebin/$name.app"
done
rm -rf /work/all

cp /work/tree/src/ra.app.src /work/ebin/ra.app
cat >/work/Emakefile <<'TXT'
{["tree/src/ra_machine", "tree/src/ra_snapshot", "tree/src/*"],
 [{i, "tree/src"}, {outdir, "ebin"}, debug_info, nowarn_deprecated_function]}.
TXT
cd /work && ERL_LIBS=/work/deps erl -noshell -pa ebin -make
ls ebin | wc -l
