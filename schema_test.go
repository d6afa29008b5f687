// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/schema/schematest"
)

// Queries for the schema. The tests of internal/schema cover the conversion of rows to metadata.

// richSchema returns the schema of a server with the keyspace of schematest.
func richSchema() *fakecql.Schema {
	f := fakecql.NewSchema()
	for table, rows := range schematest.Rich() {
		f.Add(table, rows...)
	}
	return f
}

func TestSchemaRead(t *testing.T) {
	for _, v := range []byte{frame.V3, frame.V4, frame.V5} {
		for _, page := range []int{0, 1, 4} {
			t.Run(fmt.Sprintf("v%d, pages of %d", v, page), func(t *testing.T) {
				f := richSchema()
				f.Page = page
				c := newFakeCluster(t, v, 1)
				c.On(f.Answer)
				s := sessionOn(c)
				ks, err := s.KeyspaceMetadata(t.Context(), "ks")
				require.NoError(t, err)
				schematest.RequireRich(t, ks)
				all, err := s.AllKeyspaceMetadata(t.Context())
				require.NoError(t, err)
				require.Len(t, all, 2)
				schematest.RequireRich(t, all["ks"])
				schematest.RequireRich(t, all["ks"].Clone())
				require.Len(t, all["system"].Tables["local"].Columns, 2)
				table, err := s.TableMetadata(t.Context(), "ks", "t")
				require.NoError(t, err)
				require.Same(t, all["ks"].Tables["t"], table)
				_, err = s.TableMetadata(t.Context(), "ks", "T")
				require.ErrorIs(t, err, ErrNoTable)
				_, err = s.TableMetadata(t.Context(), "kS", "t")
				require.ErrorIs(t, err, ErrKeyspaceDoesNotExist)
				_, err = s.KeyspaceMetadata(t.Context(), "")
				require.ErrorIs(t, err, ErrNoKeyspace)
			})
		}
	}
}

func TestSchemaScyllaTables(t *testing.T) {
	f := richSchema()
	delete(f.Lacks, "scylla_tables")
	f.Add("scylla_tables", fakecql.Row{
		"keyspace_name": "ks", "table_name": "t2", "cdc": map[string]string{"enabled": "true", "ttl": "86400"},
		"partitioner": "com.scylladb.dht.CDCPartitioner",
	})
	for _, table := range []string{"functions", "aggregates", "views", "indexes"} {
		f.Lacks[table] = int32(cql.CodeInvalid)
	}
	c := newFakeCluster(t, frame.V4, 1)
	c.On(f.Answer)
	ks, err := sessionOn(c).KeyspaceMetadata(t.Context(), "ks")
	require.NoError(t, err)
	require.Empty(t, ks.Faults)
	require.Equal(t, "86400", ks.Tables["t2"].Options.CDC["ttl"])
	require.Equal(t, "com.scylladb.dht.CDCPartitioner", ks.Tables["t2"].Options.Partitioner)
	require.Empty(t, ks.Tables["t"].Options.Partitioner)
	require.Empty(t, ks.Functions)
}

// TestFault27NullsOverTheWire reads rows with names only, cells that cannot be decoded, and a table that the server
// refuses.
func TestFault27NullsOverTheWire(t *testing.T) {
	f := fakecql.NewSchema()
	f.Add("keyspaces", fakecql.Row{"keyspace_name": "ks"}, fakecql.Row{})
	f.Add("tables", fakecql.Row{"keyspace_name": "ks", "table_name": "t"}, fakecql.Row{"keyspace_name": "ks"}, fakecql.Row{})
	f.Add("columns", fakecql.Row{"keyspace_name": "ks", "table_name": "t", "column_name": "c"}, fakecql.Row{"keyspace_name": "ks", "table_name": "t"}, fakecql.Row{"keyspace_name": "ks"},
		fakecql.Row{"keyspace_name": "ks", "table_name": "no such", "column_name": "c"})
	f.Add("types", fakecql.Row{"keyspace_name": "ks", "type_name": "u"})
	f.Lacks["functions"] = int32(cql.CodeUnauthorized)
	c := newFakeCluster(t, frame.V5, 1)
	c.On(func(r *fakecql.Request) bool {
		if strings.HasPrefix(r.Stmt, "SELECT * FROM system_schema.indexes") {
			r.Rows(fakecql.Rows{Columns: fakecql.Columns("keyspace_name text", "index_name uuid"), Cells: [][]byte{[]byte("ks"), []byte("short")}})
			return true
		}
		return f.Answer(r)
	})
	s := sessionOn(c)
	ks, err := s.KeyspaceMetadata(t.Context(), "ks")
	require.NoError(t, err)
	require.Equal(t, cql.CustomType{}, ks.Tables["t"].Columns["c"].Type)
	require.Contains(t, ks.UserTypes, "u")
	require.Len(t, ks.Tables, 1)
	require.ErrorIs(t, errors.Join(ks.Faults...), cql.CodeUnauthorized)
	all, err := s.AllKeyspaceMetadata(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 2)
}

func TestSchemaReadFails(t *testing.T) {
	f := richSchema()
	f.Lacks["columns"] = int32(cql.CodeUnauthorized)
	c := newFakeCluster(t, frame.V4, 1)
	c.On(f.Answer)
	s := sessionOn(c)
	_, err := s.KeyspaceMetadata(t.Context(), "ks")
	require.ErrorIs(t, err, ErrNoMetadata)
	require.ErrorIs(t, err, cql.CodeUnauthorized)
	delete(f.Lacks, "columns") // the failure is not cached
	_, err = s.KeyspaceMetadata(t.Context(), "ks")
	require.NoError(t, err)
	s.Close()
	_, err = s.KeyspaceMetadata(t.Context(), "ks")
	require.ErrorIs(t, err, ErrSessionClosed)
}

func TestSystemQueryReadsAllPages(t *testing.T) {
	const n = 12001
	f := fakecql.NewSchema()
	for i := range n {
		f.Keyspace(fmt.Sprintf("k%05d", i), "SimpleStrategy", map[string]string{"replication_factor": "1"})
	}
	f.Page = systemPageSize
	c := newFakeCluster(t, frame.V4, 1)
	c.On(f.Answer)
	s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Schema.Metadata = MetadataKeyspaces })
	all, err := s.AllKeyspaceMetadata(t.Context())
	require.NoError(t, err)
	require.Len(t, all, n+1)
	require.Nil(t, all["k00007"].Tables)
	_, err = s.TableMetadata(t.Context(), "k00007", "t")
	require.ErrorIs(t, err, ErrNoMetadata)
	for _, stmt := range f.Reads() {
		require.Equal(t, "SELECT * FROM system_schema.keyspaces", stmt)
	}
}
