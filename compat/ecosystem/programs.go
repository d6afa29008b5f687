// SPDX-License-Identifier: Apache-2.0

package main

// A program is a module that uses one of the three APIs.
type program struct {
	name    string
	module  string
	version string
	sum     string // checksum of the module, as in go.sum, or the commit of the repository
	repo    string // at GitHub; empty means that the module proxy serves the module
	sub     string // folder of the module in the repository
	api     string // gocql, gocqlv2 or scyllagocql: the compat module that replaces the program's gocql

	packages []string // patterns of what is built and vetted: at least the packages that import gocql
	added    string   // folder under testdata whose files are added to the program, where its own tests need Docker
	runs     []testRun
	note     string
	why      map[string]string // reasons of failures, by test or by the beginning of its name

	own  bool     // the program is the API itself: see own.go
	tags string   // build tags of the tests of own
	args []string // flags of the tests of own
}

// A testRun is one call of go test.
type testRun struct {
	packages []string
	args     []string // flags of go test
	env      []string
	server   bool // the tests use the server at 127.0.0.1:9042, the same in all runs
	setup    bool // the run prepares the server for the next ones, and does not count
}

// Reasons of failures that several programs share.
const (
	preImage    = "ScyllaDB alone returns the row of a condition that was applied"
	newerFork   = "gocqlx wraps the methods of the fork's v1.15, the compat module has those of v1.19"
	noPayload   = "the server does not return the payload of a request"
	notPointers = "testify since v1.10 compares pointers only by NotSame, the test compares maps"
	ownLines    = "vecql writes other lines to the log"
	noFailing   = "the server has no keyspace whose writes fail"
)

// programs are listed in the order of their runs. Versions are the newest that the module proxy serves to Go 1.26.
var programs = []program{
	{
		name: "gocqlx v2", module: "github.com/scylladb/gocqlx/v2", version: "v2.8.0",
		sum: "h1:f/oIgoEPjKDKd+RIoeHqexsIQVIbalVmT+axwvUqQUg=", api: "gocql",
		packages: []string{"./..."},
		runs:     []testRun{{packages: []string{"./..."}, args: []string{"-tags=all", "-p=1"}, server: true}},
		why:      map[string]string{"TestIterxCAS": preImage},
	},
	{
		name: "gocqlx v3", module: "github.com/scylladb/gocqlx/v3", version: "v3.0.4",
		sum: "h1:37rMVFEUlsGGNYB7OLR7991KwBYR2WA5TU7wtduClas=", api: "scyllagocql",
		packages: []string{"./..."},
		runs:     []testRun{{packages: []string{"./..."}, args: []string{"-tags=all", "-p=1"}, server: true}},
		why: map[string]string{
			"TestIterxCAS": preImage, "TestBatchAllWrapped": newerFork, "TestQueryxAllWrapped": newerFork,
		},
	},
	{
		name: "golang-migrate", module: "github.com/golang-migrate/migrate/v4", version: "v4.20.1",
		sum: "h1:2N/ToVTKrKl58ynBpgeVJ4In7VcLCjWTZtm4eP1LxhU=", api: "gocql",
		packages: []string{"./database/cassandra/..."},
		added:    "migrate",
		runs:     []testRun{{packages: []string{"./database/cassandra"}, args: []string{"-run=^TestServer"}, server: true}},
		note:     "its own tests start servers with Docker: the same calls, on a server that runs",
	},
	{
		name: "temporal", module: "go.temporal.io/server", version: "v1.32.0",
		sum: "h1:JQoqsVREaGc8vcuDNfuRlySiV3tVi81XUOVC9LeL/1Y=", api: "gocql",
		packages: []string{"./common/config", "./common/persistence/...", "./tools/cassandra", "./cmd/tools/cassandra"},
		runs: []testRun{
			{
				packages: []string{
					"./common/persistence/cassandra", "./common/persistence/nosql/...", "./tools/cassandra",
				},
				env: []string{"CASSANDRA_SEEDS=127.0.0.1"}, args: []string{"-p=1"}, server: true,
			},
			{
				packages: []string{"./common/persistence/tests"}, args: []string{"-run=^TestCassandra", "-parallel=1"},
				env: []string{"CASSANDRA_SEEDS=127.0.0.1"}, server: true,
			},
		},
		why: map[string]string{
			"TestPanicCapture": "gocql panics with a ClusterConfig that NewCluster did not make; the compat module connects",
		},
	},
	jaeger(program{
		name: "jaeger", version: "v1.76.0", sum: "h1:sWCOOF1dr+NL0PLil7mFo3BqqQL8k4WiM7aguFbc14g=", api: "gocql", added: "jaeger",
		note: "v2 is built from the same packages; a test is added that creates the schema by jaeger's own code",
	}),
	{
		name: "cadence", module: "github.com/uber/cadence", version: "v1.2.13",
		sum: "h1:RujSEZqxGIE9u4L7naG+oR4H4LBMrgcT1M7V/4MfNBA=", api: "gocql",
		packages: []string{"./common/persistence/nosql/nosqlplugin/cassandra/...", "./tools/cassandra/..."},
		runs: []testRun{
			{packages: []string{
				"./common/persistence/nosql/nosqlplugin/cassandra", "./common/persistence/nosql/nosqlplugin/cassandra/gocql/...",
				"./tools/cassandra",
			}},
			{
				packages: []string{"./common/persistence/nosql/nosqlplugin/cassandra/tests"},
				env:      []string{"CASSANDRA=1", "CASSANDRA_SEEDS=127.0.0.1", "CASSANDRA_HOST=127.0.0.1"}, server: true,
			},
		},
	},
	{
		name: "scylla-cdc-go", module: "github.com/scylladb/scylla-cdc-go", version: "v1.2.0",
		sum: "h1:CtcPyoKZwa9GMFnVVHgHhfQQpHR9p+lKp3WS7SLOSs8=", api: "scyllagocql",
		packages: []string{"./..."},
		note:     "its tests need ScyllaDB's log tables",
	},
	{
		name: "dd-trace-go contrib", module: "github.com/DataDog/dd-trace-go/contrib/gocql/gocql/v2", version: "v2.3.0",
		sum: "h1:NbX/+dTKNs+RkTnmj1gVEiz2wV4VaKoGx9JLHk4lmK4=", api: "gocql",
		packages: []string{"./..."},
		runs:     []testRun{{packages: []string{"./..."}, env: []string{"INTEGRATION=1"}, server: true}},
		note:     "its tests expect the names of Datadog's own cluster",
	},
	{
		name: "dapr component", module: "github.com/dapr/components-contrib", version: "v1.16.0",
		sum: "h1:kUif6UyxtRz6tXnkuIjbx6z+VLMfc6y+SIYa9T7J3eA=", api: "gocql",
		packages: []string{"./state/cassandra"},
		runs:     []testRun{{packages: []string{"./state/cassandra"}}},
	},
	{
		name: "vault plugin", module: "github.com/hashicorp/vault", version: "v1.21.4",
		sum: "h1:KHGcdSnJtombvae1gDk+jZ50kiFngJPFDOvcCJRnU0c=", api: "gocql",
		packages: []string{"./plugins/database/cassandra/...", "./physical/cassandra"},
		note:     "its tests start servers with Docker",
	},
	jaeger(program{
		name: "jaeger v2", version: "v2.20.0", repo: "jaegertracing/jaeger", sum: "798e4b0fcf22609e381df764a01461affd813e1e",
		api: "gocqlv2", added: "jaegerv2", note: "a test is added that creates the schema by jaeger's own code",
	}),
	{
		name: "gocql-astra", module: "github.com/datastax/gocql-astra/v2", version: "v2.0.1", repo: "datastax/gocql-astra",
		sum: "a46802a0e5e35b1c40b815ad28465096977666a3", api: "gocqlv2", packages: []string{"./..."},
		note: "a HostDialer; its tests need a cluster of Astra",
	},
	{
		name: "zdm-proxy", module: "github.com/datastax/zdm-proxy", version: "v2.4.2", repo: "datastax/zdm-proxy",
		sum: "e980d0173668df22cf016711baedf9343e9254ae", api: "gocqlv2",
		packages: []string{"./integration-tests/..."},
		note:     "its tests, which alone use gocql, start servers with ccm and Simulacron",
	},
	{
		name: "gofr cassandra", module: "gofr.dev/pkg/gofr/datasource/cassandra", version: "2026-05-26",
		repo: "gofr-dev/gofr", sub: "pkg/gofr/datasource/cassandra", sum: "59010215a383b651fd80674e1c7b5f32f4b56a11",
		api: "gocql", packages: []string{"./..."}, runs: []testRun{{packages: []string{"./..."}}},
	},
	{
		name: "gofr scylladb", module: "gofr.dev/pkg/gofr/datasource/scylladb", version: "2026-05-26",
		repo: "gofr-dev/gofr", sub: "pkg/gofr/datasource/scylladb", sum: "59010215a383b651fd80674e1c7b5f32f4b56a11",
		api: "gocql", packages: []string{"./..."}, runs: []testRun{{packages: []string{"./..."}}},
		why: map[string]string{"Test_Exec": "its mock expects nil for no values"},
	},
	{
		name: "scylla-bench", module: "github.com/scylladb/scylla-bench", version: "v1.3.2", repo: "scylladb/scylla-bench",
		sum: "e41356503a1debe3ca729a61a66cd64122bb2188", api: "scyllagocql", packages: []string{"./..."},
		runs: []testRun{{packages: []string{"./..."}, args: []string{"-short"}}},
	},
	{
		name: "gemini", module: "github.com/scylladb/gemini", version: "v2.6.1", repo: "scylladb/gemini",
		sum: "440ff48bbb91f3c48dfab11008bd8c4e59b6b926", api: "scyllagocql",
		packages: []string{"./pkg/..."},
		runs: []testRun{{
			packages: []string{"./pkg/store/...", "./pkg/stmtlogger/...", "./pkg/services/..."}, args: []string{"-short"},
		}},
	},
	{
		name: "gocql v1's own tests", module: "github.com/gocql/gocql", version: "v1.7.0",
		sum: "h1:O+7U7/1gSN7QTEAaMEsJc1Oq2QHXvCWoF3DFK9HDHus=", api: "gocql", own: true,
		tags: "cassandra integration unit",
		why: map[string]string{
			"TestCAS": "Cassandra 5 has no function dateOf", "TestCustomPayload": noPayload, "TestWriteFailure": noFailing,
		},
		note: ownNote,
	},
	gocql2("v4"), gocql2("v5"),
	{
		name: "the fork's own tests", module: "github.com/scylladb/gocql", version: "v1.19.0",
		sum: "h1:6/G/2KHgb3QOaCbOiV77DWrN6s7xkkcWucf+3FuhkBY=", api: "scyllagocql", own: true,
		tags: "integration unit", args: []string{"-distribution=cassandra"},
		why: map[string]string{
			"TestCustomPayload": noPayload, "TestWriteFailure": noFailing, "TestInitialRetryPolicy": ownTexts,
			"TestValidate_ProtoV5CompressorCapability": ownTexts, "TestValidate_ReadTimeout": ownTexts,
			"TestConnectionConfig_": ownTexts, "TestHostSNIDialer_": ownTexts,
			"TestCloudCluster":                             "its certificates are made by a script",
			"TestMarshalMapV3Corrupt":                      noRest,
			"TestMarshalSetListV3Corrupt":                  noRest,
			"TestValidate_HostPortNormalization":           "hosts may have different ports",
			"TestSchemaPermitsAnAbsentOrphanBound":         "it reads a document of the fork",
			"TestCloneQueryAccountsForEveryField":          "it lists the private fields of a query",
			"TestSessionEventBusReceivesSchemaChangeEvent": "SubscribeToEvents has events of nodes, and no events of the schema",
		},
		note: ownNote,
	},
}

// jaeger returns a version of jaeger with its packages and runs.
func jaeger(p program) program {
	const integration = "./internal/storage/integration"
	storage := []string{
		"./internal/storage/cassandra/...", "./internal/storage/v1/cassandra/...", "./internal/storage/v2/cassandra/...",
		"./internal/storage/distributedlock/cassandra/...",
	}
	p.module, p.packages = "github.com/jaegertracing/jaeger", append(storage[:4:4], integration)
	p.runs = []testRun{
		{packages: storage},
		{packages: []string{integration}, args: []string{"-run=^TestSchema$"}, server: true, setup: true},
		{
			packages: []string{integration}, args: []string{"-run=^TestCassandraStorage$"}, env: []string{"STORAGE=cassandra"},
			server: true,
		},
	}
	return p
}

const (
	ownTexts = "vecql has other texts of errors"
	noRest   = "bytes after the last element are an error; the fork ignores them or panics"
)

const ownNote = "all declarations that use exported names"

// gocql2 returns the tests of gocql v2 with a version of the protocol.
func gocql2(protocol string) program {
	return program{
		name: "gocql v2's own tests, " + protocol, module: "github.com/apache/cassandra-gocql-driver/v2", version: "v2.1.2",
		sum: "h1:lu/p0Db2av18enHJvWJQoChLssI0P+AR06STq4VdvCc=", api: "gocqlv2", own: true,
		tags: "cassandra integration unit", args: []string{"-proto=" + protocol[1:]},
		why: map[string]string{
			"TestCAS":           "MapScanCAS replaces a value of the map that is no pointer; gocql refuses it",
			"TestCustomPayload": noPayload, "TestWriteFailure": noFailing, "TestDocker": "it starts a container",
			"TestFunctionMetadataClone": notPointers, "TestKeyspaceMetadataClone": notPointers,
			"TestMaterializedViewMetadataClone": notPointers, "TestTableMetadataClone": notPointers,
			"TestUserTypeMetadataClone": notPointers, "TestGocqlZeroLog": ownLines, "TestGocqlZapLog": ownLines,
			"TestVector_Types": "a set in a vector is sent in the order of the server, as in its literal; gocql sends the order of the slice",
		},
		note: ownNote,
	}
}
