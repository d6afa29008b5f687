// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cdc"
	"github.com/vecql/vecql/cqltest"
)

// TestChangeLog reads the changes of tables of the ScyllaDB that VECQL_TEST_HOSTS names, or of an emulation, in
// keyspaces with tablets and with vnodes.
func TestChangeLog(t *testing.T) {
	s := scyllaSession(t)
	for name, option := range map[string]bool{"tablets": true, "vnodes": false} {
		t.Run(name, func(t *testing.T) {
			ks := fmt.Sprintf("cdc_%s_%d", name, time.Now().UnixNano()%1e9)
			exec(t, s, fmt.Sprintf(`CREATE KEYSPACE %s WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}
				AND tablets = {'enabled': %t}`, ks, option))
			defer exec(t, s, "DROP KEYSPACE "+ks)
			table := ks + ".t"
			exec(t, s, "CREATE TABLE "+table+` (pk int, ck int, v int, m map<int, text>, PRIMARY KEY (pk, ck))
				WITH cdc = {'enabled': true, 'preimage': true, 'postimage': true}`)
			for pk := range 20 {
				exec(t, s, fmt.Sprintf("INSERT INTO %s (pk, ck, v) VALUES (%d, 1, 1)", table, pk))
				exec(t, s, fmt.Sprintf("UPDATE %s SET m = m + {1: 'a'} WHERE pk = %d AND ck = 1", table, pk))
				exec(t, s, fmt.Sprintf("DELETE FROM %s WHERE pk = %d AND ck > 0 AND ck < 9", table, pk))
			}
			want := []string{
				"insert 1 1", "postimage 1 1", "preimage 1 <nil>", "update 1 <nil>", "postimage 1 1",
				"delete from exclusive 0 <nil>", "delete to exclusive 9 <nil>",
			}
			got := changesOf(t, s, table)
			for pk := range 20 {
				require.Equal(t, want, got[int32(pk)], "partition %d", pk)
			}
		})
	}
}

// changesOf returns the changes of each partition up to now. The reader ends after each batch, and resumes.
func changesOf(t *testing.T, s *vecql.Session, table string) map[int32][]string {
	t.Helper()
	changes := map[int32][]string{}
	until := time.Now().Add(10 * time.Millisecond)
	var c *cdc.Checkpoint
	for ended := false; !ended; {
		r, err := cdc.Open(t.Context(), s, table, cdc.Config{Until: until, Confidence: 100 * time.Millisecond, PageRows: 4, Checkpoint: c})
		require.NoError(t, err)
		ended, c = true, nil
		for b, err := range r.Batches(t.Context()) {
			require.NoError(t, err)
			if c != nil {
				ended = false
				break
			}
			for i := range b.Rows {
				pk := b.Column("pk").Value(i).(int32)
				changes[pk] = append(changes[pk], fmt.Sprint(cdc.Operation(b.Column("cdc$operation").Value(i).(int8)), " ",
					b.Column("ck").Value(i), " ", b.Column("v").Value(i)))
			}
			c = new(cdc.Checkpoint)
		}
		if !ended {
			*c = r.Checkpoint()
		}
	}
	return changes
}

// scyllaSession returns a session to the servers of VECQL_TEST_HOSTS if they are ScyllaDB, else to an emulation.
func scyllaSession(t *testing.T) *vecql.Session {
	t.Helper()
	if external() != nil {
		s := connect(t, config(t, plainNode))
		if _, err := vecql.OneRow[string](t.Context(), s.Query("SELECT version FROM system.versions WHERE key = 'local'")); err == nil {
			return s
		}
	}
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1, Scylla: &cqltest.Scylla{Tablets: 4}})
	return open(t, embeddedConfig(cluster))
}
