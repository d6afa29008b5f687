# SPDX-License-Identifier: Apache-2.0

# Single tasks. .ci/run runs all checks of CI.

include .ci/tools
FUZZTIME = 30s
BENCHCOUNT = 6
ROWS = 1000000
SAMPLE = 25
SEED = 1

.PHONY: all test race soak soak-tool whole evidence lint tidy fmt fuzz mutate mutate-list mutate-all test-servers integration interop otel sql adbc wheel test-adbc test-wheel frameworks beam beam-flink ecosystem gocql-suites demo docs-site
.PHONY: bench bench-stall bench-latency bench-bulk bench-groupby bench-parquet bench-vector bench-search bench-clickbench bench-shapes bench-h2o bench-cores bench-adbc bench-sql

all: test lint

# All tests, in their small sizes: of the workspace (go.work), then of the modules outside of it. They start a real Cassandra unless VECQL_TEST_HOSTS names servers.
test:
	go vet work
	go test -count=1 work
	.ci/run frameworks beam compat peers

# The tests of the workspace with the race detector. The other codec of tests/interop has data races.
race:
	go test -race -count=1 -timeout 20m $$(go list work | grep -v /tests/interop)

# All tests in their full sizes, among them those that take long: five minutes of all faults, a million requests,
# nodes that are killed and restarted, TestSuite on three Cassandra nodes, grouping that spills 100 million rows,
# processes that read a table through ADBC while one of three Cassandra nodes restarts.
soak:
	VECQL_SOAK=1 VECQL_SOAK_TIME=5m go test -count=1 -timeout 25m work
	go test -run '^$$' -bench '^BenchmarkSpill$$' -benchtime 1x -timeout 20m ./groupby

# The command vecql under kill -9, lost nodes and overload, with a table of ROWS vectors on three Cassandra nodes. A million
# rows take 15 GB of disk and 8 GB of memory. pip installs pyarrow, which compares the files of unload.
soak-tool:
	go test -count=1 -v -timeout 60m ./tests/toolsoak -rows $(ROWS)

# Tables of 200 random schemas with hard data on a real Cassandra: copy, and unload and load in each format, carry each
# byte, write time and time to live. VECQL_SEED=N runs one of them.
whole:
	VECQL_SOAK=1 go test -count=1 -v -timeout 90m ./cmd/vecql/internal/tool -run TestRandomTablesComeBack

# The figures of faults under load, a line for each case: requests, failures, the second of the last failure.
evidence: SHELL = bash
evidence:
	set -o pipefail; go test -count=1 -v ./faults -run \
		'HalfDeadNode|Fault37AnotherCluster|Fault38PausedNode|Fault4[234]|PrepareIsLost|SilentContactPoints' | \
		sed -n 's/.*evidence: //p; /FAIL/p'

# The linters, on all modules.
lint:
	.ci/run lint

# Writes go.mod and go.sum of each module, and go.work.sum.
tidy:
	set -e; for file in $$(find . -name go.mod -not -path '*/target/*'); do .ci/alone $$(dirname $$file) tidy; done
	go list work >/dev/null

# Formats all modules.
fmt:
	go run $(GOFUMPT) -w .

# Every fuzz target of every package, FUZZTIME each.
fuzz:
	.ci/fuzz $(FUZZTIME)

# Plants slips that are found in the syntax tree of the packages, one at a time, and runs the tests that must notice each: a
# sample of each package, which SEED decides. TARGET, a regular expression, selects packages: make mutate TARGET='^codec$$'.
# It takes 30 minutes. tests/mutate/main.go describes it.
mutate:
	rm -f .cache/mutate-sample.jsonl
	go run ./tests/mutate tree -sample $(SAMPLE) -seed $(SEED) -far=false -target '$(TARGET)' -results .cache/mutate-sample.jsonl

# The slips of tests/mutate/mutations.txt, which are written by hand. MATCH, a regular expression, selects by promise, package,
# declaration and name: make mutate-list MATCH='^1 '.
mutate-list:
	go run ./tests/mutate -match '$(MATCH)'

# Both in full: the list, and 5,600 slips of the syntax tree. It takes hours; a run that was stopped continues.
mutate-all:
	go run ./tests/mutate tree -sample 400 -seed $(SEED)
	go run ./tests/mutate

# The tests that use servers, in their full sizes, on real nodes of each version of Cassandra; the table of docs/versions.md.
# VERSIONS=6.0 PROTOCOLS=5 PARTS='suite|tool' runs a part of them, and keeps the other results of tests/servers/results.json.
test-servers:
	go run ./tests/servers $(if $(VERSIONS),-versions '$(VERSIONS)') $(if $(PROTOCOLS),-protocols '$(PROTOCOLS)') -parts '$(PARTS)'

# Only the tests that use servers, in their full sizes: those of VECQL_TEST_HOSTS, or Cassandra nodes that the tests start.
integration:
	VECQL_SOAK=1 go test -race -count=1 -timeout 20m ./tests/...

# Benchmarks of vecql and its peers, in turn: tables and plots in bench/results. BENCH and BENCHTIME select a part.
bench:
	bench/run.sh $(BENCHCOUNT)

# vecql and its peers while one of three nodes does not run for two seconds: a table in bench/results. It takes half an hour.
bench-stall:
	bench/stall/run.sh

# Latencies of vecql and its peers at a fixed rate, plain and over TLS: a table in bench/results. It takes ten minutes.
bench-latency:
	bench/latency/run.sh

# Loads and unloads of tables by the command vecql and its peers: a table in bench/results.
bench-bulk:
	bench/bulk/run.sh $(BENCHCOUNT)

# Benchmarks of groupby and its peers, which pip installs: a table in bench/results.
bench-groupby:
	bench/groupby/run.sh $(BENCHCOUNT)

# Benchmarks of parquetscan with groupby and their peers: a table in bench/results. The data takes 5 GB.
bench-parquet:
	bench/parquet/run.sh $(BENCHCOUNT)

# Exact search by package vector and its peers, which pip installs. The data takes 614 MB.
bench-vector:
	bench/vector/run.sh $(BENCHCOUNT)

# Recall and latency of Cassandra's vector index: tables in bench/results. 100,000 rows take half an hour.
bench-search:
	cd bench && go run ./search > results/search.md

# The queries of ClickBench by package pipe and its peers: tables and a plot in bench/results. The data takes 2 GB.
bench-clickbench:
	bench/clickbench/run.sh $(BENCHCOUNT)

# The same queries on the table as other writers write it, and on another table: a table in bench/results. It takes an hour.
bench-shapes:
	bench/clickbench/shapes.sh

# The ten questions of the group-by benchmark of h2o.ai by package pipe and its peers: a table in bench/results. The data takes 1 GB.
bench-h2o:
	bench/h2o/run.sh $(BENCHCOUNT)

# How the packages scale over processors, beside DuckDB and Polars: a table in bench/results. It takes eight minutes and 3 GB.
bench-cores:
	bench/cores/run.sh

# The ADBC driver and its peers, which pip installs: a table in bench/results. A million rows take hours.
bench-adbc:
	ROWS=$(ROWS) bench/adbc/run.sh

# Verbs of database/sql by sqlvecql beside those of package vecql: a table in bench/results.
bench-sql: SHELL = bash
bench-sql:
	set -o pipefail; cd sqlvecql && go test -run '^$$' -bench '^BenchmarkSQL$$' -count $(BENCHCOUNT) . | tee -a ../bench/results/sql.txt
	cd bench && go run ./cmd/report results/sql.txt

# The driver against the independent codec of go-cassandra-native-protocol.
interop:
	go test -count=1 ./tests/interop

# The OpenTelemetry module.
otel:
	go vet ./otelvecql/...
	go test -race -count=1 ./otelvecql/...

# The database/sql module, with sqlx and goose: in memory, and in the full size on Cassandra.
sql:
	go vet ./sqlvecql/... ./tests/sql
	go test -race -count=1 ./sqlvecql/... ./tests/sql
	VECQL_SOAK=1 go test -count=1 -timeout 10m ./sqlvecql ./tests/sql

# The ADBC driver as a shared library for other languages. adbc.h is in the module of ADBC's Go package.
ADBC_LIBRARY = adbcvecql/python/adbc_driver_vecql/libadbc_driver_vecql.so
adbc:
	cd adbcvecql && go mod download github.com/apache/arrow-adbc/go/adbc
	cd adbcvecql && CGO_ENABLED=1 CGO_CFLAGS="-O2 -I$$(go list -m -f '{{.Dir}}' github.com/apache/arrow-adbc/go/adbc)/drivermgr" \
		go build -trimpath -ldflags='-s -w' -tags driverlib -buildmode=c-shared -o $(CURDIR)/$(ADBC_LIBRARY) ./c
	rm -f $(ADBC_LIBRARY:.so=.h)

# The Python package with the library, in adbcvecql/python/dist. It needs Go, a C compiler and Python with pip. The C compiler decides the oldest glibc
# of the platform. zig compiles for any one, and for other machines:
#   make wheel CC="python3 -m ziglang cc -target x86_64-linux-gnu.2.17"
#   make wheel GOARCH=arm64 CC="python3 -m ziglang cc -target aarch64-linux-gnu.2.17"
wheel: adbc
	rm -rf adbcvecql/python/build
	python3 -m pip wheel --no-deps --wheel-dir adbcvecql/python/dist ./adbcvecql/python

# The Python tests of the library. They need the packages of adbcvecql/python/tests/requirements.txt. VECQL_PYTHON is the interpreter.
test-adbc: adbc
	cd adbcvecql && ADBC_VECQL_LIBRARY=$(CURDIR)/$(ADBC_LIBRARY) go test -count=1 -v -run '^TestPython$$' .

# The same tests on the wheel, in a new environment, which pip fills.
test-wheel: wheel
	python3 -m venv --clear .cache/wheel
	.cache/wheel/bin/pip install -q auditwheel -r adbcvecql/python/tests/requirements.txt "$$(ls -t adbcvecql/python/dist/*.whl | head -n 1)"
	cd adbcvecql && VECQL_WHEEL="$$(ls -t python/dist/*.whl | head -n 1)" VECQL_PYTHON=$(CURDIR)/.cache/wheel/bin/python \
		go test -count=1 -v -run '^TestPython$$' .

# The adapters of frameworks for language models.
frameworks:
	.ci/run frameworks

# The transforms for Apache Beam, on Prism, the runner of Beam's Go SDK.
beam:
	.ci/alone beamvecql go vet ./...
	.ci/alone beamvecql go test -count=1 ./...

# The same pipeline on Flink, which the test starts. It needs Java 17 and Maven, fetches 155 MB of jars once, and then takes
# half a minute.
beam-flink:
	VECQL_BEAM_FLINK=$(CURDIR)/.cache/beam-flink .ci/alone beamvecql go test -count=1 -v -timeout 20m -run '^TestFlink$$' .

# Public programs on the compat modules, beside their own gocql: a table in bench/results. It takes an hour.
ecosystem:
	go run ./compat/ecosystem

# The tests of the three gocqls themselves, on gocql and on the compat modules: the same table. It takes half an hour.
gocql-suites:
	go run ./compat/ecosystem -only 'own tests'

# The demo of the README.
demo:
	go run ./cmd/vecql demo

# The documents as a site in .cache/site/html, which keeps the versions that were built before. It needs bash, git and Python 3.11
# with venv; pip installs the generator. A link to a file or heading that does not exist is an error.
SITE_VERSION = dev
docs-site:
	docs/site/build.sh $(SITE_VERSION)
