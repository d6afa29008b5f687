// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/token"
)

// Strongly consistent keyspaces.

// strongCluster has the table ks.t (k text, v int) in a keyspace with consistency = 'global'.
func strongCluster(t *testing.T, keyspace string) *Cluster {
	c := New(t, Config{Scylla: &Scylla{Shards: 2, Tablets: 8, TabletsV2: true}, Network: InMemory})
	require.NoError(t, c.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3}`+
		keyspace+`; CREATE TABLE ks.t (k text PRIMARY KEY, v int)`))
	return c
}

// TestLeaderOfATablet requires the leader to be the first replica of the hint, the counters to tell the leader from the
// other nodes, and another leader and version after MoveLeaders (ScyllaDB's docs/dev/tablets-routing-v2.md).
func TestLeaderOfATablet(t *testing.T) {
	c := strongCluster(t, " AND consistency = 'global'")
	tok := token.Murmur3([]byte("a"))
	before, ok := c.Tablet("ks", "t", tok)
	require.True(t, ok)
	require.Len(t, before.Replicas, 3)
	again, _ := c.Tablet("ks", "t", tok)
	require.Equal(t, before, again)

	execute := func(n *Node, cl uint16, block byte) message {
		tc := connect(t, c, n, 4, "TABLETS_ROUTING_V2_EXPERIMENTAL", "")
		id, _ := tc.prepare("SELECT v FROM ks.t WHERE k = ?", false)
		body := appendShortBytes(nil, id)
		return tc.call(OpExecute, 0, append(tc.appendParams(body, cl, 0, "a"), block))
	}
	known := byte(before.Version & 15)
	for _, r := range before.Replicas {
		c.ResetStats()
		require.Zero(t, execute(r.Node, clQuorum, known).flags, "no hint")
		s := r.Node.Stats()
		if r == before.Replicas[0] {
			require.Equal(t, [2]int{1, 0}, [2]int{s.OnLeader, s.Forwarded})
		} else {
			require.Equal(t, [2]int{0, 1}, [2]int{s.OnLeader, s.Forwarded})
		}
	}
	c.ResetStats()
	execute(before.Replicas[1].Node, clOne, known)
	execute(before.Replicas[1].Node, clLocalOne, known)
	require.Zero(t, c.Stats().Forwarded+c.Stats().OnLeader, "any replica answers at ONE")

	c.MoveLeaders()
	after, _ := c.Tablet("ks", "t", tok)
	require.NotEqual(t, before.Replicas[0], after.Replicas[0])
	require.ElementsMatch(t, before.Replicas, after.Replicas)
	require.NotEqual(t, before.Version, after.Version)
	m := execute(before.Replicas[0].Node, clQuorum, ^byte(after.Version&15)&15)
	require.Equal(t, flagPayload, m.flags)
	r := reader{b: m.body}
	hint := r.bytesMap()[tabletsV2]
	require.Equal(t, binary.BigEndian.AppendUint64(appendInt(TabletPayload(after), 8), after.Version), hint)

	after.Replicas[0].Node.Kill()
	down, _ := c.Tablet("ks", "t", tok)
	require.Equal(t, after.Replicas[1], down.Replicas[0], "the next replica leads while the leader is down")
}

// TestNoLeaderOfOtherKeyspaces requires keyspaces that are eventually consistent to count no leader.
func TestNoLeaderOfOtherKeyspaces(t *testing.T) {
	for _, keyspace := range []string{"", " AND consistency = 'eventual'"} {
		c := strongCluster(t, keyspace)
		connect(t, c, c.Node(0), 4).query("SELECT v FROM ks.t WHERE k = 'a'")
		before, _ := c.Tablet("ks", "t", 5)
		c.MoveLeaders()
		after, _ := c.Tablet("ks", "t", 5)
		require.Equal(t, before, after)
		require.Zero(t, c.Stats().OnLeader+c.Stats().Forwarded)
	}
}

// TestConsistencyOption holds the texts of ScyllaDB's data_dictionary/data_dictionary.cc, of
// cql3/statements/alter_keyspace_statement.cc and of cql3/statements/strong_consistency, and the column that drivers
// read.
func TestConsistencyOption(t *testing.T) {
	c := strongCluster(t, " AND consistency = 'global'")
	const with = ` WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}`
	for text, want := range map[string]string{
		"CREATE KEYSPACE a" + with + " AND consistency = 'local'":                                   "Local consistency is not supported yet",
		"CREATE KEYSPACE a" + with + " AND consistency = 'strong'":                                  "Consistency option must be one of 'eventual', 'local', or 'global'; found: strong",
		"ALTER KEYSPACE ks" + with + " AND consistency = 'eventual'":                                "Cannot alter consistency option",
		"CREATE KEYSPACE a" + with + " AND tablets = {'enabled': false} AND consistency = 'global'": "Only eventual consistency is supported for non-tablet keyspaces",
	} {
		require.ErrorContains(t, c.Exec(text), want, text)
	}
	tc := connect(t, c, c.Node(0), 4)
	level := func(text string, cl uint16) message {
		return tc.call(OpQuery, 0, tc.appendParams(append(appendInt(nil, int32(len(text))), text...), cl, 0))
	}
	const read, write = "SELECT v FROM ks.t WHERE k = 'a'", "INSERT INTO ks.t (k, v) VALUES ('a', 1)"
	for _, cl := range []uint16{clQuorum, clLocalQuorum} {
		require.Equal(t, OpResult, level(write, cl).op)
	}
	for _, cl := range []uint16{clQuorum, clLocalQuorum, clOne, clLocalOne} {
		require.Equal(t, OpResult, level(read, cl).op)
	}
	for _, cl := range []uint16{clOne, clAll, clTwo} {
		require.Equal(t, CodeInvalid, level(write, cl).errorCode(t))
	}
	require.Equal(t, CodeInvalid, level(read, clAll).errorCode(t))
	rows := tc.query("SELECT keyspace_name, consistency FROM system_schema.scylla_keyspaces").rows(t)
	require.Equal(t, [][]byte{[]byte("ks"), []byte("global")}, rows.cells)
	require.Contains(t, string(tc.query("DESCRIBE KEYSPACE ks").rows(t).cells[3]), "AND consistency = 'global'")
}
