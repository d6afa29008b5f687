// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bench/workload"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// scanBatches reads pages as batches and reuses their memory.
func (s *session) scanBatches(q *vecql.Query, rows string, limit int, check bool) (n int, err error) {
	for b, err := range q.BorrowBatches(context.Background()) {
		if err != nil {
			return n, err
		}
		if check {
			if err := checkBatch(b, rows, n); err != nil {
				return n, err
			}
		}
		if n += b.Rows; n >= limit {
			return limit, nil
		}
	}
	return n, nil
}

// fixed returns the values of a column. It stores the first error in err.
func fixed[T column.Value](b *column.Batch, i int, err *error) []T {
	v, e := column.Slice[T](&b.Columns[i])
	*err = errors.Join(*err, e)
	return v
}

func text(b *column.Batch, i int, err *error) column.TextView {
	v, e := b.Columns[i].Text()
	*err = errors.Join(*err, e)
	return v
}

// checkBatch compares the rows of a batch, which begins at row n, with the rows that the server sends.
func checkBatch(b *column.Batch, rows string, n int) (err error) {
	if rows == "vector" {
		ids := fixed[cql.UUID](b, 0, &err)
		m, e := column.MatrixOf[float32](&b.Columns[1])
		for r := 0; r < b.Rows && errors.Join(err, e) == nil; r++ {
			err = (&workload.VectorRow{ID: ids[r], V: m.Row(r)}).Check(n + r)
		}
		return errors.Join(err, e)
	}
	if rows == "mixed" {
		return checkMixed(b, n)
	}
	id, age, name, active := fixed[int64](b, 0, &err), fixed[int32](b, 1, &err), text(b, 2, &err), fixed[bool](b, 3, &err)
	price, created, parent := fixed[float64](b, 4, &err), fixed[int64](b, 5, &err), fixed[cql.UUID](b, 6, &err)
	score, level, note := fixed[float32](b, 7, &err), fixed[int16](b, 8, &err), text(b, 9, &err)
	for r := 0; r < b.Rows && err == nil; r++ {
		err = (&workload.SmallRow{
			ID: id[r], Age: int(age[r]), Name: name.String(r), Active: active[r], Price: price[r], Created: time.UnixMilli(created[r]).UTC(),
			Parent: parent[r], Score: score[r], Level: level[r], Note: note.String(r),
		}).Check(n + r)
	}
	return err
}

// checkMixed compares columns of all types.
func checkMixed(b *column.Batch, n int) (err error) {
	for r := 0; r < b.Rows && err == nil; r++ {
		v := func(i int) any { return b.Columns[i].Value(r) }
		row := workload.MixedRow{
			ID: v(0).(cql.UUID), Name: v(1).(string), Age: int(v(2).(int32)), Views: v(3).(int64), Level: v(4).(int16), Kind: v(5).(int8),
			Active: v(6).(bool), Score: v(7).(float32), Price: v(8).(float64), Created: v(9).(time.Time), Day: v(10).(time.Time), Addr: v(11).(net.IP),
			Data: v(12).([]byte), Event: v(13).(cql.UUID), Tags: v(14).([]string), Counts: map[string]int{}, Note: v(17).(string),
			Parent: v(18).(cql.UUID), Total: v(19).(int64),
		}
		for _, mark := range v(15).([]int32) {
			row.Marks = append(row.Marks, int(mark))
		}
		for name, count := range v(16).(map[string]int32) {
			row.Counts[name] = int(count)
		}
		err = row.Check(n + r)
	}
	return err
}

// rowItem is a batch of one row, because the workload inserts one row at a time.
type rowItem struct {
	batch *column.Batch
	id    []cql.UUID
	k, v  []int64
}

var (
	vectorRows = sync.Pool{New: func() any {
		i := &rowItem{id: make([]cql.UUID, 1)}
		i.batch = column.NewBatch(column.Of("id", i.id), column.Matrix("v", make([]float32, workload.Dim), workload.Dim))
		return i
	}}
	smallRows = sync.Pool{New: func() any {
		i := &rowItem{k: make([]int64, 1), v: make([]int64, 1)}
		i.batch = column.NewBatch(column.Of("k", i.k), column.Of("v", i.v))
		return i
	}}
)

func (s *session) insertVectorRow(id [16]byte, v []float32) error {
	item := vectorRows.Get().(*rowItem)
	defer vectorRows.Put(item)
	item.id[0] = id
	item.batch.Columns[1] = column.Matrix("v", v, len(v)) // a view, not a copy
	return s.rowsVector.ExecRow(context.Background(), item.batch, 0)
}

func (s *session) insertSmallRow(k, v int64) error {
	item := smallRows.Get().(*rowItem)
	defer smallRows.Put(item)
	item.k[0], item.v[0] = k, v
	return s.rowsSmall.ExecRow(context.Background(), item.batch, 0)
}

// prepareRows prepares the statements that take rows of batches.
func (s *session) prepareRows() (err error) {
	vector, small := vectorRows.Get().(*rowItem), smallRows.Get().(*rowItem)
	if s.rowsVector, err = s.Query(workload.InsertVector).PrepareRows(context.Background(), vector.batch.Schema()); err != nil {
		return err
	}
	s.rowsSmall, err = s.Query(workload.InsertSmall).PrepareRows(context.Background(), small.batch.Schema())
	return err
}
