#!/usr/bin/env bash
# Copy the faulty tree out of the case's folder. Nothing else is needed.
set -euo pipefail

fb-fetch /work/tree
