// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/fakecql"
)

// Fault 52: the bind markers of a prepared statement change.

// cqlCluster returns a cluster of cqltest with the keyspace ks, after the statements.
func cqlCluster(t *testing.T, cfg cqltest.Config, statements ...string) *cqltest.Cluster {
	t.Helper()
	c := cqltest.New(t, cfg)
	require.NoError(t, c.Exec("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"))
	for _, s := range statements {
		require.NoError(t, c.Exec(s))
	}
	return c
}

// cqlSession returns a session on c.
func cqlSession(t *testing.T, c *cqltest.Cluster, change ...func(*vecql.ClusterConfig)) *vecql.Session {
	t.Helper()
	cfg := &vecql.ClusterConfig{Hosts: c.Hosts()}
	cfg.Logger, cfg.Pool.NumConns = slog.New(slog.DiscardHandler), 1
	for _, f := range change {
		f(cfg)
	}
	return openSession(t, cfg)
}

const insertV = "INSERT INTO ks.t (id, v) VALUES (?, ?)"

// recreate creates the table again. The other type of column v has the same size.
func recreate(t *testing.T, c *cqltest.Cluster) {
	t.Helper()
	require.NoError(t, c.Exec("DROP TABLE ks.t"))
	require.NoError(t, c.Exec("CREATE TABLE ks.t (id int PRIMARY KEY, v float)"))
}

// eventually calls f until it returns nil. It calls f in the goroutine of the test, which a failed require in f ends.
func eventually(t *testing.T, f func() error) {
	t.Helper()
	var err error
	for start := time.Now(); time.Since(start) < 20*time.Second; time.Sleep(time.Millisecond) {
		if err = f(); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// TestFault52NodeForgets: the table is created again without an event, and its node has forgotten the statement. The
// bytes of an int must not be stored as a float.
func TestFault52NodeForgets(t *testing.T) {
	for name, insert := range map[string]func(s *vecql.Session, id int, v any) error{
		"query": func(s *vecql.Session, id int, v any) error { return s.Query(insertV, id, v).Exec(t.Context()) },
		"iter":  func(s *vecql.Session, id int, v any) error { return s.Query(insertV, id, v).Iter(t.Context()).Close() },
		"batch": func(s *vecql.Session, id int, v any) error {
			return s.Batch(cql.LoggedBatch).Query(insertV, id, v).Exec(t.Context())
		},
		"speculate": func(s *vecql.Session, id int, v any) error {
			speculation := &vecql.SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: time.Hour}
			return s.Query(insertV, id, v).Idempotent(true).SpeculativeExecutionPolicy(speculation).Exec(t.Context())
		},
	} {
		for _, protocol := range []int{4, 5} {
			t.Run(name, func(t *testing.T) {
				c := cqlCluster(t, cqltest.Config{Nodes: 1, Protocol: protocol}, "CREATE TABLE ks.t (id int PRIMARY KEY, v int)")
				s := cqlSession(t, c)
				require.NoError(t, insert(s, 1, int32(7)))
				c.MuteEvents(true)
				recreate(t, c)
				err := insert(s, 2, int32(7))
				var marshal *cql.MarshalError
				require.ErrorAs(t, err, &marshal)
				require.Equal(t, "v", marshal.Column)
				require.False(t, vecql.MayHaveApplied(err))
				require.NoError(t, insert(s, 3, float32(1.5)))
				rows, err := s.Query("SELECT id, v FROM ks.t").Iter(t.Context()).SliceMap()
				require.NoError(t, err)
				require.Equal(t, []map[string]any{{"id": 3, "v": float32(1.5)}}, rows)
			})
		}
	}
}

// both has values of both types of column v.
type both struct {
	ID int `cql:"id"`
	V  any `cql:"v"`
}

// TestFault52TransparentlyBoundAgain: the new type takes the same Go values in other bytes. The request must be encoded
// again by itself, and executed once.
func TestFault52TransparentlyBoundAgain(t *testing.T) {
	c := cqlCluster(t, cqltest.Config{Nodes: 1}, "CREATE TABLE ks.t (id int PRIMARY KEY, v int)")
	s := cqlSession(t, c)
	st, err := vecql.Prepare[both](t.Context(), s.Query(insertV))
	require.NoError(t, err)
	var observed batchErrors
	inserts := []func(id int) error{
		func(id int) error { return s.Query(insertV, id, 7).Exec(t.Context()) },
		func(id int) error {
			return s.Batch(cql.UnloggedBatch).Query(insertV, id, 7).Query(insertV, id, 7).Observer(observed.observe).Exec(t.Context())
		},
		func(id int) error { return st.Exec(t.Context(), &both{id, 7}) },
		func(id int) error {
			return s.Query(insertV, cql.NamedValue("id", id), cql.NamedValue("v", 7)).Exec(t.Context())
		},
	}
	for i, insert := range inserts {
		require.NoError(t, insert(i))
	}
	c.MuteEvents(true)
	types := []string{"bigint", "smallint", "varint", "tinyint"}
	for i, insert := range inserts {
		require.NoError(t, c.Exec("DROP TABLE ks.t"))
		require.NoError(t, c.Exec("CREATE TABLE ks.t (id int PRIMARY KEY, v "+types[i]+")"))
		require.NoError(t, insert(i))
		var v int
		require.NoError(t, s.Query("SELECT v FROM ks.t WHERE id = ?", i).Scan(t.Context(), &v))
		require.Equal(t, 7, v)
	}
	require.Len(t, observed, 3, "the first batch, and both attempts of the second one")
	require.ErrorIs(t, observed[1], vecql.ErrStatementChanged)
	require.NoError(t, observed[2])
}

// batchErrors stores the error of each attempt.
type batchErrors []error

func (o *batchErrors) observe(_ context.Context, a vecql.ObservedAttempt) { *o = append(*o, a.Err) }

// TestFault52PreparedByAnother: the table is created again, and another client has prepared the same statement, so that
// the node accepts the old id with the values of the old type.
func TestFault52PreparedByAnother(t *testing.T) {
	for name, muted := range map[string]bool{"events": false, "schema version": true} {
		t.Run(name, func(t *testing.T) {
			c := cqlCluster(t, cqltest.Config{Nodes: 1}, "CREATE TABLE ks.t (id int PRIMARY KEY, v int)",
				"CREATE TABLE ks.other (id int PRIMARY KEY)")
			s := cqlSession(t, c, func(cfg *vecql.ClusterConfig) { cfg.Nodes.ReconnectInterval = 20 * time.Millisecond })
			const other = "INSERT INTO ks.other (id) VALUES (?)"
			require.NoError(t, s.Query(insertV, 1, 7).Exec(t.Context()))
			require.NoError(t, s.Query(other, 1).Exec(t.Context()))
			before := s.Stats().PreparedMisses
			c.MuteEvents(muted)
			recreate(t, c)
			another := cqlSession(t, c)
			require.NoError(t, another.Query(insertV, 2, float32(1.5)).Exec(t.Context()))
			eventually(t, func() error { return s.Query(insertV, 3, float32(2.5)).Exec(t.Context()) })
			require.Error(t, s.Query(insertV, 4, 7).Exec(t.Context()))
			require.NoError(t, s.Query(other, 2).Exec(t.Context()))
			if !muted {
				require.EqualValues(t, before+1, s.Stats().PreparedMisses, "statements of other tables stay prepared")
			}
		})
	}
}

// TestFault52OwnChange: the session itself creates the table again. Its next request must have the new types.
func TestFault52OwnChange(t *testing.T) {
	c := cqlCluster(t, cqltest.Config{Nodes: 1}, "CREATE TABLE ks.t (id int PRIMARY KEY, v int)")
	s := cqlSession(t, c, func(cfg *vecql.ClusterConfig) { cfg.Protocol.Events.DisableSchemaEvents = true })
	require.NoError(t, s.Query(insertV, 1, 7).Exec(t.Context()))
	require.NoError(t, s.Query("DROP TABLE ks.t").Exec(t.Context()))
	require.NoError(t, s.Query("CREATE TABLE ks.t (id int PRIMARY KEY, v float)").Exec(t.Context()))
	require.NoError(t, s.Query(insertV, 1, float32(1.5)).Exec(t.Context()))
}

// withCity has a field that the type of the table lacks at first.
type withCity struct {
	Street string `cql:"street"`
	City   string `cql:"city"`
}

// TestFault52FieldAdded: a user-defined type gains a field. A running program that binds the field must store it.
func TestFault52FieldAdded(t *testing.T) {
	for _, protocol := range []int{4, 5} {
		c := cqlCluster(t, cqltest.Config{Nodes: 1, Protocol: protocol},
			"CREATE TYPE ks.a (street text)", "CREATE TABLE ks.t (id int PRIMARY KEY, v map<text, frozen<a>>)")
		s := cqlSession(t, c)
		require.NoError(t, s.Query(insertV, 1, map[string]map[string]string{"home": {"street": "High St"}}).Exec(t.Context()))
		value := map[string]withCity{"home": {"Main St", "Ghent"}}
		require.ErrorIs(t, s.Query(insertV, 2, value).Exec(t.Context()), cql.ErrConversion)
		require.NoError(t, c.Exec("ALTER TYPE ks.a ADD city text"))
		eventually(t, func() error { return s.Query(insertV, 2, value).Exec(t.Context()) })
		for id, want := range []map[string]withCity{1: {"home": {"High St", ""}}, 2: value} {
			if want != nil {
				var got map[string]withCity
				require.NoError(t, s.Query("SELECT v FROM ks.t WHERE id = ?", id).Scan(t.Context(), &got))
				require.Equal(t, want, got)
			}
		}
	}
}

// TestFault52EncodedRows: rows are encoded before the table is created again, and sent afterwards. They must not be
// stored, and another attempt has the new types.
func TestFault52EncodedRows(t *testing.T) {
	c := cqlCluster(t, cqltest.Config{Nodes: 1}, "CREATE TABLE ks.t (id int PRIMARY KEY, v int)")
	s := cqlSession(t, c)
	st, err := vecql.Prepare[both](t.Context(), s.Query(insertV))
	require.NoError(t, err)
	c.MuteEvents(true)
	for n := range 2 { // an EXECUTE, a BATCH
		var rows, more vecql.EncodedRows
		require.NoError(t, st.Encode(t.Context(), &rows, &both{1, 7}))
		if n > 0 {
			require.NoError(t, st.Encode(t.Context(), &more, &both{2, 7}))
			require.True(t, rows.Join(&more))
		}
		require.NoError(t, c.Exec("DROP TABLE ks.t"))
		require.NoError(t, c.Exec("CREATE TABLE ks.t (id int PRIMARY KEY, v "+[]string{"bigint", "varint"}[n]+")"))
		err = rows.ExecOn(context.Background(), cql.UUID{})
		require.ErrorIs(t, err, vecql.ErrStatementChanged)
		require.False(t, vecql.MayHaveApplied(err))
		require.NoError(t, st.Encode(t.Context(), &rows, &both{1, 7}))
		require.NoError(t, rows.ExecOn(t.Context(), cql.UUID{}))
	}
}

// number is a value of any numeric type.
type number int

func (n number) MarshalCQL(info cql.TypeInfo) ([]byte, error) {
	if info.Type() == cql.TypeFloat {
		return vecql.Marshal(info, float32(n))
	}
	return vecql.Marshal(info, int(n))
}

// outdate gives column v another type of the same size, and prepares insertV for another client. It returns when the
// session has the new type.
func outdate(t *testing.T, c *cqltest.Cluster, s *vecql.Session) {
	t.Helper()
	recreate(t, c)
	require.NoError(t, cqlSession(t, c).Query(insertV, 0, float32(1)).Exec(t.Context()))
	eventually(t, func() error { return s.Query(insertV, 0, float32(1)).Exec(t.Context()) })
}

// requireFloats fails unless the value of each row is its id.
func requireFloats(t *testing.T, s *vecql.Session, ids ...int) {
	t.Helper()
	for _, id := range ids {
		var v float32
		require.NoError(t, s.Query("SELECT v FROM ks.t WHERE id = ?", id).Scan(t.Context(), &v))
		require.Equal(t, float32(id), v)
	}
}

// outdating is a retry policy that changes the table before a retry.
type outdating struct{ change func() }

func (p outdating) Decide(context.Context, vecql.Attempt) vecql.Decision {
	p.change()
	return vecql.Decision{Type: vecql.Retry}
}

// TestFault52BeforeRetry: the table is created again between two attempts of a request, and the node accepts the bytes
// of the first one. The second one must have the encoding of the new type.
func TestFault52BeforeRetry(t *testing.T) {
	for name, m := range map[string]struct {
		fault  cqltest.Error // of the first attempt
		insert func(s *vecql.Session, r vecql.RetryPolicy) error
	}{
		"query": {
			cqltest.Error{Code: cqltest.CodeOverloaded},
			func(s *vecql.Session, r vecql.RetryPolicy) error {
				return s.Query(insertV, 7, number(7)).RetryPolicy(r).Exec(t.Context())
			},
		},
		"idempotent": { // the first attempt may have been executed
			cqltest.Error{Code: cqltest.CodeServer},
			func(s *vecql.Session, r vecql.RetryPolicy) error {
				return s.Query(insertV, 7, number(7)).RetryPolicy(r).Idempotent(true).Exec(t.Context())
			},
		},
		"batch": {
			cqltest.Error{Code: cqltest.CodeOverloaded},
			func(s *vecql.Session, r vecql.RetryPolicy) error {
				return s.Batch(cql.LoggedBatch).Query(insertV, 7, number(7)).RetryPolicy(r).Exec(t.Context())
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := cqlCluster(t, cqltest.Config{Nodes: 1}, "CREATE TABLE ks.t (id int PRIMARY KEY, v int)")
			s := cqlSession(t, c)
			require.NoError(t, s.Query(insertV, 1, number(1)).Exec(t.Context()))
			c.Inject(cqltest.Fault{Statement: insertV, Error: &m.fault, Times: 1})
			decisions := 0
			require.NoError(t, m.insert(s, outdating{func() { outdate(t, c, s); decisions++ }}))
			requireFloats(t, s, 7)
			require.Equal(t, 1, decisions, "the policy does not decide on outdated values")
		})
	}
}

// TestFault52EncodedRowsWait: the table is created again while encoded rows wait, and the node accepts their bytes. The
// rows must not be stored.
func TestFault52EncodedRowsWait(t *testing.T) {
	c := cqlCluster(t, cqltest.Config{Nodes: 1}, "CREATE TABLE ks.t (id int PRIMARY KEY, v int)")
	s := cqlSession(t, c)
	st, err := vecql.Prepare[both](t.Context(), s.Query(insertV))
	require.NoError(t, err)
	var row, batch, second vecql.EncodedRows
	require.NoError(t, st.Encode(t.Context(), &row, &both{1, number(1)}))
	require.NoError(t, st.Encode(t.Context(), &batch, &both{2, number(2)}))
	require.NoError(t, st.Encode(t.Context(), &second, &both{3, number(3)}))
	require.True(t, batch.Join(&second))
	outdate(t, c, s)
	for _, rows := range []*vecql.EncodedRows{&row, &batch} {
		err := rows.ExecOn(t.Context(), cql.UUID{})
		require.ErrorIs(t, err, vecql.ErrStatementChanged)
		require.False(t, vecql.MayHaveApplied(err))
	}
	var n int
	require.NoError(t, s.Query("SELECT count(*) FROM ks.t").Scan(t.Context(), &n))
	require.Equal(t, 1, n)
	require.NoError(t, st.Encode(t.Context(), &row, &both{1, number(1)}))
	require.NoError(t, row.ExecOn(t.Context(), cql.UUID{}))
	requireFloats(t, s, 1)
}

// TestFault52PagesOfOldStatement: a column is added between two pages. The request of the second page has the values of
// the first one, and must not be refused for that.
func TestFault52PagesOfOldStatement(t *testing.T) {
	for _, protocol := range []int{4, 5} {
		c := cqlCluster(t, cqltest.Config{Nodes: 1, Protocol: protocol}, "CREATE TABLE ks.t (id int, n int, v int, PRIMARY KEY (id, n))")
		s := cqlSession(t, c)
		for n := range 6 {
			require.NoError(t, s.Query("INSERT INTO ks.t (id, n, v) VALUES (1, ?, ?)", n, 10*n).Exec(t.Context()))
		}
		const text = "SELECT * FROM ks.t WHERE id = ?"
		it := s.Query(text, 1).PageSize(3).Prefetch(0).Iter(t.Context())
		before := s.Stats().PreparedMisses
		for n := range 6 {
			if n == 3 {
				require.NoError(t, c.Exec("ALTER TABLE ks.t ADD a text"))
				eventually(t, func() error {
					err := s.Query(text, 2).Exec(t.Context())
					if err == nil && s.Stats().PreparedMisses == before {
						err = vecql.ErrNotFound
					}
					return err
				})
			}
			m := map[string]any{}
			if !it.MapScan(m) {
				t.Fatalf("row %d: %v", n, it.Close())
			}
			want := map[string]any{"id": 1, "n": n, "v": 10 * n}
			if n >= 3 {
				want["a"] = nil
			}
			require.Equal(t, want, m)
		}
		require.NoError(t, it.Close())
	}
}

// TestFault52ReadAgain: the partition key of a table gets another type, and the node has forgotten the statement. A
// read must be bound again, with all of its pages.
func TestFault52ReadAgain(t *testing.T) {
	for _, protocol := range []int{4, 5} {
		t.Run(fmt.Sprint(protocol), func(t *testing.T) {
			const text = "SELECT n FROM ks.t WHERE id = ?"
			c := cqlCluster(t, cqltest.Config{Nodes: 1, Protocol: protocol}, "CREATE TABLE ks.t (id int, n int, PRIMARY KEY (id, n))")
			s := cqlSession(t, c)
			reads := []func() error{
				func() error { return s.Query(text, 1).Scan(t.Context(), new(int)) },
				func() error { return s.Query(text, 1).MapScan(t.Context(), map[string]any{}) },
				func() error {
					rows, err := s.Query(text, 1).PageSize(2).Iter(t.Context()).SliceMap()
					if err == nil && len(rows) < 5 {
						err = fmt.Errorf("%d rows", len(rows))
					}
					return err
				},
			}
			for _, read := range reads {
				require.Error(t, read())
			}
			c.MuteEvents(true)
			for i, read := range reads {
				require.NoError(t, c.Exec("DROP TABLE ks.t"))
				require.NoError(t, c.Exec("CREATE TABLE ks.t (id "+[]string{"bigint", "varint", "smallint"}[i]+", n int, PRIMARY KEY (id, n))"))
				for n := range 5 {
					require.NoError(t, c.Exec(fmt.Sprintf("INSERT INTO ks.t (id, n) VALUES (1, %d)", n)))
				}
				require.NoError(t, read(), "read %d", i)
			}
		})
	}
}

// TestFault52ChangesForever: a statement has another id each time that it is prepared. A request must fail after its
// second round.
func TestFault52ChangesForever(t *testing.T) {
	const stmt = "INSERT INTO ks.t (id) VALUES (?)"
	c := newCluster(t, fakecql.V5, 1)
	id, executes := 0, 0
	prepare := func() {
		id++
		c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), ID: fmt.Sprint("id ", id)})
	}
	prepare()
	c.On(func(r *fakecql.Request) bool {
		if r.Op != fakecql.OpExecute {
			return false
		}
		if executes++; executes > 10 {
			return false
		}
		old := fmt.Sprint("id ", id)
		prepare()
		r.Unprepared(old)
		return true
	})
	err := sessionOn(c).Query(stmt, 1).Exec(t.Context())
	require.ErrorIs(t, err, vecql.ErrStatementChanged)
	require.False(t, vecql.MayHaveApplied(err))
	require.Equal(t, 2, executes)
}

// TestFault52Concerns counts the statements that each change of the schema drops: the statements of the table, of all
// tables that may use the type, of the keyspace.
func TestFault52Concerns(t *testing.T) {
	c := cqlCluster(t, cqltest.Config{Nodes: 1}, "CREATE TYPE ks.a (street text)",
		"CREATE TABLE ks.t (id int PRIMARY KEY, v int)", "CREATE TABLE ks.u (id int PRIMARY KEY)")
	s := cqlSession(t, c, func(cfg *vecql.ClusterConfig) { cfg.Protocol.Events.DisableSchemaEvents = true })
	statements := map[string][]any{
		insertV: {1, 1}, "SELECT v FROM ks.t": nil, "INSERT INTO ks.u (id) VALUES (?)": {1}, "SELECT key FROM system.local": nil,
	}
	misses := func() uint64 {
		before := s.Stats().PreparedMisses
		for text, values := range statements {
			require.NoError(t, s.Query(text, values...).Exec(t.Context()))
		}
		return s.Stats().PreparedMisses - before
	}
	require.EqualValues(t, 4, misses())
	for _, m := range []struct {
		change string
		misses uint64
	}{
		{"ALTER KEYSPACE ks WITH durable_writes = false", 0},
		{"CREATE TABLE ks.w (id int PRIMARY KEY)", 0},
		{"DROP TABLE ks.w", 0},
		{"ALTER TABLE ks.t ADD a int", 2},
		{"ALTER TYPE ks.a ADD city text", 3},
		{"CREATE KEYSPACE ks2 WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", 0},
		{"DROP KEYSPACE ks2", 0},
	} {
		require.NoError(t, s.Query(m.change).Exec(t.Context()))
		require.Equal(t, m.misses, misses(), m.change)
	}
	require.NoError(t, s.Query("DROP KEYSPACE ks").Exec(t.Context()))
	for _, stmt := range []string{
		"CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE ks.t (id int PRIMARY KEY, v int)", "CREATE TABLE ks.u (id int PRIMARY KEY)",
	} {
		require.NoError(t, s.Query(stmt).Exec(t.Context()))
	}
	require.EqualValues(t, 3, misses(), "DROP KEYSPACE ks")
}
