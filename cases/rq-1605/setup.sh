#!/usr/bin/env bash
# Get the faulty tree, and the libraries that it needs. Nothing is built.
set -euo pipefail

fb-fetch /work/tree

cat >/work/requirements.txt <<'TXT'
redis==4.5.4 --hash=sha256:2c19e6767c474f2e85167909061d525ed65bea9301c0770bb151e041b7ac89a2
async-timeout==4.0.3 --hash=sha256:7405140ff1230c310e51dc27b3145b9092d659ce68ff733fb0cefe3ee42be028
click==8.1.7 --hash=sha256:ae74fb96c20a0277a1d615f1e4d73c8414f5a98db8b799a7931d1582f3390c28
TXT
python3 -m pip install --quiet --no-deps --only-binary :all: --require-hashes --no-compile \
  --no-cache-dir --target /work/deps/python -r /work/requirements.txt
rm /work/requirements.txt

PYTHONPATH=/work/tree:/work/deps/python python3 -B -c 'import rq; print(rq.__version__)'
