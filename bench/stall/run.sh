#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Runs the load programs of vecql and its peers in turn while one of three nodes does not run for some seconds:
# bench/stall/run.sh [flags of cmd/run]. The Rust program needs cargo, the Java program java and mvn; the others run
# without them. The results are bench/results/stall.jsonl and bench/results/stall.md.
set -euo pipefail
cd "$(dirname "$0")/.."

bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/run" ./stall/cmd/run
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
if command -v mvn >/dev/null && command -v java >/dev/null; then
	mvn -q -B -f peers/java/pom.xml package dependency:build-classpath -Dmdep.outputFile="$bin/classpath"
	cp -r peers/java/target/classes "$bin/classes"
	printf '#!/bin/sh\nexec java -cp "%s" Stall "$@"\n' "$bin/classes:$(cat "$bin/classpath")" >"$bin/java"
	chmod +x "$bin/java"
	programs+=("$bin/java")
fi

"$bin/run" -commit "$(git describe --always --dirty --exclude '*')" -out results/stall.jsonl "$@" "${programs[@]}"
go run ./stall/cmd/report results/stall.jsonl
