// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bench/workload"
)

func TestMain(m *testing.M) { workload.Main(m) }

// drivers are vecql as one uses it who comes from a peer, and its own ways: encoding and decoding into
// the caller's memory, typed rows, whole columns.
var drivers = []workload.Driver{
	{Name: "vecql", Versions: []int{4, 5}, Vectors: true, Open: open(session{})},
	{Name: "vecql-append", Versions: []int{4, 5}, Vectors: true, Open: open(session{way: "append"}), Only: []string{"Marshal"}},
	{Name: "vecql-into", Versions: []int{4, 5}, Vectors: true, Open: open(session{way: "into"}), Only: []string{"Scan/vector"}},
	{Name: "vecql-rows", Versions: []int{4, 5}, Vectors: true, Open: open(session{way: "rows"}), Only: []string{"Scan"}},
	{
		Name: "vecql-pages", Versions: []int{4, 5}, Vectors: true, Open: open(session{way: "pages"}),
		Only: []string{"Scan/vector", "Scan/small"}, // lists and maps have no columns
	},
}

func BenchmarkMarshal(b *testing.B)    { workload.Marshal(b, append(drivers, limits...)) }
func BenchmarkUnmarshal(b *testing.B)  { workload.Unmarshal(b, append(drivers, limits...)) }
func BenchmarkCollection(b *testing.B) { workload.Collection(b, drivers) }
func BenchmarkInsert(b *testing.B)     { workload.Insert(b, drivers); floorInsert(b) }
func BenchmarkReadRow(b *testing.B)    { workload.ReadRow(b, drivers); floorReadRow(b) }
func BenchmarkScan(b *testing.B)       { workload.Scan(b, drivers); floorScan(b) }

type session struct {
	*vecql.Session
	way string
}

func open(s session) func(addr string, version int) (workload.Session, error) {
	return func(addr string, version int) (workload.Session, error) {
		cfg := vecql.NewCluster(addr)
		cfg.ProtoVersion, cfg.NumConns, cfg.Consistency = version, 1, vecql.One
		cfg.Logger = slog.New(slog.DiscardHandler)
		var err error
		s.Session, err = cfg.CreateSession()
		return s, err
	}
}

func (s session) InsertVector(id [16]byte, v []float32) error {
	return s.Query(workload.InsertVector, vecql.UUID(id), v).Exec()
}

func (s session) InsertSmall(k, v int64) error {
	return s.Query(workload.InsertSmall, k, v).Exec()
}

func (s session) ReadVector(id [16]byte) (r workload.VectorRow, err error) {
	var got vecql.UUID
	err = s.Query(workload.ReadVector, vecql.UUID(id)).Scan(&got, &r.V)
	r.ID = got
	return r, err
}

func (s session) Scan(rows string, pages, limit int, check bool) (n int, err error) {
	q := s.Query(scans[rows], pages)
	switch s.way {
	case "rows":
		return s.scanRows(q, rows, limit, check)
	case "pages":
		return s.scanPages(q, rows, limit, check)
	}
	it := q.Iter()
	switch rows {
	case "vector":
		var r workload.VectorRow
		var id vecql.UUID
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
		var parent vecql.UUID
		for n < limit && it.Scan(&r.ID, &r.Age, &r.Name, &r.Active, &r.Price, &r.Created, &parent, &r.Score, &r.Level, &r.Note) {
			if check {
				r.Parent = parent
				err = errors.Join(err, r.Check(n))
			}
			n++
		}
	case "mixed":
		var r workload.MixedRow
		var id, event, parent vecql.UUID
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

func (s session) scanRows(q *vecql.Query, rows string, limit int, check bool) (int, error) {
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
			if err := right(&r, n); err != nil {
				return n, err
			}
		}
		if n++; n == limit {
			break
		}
	}
	return n, nil
}
