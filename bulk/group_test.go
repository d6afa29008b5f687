// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// Batches of rows.

const eventSchema = `CREATE TABLE shop.events (id bigint, n int, a text, b text, s text static, PRIMARY KEY (id, n))`

// events returns the rows 0 to perPartition-1 of each of the partitions, in order.
func events(partitions, perPartition int) *column.Batch {
	var ids []int64
	var ns []int32
	var as, bs []string
	for id := range partitions {
		for n := range perPartition {
			ids, ns = append(ids, int64(id)), append(ns, int32(n))
			as, bs = append(as, fmt.Sprint("a", id, n)), append(bs, fmt.Sprint("b", n))
		}
	}
	b := column.NewBatch(column.Of("id", ids), column.Of("n", ns), column.Strings("a", as), column.Strings("b", bs))
	b.Source = column.Source{File: "events"}
	return b
}

// requireEvents fails unless the table has exactly the rows of b.
func (s *shop) requireEvents(t *testing.T, b *column.Batch) {
	t.Helper()
	lines := func(b *column.Batch) (list []string) {
		for i := range b.Rows {
			list = append(list, fmt.Sprintln(b.Column("id").Value(i), b.Column("n").Value(i), b.Column("a").Value(i), b.Column("b").Value(i)))
		}
		return list
	}
	var got []string
	for page, err := range s.Query("SELECT id, n, a, b FROM shop.events").Batches(t.Context()) {
		require.NoError(t, err)
		got = append(got, lines(page)...)
	}
	want := lines(b)
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, want, got)
}

// A requests collects the ids and the clustering keys of the rows of each request.
type requests struct {
	mu    sync.Mutex
	rows  [][][2]string
	nodes [][16]byte // host ids, of each request
}

func (r *requests) observe(s *shop, op cqltest.Opcode) {
	s.cluster.Observe(cqltest.Fault{Op: op, Statement: "events", Match: func(q cqltest.Request) bool {
		var rows [][2]string
		for i, v := range q.Values {
			if v.Name == "id" {
				rows = append(rows, [2]string{v.Text(), q.Values[i+1].Text()})
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.rows, r.nodes = append(r.rows, rows), append(r.nodes, q.Node.HostID())
		return true
	}})
}

// TestGroups sends rows of one partition together, within the bounds, and others alone.
func TestGroups(t *testing.T) {
	for _, c := range []struct {
		name                     string
		rows, partitions, bounds int
		batches, alone           int
	}{
		{"partitions of 100", 100, 5, 0, 10, 0},
		{"bounded", 100, 5, 30, 20, 0},
		{"off", 100, 5, 1, 0, 500},
		{"single rows", 1, 200, 0, 0, 200},
		{"pairs", 2, 100, 0, 100, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inShop(t, 2, func(t *testing.T, s *shop) {
				require.NoError(t, s.cluster.Exec(eventSchema))
				batched, alone := &requests{}, &requests{}
				batched.observe(s, cqltest.OpBatch)
				alone.observe(s, cqltest.OpExecute)
				w, err := Insert(t.Context(), s.Session, "shop.events", Options{BatchRows: c.bounds, BatchPartitions: 1, AllowMissing: true})
				require.NoError(t, err)
				require.NoError(t, s.Ready(t.Context()))
				b := events(c.partitions, c.rows)
				require.NoError(t, w.Write(t.Context(), b))
				require.NoError(t, w.Close(t.Context()))
				st := w.Stats()
				require.EqualValues(t, b.Rows, st.Rows)
				require.EqualValues(t, b.Rows, w.Checkpoint().Sources["events"].Watermark())
				require.Zero(t, st.Pending+int(st.PendingBytes))
				sent := 0
				for _, rows := range batched.rows {
					sent += len(rows)
					require.LessOrEqual(t, len(rows), w.o.BatchRows)
					for _, row := range rows {
						require.Equal(t, rows[0][0], row[0], "one partition")
					}
				}
				require.Equal(t, b.Rows, sent+len(alone.rows))
				require.Len(t, batched.rows, c.batches)
				require.Len(t, alone.rows, c.alone)
				s.requireEvents(t, b)
			})
		})
	}
}

// TestGroupsAcrossPartitions sends small rows of several partitions together if one node has all: each row once, to a
// node that has it, in batches within the bounds.
func TestGroupsAcrossPartitions(t *testing.T) {
	const rows = 400
	for _, c := range []struct {
		name       string
		replicas   int // of three nodes
		partitions int
		requests   int // at most
	}{
		{"all nodes have all rows", 3, 0, rows / defaultBatchPartitions},
		{"bounded", 3, 4, rows / 4},
		{"one replica", 1, 0, rows * 3 / 4},
		{"off", 3, 1, rows},
	} {
		t.Run(c.name, func(t *testing.T) {
			inShop(t, c.replicas, func(t *testing.T, s *shop) {
				require.NoError(t, s.cluster.Exec("CREATE TABLE shop.events (id bigint PRIMARY KEY, a text)"))
				batched, alone := &requests{}, &requests{}
				batched.observe(s, cqltest.OpBatch)
				alone.observe(s, cqltest.OpExecute)
				w, err := Insert(t.Context(), s.Session, "shop.events", Options{BatchPartitions: c.partitions})
				require.NoError(t, err)
				require.NoError(t, s.Ready(t.Context()))
				b := events(rows, 1)
				b = column.NewBatch(b.Columns[0], b.Columns[2])
				require.NoError(t, w.Write(t.Context(), b))
				require.NoError(t, w.Close(t.Context()))
				require.EqualValues(t, rows, w.Stats().Rows)
				require.LessOrEqual(t, len(batched.rows)+len(alone.rows), c.requests)
				statement, err := s.Query("INSERT INTO shop.events (id, a) VALUES (:id, :a)").PrepareRows(t.Context(), b.Schema())
				require.NoError(t, err)
				sent, nodes := map[string]int{}, slices.Concat(batched.nodes, alone.nodes)
				for i, one := range slices.Concat(batched.rows, alone.rows) {
					require.LessOrEqual(t, len(one), w.o.BatchPartitions)
					for _, row := range one {
						sent[row[0]]++
						var encoded vecql.EncodedRows
						id, err := strconv.Atoi(row[0])
						require.NoError(t, err)
						require.NoError(t, statement.Encode(t.Context(), &encoded, b, id))
						require.True(t, slices.ContainsFunc(encoded.Targets(nil), func(to vecql.Replica) bool {
							return to.HostID == nodes[i]
						}), "row %s is not on the node that it was sent to", row[0])
					}
				}
				require.Len(t, sent, rows)
				for id, n := range sent {
					require.Equal(t, 1, n, "row %s", id)
				}
				var stored int64
				require.NoError(t, s.Query("SELECT count(*) FROM shop.events").Scan(t.Context(), &stored))
				require.EqualValues(t, rows, stored)
			})
		})
	}
}

// TestGroupBytes ends a batch before it has too many bytes.
func TestGroupBytes(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		require.NoError(t, s.cluster.Exec(eventSchema))
		b := events(1, 40)
		large := make([]string, b.Rows)
		for i := range large {
			large[i] = string(slices.Repeat([]byte{'x'}, 5000))
		}
		b.Columns[2] = column.Strings("a", large)
		batched := &requests{}
		batched.observe(s, cqltest.OpBatch)
		w, err := Insert(t.Context(), s.Session, "shop.events", Options{AllowMissing: true})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), b))
		require.NoError(t, w.Close(t.Context()))
		for _, rows := range batched.rows {
			require.LessOrEqual(t, len(rows), batchBytes/5000)
		}
		require.GreaterOrEqual(t, len(batched.rows), 40*5000/batchBytes)
		s.requireEvents(t, b)
	})
}

// TestGroupKeys writes rows with one primary key: one of them remains, no mixture.
func TestGroupKeys(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		require.NoError(t, s.cluster.Exec(eventSchema))
		b := column.NewBatch(column.Of("id", []int64{1, 1, 1, 1}), column.Of("n", []int32{5, 6, 5, 5}),
			column.Strings("a", []string{"z", "o", "y", "x"}), column.Strings("b", []string{"1", "o", "2", "3"}))
		w, err := Insert(t.Context(), s.Session, "shop.events", Options{AllowMissing: true})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), b))
		require.NoError(t, w.Close(t.Context()))
		var row struct{ A, B string }
		require.NoError(t, s.Query("SELECT a, b FROM shop.events WHERE id = 1 AND n = 5").Scan(t.Context(), &row.A, &row.B))
		require.Contains(t, []string{"z1", "y2", "x3"}, row.A+row.B)
	})
}

// TestGroupRejected refuses one row of a batch: it is rejected with its position, and the others are written.
func TestGroupRejected(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		require.NoError(t, s.cluster.Exec(eventSchema))
		b := events(3, 50)
		refuse := func(r cqltest.Request) bool {
			return slices.ContainsFunc(r.Values, func(v cqltest.Value) bool { return v.Text() == "'a1 7'" })
		}
		for _, op := range []cqltest.Opcode{cqltest.OpBatch, cqltest.OpExecute} {
			s.cluster.Inject(cqltest.Fault{Op: op, Match: refuse, Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
		}
		var seen []Rejection
		w, err := Insert(t.Context(), s.Session, "shop.events", Options{AllowMissing: true, MaxRejected: 1, Rejected: func(r Rejection) error {
			seen = append(seen, r)
			return nil
		}})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), b))
		require.NoError(t, w.Close(t.Context()))
		require.Len(t, seen, 1)
		require.EqualValues(t, 57, seen[0].Index)
		require.Equal(t, "a1 7", seen[0].Batch.Column("a").Value(0))
		require.Equal(t, 2, seen[0].Attempts, "in the batch, and alone")
		require.ErrorIs(t, seen[0].Err, cql.CodeInvalid)
		require.EqualValues(t, 149, w.Stats().Rows)
		require.EqualValues(t, 150, w.Checkpoint().Sources["events"].Watermark())
		s.cluster.ClearFaults()
		rest, err := column.Concat(b.Slice(0, 57), b.Slice(58, 150))
		require.NoError(t, err)
		s.requireEvents(t, rest)
	})
}

// TestGroupGap has a row that cannot be encoded within a partition: it is rejected without an attempt, and the rows
// around it, which do not follow each other, are done under their own numbers.
func TestGroupGap(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		require.NoError(t, s.cluster.Exec(eventSchema))
		b := events(1, 6)
		b.Columns[1] = column.Of("n", []int64{0, 1, 1 << 40, 3, 4, 5}) // an int
		var seen []Rejection
		w, err := Insert(t.Context(), s.Session, "shop.events", Options{AllowMissing: true, MaxRejected: 1, Rejected: func(r Rejection) error {
			seen = append(seen, r)
			return nil
		}})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), b))
		require.NoError(t, w.Close(t.Context()))
		require.Len(t, seen, 1)
		require.Equal(t, [2]int64{2, 0}, [2]int64{seen[0].Index, int64(seen[0].Attempts)})
		var failed *cql.MarshalError
		require.ErrorAs(t, seen[0].Err, &failed)
		require.Equal(t, "n", failed.Column)
		require.Equal(t, [2]uint64{5, 1}, [2]uint64{w.Stats().Rows, w.Stats().Rejected})
		require.EqualValues(t, 6, w.Checkpoint().Sources["events"].Watermark())
		b = events(1, 6)
		rest, err := column.Concat(b.Slice(0, 2), b.Slice(3, 6))
		require.NoError(t, err)
		s.requireEvents(t, rest)
	})
}

// TestGroupTrouble loses no row to faults of all kinds, and resumes within a partition.
func TestGroupTrouble(t *testing.T) {
	inShop(t, 2, func(t *testing.T, s *shop) {
		require.NoError(t, s.cluster.Exec(eventSchema))
		s.trouble(20)
		for _, f := range []cqltest.Fault{
			{Error: &cqltest.Error{Code: cqltest.CodeOverloaded}, Times: 5},
			{Error: &cqltest.Error{Code: cqltest.CodeWriteTimeout}, Execute: true, Times: 3},
			{Drop: true, Times: 3},
		} {
			f.Op = cqltest.OpBatch
			s.cluster.Inject(f)
		}
		b := events(40, 37)
		checkpoint := t.TempDir() + "/checkpoint.json"
		retries := uint64(0)
		for _, end := range []int{700, b.Rows} { // within a partition
			w, err := Insert(t.Context(), s.Session, "shop.events", Options{
				AllowMissing: true, MaxInFlight: 8, MaxBytes: 4000, BatchRows: 10, Checkpoint: checkpoint,
			})
			require.NoError(t, err)
			require.NoError(t, w.Write(t.Context(), b.Slice(0, end)))
			require.NoError(t, w.Close(t.Context()))
			st := w.Stats()
			require.EqualValues(t, end, st.Rows+st.Skipped)
			require.LessOrEqual(t, st.PeakInFlight, 8)
			require.LessOrEqual(t, st.PeakBytes, int64(4000))
			retries += st.Retries
		}
		require.Positive(t, retries)
		s.cluster.ClearFaults()
		s.requireEvents(t, b)
	}, shortTimeout)
}

// TestGroupStopped closes a writer with batches in flight and in the queue: their rows are not done.
func TestGroupStopped(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		require.NoError(t, s.cluster.Exec(eventSchema))
		refused := errors.New("refused")
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpBatch, Skip: 3, Delay: time.Second, Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
		w, err := Insert(t.Context(), s.Session, "shop.events", Options{
			AllowMissing: true, MaxInFlight: 2, MaxRejected: 3, Rejected: func(Rejection) error { return refused },
		})
		require.NoError(t, err)
		err = w.Write(t.Context(), events(20, 20))
		require.ErrorIs(t, errors.Join(err, w.Close(t.Context())), refused)
		st := w.Stats()
		require.Less(t, st.Rows, uint64(100))
		require.Zero(t, st.Pending+int(st.PendingBytes)+st.InFlight)
		done := uint64(0)
		for _, v := range w.Checkpoint().Sources["events"].Done {
			done += uint64(v[1] - v[0])
		}
		require.Equal(t, st.Rows, done)
	})
}

// failingRows fail to encode one row.
type failingRows struct {
	rowSet
	at  int
	err error
}

func (r *failingRows) encode(ctx context.Context, to *vecql.EncodedRows, i int) error {
	if i == r.at {
		return r.err
	}
	return r.rowSet.encode(ctx, to, i)
}

type event struct {
	ID   int64
	N    int32
	A, B string
}

// TestGroupsOfStructs sends structs of one partition in one request. Those with one primary key follow each other.
func TestGroupsOfStructs(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		require.NoError(t, s.cluster.Exec(eventSchema))
		var seen requests
		seen.observe(s, cqltest.OpBatch)
		w, err := Insert(t.Context(), s.Session, "shop.events", Options{AllowMissing: true})
		require.NoError(t, err)
		require.NoError(t, Rows(t.Context(), w, []event{{ID: 1, N: 0}, {ID: 1, N: 1}, {ID: 1, N: 2}, {ID: 1, N: 2, A: "last"}, {ID: 1, N: 3}}))
		require.NoError(t, w.Close(t.Context()))
		require.Len(t, seen.rows, 2)
		require.ElementsMatch(t, []int{3, 2}, []int{len(seen.rows[0]), len(seen.rows[1])})
	})
}

// TestTaskEncode encodes a batch again, which fails at one of its rows: the next attempt sends all of them or none.
func TestTaskEncode(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		require.NoError(t, s.cluster.Exec(eventSchema))
		b := events(2, 3)
		statement, err := s.Query("INSERT INTO shop.events (id, n, a, b) VALUES (:id, :n, :a, :b)").PrepareRows(t.Context(), b.Schema())
		require.NoError(t, err)
		failed := errors.New("failed")
		for _, c := range []struct {
			at, rows, want int
			err            error
		}{{-1, 3, 3, nil}, {2, 3, 0, failed}, {0, 3, 0, failed}, {-1, 4, 4, nil}, {0, 1, 0, failed}, {-1, 1, 1, nil}} {
			rows := &failingRows{&batchRows{statement: statement, batch: b}, c.at, failed}
			w := task{job: &job{rows: rows}, rows: c.rows, encoded: newEncoded()}
			require.ErrorIs(t, w.encode(t.Context()), c.err)
			require.Equal(t, c.want, w.encoded.Rows())
			freeEncoded(w.encoded)
		}
	})
}

// TestGroupsOnV3: PREPARE of v3 does not return the partition key, and rows are joined all the same, except where a
// column has another name in the batch. None reaches another partition.
func TestGroupsOnV3(t *testing.T) {
	c := cqltest.New(t, cqltest.Config{Network: cqltest.InMemory, Protocol: 3})
	require.NoError(t, c.Exec("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}; "+eventSchema))
	s, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: c.Hosts(), Pool: vecql.PoolConfig{Dialer: c.Dialer()}})
	require.NoError(t, err)
	defer s.Close()
	require.Equal(t, 3, s.ProtoVersion())
	rows := events(10, 20)
	renamed := rows.Slice(0, rows.Rows)
	renamed.Columns = slices.Clone(renamed.Columns)
	renamed.Columns[0].Name = "key"
	for name, m := range map[string]struct {
		b       *column.Batch
		columns map[string]string
		most    int // requests
	}{
		"names of the table": {rows, nil, 20},
		"another name":       {renamed, map[string]string{"key": "id"}, 400},
	} {
		require.NoError(t, c.Exec("TRUNCATE shop.events"))
		before := s.Stats().Requests
		w, err := Insert(t.Context(), s, "shop.events", Options{Columns: m.columns, AllowMissing: true})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), m.b))
		require.NoError(t, w.Close(t.Context()))
		require.LessOrEqual(t, s.Stats().Requests-before, uint64(m.most), name)
		(&shop{Session: s}).requireEvents(t, rows)
	}
}
