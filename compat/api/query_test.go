// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

type noTracer struct{}

func (noTracer) Trace([]byte) {}

// speculation is a policy of further executions.
type speculation struct{ NonSpeculativeExecution }

// TestSettersChangeTheQueryAlone: they return it, and a copy made before keeps its options.
func TestSettersChangeTheQueryAlone(t *testing.T) {
	m := openModule(t)
	q := m.query("SELECT id FROM items", 1)
	copied := *q
	payload, state, key := map[string][]byte{"a": {1}}, []byte{2}, []byte{3}
	for _, same := range []*moduleQuery{
		q.Consistency(level(cql.One)), q.CustomPayload(payload), q.PageSize(7), q.PageState(state), q.Prefetch(0.5),
		q.NoSkipMetadata(), q.SetSpeculativeExecutionPolicy(speculation{}), q.Idempotent(true), q.RoutingKey(key),
		q.Trace(noTracer{}), q.DefaultTimestamp(false), q.WithTimestamp(9), q.RetryPolicy("retry"),
	} {
		require.True(t, same == q)
	}
	SetHost(q, "host")
	SetKeyspace(q, "other")
	SetTimeout(q, time.Second)
	SetNow(q, 11)
	SetObserver(q, "observer")
	timeout, now := time.Second, 11
	require.Equal(t, &Rare[string]{
		Retry: "retry", Trace: noTracer{}, Spec: speculation{}, Timestamp: 9, Observer: "observer", PageSize: 7, Prefetch: 0.5,
		PageState: state, RoutingKey: key, Payload: payload, ManualPaging: true, AllMetadata: true, HostID: "host", Keyspace: "other",
		Timeout: &timeout, Now: &now,
	}, q.set.Rare())
	require.True(t, q.set.Timestamps)
	require.Equal(t, level(cql.One), q.GetConsistency())
	require.True(t, q.IsIdempotent())
	require.Equal(t, "host", HostOf(q))
	require.Equal(t, time.Second, TimeoutOf(q, time.Minute))
	q.SetConsistency(level(cql.Two))
	require.Equal(t, level(cql.Two), q.GetConsistency())
	require.Empty(t, q.PageState([]byte{}).set.Rare().PageState, "the first page")

	require.Equal(t, &Rare[string]{PageSize: 100, Prefetch: 0.25}, copied.set.Rare())
	require.Equal(t, level(cql.Quorum), copied.GetConsistency())
	require.Empty(t, HostOf(&copied))
	require.Equal(t, time.Minute, TimeoutOf(&copied, time.Minute))
	require.Equal(t, "SELECT id FROM items", q.Statement())
	require.Equal(t, []any{1}, q.Values())
	require.Equal(t, `[query statement="SELECT id FROM items" values=[1] consistency=2]`, q.String())
	require.True(t, StatementOf(&q.query) == &q.st)
	require.True(t, SettingsOf(q) == &q.set)
}

// TestOptionsOfAQueryAreThoseOfTheRequest.
func TestOptionsOfAQueryAreThoseOfTheRequest(t *testing.T) {
	m := openModule(t)
	q := m.query("SELECT id FROM items").Consistency(level(cql.One)).PageSize(7).Idempotent(true)
	q.set.Serial = cql.LocalSerial
	node := m.of.GetHosts()[0].ID.String()
	SetHost(q, node)
	SetKeyspace(q, "other")
	SetTimeout(q, time.Second)
	v := q.build(m.of, nil)
	require.Equal(t, cql.One, v.GetConsistency())
	require.Equal(t, 7, v.GetPageSize())
	require.True(t, v.GetIdempotent())
	require.Equal(t, node, v.GetHostID().String())
	require.Equal(t, "other", v.GetKeyspace())
	require.Equal(t, time.Second, v.GetRequestTimeout())
	serial, ok := v.GetSerialConsistency()
	require.True(t, ok)
	require.Equal(t, cql.LocalSerial, serial)

	b := m.batch(entry(insertItem, 1, "a"), BatchEntry[string]{Stmt: insertItem, Args: []any{2, "b"}, Idempotent: true})
	require.Equal(t, level(cql.Quorum), b.content.Cons)
	require.True(t, b.SpeculativeExecutionPolicy(speculation{}) == b)
	require.Equal(t, speculation{}, b.set.Rare().Spec)
	b.content.Cons = level(cql.Two)
	b.set.Serial = cql.LocalSerial
	SetHost(b, node)
	SetKeyspace(b, "other")
	SetTimeout(b, time.Second)
	of := b.build(&m.core, m.of, b.content, nil)
	require.Equal(t, cql.Two, of.GetConsistency())
	require.False(t, of.GetIdempotent())
	require.Equal(t, node, of.GetHostID().String())
	require.Equal(t, "other", of.GetKeyspace())
	require.Equal(t, time.Second, of.GetRequestTimeout())
	serial, ok = of.GetSerialConsistency()
	require.True(t, ok)
	require.Equal(t, cql.LocalSerial, serial)
	require.Equal(t, []bool{false, true}, []bool{of.Entries[0].Idempotent, of.Entries[1].Idempotent})
}

// TestTimeoutOfASessionIsThatOfContextsWithADeadline, too.
func TestTimeoutOfASessionIsThatOfContextsWithADeadline(t *testing.T) {
	var s Settings[string]
	_, ok := s.timeoutOf(time.Second)
	require.False(t, ok, "no context")
	s.Ctx = t.Context()
	_, ok = s.timeoutOf(time.Second)
	require.False(t, ok, "no deadline")
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	s.Ctx = ctx
	timeout, ok := s.timeoutOf(time.Second)
	require.True(t, ok)
	require.Equal(t, time.Second, timeout)
	timeout, ok = s.timeoutOf(0)
	require.True(t, ok)
	require.Equal(t, OrNever(0), timeout)
	s.Ctx = nil
	none := time.Duration(0)
	s.Change(func(o *Rare[string]) { o.Timeout = &none })
	timeout, ok = s.timeoutOf(time.Second)
	require.True(t, ok, "the request has its own")
	require.Equal(t, OrNever(0), timeout)
}

// TestTimeOfAWriteIsThatOfTheClientUnlessItIsDisabled. The clock of the server is an hour ahead.
func TestTimeOfAWriteIsThatOfTheClientUnlessItIsDisabled(t *testing.T) {
	m := openModule(t)
	m.cluster.StepClock(time.Hour)
	id := 0
	insert := func(set func(q *moduleQuery, b *moduleBatch)) {
		t.Helper()
		for _, batched := range []bool{false, true} {
			id++
			q, b := m.query(insertItem, id, "a"), m.batch(entry(insertItem, id, "a"))
			if set(q, b); batched {
				require.NoError(t, m.execBatch(b, nil).Close())
			} else {
				require.NoError(t, Exec(&q.v1Query, nil))
			}
		}
	}
	written := func() (at [2]time.Time) {
		t.Helper()
		for i := range at {
			var microseconds int64
			require.NoError(t, m.query("SELECT WRITETIME(name) FROM items WHERE id = ?", id-1+i).Scan(&microseconds))
			at[i] = time.UnixMicro(microseconds)
		}
		return at
	}
	within := func(want time.Time) {
		t.Helper()
		for _, at := range written() {
			require.WithinDuration(t, want, at, 30*time.Minute)
		}
	}
	now := time.Now()
	insert(func(*moduleQuery, *moduleBatch) {})
	within(now)
	insert(func(q *moduleQuery, b *moduleBatch) { q.DefaultTimestamp(false); b.DefaultTimestamp(false) })
	within(now.Add(time.Hour))
	insert(func(q *moduleQuery, b *moduleBatch) {
		q.DefaultTimestamp(false).DefaultTimestamp(true)
		b.DefaultTimestamp(false).DefaultTimestamp(true)
	})
	within(now)
	insert(func(q *moduleQuery, b *moduleBatch) {
		q.DefaultTimestamp(false).WithTimestamp(1)
		b.DefaultTimestamp(false).WithTimestamp(1)
	})
	require.Equal(t, [2]time.Time{time.UnixMicro(1), time.UnixMicro(1)}, written())
	insert(func(q *moduleQuery, b *moduleBatch) {
		q.WithTimestamp(1).DefaultTimestamp(false)
		b.WithTimestamp(1).DefaultTimestamp(false)
	})
	within(now.Add(time.Hour))
}

// TestNextPageIsRequestedWhenAShareIsLeft.
func TestNextPageIsRequestedWhenAShareIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := openModuleWith(t, cqltest.Config{Network: cqltest.InMemory, Nodes: 1})
		m.defaults.SetConsistency(level(cql.One))
		for id := range 20 {
			m.exec(t, insertItem, id, "a")
		}
		var pages atomic.Int32
		m.cluster.Observe(cqltest.Fault{Match: func(r cqltest.Request) bool {
			if r.Paged {
				pages.Add(1)
			}
			return false
		}})
		for prefetch, want := range map[float64]int32{0: 0, 1: 1} {
			pages.Store(0)
			it := m.iter(m.query("SELECT id FROM items").PageSize(10).Prefetch(prefetch), nil)
			require.True(t, it.Scan(new(int)))
			synctest.Wait()
			require.Equal(t, want, pages.Load(), "prefetch %v", prefetch)
			require.NoError(t, it.Close())
		}
		m.of.Close()
		m.cluster.Close()
	})
}

// TestCellsExpireAtTheTimeOfTheRequest.
func TestCellsExpireAtTheTimeOfTheRequest(t *testing.T) {
	m := openModule(t)
	now := int(time.Now().Unix())
	write, batch := m.query("INSERT INTO items (id, name) VALUES (1, 'a') USING TTL 60"), m.batch(entry("INSERT INTO items (id, name) VALUES (2, 'a') USING TTL 60"))
	SetNow(write, now+1000)
	SetNow(batch, now+1000)
	require.NoError(t, Exec(&write.v1Query, nil))
	require.NoError(t, m.execBatch(batch, nil).Close())
	for id := 1; id <= 2; id++ {
		read := m.query("SELECT name FROM items WHERE id = ?", id)
		SetNow(read, now+1059)
		require.NoError(t, read.Scan(new(string)))
		SetNow(read, now+1061)
		require.ErrorIs(t, read.Scan(new(string)), ErrNotFound)
	}
}

func TestEachPageHasTheMetadataOfTheResultIfAskedFor(t *testing.T) {
	m := openModule(t)
	m.exec(t, insertItem, 1, "lamp")
	const stmt = "SELECT name FROM items WHERE id = ?"
	m.exec(t, stmt, 1) // prepared
	var body []byte
	m.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: stmt, Edit: func(a *cqltest.Answer) { body = bytes.Clone(a.Body) }})
	m.exec(t, stmt, 1)
	require.NotContains(t, string(body), "name")
	require.NoError(t, Exec(&m.query(stmt, 1).NoSkipMetadata().v1Query, nil))
	require.Contains(t, string(body), "name")
}

func TestCopyWithAContextHasItsOwnValues(t *testing.T) {
	m := openModule(t)
	q := m.query(insertItem, 1, "") // an empty text is encoded by the dialect
	type key struct{}
	c := q.WithContext(context.WithValue(t.Context(), key{}, "value"))
	require.Equal(t, "value", c.Context().Value(key{}))
	require.Equal(t, context.Background(), q.Context())
	bound := c.st.Values.Bind()
	require.Len(t, bound, 1)
	require.True(t, bound[0] == c.st.Values.Bind()[0], "the form of the copy itself, without another one")
	c.Bind(2, "b")
	require.NoError(t, Exec(&q.v1Query, nil))
	require.NoError(t, Exec(&c.v1Query, nil))
	for id, want := range []string{1: "", 2: "b"} {
		if id > 0 {
			var name string
			require.NoError(t, m.query("SELECT name FROM items WHERE id = ?", id).Scan(&name))
			require.Equal(t, want, name)
		}
	}
}

// TestBoundQueryBeginsAtTheFirstPage.
func TestBoundQueryBeginsAtTheFirstPage(t *testing.T) {
	m := openModule(t)
	q := m.query("SELECT id FROM items WHERE id = ?", 1).PageState([]byte{1})
	require.True(t, q.Bind(2) == q)
	require.Equal(t, []any{2}, q.Values())
	require.Nil(t, q.set.Rare().PageState)
	q.Release()
	require.Equal(t, "SELECT id FROM items WHERE id = ?", q.Statement())
}

func TestQueryOfNoSessionIsClosed(t *testing.T) {
	var q moduleQuery
	require.Equal(t, ErrSessionClosed, q.Scan())
	require.Equal(t, ErrSessionClosed, Exec(&q.v1Query, nil))
	SetRun(&q.query, func(*moduleQuery) RowReader { return &Iter[host, string]{err: ErrNoHosts} })
	require.Equal(t, ErrNoHosts, q.Scan())
	require.Empty(t, q.Keyspace())
	require.Empty(t, q.Table())
	SetKeyspace(&q, "other")
	require.Equal(t, "other", q.Keyspace())
	key, err := q.GetRoutingKey()
	require.NoError(t, err)
	require.Nil(t, key)
	require.False(t, IsKnown(&q.v1Query))
}

// TestQueryOfALiteralSessionHasItsValues, although it cannot be executed.
func TestQueryOfALiteralSessionHasItsValues(t *testing.T) {
	var q moduleQuery
	StartQuery(&q.v1Query, &SessionV1[string, level, host, string]{}, new(Metrics), nil, "SELECT 1", []any{1, "a"})
	require.Equal(t, []any{1, "a"}, q.Values())
	require.Equal(t, ErrSessionClosed, Exec(&q.v1Query, nil))
}

// twice is a policy of one further execution after a millisecond.
type twice struct{}

func (twice) Attempts() int        { return 1 }
func (twice) Delay() time.Duration { return time.Millisecond }

// TestBatchIsExecutedTwiceIfItIsIdempotent, while the first node is silent.
func TestBatchIsExecutedTwiceIfItIsIdempotent(t *testing.T) {
	m := openModule(t)
	m.exec(t, insertItem, 1, "a")
	for _, idempotent := range []bool{true, false} {
		silent := m.cluster.Inject(cqltest.Fault{Op: cqltest.OpBatch, Times: 1, Drop: true})
		limit := 10 * time.Second
		if !idempotent {
			limit = 50 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		b := m.batch(BatchEntry[string]{Stmt: insertItem, Args: []any{1, "a"}, Idempotent: idempotent})
		b.SpeculativeExecutionPolicy(twice{}).set.Ctx = ctx
		require.Equal(t, idempotent, m.execBatch(b, nil).Close() == nil)
		require.Equal(t, 1, silent.Hits())
		silent.Remove()
	}
}

// TestOptionsOfASessionChangeForLaterQueries, several at once too.
func TestOptionsOfASessionChangeForLaterQueries(t *testing.T) {
	m := openModule(t)
	before := m.query("SELECT id FROM items")
	m.defaults.SetConsistency(level(cql.One))
	m.defaults.SetPageSize(7)
	m.defaults.SetPrefetch(0.5)
	m.defaults.SetTrace(noTracer{})
	q := m.query("SELECT id FROM items")
	require.Equal(t, level(cql.One), q.GetConsistency())
	require.Equal(t, &Rare[string]{PageSize: 7, Prefetch: 0.5, Trace: noTracer{}}, q.set.Rare())
	require.True(t, q.set.Timestamps)
	require.Equal(t, cql.Serial, q.set.Serial)
	require.Equal(t, level(cql.Quorum), before.GetConsistency())
	require.Equal(t, 100, before.set.Rare().PageSize)

	calls := 0
	m.defaults.change(func(o *requestDefaults[level, string]) {
		if calls++; calls == 1 {
			m.defaults.SetPageSize(8)
		}
		o.rare.Prefetch = 0.75
	})
	require.Equal(t, &Rare[string]{PageSize: 8, Prefetch: 0.75, Trace: noTracer{}}, m.query("").set.Rare())

	var literal Defaults[level, string]
	literal.SetPageSize(9)
	require.Equal(t, 9, literal.get().rare.PageSize)
	require.Zero(t, (*Defaults[level, string])(nil).get().rare.PageSize)
}
