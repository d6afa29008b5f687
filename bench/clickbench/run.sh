#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Measures the 43 queries of ClickBench, and TPC-H's queries 1 and 6, with vecql and its peers: bench/clickbench/run.sh
# [repeat]. They take turns in each query, repeat times, so that other load on the machine affects all of them. Each query
# of each engine is a process of its own. Before it the file leaves the operating system's cache: the first run of the
# process is cold, the others are warm. In the first turn the answers are compared with DuckDB's. By default the data takes
# 2 GB.
#   QUERIES               names of queries (default all): "q01 q02 tpch1"
#   ENGINES               peers (default all; "none" for none): "duckdb polars-streaming"
#   THREADS               number of threads (default 2)
#   WARM                  warm runs per process (default 3)
#   ROWS, SCALE           rows of hits and TPC-H's scale factor to make (default 10000000, 10)
#   SHAPE                 hits as another writer writes it, or another table (shape.py): pyarrow polars duckdb few zipf
#   OUT                   name of the results (default clickbench, with a SHAPE clickbench-SHAPE)
#   VECQL_CLICKBENCH_DATA folder of the data, made if missing (default a temporary folder)
#   VECQL_PEERS_PYTHON    Python with ../groupby/requirements.txt (default a new venv)
set -euo pipefail
cd "$(dirname "$0")"
repeat=${1:-5}
shape=${SHAPE:-}
queries=${QUERIES:-$(seq -f 'q%02g' 1 43)}
if [ -z "${QUERIES:-}$shape" ]; then queries+=" tpch1 tpch6"; fi
engines=${ENGINES:-duckdb chdb polars-streaming datafusion}
threads=${THREADS:-2}
warm=${WARM:-3}
requirements=../groupby/requirements.txt
if [ "$engines" = none ]; then engines=; fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp" ./cmd/...

if [ -n "$engines$shape" ]; then
	python=${VECQL_PEERS_PYTHON:-}
	if [ -z "$python" ]; then
		python3 -m venv "$tmp/venv"
		python=$tmp/venv/bin/python
		"$python" -m pip install --quiet -r "$requirements"
	fi
fi

dir=$(realpath -m "${VECQL_CLICKBENCH_DATA:-$tmp/data}")
rows=${ROWS:-10000000}
if [ ! -f "$dir/manifest.json" ]; then
	"$tmp/cbdata" -dir "$dir" -rows "$rows" -scale "${SCALE:-10}"
fi
if [ -n "$shape" ]; then
	own=$dir
	dir=$own/$shape
	mkdir -p "$dir"
	if [ ! -f "$dir/hits.parquet" ]; then
		"$python" shape.py "$shape" --source "$own/hits.parquet" --rows "$rows" --out "$dir/hits.parquet"
	fi
	cp "$own/manifest.json" "$dir"
fi

if [ -n "$engines" ]; then
	"$tmp/cbrun" statements -dir "$dir" >"$tmp/statements.json"
	if [ ! -f "$dir/reference.json" ]; then
		"$python" peers.py --dir "$dir" --statements "$tmp/statements.json" --threads "$threads" --reference "$tmp/reference.json"
		mv "$tmp/reference.json" "$dir"
	fi
fi

results=../results/${OUT:-clickbench${shape:+-$shape}}.txt
mkdir -p ../results
status=0
for ((i = 0; i < repeat; i++)); do
	for query in $queries; do
		for engine in vecql $engines; do
			answers=()
			if ((i == 0)); then answers=("$tmp/$engine.json"); fi
			# coreutils: nocache with count=0 drops the whole file from the cache.
			for file in "$dir"/*.parquet; do dd if="$file" iflag=nocache count=0 status=none; done
			if [ "$engine" = vecql ]; then
				"$tmp/cbrun" run -dir "$dir" -query "$query" -threads "$threads" -warm "$warm" "${answers[@]/#/-answers=}"
			else
				"$python" peers.py --dir "$dir" --statements "$tmp/statements.json" --engine "$engine" --query "$query" \
					--threads "$threads" --warm "$warm" "${answers[@]/#/--answers=}"
			fi | tee -a "$results" || status=1
		done
	done
done
if [ -n "$engines" ]; then
	for engine in vecql $engines; do
		"$tmp/cbrun" check "$dir/reference.json" "$tmp/$engine.json" || status=1
	done
fi
"$tmp/cbreport" "$results" "$requirements"
exit "$status"
