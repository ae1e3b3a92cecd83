#!/usr/bin/env bash
# Get the faulty tree, and what the library needs to talk to Redis. Nothing is
# built.
set -euo pipefail

fb-fetch /work/tree

cat >/work/requirements.txt <<'TXT'
amqp==5.1.1 --hash=sha256:6f0956d2c23d8fa6e7691934d8c3930eadb44972cbbd1a7ae3a520f735d43359
vine==5.0.0 --hash=sha256:4c9dceab6f76ed92105027c49c823800dd33cacce13bdedc5b914e3514b7fb30
redis==4.5.4 --hash=sha256:2c19e6767c474f2e85167909061d525ed65bea9301c0770bb151e041b7ac89a2
async-timeout==4.0.3 --hash=sha256:7405140ff1230c310e51dc27b3145b9092d659ce68ff733fb0cefe3ee42be028
TXT
python3 -m pip install --quiet --no-deps --only-binary :all: --require-hashes --no-compile \
  --no-cache-dir --target /work/deps/python -r /work/requirements.txt
rm /work/requirements.txt

PYTHONPATH=/work/tree:/work/deps/python python3 -B -c 'import kombu.transport.redis; print(kombu.__version__)'
