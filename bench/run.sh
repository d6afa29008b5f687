#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Runs the benchmarks of vecql and its peers: bench/run.sh [count]. The script builds all programs and then runs them in turn, count times, so
# that other load on the machine affects all of them. With taskset, the server and the clients have one core each. Without BENCH and OUT it
# measures the encoding of values, then requests.
#   BENCH       regular expression of the benchmarks to run
#   BENCHTIME   duration of each benchmark (default 1s)
#   OUT         name of the results: bench/results/$OUT.txt and $OUT.md
#   COMPAT      measure the compat modules too if set
set -euo pipefail
cd "$(dirname "$0")"
count=${1:-6}
if [ -z "${BENCH:-}${OUT:-}" ]; then
	BENCH='Marshal|Unmarshal|Collection' OUT=values ./run.sh "$count"
	BENCH='Insert|ReadRow|Scan|Production' OUT=requests exec ./run.sh "$count"
fi

bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/nullserver" ./cmd/nullserver
go test -c -o "$bin/vecql" .
programs=(vecql)
peer() { GOWORK=off go -C peers test "-modfile=$1.mod" "${@:3}" -c -o "$bin/$2"; } # mod, program, flags
peer go apache2 ./apache2
peer fork scylla -tags=fork ./scylla
peer go gocql1 ./gocql1
programs+=(apache2 scylla gocql1)
compat() { peer "$1" "compat-$2" -ldflags "-X github.com/vecql/vecql/bench/peers/$3.driver=compat-$2" "${@:4}" "./$3"; } # the same programs
if [ -n "${COMPAT:-}" ]; then
	compat compat gocqlv2 apache2
	compat compat_fork scyllagocql scylla -tags=fork
	compat compat gocql gocql1
	programs+=(compat-gocqlv2 compat-scyllagocql compat-gocql)
fi
if command -v cargo >/dev/null && [ -f peers/rust/Cargo.toml ]; then
	cargo build --release --bin vecql-bench-rust --manifest-path peers/rust/Cargo.toml --target-dir peers/rust/target
	cp peers/rust/target/release/vecql-bench-rust "$bin/rust"
	programs+=(rust)
fi

on() { shift; "$@"; }
if command -v taskset >/dev/null && taskset -c 0,1 true 2>/dev/null; then
	on() { local core=$1; shift; taskset -c "$core" "$@"; }
fi

coproc SERVER { on 0 "$bin/nullserver"; } # the server exits at the end of its input, which closes with this script
read -r VECQL_NULL_SERVER VECQL_NULL_SERVER_CERT <&"${SERVER[0]}"
export VECQL_NULL_SERVER VECQL_NULL_SERVER_CERT

mkdir -p results
out=results/${OUT:-part}
for ((i = 0; i < count; i++)); do
	for p in "${programs[@]}"; do
		on 1 "$bin/$p" -test.run '^$' -test.bench "${BENCH:-Marshal|Unmarshal|Collection|Insert|ReadRow|Scan|Production}" \
			-test.benchtime "${BENCHTIME:-1s}" -test.timeout 0 | tee -a "$out.txt"
	done
done
go run ./cmd/report "$out.txt"
go run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da -col /driver "$out.txt" >"$out-benchstat.txt"
