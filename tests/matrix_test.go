// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
)

// This file runs the suite over protocol versions, compressors, TLS and cluster sizes.

// suite is what every combination must pass; each entry is a test of its own with a keyspace of its own.
var suite = []struct {
	name string
	run  func(t *testing.T, s *vecql.Session, keyspace string)
}{
	{"types", testTypes},
	{"vectors", testVectors},
	{"nulls", testNulls},
	{"udt", testUDT},
	{"paging", testPaging},
	{"rows", testRows},
	{"pages", testPages},
	{"batch", testBatch},
	{"cas", testCAS},
	{"errors", testErrors},
	{"bind", testBind},
	{"typed", testTyped},
	{"metadata", testMetadata},
	{"schema", testSchema},
	{"alter", testAlter},
	{"reprepare", testReprepare},
	{"trace", testTrace},
	{"large", testLarge},
	{"concurrent", testConcurrent},
	{"ann", testANN},
	{"timestamps", testTimestamps},
}

func TestSuite(t *testing.T) {
	for _, m := range []struct {
		kind       kind
		name       string
		version    int
		compressor vecql.Compressor
	}{
		{plainNode, "one", 5, nil},
		{plainNode, "one", 5, vecql.LZ4Compressor{}},
		{plainNode, "one", 4, nil},
		{plainNode, "one", 4, vecql.LZ4Compressor{}},
		{plainNode, "one", 4, vecql.SnappyCompressor{}},
		{secureNode, "secure", 5, vecql.LZ4Compressor{}},
		{secureNode, "secure", 4, nil},
		{threeNodes, "three", 5, nil},
		{threeNodes, "three", 4, vecql.LZ4Compressor{}},
		{embeddedNode, "cqltest-one", 5, nil},
		{embeddedNode, "cqltest-one", 4, vecql.SnappyCompressor{}},
		{embeddedThree, "cqltest-three", 5, vecql.LZ4Compressor{}},
		{embeddedThree, "cqltest-three", 4, nil},
		{embeddedScylla, "cqltest-scylla", 4, nil},
	} {
		compression := "none"
		if m.compressor != nil {
			compression = m.compressor.Name()
		}
		t.Run(fmt.Sprintf("nodes=%s/version=%d/compression=%s", m.name, m.version, compression), func(t *testing.T) {
			if external() != nil && m.kind != plainNode && !m.kind.embedded() {
				t.Skip("VECQL_TEST_HOSTS is set: its servers may not speak this combination")
			}
			cfg := config(t, m.kind)
			cfg.ProtoVersion, cfg.Compressor = m.version, m.compressor
			s := connect(t, cfg)
			replicas := 1
			if m.kind == threeNodes || m.kind == embeddedThree || m.kind == embeddedScylla {
				replicas = 3
			}
			for _, c := range suite {
				t.Run(c.name, func(t *testing.T) { c.run(t, s, keyspace(t, s, replicas)) })
			}
		})
	}
}

// TestNegotiation leaves the version to the driver: Cassandra 5 must end up with v5, and with v4 for Snappy, which v5 does not have.
func TestNegotiation(t *testing.T) {
	for _, compressor := range []vecql.Compressor{nil, vecql.LZ4Compressor{}, vecql.SnappyCompressor{}} {
		t.Run(fmt.Sprint(compressor), func(t *testing.T) {
			cfg := config(t, plainNode)
			cfg.Compressor = compressor
			s := connect(t, cfg)
			var release string
			require.NoError(t, s.Query("SELECT release_version FROM system.local").ScanContext(t.Context(), &release))
			want := 5
			if _, snappy := compressor.(vecql.SnappyCompressor); snappy || external() != nil && release < "4" {
				want = 4
			}
			require.Equal(t, want, s.ProtoVersion())
		})
	}
}
