#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Measures queries on Parquet files with vecql and its peers side by side: bench/parquet/run.sh [repeat]. They take turns, repeat
# times, so that other load on the machine affects all of them. Answers are checked in every turn of Go and in the first turn of
# each engine. By default the data takes 5 GB: three layouts of a table, and four tables of embeddings.
#   CASES                 regular expression of the cases (default all): 'query=groupby', 'layout=one', 'embeddings/codec=(none|zstd)'
#   THREADS               numbers of threads (default 2)
#   IMPLS                 Go libraries (default "vecql pqarrow parquet-go"; "none" for none)
#   ENGINES               other engines (default all; "none" for none): "polars-streaming duckdb"
#   LOOPS                 queries per turn and case, averaged (default 1)
#   ROWS, VECTORS, DIM    rows of the table, rows and dimension of the embeddings to make (default 20000000, 200000, 768)
#   VECQL_PARQUET_DATA    folder of the data, made if missing (default a temporary folder)
#   VECQL_PEERS_PYTHON    Python with ../groupby/requirements.txt (default a new venv)
set -euo pipefail
cd "$(dirname "$0")"
repeat=${1:-6}
cases=${CASES:-}
threads=${THREADS:-2}
impls=${IMPLS:-vecql pqarrow parquet-go}
engines=${ENGINES:-polars-streaming duckdb chdb datafusion pyarrow daft}
loops=${LOOPS:-1}
requirements=../groupby/requirements.txt

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp" ./cmd/pqdata ./cmd/pqreport
go test -c -o "$tmp/parquet" .

VECQL_PARQUET_DATA=$(realpath -m "${VECQL_PARQUET_DATA:-$tmp/data}")
export VECQL_PARQUET_DATA
if [ ! -f "$VECQL_PARQUET_DATA/manifest.json" ]; then
	"$tmp/pqdata" -cases "$cases" -rows "${ROWS:-20000000}" -vectors "${VECTORS:-200000}" -dim "${DIM:-768}"
fi

if [ "$engines" = none ]; then
	engines=
else
	python=${VECQL_PEERS_PYTHON:-}
	if [ -z "$python" ]; then
		python3 -m venv "$tmp/venv"
		python=$tmp/venv/bin/python
		"$python" -m pip install --quiet -r "$requirements"
	fi
fi

results=../results/parquet.txt
mkdir -p ../results
status=0
for ((i = 0; i < repeat; i++)); do
	check=
	if ((i > 0)); then check=--no-check; fi
	if [ "$impls" != none ]; then
		for impl in $impls; do
			# -test.cpu 1 keeps Go from appending a number to the names; benchmarks set their own number of threads.
			"$tmp/parquet" -test.run '^$' -test.bench . -test.cpu 1 -test.benchtime "${loops}x" -test.timeout 0 \
				-cases "$cases" -threads "${threads// /,}" -impls "$impl" | tee -a "$results" || status=1
		done
	fi
	for engine in $engines; do
		for n in $threads; do
			"$python" peers.py --engine "$engine" --cases "$cases" --threads "$n" --repeat 1 --loops "$loops" $check |
				tee -a "$results" || status=1
		done
	done
done
"$tmp/pqreport" "$results" "$requirements" ../go.mod
exit "$status"
