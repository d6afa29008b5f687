// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// A shop is a cluster in memory with a session.
type shop struct {
	*vecql.Session

	cluster *cqltest.Cluster
}

const shopSchema = `CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %d};
	CREATE TABLE shop.items (id bigint PRIMARY KEY, name text, price int, embedding vector<float, 2>);
	CREATE TABLE shop.hits (id bigint PRIMARY KEY, n counter);
	CREATE TABLE shop.logs (id bigint PRIMARY KEY, l list<bigint>)`

// newShop returns a cluster of three nodes with a keyspace of n replicas.
func newShop(t *testing.T, replicas int, change ...func(*vecql.ClusterConfig)) *shop {
	t.Helper()
	c := cqltest.New(t, cqltest.Config{Network: cqltest.InMemory})
	require.NoError(t, c.Exec(fmt.Sprintf(shopSchema, replicas)))
	cfg := &vecql.ClusterConfig{Hosts: c.Hosts()}
	cfg.Pool.Dialer, cfg.Logger, cfg.Defaults.Consistency = c.Dialer(), slog.New(slog.DiscardHandler), cql.One
	for _, f := range change {
		f(cfg)
	}
	session, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	t.Cleanup(session.Close)
	return &shop{session, c}
}

// inShop runs f in virtual time, at most a day of it: a test that waits for what never happens would not end, because
// the heartbeats of the session let the time go on.
func inShop(t *testing.T, replicas int, f func(t *testing.T, s *shop), change ...func(*vecql.ClusterConfig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		bound := time.AfterFunc(24*time.Hour, func() { panic(t.Name() + " waits for what never happens") })
		defer bound.Stop()
		f(t, newShop(t, replicas, change...))
	})
}

// items returns rows first to first+n-1 of shop.items. Every third name is NULL.
func items(first, n int) *column.Batch {
	ids, names, prices := make([]int64, n), make([]string, n), make([]int32, n)
	vectors, null := make([]float32, 2*n), make([]bool, n)
	for i := range n {
		id := first + i
		ids[i], names[i], prices[i], vectors[2*i], null[i] = int64(id), fmt.Sprint("item ", id), int32(id%100), float32(id), id%3 == 2
	}
	b := column.NewBatch(column.Of("id", ids), column.Strings("name", names).WithNulls(null), column.Of("price", prices),
		column.Matrix("embedding", vectors, 2))
	b.Source = column.Source{File: "items", FirstRow: int64(first)}
	return b
}

// requireItems fails unless the table has exactly the first n items.
func (s *shop) requireItems(t *testing.T, n int) {
	t.Helper()
	found := make([]*column.Batch, n)
	for b, err := range s.Query("SELECT id, name, price, embedding FROM shop.items").Batches(t.Context()) {
		require.NoError(t, err)
		ids, err := column.Slice[int64](b.Column("id"))
		require.NoError(t, err)
		for i, id := range ids {
			require.Less(t, id, int64(n))
			found[id] = b.Slice(i, i+1)
		}
	}
	for id, b := range found {
		require.NotNil(t, b, "row %d is missing", id)
	}
	if n > 0 {
		all, err := column.Concat(found...)
		require.NoError(t, err)
		require.Empty(t, column.Diff(all, items(0, n)))
	}
}

// writeItems writes rows first to end-1 in batches.
func writeItems(ctx context.Context, w *Writer, first, end int) error {
	for ; first < end; first += 100 {
		if err := w.Write(ctx, items(first, min(100, end-first))); err != nil {
			return err
		}
	}
	return nil
}

func TestInsert(t *testing.T) {
	inShop(t, 3, func(t *testing.T, s *shop) {
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{})
		require.NoError(t, err)
		require.NoError(t, writeItems(t.Context(), w, 0, 1000))
		require.NoError(t, w.Flush(t.Context()))
		s.requireItems(t, 1000)
		st := w.Stats()
		require.EqualValues(t, 1000, st.Rows)
		require.Zero(t, st.Pending+st.InFlight+int(st.PendingBytes))
		require.Len(t, st.Targets, 3)
		require.Positive(t, st.PeakInFlight)
		require.EqualValues(t, 1000, w.Checkpoint().Sources["items"].Watermark())
		require.NoError(t, w.Close(t.Context()))
		require.ErrorIs(t, w.Close(t.Context()), ErrClosed)
		require.ErrorIs(t, w.Write(t.Context(), items(0, 1)), ErrClosed)
	})
}

// TestNulls writes NULLs over values, which are kept, or deleted with WriteNulls.
func TestNulls(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		for _, write := range []bool{false, true} {
			require.NoError(t, s.Query("INSERT INTO shop.items (id, name) VALUES (2, 'kept')").Exec(t.Context()))
			w, err := Insert(t.Context(), s.Session, "shop.items", Options{WriteNulls: write})
			require.NoError(t, err)
			require.NoError(t, w.Write(t.Context(), items(2, 1)))
			require.NoError(t, w.Close(t.Context()))
			name, err := vecql.OneRow[cql.Null[string]](t.Context(), s.Query("SELECT name FROM shop.items WHERE id = 2"))
			require.NoError(t, err)
			require.Equal(t, !write, name.Valid)
		}
	})
}

type item struct {
	ID        int64
	Name      *string
	Price     int32
	Embedding []float32
}

func TestRows(t *testing.T) {
	inShop(t, 2, func(t *testing.T, s *shop) {
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{})
		require.NoError(t, err)
		values := make([]item, 300)
		for i := range values {
			values[i] = item{ID: int64(i), Price: int32(i % 100), Embedding: []float32{float32(i), 0}}
			if i%3 != 2 {
				name := fmt.Sprint("item ", i)
				values[i].Name = &name
			}
		}
		require.NoError(t, Rows(t.Context(), w, values[:200]))
		require.NoError(t, Rows(t.Context(), w, values[200:]))
		require.ErrorIs(t, Rows(t.Context(), w, []struct{ ID int64 }{{1}}), ErrColumns)
		require.NoError(t, w.Close(t.Context()))
		s.requireItems(t, 300)
		require.EqualValues(t, 300, w.Checkpoint().Sources[""].Watermark())
	})
}

// TestTableOfTheKeyspaceOfTheSession needs no keyspace in its name.
func TestTableOfTheKeyspaceOfTheSession(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		w, err := Insert(t.Context(), s.Session, "items", Options{})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), items(0, 3)))
		require.NoError(t, w.Close(t.Context()))
		s.requireItems(t, 3)
	}, func(cfg *vecql.ClusterConfig) { cfg.Keyspace = "shop" })
}

// TestBatchWithoutAColumnOfTheStatement leaves the writer of New as it was.
func TestBatchWithoutAColumnOfTheStatement(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		w, err := New(t.Context(), s.Session, "INSERT INTO shop.items (id, name, price, embedding) VALUES (:id, :name, :price, :embedding)", Options{})
		require.NoError(t, err)
		for range 2 {
			b := items(0, 3)
			require.ErrorContains(t, w.Write(t.Context(), column.NewBatch(b.Columns[:2]...)), "price")
		}
		require.NoError(t, w.Write(t.Context(), items(0, 3)))
		require.NoError(t, w.Close(t.Context()))
		require.Zero(t, w.Stats().Rejected)
		s.requireItems(t, 3)
	})
}

// TestColumns has batches whose columns do not match the columns of the table.
func TestColumns(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		b := items(0, 3)
		extra := column.NewBatch(append(b.Columns, column.Of("more", []int64{1, 2, 3}))...)
		renamed := column.NewBatch(b.Columns[0].As("key"), b.Columns[1], b.Columns[2], b.Columns[3])
		for _, c := range []struct {
			o     Options
			batch *column.Batch
			want  string
		}{
			{Options{}, b, ""},
			{Options{}, extra, ""},
			{Options{RefuseExtra: true}, extra, `no column "more"`},
			{Options{Columns: map[string]string{"more": ""}, RefuseExtra: true}, extra, ""},
			{Options{Columns: map[string]string{"key": "id"}}, renamed, ""},
			{Options{Columns: map[string]string{"key": "ident"}}, renamed, `no column "ident"`},
			{Options{Columns: map[string]string{"name": "id"}}, b, `another one`},
			{Options{Columns: map[string]string{"nome": "name"}}, b, `the rows have no column "nome"`},
			{Options{}, renamed, `no column of the rows goes to "id"`},
			{Options{}, column.NewBatch(b.Columns[:2]...), `no column of the rows goes to "embedding"`},
			{Options{AllowMissing: true}, column.NewBatch(b.Columns[:2]...), ""},
			{Options{AllowMissing: true}, column.NewBatch(b.Columns[1:]...), `no column of the rows goes to "id"`},
			{Options{TTLColumn: "ttl"}, b, `the rows have no column "ttl"`},
		} {
			w, err := Insert(t.Context(), s.Session, "shop.items", c.o)
			require.NoError(t, err)
			err = w.Write(t.Context(), c.batch)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, ErrColumns)
				require.ErrorContains(t, err, c.want)
				require.NoError(t, w.errorOf(nil), "the writer can go on")
			}
			require.NoError(t, w.Close(t.Context()))
		}
	})
}

// TestSchemas writes batches of several schemas with one writer, in turns.
func TestSchemas(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{AllowMissing: true})
		require.NoError(t, err)
		for first := 0; first < 40; first += 10 {
			b := items(first, 10)
			if first%20 == 10 { // the same columns in another order
				b.Columns[0], b.Columns[3] = b.Columns[3], b.Columns[0]
			}
			require.NoError(t, w.Write(t.Context(), b))
		}
		keys := items(40, 1)
		keys.Columns = keys.Columns[:1]
		require.NoError(t, w.Write(t.Context(), keys))
		require.NoError(t, w.Write(t.Context(), items(40, 10)))
		require.NoError(t, w.Close(t.Context()))
		require.EqualValues(t, 51, w.Stats().Rows)
		s.requireItems(t, 50)
	})
}

// TestTTLAndTimestamp sets both, fixed and by column.
func TestTTLAndTimestamp(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		b := items(0, 2)
		b.Columns = append(b.Columns, column.Of("ttl", []int32{100, 200}), column.Of("ts", []int64{1000, 2000}))
		for i, o := range []Options{
			{TTL: 100 * time.Second, Query: func(q *vecql.Query) { q.Timestamp(1000) }},
			{TTLColumn: "ttl", TimestampColumn: "ts"},
		} {
			require.NoError(t, s.cluster.Exec("TRUNCATE shop.items"))
			w, err := Insert(t.Context(), s.Session, `"shop"."items"`, o)
			require.NoError(t, err)
			require.NoError(t, w.Write(t.Context(), b))
			require.NoError(t, w.Close(t.Context()))
			for id, want := range [][2]int64{{100, 1000}, {100 + 100*int64(i), 1000 + 1000*int64(i)}} {
				var ttl, written int64
				require.NoError(t, s.Query("SELECT ttl(price), writetime(price) FROM shop.items WHERE id = ?", id).Scan(t.Context(), &ttl, &written))
				require.Equal(t, want, [2]int64{ttl, written})
			}
		}
	})
}

// TestNullTTL has rows without a time to live or a write time: the server's defaults apply.
func TestNullTTL(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		b := items(0, 2)
		b.Columns = append(b.Columns, column.Of("ttl", []int32{100, 0}).WithNulls([]bool{false, true}),
			column.Of("ts", []int64{1000, 0}).WithNulls([]bool{false, true}))
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{TTLColumn: "ttl", TimestampColumn: "ts"})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), b))
		require.NoError(t, w.Close(t.Context()))
		var ttl cql.Null[int]
		var written int64
		require.NoError(t, s.Query("SELECT ttl(price), writetime(price) FROM shop.items WHERE id = 1").Scan(t.Context(), &ttl, &written))
		require.False(t, ttl.Valid)
		require.Greater(t, written, int64(1000))
		require.NoError(t, s.Query("SELECT ttl(price), writetime(price) FROM shop.items WHERE id = 0").Scan(t.Context(), &ttl, &written))
		require.Equal(t, cql.Null[int]{V: 100, Valid: true}, ttl)
		require.EqualValues(t, 1000, written)
	})
}

func TestNewRefuses(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		_, err := New(t.Context(), s.Session, "UPDATE shop.hits SET n = n + :n WHERE id = :id", Options{})
		require.ErrorIs(t, err, ErrCounters)
		_, err = Insert(t.Context(), s.Session, "shop.hits", Options{Counters: true})
		require.ErrorIs(t, err, ErrCounters)
		_, err = New(t.Context(), s.Session, "SELECT * FROM shop.items", Options{})
		require.ErrorIs(t, err, ErrOptions)
		_, err = New(t.Context(), s.Session, "DELETE FROM shop.items WHERE id = ?", Options{TTL: time.Second, AllowMissing: true})
		require.ErrorIs(t, err, ErrOptions)
		require.ErrorContains(t, err, "AllowMissing, TTL: for Insert only")
		_, err = Insert(t.Context(), s.Session, "shop.items", Options{BatchRows: vecql.BatchSizeMaximum + 1})
		require.ErrorIs(t, err, ErrOptions)
		_, err = Insert(t.Context(), s.Session, "shop.items", Options{MaxInFlight: -1})
		require.ErrorIs(t, err, ErrOptions)
		_, err = New(t.Context(), s.Session, "INSERT INTO shop.items (id) VALUES (:id)", Options{MaxInFlight: -1})
		require.ErrorIs(t, err, ErrOptions)
		_, err = New(t.Context(), s.Session, "INSERT INTO shop.nothing (id) VALUES (:id)", Options{})
		require.ErrorIs(t, err, cql.CodeInvalid)
		_, err = Insert(t.Context(), s.Session, "shop.nothing", Options{})
		require.ErrorIs(t, err, vecql.ErrNoTable)
	})
}

// trouble makes requests fail in all ways that pass, at random.
func (s *shop) trouble(share int) {
	sometimes := func(cqltest.Request) bool { return rand.IntN(share) == 0 }
	for _, f := range []cqltest.Fault{
		{Error: &cqltest.Error{Code: cqltest.CodeOverloaded}},
		{Error: &cqltest.Error{Code: cqltest.CodeUnavailable}},
		{Error: &cqltest.Error{Code: cqltest.CodeWriteTimeout}, Execute: true},
		{Drop: true},
		{Close: true, Execute: true},
		{Delay: 50 * time.Millisecond, Jitter: 100 * time.Millisecond},
	} {
		for _, f.Op = range []cqltest.Opcode{cqltest.OpExecute, cqltest.OpBatch} {
			f.Match = sometimes
			s.cluster.Inject(f)
		}
	}
}

func shortTimeout(cfg *vecql.ClusterConfig) { cfg.Timeout = 200 * time.Millisecond }

// TestTrouble loses no row to faults of all kinds, and stays within its bounds.
func TestTrouble(t *testing.T) {
	inShop(t, 2, func(t *testing.T, s *shop) {
		s.trouble(20)
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpBatch, Delay: time.Millisecond})
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{MaxInFlight: 24, MaxBytes: 2000})
		require.NoError(t, err)
		require.NoError(t, writeItems(t.Context(), w, 0, 1500))
		require.NoError(t, w.Close(t.Context()))
		st := w.Stats()
		require.EqualValues(t, 1500, st.Rows)
		require.Positive(t, st.Retries)
		require.LessOrEqual(t, st.PeakInFlight, 24)
		require.LessOrEqual(t, st.PeakBytes, int64(2000))
		s.cluster.ClearFaults()
		s.requireItems(t, 1500)
	}, shortTimeout)
}
