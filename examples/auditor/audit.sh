#!/bin/sh
# Exports all records of a tenant, verifies the file without the Hub, and shows that one changed byte is detected:
#
#     examples/auditor/audit.sh FOLDER
#
# Reads HUB_URL, HUB_TENANT, HUB_CLIENT_ID and HUB_CLIENT_SECRET; the service account needs hub:read.
set -eu
folder=${1:?Name an empty folder.}
mkdir -p "$folder"
hub() { node "$(dirname "$0")/../../cli/hub.js" "$@"; }

# Pin the keys once, and keep them: a later check does not have to trust the Hub.
[ -f "$folder/keys.json" ] || curl -fsS "$HUB_URL/.well-known/provenance-keys.json" >"$folder/keys.json"

hub export --format jsonl --include-provenance --output "$folder/records.jsonl"
hub verify "$folder/records.jsonl" --keys "$folder/keys.json"

# Somebody changes one character of one record.
cp "$folder/records.jsonl.manifest.json" "$folder/altered.jsonl.manifest.json"
sed '1s/"created_by":"./"created_by":"X/' "$folder/records.jsonl" >"$folder/altered.jsonl"
if hub verify "$folder/altered.jsonl" --keys "$folder/keys.json"; then
  echo 'The change was not detected.' >&2
  exit 1
fi
echo 'The change was detected.'
