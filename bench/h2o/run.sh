#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Measures the ten questions of the group-by benchmark of h2o.ai with vecql and its peers: bench/h2o/run.sh [repeat]. They
# take turns in each case, repeat times, so that other load on the machine affects all of them. Each engine has a process
# of its own for a case and a source. In the first turn the answers are compared with the answers of vecql.
#   CASES              cases (default "k100 k10 k2 k100-nulls5 k100-sorted"): groups, percent of NULLs, sorted rows
#   QUESTIONS          names of questions (default all): "q01 q09"
#   ENGINES            peers (default all; "none" for none): "duckdb polars"
#   SOURCES            where the clock starts (default "memory file"): with the table in memory, or with the path of the file
#   THREADS            number of threads (default 2)
#   RUNS               runs of each question per process (default 2)
#   ROWS, SEED         rows of a table (default 10000000), and the seed of its random numbers (default 1)
#   OUT                name of the results (default h2o)
#   VECQL_H2O_DATA     folder of the data, made if missing (default a temporary folder). A case of 10000000 rows takes 250 MB.
#   VECQL_PEERS_PYTHON Python with ../groupby/requirements.txt (default a new venv)
set -euo pipefail
cd "$(dirname "$0")"
repeat=${1:-5}
cases=${CASES:-k100 k10 k2 k100-nulls5 k100-sorted}
questions=${QUESTIONS:-}
engines=${ENGINES:-duckdb chdb polars-streaming polars datafusion}
sources=${SOURCES:-memory file}
threads=${THREADS:-2}
runs=${RUNS:-2}
requirements=../groupby/requirements.txt
if [ "$engines" = none ]; then engines=; fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp" ./cmd/...

dir=$(realpath -m "${VECQL_H2O_DATA:-$tmp/data}")
for case in $cases; do
	if [ ! -f "$dir/$case/manifest.json" ]; then
		"$tmp/h2odata" -dir "$dir/$case" -case "$case" -rows "${ROWS:-10000000}" -seed "${SEED:-1}"
	fi
done

if [ -n "$engines" ]; then
	python=${VECQL_PEERS_PYTHON:-}
	if [ -z "$python" ]; then
		python3 -m venv "$tmp/venv"
		python=$tmp/venv/bin/python
		"$python" -m pip install --quiet -r "$requirements"
	fi
	"$tmp/h2orun" statements >"$tmp/statements.json"
fi

results=../results/${OUT:-h2o}.txt
mkdir -p ../results
status=0
for ((i = 0; i < repeat; i++)); do
	for case in $cases; do
		for source in $sources; do
			for engine in vecql $engines; do
				answers=()
				if ((i == 0)); then answers=("$tmp/$engine.json"); fi
				if [ "$engine" = vecql ]; then
					"$tmp/h2orun" run -dir "$dir/$case" -source "$source" -questions "$questions" -threads "$threads" -runs "$runs" \
						"${answers[@]/#/-answers=}"
				else
					"$python" peers.py --dir "$dir/$case" --case "$case" --statements "$tmp/statements.json" --engine "$engine" \
						--source "$source" --questions "$questions" --threads "$threads" --runs "$runs" "${answers[@]/#/--answers=}"
				fi | tee -a "$results" || status=1
			done
		done
	done
done
for engine in $engines; do
	echo "answers of $engine" >&2
	"$tmp/h2orun" check "$tmp/vecql.json" "$tmp/$engine.json" || status=1
done
"$tmp/h2oreport" "$results" "$requirements"
exit "$status"
