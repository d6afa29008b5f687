#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Makes folders with everything that run.sh needs where there is neither Go nor a network: bench/cores/pack.sh folder.
# The program and the scripts are in the folder. The wheels of DuckDB are in folder-duckdb and the wheels of Polars in
# folder-polars, if pip can download them. Each folder has less than 64 MiB. On the other machine: folder/run.sh.
#   GOARCH       architecture of the program (default this one's)
#   PYTHON       version of the other machine's Python (default 3.12)
#   PLATFORMS    tags of the wheels that the other machine installs (default the tags of Linux on x86-64)
set -euo pipefail
folder=$(realpath -m "${1:?the folder to write}")
cd "$(dirname "$0")"
platforms=${PLATFORMS:-manylinux_2_28_x86_64 manylinux_2_27_x86_64 manylinux_2_24_x86_64 manylinux_2_17_x86_64 manylinux2014_x86_64}

mkdir -p "$folder/clickbench"
CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$folder/cores" ./cmd/cores
gzip -9 -f "$folder/cores"
cp run.sh engines.py "$folder"
cp ../clickbench/peers.py ../clickbench/polars_queries.py "$folder/clickbench"
grep -E '^(duckdb|polars)' ../groupby/requirements.txt >"$folder/requirements.txt"

for engine in duckdb polars; do
	mkdir -p "$folder-$engine"
	rm -f "$folder-$engine"/*.whl
	grep "^$engine" "$folder/requirements.txt" | xargs python3 -m pip download --quiet --no-deps --only-binary=:all: \
		--implementation cp --python-version "${PYTHON:-3.12}" $(printf -- '--platform %s ' $platforms) \
		-d "$folder-$engine" || echo "no wheels of $engine: run.sh will measure without it" >&2
done

for made in "$folder" "$folder-duckdb" "$folder-polars"; do
	size=$(du -s --apparent-size --block-size=1K "$made" | cut -f 1)
	echo "$made: $((size / 1024)) MiB"
	if ((size > 64 << 10)); then
		echo "$made exceeds 64 MiB" >&2
		exit 1
	fi
done
