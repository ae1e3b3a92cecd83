#!/usr/bin/env bash
# Get the faulty tree. The library has no dependencies and nothing to build.
set -euo pipefail

fb-fetch /work/tree
python3 -B -c 'import sys; sys.path.insert(0, "/work/tree"); import pysyncobj; print(pysyncobj.__name__)'
