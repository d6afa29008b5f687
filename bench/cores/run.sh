#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Measures how the packages scale over processors, beside DuckDB and Polars: bench/cores/run.sh [data]. It takes at most
# BUDGET seconds, the data included: cases are measured in the order of their importance, and the report lists those that
# are left out. "run.sh data" makes the data in VECQL_CORES_DATA and ends, so that the next run has all the time. pack.sh
# makes a folder of this script and its program for machines without Go and without a network: what lies beside the script
# comes first.
#   THREADS               numbers of threads (default "1 2 4 8 16", as far as the machine has processors)
#   BUDGET                seconds (default 480)
#   CASES                 regular expression of the cases (default all): 'groupby|clickbench'
#   QUERIES               queries of ClickBench (default the ten slowest of pipe): "q34 q35"
#   ENGINES               peers (default "duckdb polars"; "none" for none)
#   PROFILES              1 writes profiles of locks and channels at the greatest number of threads, beside the report
#   ROWS, HITS            rows of the table in memory and of ClickBench's (default 20000000, 10000000: 3 GB of files)
#   VECTORS, DIM          size of the matrix (default 200000, 768)
#   REQUESTS              requests with small rows (default 200000); a tenth as many have vectors
#   RESULTS, OUT          folder and name of the results (default ../results, or results beside a packed script; cores)
#   VECQL_CORES_DATA      folder of the data, made if missing (default a temporary folder)
#   VECQL_PEERS_PYTHON    Python with DuckDB and Polars (default a new venv)
set -euo pipefail
cd "$(dirname "$0")"
begin=$SECONDS
processors=$(nproc)
if [ -z "${THREADS:-}" ]; then
	THREADS=
	for n in 1 2 4 8 16; do
		if ((n <= processors)); then THREADS+="$n "; fi
	done
fi
read -ra threads <<<"$THREADS"
list=$(IFS=,; echo "${threads[*]}")
budget=${BUDGET:-480}
cases=${CASES:-}
left() { echo $((budget - (SECONDS - begin))); }

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
results=../results requirements=../groupby/requirements.txt
if [ -f cores.gz ]; then
	gzip -dc cores.gz >"$tmp/cores"
	chmod +x "$tmp/cores"
	results=results requirements=requirements.txt
else
	go build -o "$tmp/cores" ./cmd/cores
fi
results=${RESULTS:-$results}
mkdir -p "$results"

if [ "${1:-}" = data ]; then : "${VECQL_CORES_DATA:?the folder of the data}"; fi
dir=$(realpath -m "${VECQL_CORES_DATA:-$tmp/data}")
"$tmp/cores" data -dir "$dir" -rows "${ROWS:-20000000}" -hits "${HITS:-10000000}" -vectors "${VECTORS:-200000}" \
	-dim "${DIM:-768}" -requests "${REQUESTS:-200000}"
if [ "${1:-}" = data ]; then exit; fi

# peers makes an environment with the engines, of the wheels beside the script, if there are any.
peers() {
	python=${VECQL_PEERS_PYTHON:-}
	if [ -n "$python" ]; then return; fi
	local wheels=(./*.whl "$PWD"-*/*.whl)
	for i in "${!wheels[@]}"; do
		if [ ! -f "${wheels[i]}" ]; then unset "wheels[i]"; fi
	done
	if ((${#wheels[@]})); then
		python3 -m pip install --quiet --no-index --no-deps --target "$tmp/site" "${wheels[@]}"
		export PYTHONPATH=$tmp/site
		python=python3
	else
		python3 -m venv "$tmp/venv"
		python=$tmp/venv/bin/python
		grep -E '^(duckdb|polars)' "$requirements" >"$tmp/requirements.txt"
		"$python" -m pip install --quiet -r "$tmp/requirements.txt"
	fi
}

engines=
if [ "${ENGINES:-}" != none ] && peers; then
	for engine in ${ENGINES:-duckdb polars}; do
		if "$python" -c "import $engine"; then
			engines+="$engine "
		else
			echo "measuring without $engine" >&2
		fi
	done
fi

out=$results/${OUT:-cores}.txt
status=0
"$tmp/cores" measure -dir "$dir" -threads "$list" -cases "$cases" -queries "${QUERIES:-}" -seconds "$(left)" \
	-answers "$tmp/vecql.json" | tee "$out" || status=1
"$tmp/cores" statements -dir "$dir" -cases "$cases" -queries "${QUERIES:-}" >"$tmp/statements.json"
for engine in $engines; do
	# The least and the greatest number of threads are the most important.
	for n in "${threads[0]}" $(printf '%s\n' "${threads[@]:1}" | tac); do
		"$python" engines.py --dir "$dir" --statements "$tmp/statements.json" --engine "$engine" --threads "$n" \
			--seconds "$(left)" --answers "$tmp/$engine.json" | tee -a "$out" || status=1
		"$tmp/cores" check "$tmp/vecql.json" "$tmp/$engine.json" || status=1
	done
done
if [ -n "${PROFILES:-}" ] && (($(left) > 0)); then
	"$tmp/cores" profile -dir "$dir" -threads "$list" -cases "$cases" -queries "${QUERIES:-}" -out "$results" |
		tee -a "$out" || status=1
fi
for engine in $engines; do grep "^$engine==" "$requirements"; done >"$tmp/versions.txt"
"$tmp/cores" report "$out" "$tmp/versions.txt"
exit "$status"
