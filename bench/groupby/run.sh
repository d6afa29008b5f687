#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Measures groupby and its peers side by side: bench/groupby/run.sh [repeat]. Go and each engine take turns, repeat times,
# so that other load on the machine affects all of them. Answers are checked in every turn of Go and in the first turn of
# each engine.
#   CASES                 regular expression that selects cases (default all): 'case=grid/keys=random', 'q1|url'
#   THREADS               numbers of threads (default "1 2")
#   PEER_THREADS          numbers of threads of the peers (default THREADS)
#   ENGINES               peers (default all; "none" for none): "polars-streaming duckdb"
#   LOOPS                 queries per turn and case; their mean is reported (default 1)
#   ROWS                  rows per table (default 5000000)
#   VECQL_GROUPBY_DATA    folder of the data, generated if it is missing (default a temporary folder)
#   VECQL_PEERS_PYTHON    Python with the packages of requirements.txt (default a new venv)
set -euo pipefail
cd "$(dirname "$0")"
repeat=${1:-6}
cases=${CASES:-}
threads=${THREADS:-1 2}
peer_threads=${PEER_THREADS:-$threads}
engines=${ENGINES:-polars-streaming polars duckdb chdb datafusion pyarrow daft}
loops=${LOOPS:-1}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp" ./cmd/gbdata ./cmd/gbmem ./cmd/gbreport
go test -c -o "$tmp/groupby" .

VECQL_GROUPBY_DATA=$(realpath -m "${VECQL_GROUPBY_DATA:-$tmp/data}")
export VECQL_GROUPBY_DATA
if [ ! -f "$VECQL_GROUPBY_DATA/manifest.json" ]; then
	"$tmp/gbdata" -dir "$VECQL_GROUPBY_DATA" -rows "${ROWS:-5000000}" -cases "$cases"
fi

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

results=../results/groupby.txt
mkdir -p ../results
status=0
for ((i = 0; i < repeat; i++)); do
	check=
	if ((i > 0)); then check=--no-check; fi
	# With -test.cpu 1 Go appends no number to the names; benchmarks set their own number of threads.
	"$tmp/groupby" -test.run '^$' -test.bench . -test.cpu 1 -test.benchtime "${loops}x" -test.timeout 0 \
		-cases "$cases" -threads "${threads// /,}" | tee -a "$results" || status=1
	for engine in $engines; do
		for n in $peer_threads; do
			"$python" peers.py --engine "$engine" --cases "$cases" --threads "$n" --repeat 1 --loops "$loops" $check | tee -a "$results" || status=1
		done
	done
done

# Memory of one case, if CASES selects it, in processes that run nothing else.
memory='case=grid/keys=random/groups=5000000/agg=count+sum'
if [[ $memory =~ ${cases:-.} ]] && grep -qF "\"$memory\"" "$VECQL_GROUPBY_DATA/manifest.json"; then
	for n in $peer_threads; do
		for impl in vecql vecql-ordered; do
			"$tmp/gbmem" -impl "$impl" -threads "$n" | tee -a "$results" || status=1
		done
		for engine in $engines; do
			"$python" peers.py --memory --engine "$engine" --threads "$n" | tee -a "$results" || status=1
		done
	done
	"$tmp/gbmem" -impl map | tee -a "$results" || status=1
fi
"$tmp/gbreport" "$results" requirements.txt
exit "$status"
