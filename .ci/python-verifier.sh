#!/usr/bin/env bash
# The verifiers in Python, of records and of webhooks: on the test vectors, or with KEYS.json (or its URL) and RECORDS.jsonl
# that of records on a server's.
# Needs python3-cryptography. Without it this fails: a check that did not run has not passed.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-/usr/bin/python3}
verifier=$root/sdk/python/org_memory_hub/verify.py

case $# in
  0)
    "$python" "$root/sdk/python/org_memory_hub/webhooks.py" "$root/sdk/webhooks/vectors.json"
    "$python" "$verifier" --pack "$root/provenance/vectors/evidence-pack.tar.gz"
    exec "$python" "$verifier" --vectors "$root/provenance/vectors"
    ;;
  2) exec "$python" "$verifier" --keys "$1" "$2" ;;
  *) echo "usage: $0 [KEYS.json RECORDS.jsonl]" >&2; exit 2 ;;
esac
