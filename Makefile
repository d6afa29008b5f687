# SPDX-License-Identifier: Apache-2.0

# Each verb is what the checks run; all of them together: .ci/run

GOLANGCI_LINT = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZTIME = 30s
BENCHCOUNT = 6

.PHONY: all test race lint fuzz integration bench bench-groupby bench-parquet interop otel demo

all: test lint

# Every test, with a real Cassandra where VECQL_TEST_HOSTS names no server.
test:
	go vet ./...
	go test -count=1 -timeout 20m ./...

race:
	go test -race -count=1 -timeout 20m ./...

lint:
	go run $(GOLANGCI_LINT) run ./...

# Every fuzz target of every package, FUZZTIME each.
fuzz:
	set -e; for dir in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -r -n1 dirname | sort -u); do \
		for target in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' $$dir/*_test.go | cut -c6- | sort -u); do \
			go -C $$dir test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) .; \
		done; \
	done

# The tests against servers, alone: those of VECQL_TEST_HOSTS, or Cassandra nodes of their own.
integration:
	go test -race -count=1 -timeout 20m ./tests/...

# vecql and its peers in turns: tables and plots in bench/results. BENCH and BENCHTIME narrow it down.
bench:
	bench/run.sh $(BENCHCOUNT)

# groupby and its peers, which pip installs: a table in bench/results.
bench-groupby:
	bench/groupby/run.sh $(BENCHCOUNT)

# parquetscan with groupby, and its peers: the same. The data takes 5 GB.
bench-parquet:
	bench/parquet/run.sh $(BENCHCOUNT)

# Against a codec written by others.
interop:
	cd tests/interop && go test -count=1 ./...

# The module for OpenTelemetry.
otel:
	cd otelvecql && go vet ./... && go test -race -count=1 ./...

demo:
	go run ./cmd/vecql demo
