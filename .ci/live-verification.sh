#!/usr/bin/env bash
# Fills a Hub with the demo's records, takes them out over HTTP, and lets the Python verifier check every one of them.
# Then runs the tests of the SDK for Python against the same Hub.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/node_modules/.bin:$PATH"
work=$(mktemp -d /tmp/hub-live-XXXXXX)
chmod 0755 "$work"
export HUB_DATA_DIR="$work/data" HUB_LOG_LEVEL=warn HUB_LIMIT_FACTOR=100
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null && wait "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

node cli/main.ts serve --port 0 >"$work/out" 2>&1 &
server=$!
for _ in $(seq 1 300); do
  grep -q '^Hub: ' "$work/out" && break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
hub=$(sed -n 's/^Hub: //p' "$work/out")
[ -n "$hub" ] || { cat "$work/out" >&2; exit 1; }

node cli/main.ts demo --json >"$work/report.json" 2>/dev/null
node cli/main.ts service-account create --tenant demo --name auditor --scope hub:read --json >"$work/account.json"
node .ci/take-records.ts "$hub" "$work/account.json" >"$work/records.jsonl"
curl -fsS "$hub/.well-known/provenance-keys.json" >"$work/keys.json"
echo "$(wc -l <"$work/records.jsonl") records taken from a live server"
.ci/python-verifier.sh "$work/keys.json" "$work/records.jsonl"

# The same with the first telemetry event altered must fail, or the check above proves nothing.
sed '0,/"tokens_in":[0-9]*/s//"tokens_in":2147483647/' "$work/records.jsonl" >"$work/altered.jsonl"
if .ci/python-verifier.sh "$work/keys.json" "$work/altered.jsonl"; then
  echo 'an altered record passed the Python verifier' >&2
  exit 1
fi
echo 'and one altered record among them was found'

scopes='hub:read hub:write telemetry:read telemetry:write governance:read'
node cli/main.ts service-account create --tenant demo --name python-sdk --scope "$scopes" --json >"$work/sdk.json"
.ci/python-sdk.sh "$hub" "$work/sdk.json"
