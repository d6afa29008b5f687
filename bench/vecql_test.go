// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bench/workload"
	"github.com/vecql/vecql/cql"
)

func TestMain(m *testing.M) { workload.Main(m) }

// drivers lists vecql with the methods it shares with its peers, and the variants that only vecql has: encoding and
// decoding into the caller's memory, typed rows, whole columns.
var drivers = []workload.Driver{
	{Name: "vecql", Versions: []int{4, 5}, Vectors: true, Open: open(session{})},
	{Name: "vecql-typed", Versions: []int{4, 5}, Vectors: true, Open: open(session{way: "typed"}), Only: []string{"Insert", "ReadRow"}},
	{Name: "vecql-append", Versions: []int{4, 5}, Vectors: true, Open: open(session{way: "append"}), Only: []string{"Marshal"}},
	{Name: "vecql-into", Versions: []int{4, 5}, Vectors: true, Open: open(session{way: "into"}), Only: []string{"Scan/vector"}},
	{Name: "vecql-rows", Versions: []int{4, 5}, Vectors: true, Open: open(session{way: "rows"}), Only: []string{"Scan"}},
	{Name: "vecql-batch", Versions: []int{4, 5}, Vectors: true, Open: open(session{way: "batch"}), Only: []string{"Insert/vector", "Insert/small", "Scan"}},
}

func BenchmarkMarshal(b *testing.B)    { workload.Marshal(b, append(drivers, limits...)) }
func BenchmarkUnmarshal(b *testing.B)  { workload.Unmarshal(b, append(drivers, limits...)) }
func BenchmarkCollection(b *testing.B) { workload.Collection(b, drivers) }
func BenchmarkInsert(b *testing.B)     { workload.Insert(b, drivers); floorInsert(b) }
func BenchmarkReadRow(b *testing.B)    { workload.ReadRow(b, drivers); floorReadRow(b) }
func BenchmarkScan(b *testing.B)       { workload.Scan(b, drivers); floorScan(b) }

type session struct {
	*vecql.Session
	way          string
	insertVector *vecql.Statement[vectorItem]
	insertSmall  *vecql.Statement[smallItem]
	insertMixed  *vecql.Statement[workload.MixedRow]
	readVector   *vecql.Statement[cql.UUID]
	rowsVector   *vecql.RowStatement
	rowsSmall    *vecql.RowStatement
}

// vectorItem and smallItem are the parameters of typed statements.
type vectorItem struct {
	ID cql.UUID
	V  []float32
}

type smallItem struct{ K, V int64 }

// The workload passes values, but typed statements take pointers, which a program has without a pool.
var (
	vectorItems = sync.Pool{New: func() any { return new(vectorItem) }}
	smallItems  = sync.Pool{New: func() any { return new(smallItem) }}
	ids         = sync.Pool{New: func() any { return new(cql.UUID) }}
)

// prepare prepares the typed statements.
func (s *session) prepare() (err error) {
	ctx := context.Background()
	if s.insertVector, err = vecql.Prepare[vectorItem](ctx, s.Query(workload.InsertVector)); err != nil {
		return err
	}
	if s.insertSmall, err = vecql.Prepare[smallItem](ctx, s.Query(workload.InsertSmall)); err != nil {
		return err
	}
	if s.insertMixed, err = vecql.Prepare[workload.MixedRow](ctx, s.Query(workload.InsertMixed)); err != nil {
		return err
	}
	s.readVector, err = vecql.Prepare[cql.UUID](ctx, s.Query(workload.ReadVector))
	return err
}

func open(way session) func(addr string, version int) (workload.Session, error) {
	return func(addr string, version int) (workload.Session, error) {
		s := way
		cfg := &vecql.ClusterConfig{Hosts: []string{addr}}
		cfg.Protocol.Version, cfg.Pool.NumConns, cfg.Defaults.Consistency = version, 1, cql.One
		cfg.Logger = slog.New(slog.DiscardHandler)
		var err error
		if s.Session, err = vecql.NewSession(context.Background(), *cfg); err == nil && s.way == "typed" {
			err = s.prepare()
		}
		if err == nil && s.way == "batch" {
			err = s.prepareRows()
		}
		return &s, err
	}
}

// The ways of a session are methods of their own: a Query is on the stack of its method.

func (s *session) InsertVector(id [16]byte, v []float32) error {
	if s.rowsVector != nil {
		return s.insertVectorRow(id, v)
	}
	if s.insertVector != nil {
		return s.insertVectorItem(id, v)
	}
	return s.insertVectorValues(id, v)
}

func (s *session) insertVectorValues(id [16]byte, v []float32) error {
	return s.Query(workload.InsertVector, cql.UUID(id), v).Exec(context.Background())
}

func (s *session) insertVectorItem(id [16]byte, v []float32) error {
	item := vectorItems.Get().(*vectorItem)
	defer vectorItems.Put(item)
	item.ID, item.V = id, v
	return s.insertVector.Exec(context.Background(), item)
}

func (s *session) InsertMixed(r *workload.MixedRow) error {
	if s.insertMixed != nil {
		return s.insertMixed.Exec(context.Background(), r)
	}
	return s.Query(workload.InsertMixed, cql.UUID(r.ID), r.Name, r.Age, r.Views, r.Level, r.Kind, r.Active, r.Score, r.Price, r.Created, r.Day,
		r.Addr, r.Data, cql.UUID(r.Event), r.Tags, r.Marks, r.Counts, r.Note, cql.UUID(r.Parent), r.Total).Exec(context.Background())
}

func (s *session) InsertSmall(k, v int64) error {
	if s.rowsSmall != nil {
		return s.insertSmallRow(k, v)
	}
	if s.insertSmall != nil {
		return s.insertSmallItem(k, v)
	}
	return s.insertSmallValues(k, v)
}

func (s *session) insertSmallValues(k, v int64) error {
	return s.Query(workload.InsertSmall, k, v).Exec(context.Background())
}

func (s *session) insertSmallItem(k, v int64) error {
	item := smallItems.Get().(*smallItem)
	defer smallItems.Put(item)
	item.K, item.V = k, v
	return s.insertSmall.Exec(context.Background(), item)
}

func (s *session) ReadVector(id [16]byte) (workload.VectorRow, error) {
	if s.readVector != nil {
		return s.readVectorItem(id)
	}
	return s.readVectorValues(id)
}

func (s *session) readVectorValues(id [16]byte) (r workload.VectorRow, err error) {
	var got cql.UUID
	err = s.Query(workload.ReadVector, cql.UUID(id)).Scan(context.Background(), &got, &r.V)
	r.ID = got
	return r, err
}

func (s *session) readVectorItem(id [16]byte) (r workload.VectorRow, err error) {
	key, got := ids.Get().(*cql.UUID), ids.Get().(*cql.UUID)
	defer ids.Put(key)
	defer ids.Put(got)
	*key = id
	err = s.readVector.Scan(context.Background(), key, got, &r.V)
	r.ID = *got
	return r, err
}

func (s *session) Scan(rows string, pages, limit int, check bool) (n int, err error) {
	q := s.Query(scans[rows], pages)
	switch s.way {
	case "rows":
		return s.scanRows(q, rows, limit, check)
	case "batch":
		return s.scanBatches(q, rows, limit, check)
	}
	it := q.Iter(context.Background())
	switch rows {
	case "vector":
		var r workload.VectorRow
		var id cql.UUID
		into := any(&r.V)
		if s.way == "into" {
			r.V = make([]float32, workload.Dim)
			into = vecql.Into(r.V)
		}
		for n < limit && it.Scan(&id, into) {
			if check {
				r.ID = id
				err = errors.Join(err, r.Check(n))
			}
			n++
		}
	case "small":
		var r workload.SmallRow
		var parent cql.UUID
		for n < limit && it.Scan(&r.ID, &r.Age, &r.Name, &r.Active, &r.Price, &r.Created, &parent, &r.Score, &r.Level, &r.Note) {
			if check {
				r.Parent = parent
				err = errors.Join(err, r.Check(n))
			}
			n++
		}
	case "mixed":
		var r workload.MixedRow
		var id, event, parent cql.UUID
		for n < limit && it.Scan(&id, &r.Name, &r.Age, &r.Views, &r.Level, &r.Kind, &r.Active, &r.Score, &r.Price, &r.Created, &r.Day, &r.Addr,
			&r.Data, &event, &r.Tags, &r.Marks, &r.Counts, &r.Note, &parent, &r.Total) {
			if check {
				r.ID, r.Event, r.Parent = id, event, parent
				err = errors.Join(err, r.Check(n))
			}
			n++
		}
	}
	return n, errors.Join(err, it.Close())
}

var scans = map[string]string{"vector": workload.ScanVectors, "small": workload.ScanSmall, "mixed": workload.ScanMixed}

func (s *session) scanRows(q *vecql.Query, rows string, limit int, check bool) (int, error) {
	switch rows {
	case "vector":
		return scanTyped(q, limit, check, (*workload.VectorRow).Check)
	case "small":
		return scanTyped(q, limit, check, (*workload.SmallRow).Check)
	default:
		return scanTyped(q, limit, check, (*workload.MixedRow).Check)
	}
}

func scanTyped[T any](q *vecql.Query, limit int, check bool, right func(r *T, i int) error) (n int, err error) {
	for r, err := range vecql.Rows[T](context.Background(), q) {
		if err != nil {
			return n, err
		}
		if check {
			row := r // a copy, so that r does not escape
			if err := right(&row, n); err != nil {
				return n, err
			}
		}
		if n++; n == limit {
			break
		}
	}
	return n, nil
}
