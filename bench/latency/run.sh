#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Measures latencies of vecql and its peers in an open loop at a fixed rate, plain and over TLS:
# bench/latency/run.sh [flags of cmd/run]. The load programs are those of bench/stall. The results are
# bench/results/latency.md, latency.svg and latency.jsonl. The Rust program needs cargo; the others run without it.
set -euo pipefail
cd "$(dirname "$0")/.."

bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/run" ./latency/cmd/run
go build -o "$bin/nullserver" ./cmd/nullserver
go build -o "$bin/vecql" ./stall/cmd/vecql
programs=("$bin/vecql")
GOWORK=off go -C peers build -o "$bin/apache2" ./apache2/stall
GOWORK=off go -C peers build -modfile=fork.mod -tags=fork -o "$bin/scylla" ./scylla/stall
programs+=("$bin/apache2" "$bin/scylla")
if command -v cargo >/dev/null; then
	cargo build --release --bin stall --manifest-path peers/rust/Cargo.toml --target-dir peers/rust/target
	cp peers/rust/target/release/stall "$bin/rust"
	programs+=("$bin/rust")
fi
"$bin/run" -commit "$(git describe --always --dirty --exclude '*')" "$@" "$bin/nullserver" "${programs[@]}"
