#!/usr/bin/env bash
# Get the faulty tree, and the library that it takes its protocol from. It works
# without its C extensions, so nothing is built. `six` takes the place of that
# library's own old copy, which newer versions of Python don't import.
set -euo pipefail

fb-fetch /work/tree

cat >/work/requirements.txt <<'TXT'
kafka-python==2.0.2 --hash=sha256:2d92418c7cb1c298fa6c7f0fb3519b520d0d7526ac6cb7ae2a4fc65a51a94b6e
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

PYTHONPATH=/work/tree:/work/deps/python python3 -B -c 'import newer_six, aiokafka; print(aiokafka.__version__)'
