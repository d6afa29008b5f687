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

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/schema"
	"github.com/vecql/vecql/internal/schema/schematest"
)

// The schema cache: when it reads, and what it stores.

// TestSchemaReadOnDemand counts the reads after requests and events.
func TestSchemaReadOnDemand(t *testing.T) {
	f := richSchema()
	f.Keyspace("other", "SimpleStrategy", nil)
	c := newFakeCluster(t, frame.V5, 1)
	c.On(f.Answer)
	s := sessionOn(c)
	require.Empty(t, f.Reads(), "no metadata was requested")
	event := func(fields ...any) {
		before := s.schema.dirty.Load()
		require.False(t, before)
		c.Event(frame.EventSchema, fields...)
	}
	dirty := func() { require.True(t, fakecql.Within(s.schema.dirty.Load)) }
	ask := func() *cql.KeyspaceMetadata {
		ks, err := s.KeyspaceMetadata(t.Context(), "ks")
		require.NoError(t, err)
		return ks
	}
	first := ask()
	reads := f.Reads()
	require.Len(t, reads, len(schema.Scope{}.Queries()))
	for _, stmt := range reads {
		require.Contains(t, stmt, "WHERE keyspace_name = 'ks'")
	}
	require.Same(t, first, ask())
	require.Empty(t, f.Reads(), "the keyspace is cached")

	event("UPDATED", "TABLE", "other", "t") // a keyspace that was not requested
	f.Columns("ks", "t2", "more int")
	event("UPDATED", "TABLE", "ks", "t2")
	dirty()
	second := ask()
	for _, stmt := range f.Reads() {
		require.True(t, strings.Contains(stmt, "'t2'") || strings.Contains(stmt, "system_schema.keyspaces"), stmt)
	}
	require.NotContains(t, first.Tables["t2"].Columns, "more", "returned metadata is immutable")
	require.Contains(t, second.Tables["t2"].Columns, "more")
	require.Same(t, first.Tables["t"], second.Tables["t"])
	require.Same(t, first.MaterializedViews["by_b"], second.MaterializedViews["by_b"])

	event("UPDATED", "TABLE", "ks", "t") // the base table of the view
	dirty()
	third := ask()
	require.NotSame(t, second.Tables["t"], third.Tables["t"])
	require.Same(t, third.Tables["t"], third.MaterializedViews["by_b"].BaseTable)
	require.Same(t, second.Tables["t"], second.MaterializedViews["by_b"].BaseTable)
	schematest.RequireRich(t, third)

	f.Drop("ks", "t2")
	event("DROPPED", "TABLE", "ks", "t2")
	dirty()
	require.NotContains(t, ask().Tables, "t2")

	f.Reads()
	f.UserType("ks", "zap", "x int")
	event("CREATED", "TYPE", "ks", "zap")
	dirty()
	require.Contains(t, ask().UserTypes, "zap")
	require.Len(t, f.Reads(), len(schema.Scope{}.Queries()), "the whole keyspace")

	f.Drop("ks", "")
	event("DROPPED", "KEYSPACE", "ks")
	dirty()
	_, err := s.KeyspaceMetadata(t.Context(), "ks")
	require.ErrorIs(t, err, ErrKeyspaceDoesNotExist)
}

// TestSchemaOwnChange requests metadata after a schema change by the session itself, without an event.
func TestSchemaOwnChange(t *testing.T) {
	f := richSchema()
	c := newFakeCluster(t, frame.V4, 1)
	c.On(func(r *fakecql.Request) bool {
		if r.Stmt == "CREATE TABLE ks.new" {
			f.Table("ks", "new", "id int partition_key")
			r.Conn.Reply(r.Stream, fakecql.OpResult, append([]byte{0, 0, 0, byte(frame.ResultSchemaChange)}, fakecql.EventBody("CREATED", "TABLE", "ks", "new")...))
			return true
		}
		return f.Answer(r)
	})
	s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Protocol.Events.DisableSchemaEvents = true })
	_, err := s.TableMetadata(t.Context(), "ks", "new")
	require.ErrorIs(t, err, ErrNoTable)
	require.NoError(t, s.Query("CREATE TABLE ks.new").Exec(t.Context()))
	table, err := s.TableMetadata(t.Context(), "ks", "new")
	require.NoError(t, err)
	require.Len(t, table.PartitionKey, 1)
}

func TestSchemaNotCached(t *testing.T) {
	f := richSchema()
	c := newFakeCluster(t, frame.V4, 1)
	c.On(f.Answer)
	s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Schema.Metadata = MetadataNone })
	for range 2 {
		ks, err := s.KeyspaceMetadata(t.Context(), "ks")
		require.NoError(t, err)
		schematest.RequireRich(t, ks)
		require.Len(t, f.Reads(), len(schema.Scope{}.Queries()))
		all, err := s.AllKeyspaceMetadata(t.Context())
		require.NoError(t, err)
		schematest.RequireRich(t, all["ks"])
		require.Len(t, f.Reads(), len(schema.Scope{}.Queries()))
	}
	_, err := s.KeyspaceMetadata(t.Context(), "nope")
	require.ErrorIs(t, err, ErrKeyspaceDoesNotExist)
}

// TestSchemaReadIsShared makes many requests at once and cancels the first: one read serves the others.
func TestSchemaReadIsShared(t *testing.T) {
	f := richSchema()
	c := newFakeCluster(t, frame.V5, 1)
	gate := make(chan struct{})
	var asked atomic.Int32
	c.On(func(r *fakecql.Request) bool {
		if strings.HasPrefix(r.Stmt, "SELECT * FROM system_schema.tables") {
			if asked.Add(1) == 1 {
				go func() { <-gate; f.Answer(r) }()
				return true
			}
		}
		return f.Answer(r)
	})
	s := sessionOn(c)
	ctx, cancel := context.WithCancel(context.Background())
	leader := make(chan error, 1)
	go func() { _, err := s.KeyspaceMetadata(ctx, "ks"); leader <- err }()
	require.True(t, fakecql.Within(func() bool { return asked.Load() == 1 }))
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			_, err := s.KeyspaceMetadata(t.Context(), "ks")
			if err != nil {
				t.Error(err)
			}
		})
	}
	require.True(t, fakecql.Within(func() bool {
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

// TestSchemaReadCanceled cancels the only waiting request: the read ends, and the next request starts another one.
func TestSchemaReadCanceled(t *testing.T) {
	f := richSchema()
	c := newFakeCluster(t, frame.V5, 1)
	var silent atomic.Bool
	silent.Store(true)
	c.On(func(r *fakecql.Request) bool {
		return silent.Load() && strings.HasPrefix(r.Stmt, "SELECT * FROM system_schema.types") || f.Answer(r)
	})
	s := sessionOn(c)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := s.KeyspaceMetadata(ctx, "ks")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	silent.Store(false)
	ks, err := s.KeyspaceMetadata(t.Context(), "ks")
	require.NoError(t, err)
	schematest.RequireRich(t, ks)
}

// TestSchemaStaleIsBounded sends events with very many names.
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

// TestSchemaReadDuringChanges reads during changes: metadata is never older than a change before the request.
func TestSchemaReadDuringChanges(t *testing.T) {
	f := fakecql.NewSchema()
	f.Keyspace("ks", "SimpleStrategy", nil)
	f.Table("ks", "t", "id int partition_key")
	c := newFakeCluster(t, frame.V5, 1)
	c.On(f.Answer)
	s := sessionOn(c)
	_, err := s.KeyspaceMetadata(t.Context(), "ks")
	require.NoError(t, err)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 25 {
				name := fmt.Sprintf("t%d_%d", g, i)
				f.Table("ks", name, "id int partition_key")
				s.schemaChanged(frame.SchemaEvent{Change: "CREATED", Target: "TABLE", Keyspace: "ks", Name: name})
				if g%2 == 0 {
					_, err := s.TableMetadata(t.Context(), "ks", name)
					if err != nil {
						t.Error(err)
					}
				} else if all, err := s.AllKeyspaceMetadata(t.Context()); err != nil || all["ks"].Tables[name] == nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	wg.Wait()
}
