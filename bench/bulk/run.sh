#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Measures how fast programs load and unload tables: bench/bulk/run.sh [count]. With taskset, the server and the programs
# have one core each. The peers are dsbulk and cqlsh; one that cannot be installed is left out. By default the server is a
# cqltest cluster of one node, so that the programs are what is measured.
#   HOST               address of a server that runs already, as 127.0.0.1:9042
#   SERVER             its name in the results (default cassandra)
#   ROWS, VECTORS      rows of the two tables (default 1000000, 100000)
#   DSBULK_CLASSPATH   class path of dsbulk; CQLSH: path of cqlsh (by default both are installed to a temporary folder)
set -euo pipefail
cd "$(dirname "$0")"
count=${1:-5}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/bulk" .
go build -C ../.. -o "$work/vecql" ./cmd/vecql

if [ -z "${DSBULK_CLASSPATH:-}" ] && command -v mvn >/dev/null; then
	mvn -q -f dsbulk.xml dependency:build-classpath -Dmdep.outputFile="$work/classpath" &&
		DSBULK_CLASSPATH=$(cat "$work/classpath")
fi
if [ -z "${CQLSH:-}" ] && python3 -m venv "$work/venv" && "$work/venv/bin/pip" install -q cqlsh==6.2.2; then
	CQLSH=$work/venv/bin/cqlsh
fi
export DSBULK_CLASSPATH CQLSH

on() { shift; "$@"; }
if command -v taskset >/dev/null && taskset -c 0,1 true 2>/dev/null; then
	on() { local core=$1; shift; taskset -c "$core" "$@"; }
fi

server=${SERVER:-cassandra}
if [ -z "${HOST:-}" ]; then
	server=cqltest
	coproc FAKE { on 0 "$work/vecql" fake --port 0 --control 127.0.0.1:0 --json; }
	read -r HOST <&"${FAKE[0]}"
	HOST=$(sed 's/.*"hosts":\["\([^"]*\)".*/\1/' <<<"$HOST")
	trap 'kill "$FAKE_PID" 2>/dev/null; rm -rf "$work"' EXIT
fi
for ((i = 0; i < count; i++)); do
	on 1 "$work/bulk" -host "$HOST" -server "$server" -dir "$work" -vecql "$work/vecql" -rows "${ROWS:-1000000}" \
		-vectors "${VECTORS:-100000}" | tee -a ../results/bulk.txt
done
go run ../cmd/report ../results/bulk.txt
