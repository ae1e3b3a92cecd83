#!/usr/bin/env bash
# Get the faulty tree. It needs no other library; `six` takes the place of the
# tree's own old copy, which newer versions of Python don't import.
set -euo pipefail

fb-fetch /work/tree

cat >/work/requirements.txt <<'TXT'
six==1.16.0 --hash=sha256:8abb2f1d86890a2dfb989f9a77cfcfd3e47c2a354b01111771326f8aa26e0254
TXT
python3 -m pip install --quiet --no-deps --only-binary :all: --require-hashes --no-compile \
  --no-cache-dir --target /work/deps/python -r /work/requirements.txt
rm /work/requirements.txt

# To be imported before `kafka`.
cat >/work/deps/python/newer_six.py <<'PY'
import sys

import six

sys.modules["kafka.vendor.six"] = six
sys.modules["kafka.vendor.six.moves"] = six.moves
PY

# Compiled beforehand, as the runs may not write here.
python3 -m compileall -q --invalidation-mode unchecked-hash /work/deps/python

PYTHONPATH=/work/tree:/work/deps/python python3 -B -c 'import newer_six, kafka; print(kafka.__version__)'
