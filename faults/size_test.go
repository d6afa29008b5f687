// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/internal/token"
	"github.com/vecql/vecql/internal/wire"
)

// Large clusters and large schemas.

// heap returns the bytes of live objects.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestFault48ManyNodes starts a session on 500 nodes that take 50 ms each to connect. The session must dial all
// of them at once, each once, and read the system tables once. Requests go to the owner of their token. Any
// number of events about a node cost one reading of its row, and Close returns at once.
func TestFault48ManyNodes(t *testing.T) {
	const nodes, perNode = 500, 64 << 10
	bubble(t, nodes, func(t *testing.T, c *fakecql.Cluster) {
		const insert = "INSERT INTO ks.t (id) VALUES (?)"
		c.Prepare(insert, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
		received := &requestLog{}
		c.On(func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpQuery {
				received.add(r)
			}
			return false
		})
		for _, n := range c.Nodes {
			n.Delay = 50 * time.Millisecond
		}
		before, began := heap(), time.Now()
		s := sessionOn(c)
		require.LessOrEqual(t, time.Since(began), time.Second)
		synctest.Wait()
		require.Less(t, heap(), before+nodes*perNode, "idle connections are small, at both ends")
		require.Len(t, s.GetHosts(), nodes)
		require.Len(t, c.DialsSince(began, ""), nodes+1, "one connection to each node, and one for control")
		require.Len(t, received.beyond(askPeer), 3, "system.local, system.peers_v2, keyspaces")

		at := make(chan *fakecql.Node, 1)
		c.Answer(func(r *fakecql.Request, _ int) {
			at <- r.Node
			r.Void()
		})
		served := map[*fakecql.Node]bool{}
		for id := range int64(5 * nodes) {
			require.NoError(t, s.Query(insert, id).Exec(t.Context()))
			n := <-at
			require.Equal(t, ownerOf(c, token.Murmur3(wire.AppendLong(nil, id))), n, "id %d", id)
			served[n] = true
		}
		require.Greater(t, len(served), nodes*9/10)

		c.On(func(r *fakecql.Request) bool { received.add(r); return false })
		for range 100 {
			c.Event("TOPOLOGY_CHANGE", "NEW_NODE", c.Nodes[7].Inet(), int32(c.Port))
		}
		dialed := len(c.DialsSince(began, ""))
		time.Sleep(10 * time.Second)
		require.Len(t, received.beyond(askPeer), 5, "the schema version and the row of one node")
		require.Len(t, c.DialsSince(began, ""), dialed)

		ended := time.Now()
		s.Close()
		require.Zero(t, time.Since(ended))
	})
}

// ownerOf returns the node whose token range has tok.
func ownerOf(c *fakecql.Cluster, tok int64) *fakecql.Node {
	var owner, first *fakecql.Node
	var least, lowest int64
	for _, n := range c.Nodes {
		at, err := strconv.ParseInt(n.Token, 10, 64)
		require.NoError(c.T, err)
		if first == nil || at < lowest {
			first, lowest = n, at
		}
		if at >= tok && (owner == nil || at < least) {
			owner, least = n, at
		}
	}
	if owner == nil {
		return first
	}
	return owner
}

// TestFault49ManyTables reads the metadata of 10,000 tables. The session must read it page by page, in memory
// proportional to the tables, and after an ALTER of one table read that table only.
func TestFault49ManyTables(t *testing.T) {
	const pageSize, perTable = 5000, 8 << 10
	tables := soak.Size(2000, 10_000)
	var mu sync.Mutex
	var queries []cqltest.Request
	taken := func() []cqltest.Request {
		mu.Lock()
		defer mu.Unlock()
		q := queries
		queries = nil
		return q
	}
	c := cqltest.New(t, cqltest.Config{Nodes: 1, OnRequest: func(r cqltest.Request) {
		if strings.Contains(r.Statement, "FROM system_schema") && !strings.Contains(r.Statement, "SELECT keyspace_name, rep") {
			mu.Lock()
			defer mu.Unlock()
			queries = append(queries, r)
		}
	}})
	require.NoError(t, c.Exec("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"))
	for i := range tables {
		require.NoError(t, c.Exec(fmt.Sprintf("CREATE TABLE ks.t%d (id int PRIMARY KEY, v text, w vector<float, 3>)", i)))
	}
	cfg := &vecql.ClusterConfig{Hosts: c.Hosts()}
	cfg.Logger = slog.New(slog.DiscardHandler)
	s := openSession(t, cfg)
	require.NoError(t, s.Query("INSERT INTO ks.t1 (id) VALUES (1)").Exec(t.Context()))
	require.Empty(t, taken(), "a session that requests no metadata reads none")

	before := heap()
	ks, err := s.KeyspaceMetadata(t.Context(), "ks")
	require.NoError(t, err)
	require.Len(t, ks.Tables, tables)
	require.Less(t, heap(), before+uint64(tables*perTable))
	pages := 0
	for _, q := range taken() {
		if strings.Contains(q.Statement, "system_schema.columns") {
			pages++
		}
	}
	require.InDelta(t, 3*tables/pageSize+1, pages, 1, "pages of the rows of columns")

	require.NoError(t, s.Query("ALTER TABLE ks.t77 ADD x int").Exec(t.Context()))
	altered, err := s.TableMetadata(t.Context(), "ks", "t77")
	require.NoError(t, err)
	require.Contains(t, altered.Columns, "x")
	ks, err = s.KeyspaceMetadata(t.Context(), "ks")
	require.NoError(t, err)
	require.Len(t, ks.Tables, tables)
	for _, q := range taken() { // twice if the event of the change arrives after the metadata was read
		require.False(t, q.Paged)
		if !strings.Contains(q.Statement, "system_schema.keyspaces") {
			require.Contains(t, q.Statement, "_name = 't77'", "the other tables are still known")
		}
	}
}
