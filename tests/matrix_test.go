// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/internal/soak"
)

// The suite over servers, protocol versions, compressors, TLS and cluster sizes.

// product is a set of server products, which differ in what they support.
type product uint8

const (
	cassandra4 product = 1 << iota // and 3
	cassandra5                     // and later
	scylla

	anyProduct   = cassandra4 | cassandra5 | scylla
	anyCassandra = cassandra4 | cassandra5
	withVectors  = cassandra5 | scylla
)

// missing lists what servers of a product lack: the tests that need it are skipped with the reason, which
// docs/versions.md counts. A test in none of the lists runs on every product.
var missing = []struct {
	product product
	what    string
	tests   []string
}{
	{cassandra4, "no vectors", []string{
		"TestSuite/vectors", "TestSuite/ann", "TestSearch", "TestSearchFilters", "TestSearchIndexBuilds", "TestSearchIndexThreeNodes",
		"TestSearchIndexEmpty", "TestSearchIndexRebuild", "TestSearchIndexRefusals", "TestUnindexedQuery", "TestDocumentsOnServer",
		"TestSemanticCacheOnServer", "TestParquetLoad",
	}},
}

// requireOffered skips the test where servers of the product lack what it needs.
func requireOffered(t *testing.T, on product, test string) {
	t.Helper()
	for _, m := range missing {
		if m.product == on && slices.Contains(m.tests, test) {
			t.Skip("missing: " + m.what)
		}
	}
}

// floats returns the type of a column that stores n floats: a vector, or a list where servers have no vectors.
func floats(s *vecql.Session, n int) string {
	if hasVectors(s) {
		return fmt.Sprintf("vector<float, %d>", n)
	}
	return "list<float>"
}

// floatColumn returns a column of rows of n values, for a table's column of the type that floats returns.
func floatColumn(s *vecql.Session, name string, values []float32, n int) column.Column {
	if hasVectors(s) {
		return column.Matrix(name, values, n)
	}
	offsets := make([]int32, len(values)/n+1)
	for i := range offsets {
		offsets[i] = int32(i * n)
	}
	return column.Lists(name, offsets, column.Of("element", values))
}

// floatRows returns the rows of a column whose type floats returned.
func floatRows(t *testing.T, c *column.Column) func(row int) []float32 {
	t.Helper()
	if c.Type.Kind == column.Vector {
		m, err := column.MatrixOf[float32](c)
		require.NoError(t, err)
		return m.Row
	}
	elements, err := column.Slice[float32](&c.Children[0])
	require.NoError(t, err)
	return func(row int) []float32 {
		from, to := c.Elements(row)
		return elements[from:to]
	}
}

// hasVectors reports whether the servers have vectors. ScyllaDB with vectors reports the version of an early Cassandra.
func hasVectors(s *vecql.Session) bool {
	release := s.GetHosts()[0].Version
	return release >= "5" || release < "4"
}

// suite lists the tests that every combination of their products must pass, but for what is missing. Each runs as a
// subtest with a keyspace of its own.
var suite = []struct {
	name string
	on   product
	run  func(t *testing.T, s *vecql.Session, keyspace string)
}{
	{"types", anyCassandra, testTypes},
	{"vectors", anyProduct, testVectors},
	{"nulls", anyProduct, testNulls},
	{"udt", anyProduct, testUDT},
	{"paging", anyProduct, testPaging},
	{"rows", anyProduct, testRows},
	{"pages", anyProduct, testPages},
	{"columns", anyCassandra, testColumns},
	{"batch", anyCassandra, testBatch},
	{"cas", anyProduct, testCAS},
	{"errors", anyCassandra, testErrors},
	{"bind", anyProduct, testBind},
	{"typed", anyProduct, testTyped},
	{"metadata", anyCassandra, testMetadata},
	{"schema", anyCassandra, testSchema},
	{"alter", anyCassandra, testAlter},
	{"reprepare", anyCassandra, testReprepare},
	{"trace", anyCassandra, testTrace},
	{"large", anyCassandra, testLarge},
	{"concurrent", anyProduct, testConcurrent},
	{"ann", anyCassandra, testANN},
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

// beta is the protocol version that servers of v5 have as a beta.
const beta = 6

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
		{plainNode, "one", 6, nil, true},
		{plainNode, "one", 6, vecql.LZ4Compressor{}, true},
		{plainNode, "one", 3, nil, true},
		{plainNode, "one", 3, vecql.LZ4Compressor{}, true},
		{secureNode, "secure", 5, vecql.LZ4Compressor{}, false},
		{secureNode, "secure", 4, nil, true},
		{threeNodes, "three", 5, nil, true},
		{threeNodes, "three", 4, vecql.LZ4Compressor{}, true},
		{threeNodes, "three", 3, vecql.SnappyCompressor{}, true},
		{embeddedNode, "cqltest-one", 5, nil, false},
		{embeddedNode, "cqltest-one", 4, vecql.SnappyCompressor{}, false},
		{embeddedNode, "cqltest-one", 3, vecql.LZ4Compressor{}, false},
		{embeddedThree, "cqltest-three", 5, vecql.LZ4Compressor{}, false},
		{embeddedThree, "cqltest-three", 4, nil, false},
		{embeddedThree, "cqltest-three", 3, nil, false},
		{embeddedScylla, "cqltest-scylla", 4, nil, false},
	} {
		if only := cassandra.Protocol(); only != 0 && only != m.version && !m.kind.embedded() {
			continue
		}
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
			if !m.kind.embedded() {
				var highest int
				if on, highest = offered(t, config(t, m.kind)); m.version > highest && (m.version < beta || highest < beta-1) {
					t.Skipf("the servers of VECQL_TEST_HOSTS support no later version than %d", highest)
				}
			}
			cfg := config(t, m.kind)
			cfg.Protocol.Version, cfg.Protocol.Beta, cfg.Compressor = m.version, m.version == beta, m.compressor
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
					requireOffered(t, on, "TestSuite/"+c.name)
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
			cfg.Compressor, cfg.Protocol.Version = compressor, 0
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
