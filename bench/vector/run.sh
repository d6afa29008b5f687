#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Measures exact search by package vector and its peers side by side: bench/vector/run.sh [repeat]. All take turns, repeat
# times, so that other load on the machine affects all of them. The first column of the table is the least time in ms.
#   ROWS, DIM             size of the matrix (default 200000 and 768: 614 MB; int8 and bits take 175 MB of memory)
#   QUERIES               numbers of queries (default "1,2,4,8,16,32,128")
#   THREADS               number of threads (default 2)
#   ENGINES               peers (default "numpy faiss usearch numkong"; "none" for none)
#   SECONDS_EACH          time of each measurement (default 1)
#   VECQL_VECTOR_DATA     folder of the data, written if it is missing (default a temporary folder)
#   VECQL_PEERS_PYTHON    Python with the packages of requirements.txt (default a new venv)
set -euo pipefail
cd "$(dirname "$0")"
repeat=${1:-6}
engines=${ENGINES:-numpy faiss usearch numkong}
each=${SECONDS_EACH:-1}
queries=${QUERIES:-1,2,4,8,16,32,128}
threads=${THREADS:-2}
dim=${DIM:-768}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go test -c -o "$tmp/simd" .
go test -c -tags purego -o "$tmp/purego" .
data=$(realpath -m "${VECQL_VECTOR_DATA:-$tmp/data}")
mkdir -p "$data"
if [ "$engines" = none ]; then
	engines=
else
	python=${VECQL_PEERS_PYTHON:-}
	if [ -z "$python" ]; then
		python3 -m venv "$tmp/venv"
		python=$tmp/venv/bin/python
		"$python" -m pip install --quiet -r requirements.txt
	fi
fi

measure() { # program, time for each benchmark, other flags
	"$1" -test.run '^$' -test.bench . -test.cpu "$threads" -test.benchtime "$2" -test.timeout 0 -dir "$data" -rows "${ROWS:-200000}" \
		-dim "$dim" -queries "$queries" -threads "$threads" "${@:3}"
}

results=../results/vector.txt
mkdir -p ../results
for ((i = 0; i < repeat; i++)); do
	measure "$tmp/simd" "${each}s"
	GODEBUG=cpu.avx512f=off measure "$tmp/simd" "${each}s"
	if ((i == 0)); then
		measure "$tmp/purego" 1x -queries 1,16 -reference
	fi
	for engine in $engines; do
		"$python" peers.py --dir "$data" --dim "$dim" --engine "$engine" --threads "$threads" --queries "$queries" --seconds "$each"
	done
done | tee -a "$results" | grep --line-buffered '^Benchmark'

awk '/^Benchmark/ {
	name = $1; sub("^BenchmarkNearest/", "", name); sub("-[0-9]+$", "", name)
	for (i = 2; i < NF; i++) if ($(i + 1) == "ns/op" && (!(name in least) || $i < least[name])) least[name] = $i
} END { for (name in least) printf "%10.1f  %s\n", least[name] / 1e6, name }' "$results" | sort -t= -k2,3 -k6,6n -k1,1n
