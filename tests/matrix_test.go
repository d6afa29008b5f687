// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/soak"
)

// The suite over servers, protocol versions, compressors, TLS and cluster sizes.

// product is a set of server products, which differ in what they support.
type product uint8

const (
	cassandra4 product = 1 << iota // and 3
	cassandra5
	scylla

	anyProduct   = cassandra4 | cassandra5 | scylla
	anyCassandra = cassandra4 | cassandra5
	hasVectors   = cassandra5 | scylla
)

// suite lists the tests that every combination of their products must pass. Each runs as a subtest with a keyspace of
// its own.
var suite = []struct {
	name string
	on   product
	run  func(t *testing.T, s *vecql.Session, keyspace string)
}{
	{"types", cassandra5, testTypes},
	{"vectors", hasVectors, testVectors},
	{"nulls", hasVectors, testNulls},
	{"udt", hasVectors, testUDT},
	{"paging", hasVectors, testPaging},
	{"rows", hasVectors, testRows},
	{"pages", hasVectors, testPages},
	{"columns", cassandra5, testColumns},
	{"batch", anyCassandra, testBatch},
	{"cas", anyProduct, testCAS},
	{"errors", anyCassandra, testErrors},
	{"bind", anyProduct, testBind},
	{"typed", hasVectors, testTyped},
	{"metadata", cassandra5, testMetadata},
	{"schema", cassandra5, testSchema},
	{"alter", anyCassandra, testAlter},
	{"reprepare", anyCassandra, testReprepare},
	{"trace", anyCassandra, testTrace},
	{"large", cassandra5, testLarge},
	{"concurrent", hasVectors, testConcurrent},
	{"ann", cassandra5, testANN},
	{"timestamps", anyProduct, testTimestamps},
}

// offered returns the product and the latest protocol version of the servers that VECQL_TEST_HOSTS names. Its session
// is closed at its end, so that the session under test is the only one.
func offered(t *testing.T, cfg *vecql.ClusterConfig) (on product, version int) {
	t.Helper()
	s, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	defer s.Close()
	return productOf(t, s), s.ProtoVersion()
}

// productOf returns the product of the servers of a session.
func productOf(t *testing.T, s *vecql.Session) product {
	t.Helper()
	err := s.Query("SELECT version FROM system.versions").Exec(t.Context())
	if err == nil { // a table of ScyllaDB
		return scylla
	}
	require.ErrorIs(t, err, cql.CodeInvalid)
	var release string
	require.NoError(t, s.Query("SELECT release_version FROM system.local").Scan(t.Context(), &release))
	if release < "5" {
		return cassandra4
	}
	return cassandra5
}

// TestSuite runs the suite. Servers of VECQL_TEST_HOSTS run what they support.
func TestSuite(t *testing.T) {
	for _, m := range []struct {
		kind       kind
		name       string
		version    int
		compressor cql.Compressor
		soak       bool // takes long, and differs little from the others
	}{
		{plainNode, "one", 5, nil, true},
		{plainNode, "one", 5, vecql.LZ4Compressor{}, true},
		{plainNode, "one", 4, nil, true},
		{plainNode, "one", 4, vecql.LZ4Compressor{}, true},
		{plainNode, "one", 4, vecql.SnappyCompressor{}, false},
		{secureNode, "secure", 5, vecql.LZ4Compressor{}, false},
		{secureNode, "secure", 4, nil, true},
		{threeNodes, "three", 5, nil, true},
		{threeNodes, "three", 4, vecql.LZ4Compressor{}, true},
		{embeddedNode, "cqltest-one", 5, nil, false},
		{embeddedNode, "cqltest-one", 4, vecql.SnappyCompressor{}, false},
		{embeddedThree, "cqltest-three", 5, vecql.LZ4Compressor{}, false},
		{embeddedThree, "cqltest-three", 4, nil, false},
		{embeddedScylla, "cqltest-scylla", 4, nil, false},
	} {
		compression := "none"
		if m.compressor != nil {
			compression = m.compressor.Name()
		}
		t.Run(fmt.Sprintf("nodes=%s/version=%d/compression=%s", m.name, m.version, compression), func(t *testing.T) {
			own := external() == nil || m.kind.embedded()
			if !own && m.kind != plainNode {
				t.Skip("VECQL_TEST_HOSTS is set: its servers may not support this combination")
			}
			if own && m.soak {
				soak.Only(t)
			}
			on := cassandra5 // which cqltest emulates, beside the shards and tablets of ScyllaDB
			if !own {
				var highest int
				if on, highest = offered(t, config(t, m.kind)); m.version > highest {
					t.Skipf("the servers of VECQL_TEST_HOSTS support no later version than %d", highest)
				}
			}
			cfg := config(t, m.kind)
			cfg.Protocol.Version, cfg.Compressor = m.version, m.compressor
			s := connect(t, cfg)
			replicas := 1
			if m.kind == threeNodes || m.kind == embeddedThree || m.kind == embeddedScylla {
				replicas = 3
			}
			for _, c := range suite {
				t.Run(c.name, func(t *testing.T) {
					if c.on&on == 0 {
						t.Skip("the servers of VECQL_TEST_HOSTS do not support what the test uses")
					}
					c.run(t, s, keyspace(t, s, replicas))
				})
			}
		})
	}
}

// TestNegotiation leaves the protocol version to the driver. With Cassandra 5 the result must be v5, or v4 with Snappy,
// which v5 lacks.
func TestNegotiation(t *testing.T) {
	for _, compressor := range []cql.Compressor{nil, vecql.LZ4Compressor{}, vecql.SnappyCompressor{}} {
		t.Run(fmt.Sprint(compressor), func(t *testing.T) {
			cfg := config(t, plainNode)
			cfg.Compressor = compressor
			s := connect(t, cfg)
			var release string
			require.NoError(t, s.Query("SELECT release_version FROM system.local").Scan(t.Context(), &release))
			want := 5
			if _, snappy := compressor.(vecql.SnappyCompressor); snappy || external() != nil && release < "4" {
				want = 4
			}
			require.Equal(t, want, s.ProtoVersion())
		})
	}
}
