// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/vecql/vecql/internal/cassandra"
)

// Parts: the tests that use servers, and the commands that run them.

// nodes are the nodes that a part uses.
type nodes int

const (
	sharedNode nodes = iota // the node that all packages share
	threeNodes              // three nodes of a process, which parts of the same package share
	ownNodes                // nodes of single tests
)

// part is a set of tests, a column of the table.
type part struct {
	name     string
	nodes    nodes
	tests    string   // a regexp of their names, as -run has it
	packages []string // of the workspace; nil for a part with commands of its own

	commands [][]string // instead of packages
	small    bool       // not in full size
	protocol string     // "" means that it runs with each version of the protocol
	line     string     // the only release line that has it; "" means each
}

// parts are in the order of the columns, and of the runs.
var parts = []part{
	{name: "suite", packages: inTests, tests: "^TestSuite$/nodes=(one|secure)/|" +
		"^TestNegotiation|^TestListeners|^TestTokens"},
	{name: "bulk, tablescan", packages: inTests, tests: "^TestBulk$|^TestTableScan$"},
	// In full size, 50,000 vectors are indexed, which takes minutes and shows no more of a version.
	{name: "search", small: true, packages: inTests, tests: "^TestSearch$/server/|^TestSearchFilters$/Cassandra|" +
		"^TestSearchIndex(Builds|Empty|Rebuild|Refusals)$|^TestDocumentsOnServer|^TestSemanticCacheOnServer|" +
		"^TestParquetLoad$"},
	{name: "tool", packages: []string{"./cmd/vecql/internal/tool"}, tests: "^TestOnServer$"},
	{name: "values", packages: []string{"./internal/valuetest", "./tests"}, tests: "^TestOnServer|" +
		"^TestTextForms|^TestPrintedForms"},
	{name: "sql", packages: []string{"./sqlvecql", "./tests/sql"}, tests: "^TestServer$|^TestSqlx|^TestGoose|^TestStore$"},
	{name: "adbc", packages: []string{"./adbcvecql"}, tests: "^TestOnServer$"},
	// gocql speaks v4.
	{name: "compat", protocol: "4", tests: "^TestMetadataOfAKeyspace$", commands: [][]string{
		compatTest("api", ""), compatTest("api", "v2"), compatTest("fork", "fork"),
	}},
	{name: "three nodes", nodes: threeNodes, packages: inTests, tests: "^TestSuite$/nodes=three/|^TestTokenAware$|" +
		"^TestSearchIndexThreeNodes$"},
	{name: "kills", nodes: threeNodes, packages: inTests, tests: "^TestKilledNode$|^TestRollingRestart$|" +
		"^TestFault37OtherCassandra$|^TestUnindexedQuery$"},
	// Their sessions choose the version of the protocol.
	{
		name: "6.0 only", nodes: ownNodes, line: "6.0", protocol: "5",
		packages: []string{"./tests", "./cmd/vecql/internal/tool"},
		tests:    "^TestSix|^TestMutualTLSWithoutAuthenticate$|^TestOnCassandra6$",
	},
}

var inTests = []string{"./tests"}

// compatTest returns the command that compares the metadata of a keyspace with what one gocql has.
func compatTest(modfile, tags string) []string {
	return []string{
		"env", "GOWORK=off", "go", "-C", "compat/tests", "test", "-modfile=" + modfile + ".mod", "-tags=" + tags,
		"-json", "-count=1", "-vet=off", "-timeout=20m", "-run", "^TestMetadataOfAKeyspace$", "./behavior",
	}
}

// has reports whether a test is one of the part.
func (p part) has(test string) bool {
	top, _, _ := strings.Cut(test, "/")
	pattern := regexp.MustCompile(strings.ReplaceAll(p.tests, "$/", "/"))
	return pattern.MatchString(test) || pattern.MatchString(top)
}

// speaks reports whether the part runs with a version of the protocol. Once a request of v3 has a warning, 4.0.19
// answers it, and others of v3, with the error "Must not send frame with WARNING flag for native protocol version < 4".
func (p part) speaks(release, protocol string) bool {
	return (p.protocol == "" || p.protocol == protocol) && (protocol != "3" || !strings.HasPrefix(release, "4.0."))
}

// runsOn reports whether a version of Cassandra has what the part tests.
func (p part) runsOn(release string) bool { return strings.HasPrefix(release, p.line) }

// A job is the parts of one run.
type job struct{ parts []part }

// jobsOf returns the jobs of the parts whose names match, on a version.
func jobsOf(release string, pattern *regexp.Regexp) []job {
	var all []job
	for _, p := range parts {
		if !pattern.MatchString(p.name) || !p.runsOn(release) {
			continue
		}
		last := len(all) - 1
		if last >= 0 && p.nodes == threeNodes && all[last].parts[0].nodes == threeNodes {
			all[last].parts = append(all[last].parts, p)
			continue
		}
		all = append(all, job{[]part{p}})
	}
	return all
}

func (j job) name() string {
	var names []string
	for _, p := range j.parts {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// environment returns what the tests read from the environment.
func (j job) environment(release, protocol string) []string {
	soak := "1"
	if j.parts[0].small {
		soak = ""
	}
	return []string{
		"VECQL_SOAK=" + soak, "VECQL_TEST_HOSTS=",
		cassandra.VersionVariable + "=" + release, cassandra.ProtocolVariable + "=" + protocol,
	}
}

// commands returns the commands of the job.
func (j job) commands() [][]string {
	if own := j.parts[0].commands; own != nil {
		return own
	}
	var tests []string
	for _, p := range j.parts {
		tests = append(tests, p.tests)
	}
	return [][]string{slices.Concat([]string{
		"go", "test", "-json", "-count=1", "-vet=off", "-p=1", "-timeout=40m", "-run", strings.Join(tests, "|"),
	}, j.parts[0].packages)}
}
