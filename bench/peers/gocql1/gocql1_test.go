// SPDX-License-Identifier: Apache-2.0

//go:build !fork

// Package gocql1 measures gocql v1, which has no vectors.
package gocql1

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/gocql/gocql"

	"github.com/vecql/vecql/bench/workload"
)

func TestMain(m *testing.M) { workload.Main(m) }

// driver is the name in the results. The linker replaces it in a build with compat.mod, which measures compat/gocql.
var driver = "gocql1"

// drivers lists the peer with its defaults, and without its delay of writes that coalesces requests.
var drivers = []workload.Driver{
	{Name: driver, Versions: []int{4}, Vectors: false, Open: open(false)},
	{Name: driver + "-nowait", Versions: []int{4}, Vectors: false, Open: open(true), Only: []string{"Insert", "ReadRow"}},
}

func BenchmarkMarshal(b *testing.B)    { workload.Marshal(b, drivers) }
func BenchmarkUnmarshal(b *testing.B)  { workload.Unmarshal(b, drivers) }
func BenchmarkCollection(b *testing.B) { workload.Collection(b, drivers) }
func BenchmarkInsert(b *testing.B)     { workload.Insert(b, drivers) }
func BenchmarkReadRow(b *testing.B)    { workload.ReadRow(b, drivers) }
func BenchmarkScan(b *testing.B)       { workload.Scan(b, drivers) }

type session struct{ *gocql.Session }

func open(noWait bool) func(addr string, version int) (workload.Session, error) {
	return func(addr string, version int) (workload.Session, error) {
		cfg := gocql.NewCluster(addr)
		cfg.ProtoVersion, cfg.NumConns, cfg.Consistency = version, 1, gocql.One
		cfg.Logger = silent{}
		if noWait {
			cfg.WriteCoalesceWaitTime = 0
		}
		s, err := cfg.CreateSession()
		return session{s}, err
	}
}

type silent struct{}

func (silent) Print(...any)          {}
func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

func (s session) InsertVector(id [16]byte, v []float32) error {
	q := s.Query(workload.InsertVector, gocql.UUID(id), v)
	defer q.Release()
	return q.Exec()
}

func (s session) InsertMixed(r *workload.MixedRow) error {
	q := s.Query(workload.InsertMixed, gocql.UUID(r.ID), r.Name, r.Age, r.Views, r.Level, r.Kind, r.Active, r.Score, r.Price, r.Created, r.Day,
		r.Addr, r.Data, gocql.UUID(r.Event), r.Tags, r.Marks, r.Counts, r.Note, gocql.UUID(r.Parent), r.Total)
	defer q.Release()
	return q.Exec()
}

func (s session) InsertSmall(k, v int64) error {
	q := s.Query(workload.InsertSmall, k, v)
	defer q.Release()
	return q.Exec()
}

func (s session) ReadVector([16]byte) (workload.VectorRow, error) {
	return workload.VectorRow{}, workload.ErrNoVectors
}

func (s session) Scan(rows string, pages, limit int, check bool) (n int, err error) {
	switch rows {
	case "small":
		it := s.Query(workload.ScanSmall, pages).Iter()
		var r workload.SmallRow
		var parent gocql.UUID
		for n < limit && it.Scan(&r.ID, &r.Age, &r.Name, &r.Active, &r.Price, &r.Created, &parent, &r.Score, &r.Level, &r.Note) {
			if check {
				r.Parent = parent
				err = errors.Join(err, r.Check(n))
			}
			n++
		}
		return n, errors.Join(err, it.Close())
	case "mixed":
		it := s.Query(workload.ScanMixed, pages).Iter()
		var r workload.MixedRow
		var id, event, parent gocql.UUID
		for n < limit && it.Scan(&id, &r.Name, &r.Age, &r.Views, &r.Level, &r.Kind, &r.Active, &r.Score, &r.Price, &r.Created, &r.Day, &r.Addr,
			&r.Data, &event, &r.Tags, &r.Marks, &r.Counts, &r.Note, &parent, &r.Total) {
			if check {
				r.ID, r.Event, r.Parent = id, event, parent
				err = errors.Join(err, r.Check(n))
			}
			n++
		}
		return n, errors.Join(err, it.Close())
	}
	return 0, fmt.Errorf("no rows %s", rows)
}

var errStop = errors.New("the types are known now")

func (s session) Codec(c *workload.Case) (workload.Codec, error) {
	var info gocql.TypeInfo
	err := s.Bind(c.Statement(), func(q *gocql.QueryInfo) ([]any, error) {
		info = q.Args[0].TypeInfo
		return nil, errStop
	}).Exec()
	if info == nil {
		return workload.Codec{}, err
	}
	switch v := c.Value.(type) {
	case []float32:
		return codec(info, c.Data, v), nil
	case []float64:
		return codec(info, c.Data, v), nil
	case []int32:
		return codec(info, c.Data, v), nil
	case []int64:
		return codec(info, c.Data, v), nil
	case [][16]byte:
		ids := make([]gocql.UUID, len(v))
		for i, u := range v {
			ids[i] = u
		}
		return codec(info, c.Data, ids), nil
	case []string:
		return codec(info, c.Data, v), nil
	case map[string]int:
		return codec(info, c.Data, v), nil
	}
	return workload.Codec{}, fmt.Errorf("no codec for %T", c.Value)
}

func codec[T any](info gocql.TypeInfo, data []byte, value T) workload.Codec {
	var kept T
	return workload.Codec{
		Marshal: func() ([]byte, error) { return gocql.Marshal(info, value) },
		Fresh: func() error {
			var fresh T
			err := gocql.Unmarshal(info, data, &fresh)
			kept = fresh
			return err
		},
		Reused: func() error { return gocql.Unmarshal(info, data, &kept) },
		Same:   func() bool { return reflect.DeepEqual(kept, value) },
	}
}
