#!/bin/sh
# Creates the secret files of compose.yaml, each once; a file that exists stays unchanged.
# Keep a copy of secrets/master-key apart from the backups: without it nothing can be written any more.
#
#     deploy/make-secrets.sh [FOLDER]
set -eu
folder=${1:-$(dirname "$0")/secrets}
mkdir -p "$folder"
# Only the owner may enter. The files are readable for all, because the users of the containers are others.
chmod 0700 "$folder"
umask 022

keep() {
  [ -s "$folder/$1" ] && return
  cat >"$folder/$1.new"
  mv "$folder/$1.new" "$folder/$1"
  echo "$folder/$1"
}
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
known() { cat "$folder/$1"; }

head -c 32 /dev/urandom | base64 | keep master-key
random | keep operator-token
random | keep postgres-password
random | keep valkey-password
random | keep s3-secret

keep database-url <<END
postgresql://hub_owner:$(known postgres-password)@postgres:5432/hub
END
keep valkey-conf <<END
requirepass $(known valkey-password)
save ""
appendonly no
END
keep valkey-url <<END
redis://:$(known valkey-password)@valkey:6379
END
keep s3-identities <<END
{"identities": [{"name": "hub", "credentials": [{"accessKey": "hub", "secretKey": "$(known s3-secret)"}], "actions": ["Read:hub", "Write:hub", "List:hub"]}]}
END
keep storage-url <<END
s3://hub?endpoint=http://s3:8333&region=us-east-1&access_key_id=hub&secret_access_key=$(known s3-secret)
END
