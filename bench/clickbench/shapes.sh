#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Measures the queries of ClickBench on the table in all shapes of shape.py: bench/clickbench/shapes.sh [repeat]. Each
# shape takes ten minutes and up to 2 GB. run.sh lists the variables; results/clickbench-shapes.md has the summaries.
set -euo pipefail
cd "$(dirname "$0")"
shapes=${SHAPES:-pyarrow polars duckdb few zipf}
if [ -z "${VECQL_CLICKBENCH_DATA:-}" ]; then
	VECQL_CLICKBENCH_DATA=$(mktemp -d)
	export VECQL_CLICKBENCH_DATA
	trap 'rm -rf "$VECQL_CLICKBENCH_DATA"' EXIT
fi
files=()
for shape in $shapes; do
	SHAPE=$shape OUT=clickbench-$shape ./run.sh "${1:-1}"
	files+=("../results/clickbench-$shape.txt")
done
go run ./cmd/cbreport shapes "${files[@]}"
