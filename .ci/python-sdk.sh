#!/usr/bin/env bash
# The SDK for Python against a live Hub with demo data: types, tests, and a wheel that is built offline.
# Usage: python-sdk.sh BASE_URL ACCOUNT.json. Needs Debian's python3-httpx, python3-pytest, python3-hatchling, python3-pip and mypy.
set -euo pipefail
[ $# = 2 ] || { echo "usage: $0 BASE_URL ACCOUNT.json" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-/usr/bin/python3}
member() { "$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$account" "$1"; }
account=$2
export HUB_URL=$1 HUB_TENANT HUB_CLIENT_ID HUB_CLIENT_SECRET
HUB_TENANT=$(member tenant) HUB_CLIENT_ID=$(member client_id) HUB_CLIENT_SECRET=$(member client_secret)
export PYTHONDONTWRITEBYTECODE=1
cd "$root/sdk/python"

"$python" -m mypy --cache-dir=/dev/null
PYTHONPATH=$PWD "$python" -m pytest
"$python" write_reference.py --check

# From a copy, because a build writes beside its sources. The wheel must work from where it is installed.
work=$(mktemp -d /tmp/hub-wheel-XXXXXX)
trap 'rm -rf "$work"' EXIT
cp -r "$root/sdk/python" "$work/source"
cd "$work"
PIP_NO_INDEX=1 "$python" -m pip --disable-pip-version-check wheel -q --no-build-isolation --no-deps -w "$work" "$work/source"
"$python" -m zipfile -e org_memory_hub-*.whl "$work/installed"
test -f "$work/installed/org_memory_hub/py.typed"
test ! -e "$work/installed/tests"
cmp "$root/LICENSE" "$work"/installed/org_memory_hub-*.dist-info/license*/LICENSE
grep -q '^License.*: Apache-2.0$' "$work"/installed/org_memory_hub-*.dist-info/METADATA
PYTHONPATH="$work/installed" "$python" -m org_memory_hub.verify --vectors "$root/provenance/vectors"
PYTHONPATH="$work/installed" "$python" -m org_memory_hub.verify --pack "$root/provenance/vectors/evidence-pack.tar.gz"
PYTHONPATH="$work/installed" "$python" -c 'import org_memory_hub as hub; hub.Hub.from_environment().suggest("x"); print("wheel:", hub.__file__)'
