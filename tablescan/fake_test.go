// SPDX-License-Identifier: Apache-2.0

package tablescan_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"math/bits"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/token"
	"github.com/vecql/vecql/tablescan"
)

// Helpers for tests on cqltest, in virtual time.

// keyOf returns a partition key of 16 bytes that has a token: the inverse of murmur3 for one block.
func keyOf(tok int64) []byte {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	inverse := func(v uint64) uint64 { // of an odd number modulo 2^64, by Newton's method
		x := v
		for range 6 {
			x *= 2 - v*x
		}
		return x
	}
	unfinish := func(h uint64) uint64 {
		h ^= h >> 33
		h *= inverse(0xc4ceb9fe1a85ec53)
		h ^= h >> 33
		h *= inverse(0xff51afd7ed558ccd)
		return h ^ h>>33
	}
	h1, h2 := unfinish(uint64(tok)), unfinish(0)
	h2 -= h1
	h1 -= h2
	h1, h2 = h1^16, h2^16
	k1 := bits.RotateLeft64((h1-0x52dce729)*inverse(5), -27)
	k2 := bits.RotateLeft64((h2-0x38495ab5)*inverse(5)-h1, -31)
	key := binary.LittleEndian.AppendUint64(nil, bits.RotateLeft64(k1*inverse(c2), -31)*inverse(c1))
	return binary.LittleEndian.AppendUint64(key, bits.RotateLeft64(k2*inverse(c1), -33)*inverse(c2))
}

func TestKeyOf(t *testing.T) {
	for _, tok := range []int64{math.MaxInt64, math.MinInt64 + 1, 0, -1, 12345} {
		require.Equal(t, tok, token.Murmur3(keyOf(tok)))
	}
}

// A fake is a cluster with the table ks.t (id blob, n int, s int static, v text, PRIMARY KEY (id, n)).
type fake struct {
	*cqltest.Cluster
	session *vecql.Session
}

// configs are the kinds of clusters.
var configs = map[string]cqltest.Config{
	"vnodes":  {},
	"one":     {Nodes: 1, VNodes: 1},
	"shards":  {Scylla: &cqltest.Scylla{Shards: 3}},
	"tablets": {Scylla: &cqltest.Scylla{Shards: 2, Tablets: 16}},
}

// onFake runs f in virtual time on a cluster.
func onFake(t *testing.T, cfg cqltest.Config, f func(t *testing.T, c *fake)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cfg.Network = cqltest.InMemory
		cluster := cqltest.New(t, cfg)
		replicas := min(3, max(len(cluster.Nodes()), 1))
		require.NoError(t, cluster.Exec(fmt.Sprintf(
			`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': %d};
			CREATE TABLE ks.t (id blob, n int, s int static, v text, PRIMARY KEY (id, n))`, replicas)))
		dialer := cluster.Dialer()
		conf := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
		conf.Pool.Dialer, conf.Logger, conf.Keyspace = dialer, slog.New(slog.NewTextHandler(io.Discard, nil)), "ks"
		session, err := vecql.NewSession(t.Context(), *conf)
		require.NoError(t, err)
		defer session.Close()
		require.NoError(t, session.Ready(t.Context()))
		f(t, &fake{cluster, session})
	})
}

// insert writes rows 0 to rows-1 of a partition.
func (c *fake) insert(t *testing.T, key []byte, rows int) {
	t.Helper()
	for n := range rows {
		err := c.session.Query("INSERT INTO ks.t (id, n, s, v) VALUES (?, ?, 1, ?)", key, n, fmt.Sprint("value ", n)).
			Idempotent(true).Exec(t.Context())
		require.NoError(t, err)
	}
}

// fill writes a table of all shapes: keys at both ends of the ring, two partitions with one token are impossible, wide
// partitions, single rows.
func (c *fake) fill(t *testing.T) {
	t.Helper()
	c.insert(t, keyOf(math.MinInt64+1), 2)
	c.insert(t, keyOf(math.MaxInt64), 3)
	c.insert(t, keyOf(0), 60)
	for i := range 60 {
		c.insert(t, binary.BigEndian.AppendUint32(nil, uint32(i)), 1+i%3)
	}
}

// rows are the rows of a table, and how often they were read.
type rows struct {
	mu    sync.Mutex
	count map[string]int
}

// add counts the rows of a batch with the columns id and n.
func (r *rows) add(t *testing.T, b *column.Batch) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == nil {
		r.count = map[string]int{}
	}
	require.NoError(t, b.Check())
	require.Positive(t, b.Rows)
	for i := range b.Rows {
		r.count[fmt.Sprintf("%x %v", b.Column("id").Value(i), b.Column("n").Value(i))]++
	}
}

// all returns the rows of a plain SELECT.
func (c *fake) all(t *testing.T) *rows {
	t.Helper()
	r := &rows{count: map[string]int{}}
	for b, err := range c.session.Query("SELECT id, n FROM ks.t").Batches(t.Context()) {
		require.NoError(t, err)
		if b.Rows > 0 {
			r.add(t, b)
		}
	}
	return r
}

// requireSame fails unless r has the rows of want, each once.
func requireSame(t *testing.T, want, r *rows) {
	t.Helper()
	for _, row := range slices.Sorted(maps.Keys(r.count)) {
		require.Equal(t, 1, r.count[row], "row %s", row)
	}
	require.Len(t, r.count, len(want.count))
	for row := range want.count {
		require.Contains(t, r.count, row)
	}
}

func (c *fake) scan(t *testing.T, statement string, cfg tablescan.Config) *tablescan.Scan {
	t.Helper()
	s, err := tablescan.New(context.Background(), c.session, statement, cfg)
	require.NoError(t, err)
	return s
}
