#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Measures exact search by package vector and its peers side by side: bench/vector/run.sh [repeat]. All take turns, repeat
# times, so that other load on the machine affects all of them. The tables of results/vector.md have the least times; they
# are made of all lines of results/vector.txt, to which each run appends.
#   ROWS, DIM             size of the matrix (default 200000 and 768: 614 MB; int8 and bits take 175 MB of memory)
#   QUERIES               numbers of queries (default "1,2,4,8,16,32,128")
#   THREADS               number of threads (default 2)
#   K                     neighbors of a query (default 10)
#   ENGINES               peers (default all of peers.py; "none" for none)
#   SECONDS_EACH          time of each measurement (default 1)
#   VECQL_VECTOR_DATA     folder of the data, written if it is missing (default a temporary folder)
#   VECQL_PEERS_PYTHON    Python with the packages of requirements.txt (default a new venv)
set -euo pipefail
cd "$(dirname "$0")"
repeat=${1:-6}
engines=${ENGINES:-sgemm numpy faiss usearch numkong duckdb lancedb}
each=${SECONDS_EACH:-1}
queries=${QUERIES:-1,2,4,8,16,32,128}
threads=${THREADS:-2}
dim=${DIM:-768}
k=${K:-10}

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
		-dim "$dim" -k "$k" -queries "$queries" -threads "$threads" "${@:3}"
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
		"$python" peers.py --dir "$data" --dim "$dim" --k "$k" --engine "$engine" --threads "$threads" --queries "$queries" --seconds "$each"
	done
done | tee -a "$results" | grep --line-buffered '^Benchmark'
go run ./report ../results/vector.svg <"$results" >../results/vector.md
