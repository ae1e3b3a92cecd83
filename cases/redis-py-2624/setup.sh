#!/usr/bin/env bash
# Get the faulty tree, and the one dependency that the library asks for on some
# versions of Python. Nothing is built.
set -euo pipefail

fb-fetch /work/tree

cat >/work/requirements.txt <<'TXT'
async-timeout==4.0.3 --hash=sha256:7405140ff1230c310e51dc27b3145b9092d659ce68ff733fb0cefe3ee42be028
TXT
python3 -m pip install --quiet --no-deps --only-binary :all: --require-hashes --no-compile \
  --no-cache-dir --target /work/deps/python -r /work/requirements.txt
rm /work/requirements.txt

PYTHONPATH=/work/tree:/work/deps/python python3 -B -c 'import redis.asyncio; print(redis.__version__)'
