#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Measures how fast adbcvecql and its peers read tables into data frames, and write data frames: bench/adbc/run.sh [repeat].
# Every measurement is a process of its own, in turn; all cells are compared. With taskset, the server and the client have
# one core each. Peers are cassandra-driver, with and without its NumPy row factory, and adbc-drivers/cassandra. The last
# two are left out if they are neither given nor can be built.
#   ROWS                     rows of the two tables (default 1000000)
#   PEER_ROWS                rows of the tables of the peers (default ROWS), whose results are per row
#   SERVERS                  default "cqltest cassandra"
#   TABLES, DRIVERS, FRAMES  default "vectors small", all drivers, "polars pandas duckdb"
#   VERBS                    default "write read"
#   DATA                     folder of the rows, made if they are missing (default a temporary folder)
#   ADBC_CASSANDRA           folders of the sources of adbc-drivers/cassandra and adbc-drivers/driverbase-go
#   DRIVERBASE
#   ADBC_CASSANDRA_LIBRARY   its shared library, instead of the sources
#   VECQL_PEERS_PYTHON       Python with the packages of requirements.txt (default a new venv)
set -euo pipefail
cd "$(dirname "$0")"
repeat=${1:-1}
rows=${ROWS:-1000000}
peer_rows=${PEER_ROWS:-$rows}
drivers=${DRIVERS:-vecql adbc-cassandra cassandra-driver cassandra-driver-numpy}

work=$(mktemp -d)
server_pid=
stop() {
	[ -z "$server_pid" ] || { kill "$server_pid" 2>/dev/null && wait "$server_pid" || true; }
	server_pid=
}
trap 'stop; rm -rf "$work"' EXIT
data=${DATA:-$work/data}
mkdir -p "$data"

make -s -C ../.. adbc
go build -C ../.. -o "$work/vecql" ./cmd/vecql
go build -C .. -o "$work/cassandra" ./cmd/cassandra
if [ -z "${ADBC_CASSANDRA_LIBRARY:-}" ] && [ -n "${ADBC_CASSANDRA:-}" ]; then
	./adbc_cassandra.sh "$ADBC_CASSANDRA" "$DRIVERBASE" "$work/libadbc_driver_cassandra.so" &&
		ADBC_CASSANDRA_LIBRARY=$work/libadbc_driver_cassandra.so
fi
if [ -z "${ADBC_CASSANDRA_LIBRARY:-}" ]; then
	drivers=${drivers//adbc-cassandra/}
fi
export ADBC_CASSANDRA_LIBRARY PYTHONPATH=../../adbcvecql/python PYTHONDONTWRITEBYTECODE=1

python=${VECQL_PEERS_PYTHON:-}
if [ -z "$python" ]; then
	python3 -m venv "$work/venv"
	python=$work/venv/bin/python
	"$python" -m pip install --quiet -r requirements.txt
	[[ $drivers != *numpy* ]] || ./cassandra_driver.sh "$python" "$work/source" || true
fi
# The parser for NumPy of cassandra-driver 3.29 returns no rows with NumPy 2, which has no ndarray.newbyteorder.
if ! "$python" -c 'import sys, numpy; from cassandra.protocol import NumpyProtocolHandler as n
sys.exit(n is None or not hasattr(numpy.ndarray, "newbyteorder"))'; then
	drivers=${drivers//cassandra-driver-numpy/}
fi

on_server=() on_client=() # core of each
if command -v taskset >/dev/null && taskset -c 0,1 true 2>/dev/null; then
	on_server=(taskset -c 0) on_client=(taskset -c 1)
fi

# start starts a server and sets host.
start() {
	local out=$work/address
	mkfifo "$out"
	case $1 in
	cqltest) "${on_server[@]}" env GOGC=400 "$work/vecql" fake --port 0 --control 127.0.0.1:0 --json >"$out" & ;;
	cassandra) "${on_server[@]}" "$work/cassandra" -Xmx4g -XX:TieredStopAtLevel=4 >"$out" & ;;
	*) echo "run.sh: unknown server $1" >&2; exit 2 ;;
	esac
	server_pid=$!
	exec 3<"$out"
	read -r host <&3
	rm "$out"
	host=$(sed 's/.*"hosts":\["\([^"]*\)".*/\1/' <<<"$host")
}

results=../results/adbc.txt
measure() {
	local pid=()
	[ ! -d "/proc/$server_pid" ] || pid=(--server-pid "$server_pid")
	"${on_client[@]}" "$python" measure.py --host "$host" --server "$server" "${pid[@]}" --dir "$data" "$@"
}
rows_of() { if [ "$1" = vecql ]; then echo "$rows"; else echo "$peer_rows"; fi; }
status=0
for ((i = 0; i < repeat; i++)); do
	for server in ${SERVERS:-cqltest cassandra}; do
		start "$server"
		measure create
		for table in ${TABLES:-vectors small}; do
			for verb in ${VERBS:-write read}; do
				if [ "$verb" = read ]; then
					for n in $(printf '%s\n' "$rows" "$peer_rows" | sort -u); do
						measure fill --table "$table" --rows "$n"
					done
				fi
				frames=${FRAMES:-polars pandas duckdb}
				[ "$verb" = read ] || frames=polars
				for driver in $drivers; do
					[ "$verb-$driver" != write-cassandra-driver-numpy ] || continue # it is about results
					for frame in $frames; do
						measure "$verb" --driver "$driver" --frame "$frame" --table "$table" --rows "$(rows_of "$driver")" |
							tee -a "$results" || status=1
					done
				done
			done
		done
		stop
	done
done
go run -C .. ./cmd/report results/adbc.txt
exit "$status"
