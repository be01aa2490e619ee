#!/usr/bin/env bash
# Runs the suites that touch the database on the oldest PostgreSQL that Debian has installed here (15 in bookworm),
# instead of the embedded one. Usage: older-postgresql.sh [REPORT.json]
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | head -n 1)
[ -n "$bin" ] || { echo 'No PostgreSQL under /usr/lib/postgresql: apt-get install postgresql' >&2; exit 1; }
account=postgres
[ "$(id -u)" = 0 ] || account=$(id -un)
as() { (cd / && if [ "$(id -un)" = "$account" ]; then "$@"; else runuser -u "$account" -- "$@"; fi); }

cluster=$(mktemp -d /tmp/hub-older-XXXXXX)
chown "$account" "$cluster"
trap 'as "$bin/pg_ctl" -D "$cluster/data" -m immediate -w stop >/dev/null 2>&1 || true; rm -rf "$cluster"' EXIT
password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
as sh -c "umask 077; echo $password > '$cluster/password'"
as "$bin/initdb" -D "$cluster/data" -U postgres --auth=scram-sha-256 --pwfile="$cluster/password" --encoding=UTF8 --locale=C >/dev/null
port=$((20000 + RANDOM % 20000))
as "$bin/pg_ctl" -D "$cluster/data" -w -l "$cluster/log" \
  -o "-p $port -k $cluster -c listen_addresses=127.0.0.1 -c max_connections=300 -c fsync=off" start >/dev/null
"$bin/postgres" --version

report=()
[ $# -eq 0 ] || report=(--reporter=default --reporter=json --outputFile.json="$1")
HUB_TEST_DATABASE_URL="postgresql://postgres:$password@127.0.0.1:$port/postgres" \
  npm test -- tests/db/external-database tests/db/migrations tests/db/privileges tests/db/schema-rules tests/db/transactions \
  tests/db/record-partitions tests/api tests/hub tests/telemetry "${report[@]}"
