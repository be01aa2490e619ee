#!/usr/bin/env bash
# Runs the suites that touch the database on the oldest PostgreSQL that Debian has installed here (15 in bookworm),
# instead of the embedded one. Usage: older-postgresql.sh [options of vitest]
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | head -n 1)
[ -n "$bin" ] || { echo 'No PostgreSQL under /usr/lib/postgresql: apt-get install postgresql' >&2; exit 1; }
account=postgres
[ "$(id -u)" = 0 ] || account=$(id -un)
as() { (cd / && if [ "$(id -un)" = "$account" ]; then "$@"; else runuser -u "$account" -- "$@"; fi); }

# In memory where there is plenty: see tests/support/scratch-folder.ts.
scratch=/tmp
free_kb=$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)
available_kb=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
if [ "${free_kb:-0}" -ge 8388608 ] && [ "${available_kb:-0}" -ge 8388608 ]; then scratch=/dev/shm; fi
cluster=$(mktemp -d "$scratch/hub-older-XXXXXX")
chown "$account" "$cluster"
trap 'as "$bin/pg_ctl" -D "$cluster/data" -m immediate -w stop >/dev/null 2>&1 || true; rm -rf "$cluster"' EXIT
password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
as sh -c "umask 077; echo $password > '$cluster/password'"
as "$bin/initdb" -D "$cluster/data" -U postgres --auth=scram-sha-256 --pwfile="$cluster/password" --encoding=UTF8 --locale=C >/dev/null
# Below the ports that the system gives to outgoing connections.
port=$((10000 + RANDOM % 20000))
as "$bin/pg_ctl" -D "$cluster/data" -w -l "$cluster/log" \
  -o "-p $port -k $cluster -c listen_addresses=127.0.0.1 -c max_connections=300 -c fsync=off -c full_page_writes=off -c autovacuum=off -c max_wal_size=512MB" start >/dev/null
"$bin/postgres" --version

# Versions differ in SQL only. tests/db sends every statement of the service, through most of the operations of its API;
# the other operations are those of these files (tests/db/query-rules.test.ts compares them). tests/hub and tests/search
# add what depends on locks and on text search.
operations=(
  tests/api/check-entitlement.test.ts tests/api/create-tenant.test.ts tests/api/create-welcome-link.test.ts
  tests/api/get-connector.test.ts tests/api/get-cowork.test.ts tests/api/get-open-api.test.ts
  tests/api/get-proof-bundle.test.ts
  tests/api/get-record-state.test.ts tests/api/get-scim.test.ts tests/api/get-tenant-as-operator.test.ts
  tests/api/invite-user.test.ts
  tests/api/list-tenants.test.ts tests/api/mock-log-in.test.ts tests/api/remove-sso.test.ts
  tests/api/request-magic-link.test.ts tests/api/test-sso.test.ts tests/api/test-webhook-address.test.ts tests/api/update-tenant.test.ts
)
HUB_TEST_DATABASE_URL="postgresql://postgres:$password@127.0.0.1:$port/postgres" \
  npm test -- tests/db tests/hub tests/search \
  tests/api/create-evidence-pack.test.ts tests/api/search-records.test.ts tests/api/suggest.test.ts "${operations[@]}" "$@"
