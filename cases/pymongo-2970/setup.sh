#!/usr/bin/env bash
# Get the faulty tree. The driver works without its C extensions and without
# dependencies, so nothing is built.
set -euo pipefail

fb-fetch /work/tree
python3 -B -c 'import sys; sys.path.insert(0, "/work/tree"); import pymongo; print(pymongo.version)'
