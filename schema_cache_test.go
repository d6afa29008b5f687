// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// This file tests when the schema is read, and what is kept of it.

// TestSchemaReadOnDemand counts what is read, and when.
func TestSchemaReadOnDemand(t *testing.T) {
	f := richSchema()
	f.keyspace("other", "SimpleStrategy", nil)
	c := newFakeCluster(t, protoV5, 1)
	c.on(f.answer)
	s := c.session()
	require.Empty(t, f.reads(), "nobody has asked")
	event := func(fields ...any) {
		before := s.schema.dirty.Load()
		require.False(t, before)
		c.event(eventSchema, fields...)
	}
	dirty := func() { require.True(t, within(s.schema.dirty.Load)) }
	ask := func() *KeyspaceMetadata {
		ks, err := s.KeyspaceMetadata("ks")
		require.NoError(t, err)
		return ks
	}
	first := ask()
	reads := f.reads()
	require.Len(t, reads, len(schemaSources))
	for _, stmt := range reads {
		require.Contains(t, stmt, "WHERE keyspace_name = 'ks'")
	}
	require.Same(t, first, ask())
	require.Empty(t, f.reads(), "it is kept")

	event("UPDATED", "TABLE", "other", "t") // which nobody has asked for
	f.columns("ks", "t2", "more int")
	event("UPDATED", "TABLE", "ks", "t2")
	dirty()
	second := ask()
	for _, stmt := range f.reads() {
		require.True(t, strings.Contains(stmt, "'t2'") || strings.Contains(stmt, "system_schema.keyspaces"), stmt)
	}
	require.NotContains(t, first.Tables["t2"].Columns, "more", "what was returned does not change")
	require.Contains(t, second.Tables["t2"].Columns, "more")
	require.Same(t, first.Tables["t"], second.Tables["t"])
	require.Same(t, first.MaterializedViews["by_b"], second.MaterializedViews["by_b"])

	event("UPDATED", "TABLE", "ks", "t") // the view's base
	dirty()
	third := ask()
	require.NotSame(t, second.Tables["t"], third.Tables["t"])
	require.Same(t, third.Tables["t"], third.MaterializedViews["by_b"].BaseTable)
	require.Same(t, second.Tables["t"], second.MaterializedViews["by_b"].BaseTable)
	requireRich(t, third)

	f.drop("ks", "t2")
	event("DROPPED", "TABLE", "ks", "t2")
	dirty()
	require.NotContains(t, ask().Tables, "t2")

	f.reads()
	f.userType("ks", "zap", "x int")
	event("CREATED", "TYPE", "ks", "zap")
	dirty()
	require.Contains(t, ask().UserTypes, "zap")
	require.Len(t, f.reads(), len(schemaSources), "the whole keyspace")

	f.drop("ks", "")
	event("DROPPED", "KEYSPACE", "ks")
	dirty()
	_, err := s.KeyspaceMetadata("ks")
	require.ErrorIs(t, err, ErrKeyspaceDoesNotExist)
}

// TestSchemaOwnChange asks right after a statement of the session itself, without any event.
func TestSchemaOwnChange(t *testing.T) {
	f := richSchema()
	c := newFakeCluster(t, protoV4, 1)
	c.on(func(r *fakeRequest) bool {
		if r.stmt == "CREATE TABLE ks.new" {
			f.table("ks", "new", "id int partition_key")
			r.peer.reply(r.stream, opResult, append([]byte{0, 0, 0, byte(resultSchemaChange)}, eventBody("CREATED", "TABLE", "ks", "new")...))
			return true
		}
		return f.answer(r)
	})
	s := c.session(func(cfg *ClusterConfig) { cfg.Events.DisableSchemaEvents = true })
	_, err := s.TableMetadata("ks", "new")
	require.ErrorIs(t, err, ErrNoTable)
	require.NoError(t, s.Query("CREATE TABLE ks.new").Exec())
	table, err := s.TableMetadata("ks", "new")
	require.NoError(t, err)
	require.Len(t, table.PartitionKey, 1)
}

func TestSchemaNotKept(t *testing.T) {
	f := richSchema()
	c := newFakeCluster(t, protoV4, 1)
	c.on(f.answer)
	s := c.session(func(cfg *ClusterConfig) { cfg.Metadata.CacheMode = Disabled })
	for range 2 {
		ks, err := s.KeyspaceMetadata("ks")
		require.NoError(t, err)
		requireRich(t, ks)
		require.Len(t, f.reads(), len(schemaSources))
		all, err := s.AllKeyspaceMetadata()
		require.NoError(t, err)
		requireRich(t, all["ks"])
		require.Len(t, f.reads(), len(schemaSources))
	}
	_, err := s.KeyspaceMetadata("nope")
	require.ErrorIs(t, err, ErrKeyspaceDoesNotExist)
}

// TestSchemaReadIsShared has many ask at once, of whom the first gives up: the others get their answer from one reading.
func TestSchemaReadIsShared(t *testing.T) {
	f := richSchema()
	c := newFakeCluster(t, protoV5, 1)
	gate := make(chan struct{})
	var asked atomic.Int32
	c.on(func(r *fakeRequest) bool {
		if strings.HasPrefix(r.stmt, "SELECT * FROM system_schema.tables") {
			if asked.Add(1) == 1 {
				go func() { <-gate; f.answer(r) }()
				return true
			}
		}
		return f.answer(r)
	})
	s := c.session()
	ctx, cancel := context.WithCancel(context.Background())
	leader := make(chan error, 1)
	go func() { _, err := s.KeyspaceMetadataContext(ctx, "ks"); leader <- err }()
	require.True(t, within(func() bool { return asked.Load() == 1 }))
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			_, err := s.KeyspaceMetadata("ks")
			if err != nil {
				t.Error(err)
			}
		})
	}
	require.True(t, within(func() bool {
		s.schema.mu.Lock()
		defer s.schema.mu.Unlock()
		return s.schema.last.waiting == 51
	}))
	cancel()
	require.ErrorIs(t, <-leader, context.Canceled)
	close(gate)
	wg.Wait()
	require.EqualValues(t, 1, asked.Load())
}

// TestSchemaReadGivenUp has the only one who waits give up: the reading ends, and the next one begins anew.
func TestSchemaReadGivenUp(t *testing.T) {
	f := richSchema()
	c := newFakeCluster(t, protoV5, 1)
	var silent atomic.Bool
	silent.Store(true)
	c.on(func(r *fakeRequest) bool {
		return silent.Load() && strings.HasPrefix(r.stmt, "SELECT * FROM system_schema.types") || f.answer(r)
	})
	s := c.session()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := s.KeyspaceMetadataContext(ctx, "ks")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	silent.Store(false)
	ks, err := s.KeyspaceMetadata("ks")
	require.NoError(t, err)
	requireRich(t, ks)
}

// TestSchemaStaleIsBounded feeds events of very many names.
func TestSchemaStaleIsBounded(t *testing.T) {
	var s staleSchema
	for i := range 100000 {
		s.add("ks", fmt.Sprint(i))
	}
	require.Equal(t, map[string][]string{"ks": nil}, s.keyspaces)
	s.add("a", "t")
	s.add("a", "t")
	require.Equal(t, []string{"t"}, s.keyspaces["a"])
	var merged staleSchema
	merged.merge(s)
	require.Equal(t, s, merged)
	for i := range 100000 {
		s.add(fmt.Sprint("ks", i), "t")
	}
	require.Equal(t, staleSchema{all: true}, s)
	s.add("ks", "t")
	require.Equal(t, staleSchema{all: true}, s)
	merged.merge(s)
	require.Equal(t, s, merged)
}

// TestSchemaAsksWhileItChanges reads and changes at the same time: an answer is never older than a change that came before the question.
func TestSchemaAsksWhileItChanges(t *testing.T) {
	f := newFakeSchema()
	f.keyspace("ks", "SimpleStrategy", nil)
	f.table("ks", "t", "id int partition_key")
	c := newFakeCluster(t, protoV5, 1)
	c.on(f.answer)
	s := c.session()
	_, err := s.KeyspaceMetadata("ks")
	require.NoError(t, err)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 25 {
				name := fmt.Sprintf("t%d_%d", g, i)
				f.table("ks", name, "id int partition_key")
				s.schemaChanged(schemaEvent{change: "CREATED", target: "TABLE", keyspace: "ks", name: name})
				if g%2 == 0 {
					_, err := s.TableMetadata("ks", name)
					if err != nil {
						t.Error(err)
					}
				} else if all, err := s.AllKeyspaceMetadata(); err != nil || all["ks"].Tables[name] == nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	wg.Wait()
}
