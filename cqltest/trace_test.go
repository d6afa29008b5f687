// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
)

// lastTrace keeps the id of the last trace.
type lastTrace struct{ id []byte }

func (t *lastTrace) Trace(id []byte) { t.id = id }

// TestTraces compares the activities of traces with the activities of a node of Cassandra 5.0.9.
func TestTraces(t *testing.T) {
	c := New(t, Config{Network: InMemory, Nodes: 1})
	require.NoError(t, c.Exec(shop+"; INSERT INTO shop.items (id, name) VALUES (1, 'lamp')"))
	s, err := vecql.NewSession(t.Context(), *clusterConfig(c))
	require.NoError(t, err)
	defer s.Close()
	for _, test := range []struct {
		text   string
		values []any
		want   []string
	}{
		{"INSERT INTO shop.items (id) VALUES (1)", nil, []string{"Determining replicas for mutation", "Appending to commitlog", "Adding to items memtable"}},
		{"SELECT name FROM shop.items WHERE id = ?", []any{1}, []string{
			"Executing single-partition query on items", "Acquiring sstable references", "Merging memtable contents",
			"Read 1 live rows and 0 tombstone cells",
		}},
		{"SELECT name FROM shop.items", nil, []string{
			"Computing ranges to query", "Submitting range requests on 1 ranges with a concurrency of 1 (0.0 rows per range expected)",
			"Submitted 1 concurrent range requests", "Executing seq scan across 0 sstables for (min(-9223372036854775808), min(-9223372036854775808))",
			"Read 1 live rows and 0 tombstone cells",
		}},
	} {
		trace := &lastTrace{}
		require.NoError(t, s.Query(test.text, test.values...).Trace(trace).Exec(t.Context()))
		var got []string
		for activity, err := range vecql.Rows[string](t.Context(), s.Query("SELECT activity FROM system_traces.events WHERE session_id = ?", trace.id)) {
			require.NoError(t, err)
			got = append(got, activity)
		}
		require.Equal(t, test.want, got, test.text)
		var parameters map[string]string
		require.NoError(t, s.Query("SELECT parameters FROM system_traces.sessions WHERE session_id = ?", trace.id).Scan(t.Context(), &parameters))
		want := map[string]string{"query": test.text, "consistency_level": "ONE", "serial_consistency_level": "SERIAL", "page_size": "5000"}
		if len(test.values) > 0 {
			want["bound_var_0_id"] = "1"
		}
		require.Equal(t, want, parameters)
	}
}

// TestTraceOfQuery traces a statement that is not prepared: Cassandra traces seven activities.
func TestTraceOfQuery(t *testing.T) {
	c := New(t, Config{Network: InMemory, Nodes: 1})
	require.NoError(t, c.Exec(shop))
	tc := connect(t, c, c.Node(0), 5)
	require.Equal(t, OpResult, tc.call(OpQuery, flagTracing, tc.queryBody("SELECT * FROM shop.items")).op)
	activities := c.traces.all()[0].activities
	require.Len(t, activities, 7)
	require.Equal(t, []string{"Parsing SELECT * FROM shop.items", "Preparing statement"}, activities[:2])
}
