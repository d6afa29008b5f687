// SPDX-License-Identifier: Apache-2.0

package tablecopy

import (
	"encoding/binary"
	"fmt"

	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/wire"
)

// The rows of a batch as cells, whatever the types of its columns are, with the times of their columns.

// cells reads the rows of a batch.
type cells struct {
	plan  *Plan
	batch *column.Batch
	row   clustertable.Row // the current one; without a plan for a batch of cells
	times []cellTimes      // by timed column
}

// newCells returns the rows of a batch, before the first is read.
func newCells(p *Plan, b *column.Batch) (*cells, error) {
	if n := len(p.columns) + 2*len(p.timed); len(b.Columns) < n {
		return nil, fmt.Errorf("a batch of %d columns, want %d", len(b.Columns), n)
	}
	c := &cells{plan: p, batch: b, row: clustertable.Row{Cells: make([][]byte, len(p.columns))}}
	var err error
	if c.times, err = p.timesOf(b); err != nil || b.Columns[0].Type == codec.CellType {
		return c, err
	}
	if c.row.Plan, err = clustertable.NewRowPlan(p.columns, b.Schema()); err == nil {
		err = c.row.Plan.Check(b)
	}
	return c, err
}

// read sets the values of a row.
func (c *cells) read(row int) error {
	if c.row.Plan != nil {
		return c.row.Read(c.batch, row)
	}
	for i := range c.row.Cells {
		c.row.Cells[i] = rawCell(&c.batch.Columns[i], row)
	}
	return nil
}

// rawCell returns a row of a column of cells; nil is NULL.
func rawCell(c *column.Column, row int) []byte {
	if c.Null(row) {
		return nil
	}
	if cell := c.Values[c.Offsets[row]:c.Offsets[row+1]:c.Offsets[row+1]]; cell != nil {
		return cell
	}
	return []byte{} // the column has no bytes yet
}

// A cellTimes has the times of one column of a batch.
type cellTimes struct {
	write, ttl *column.Column
	writes     []int64
	ttls       []int32
}

// timesOf returns the times of the timed columns of a batch.
func (p *Plan) timesOf(b *column.Batch) ([]cellTimes, error) {
	columns := b.Columns[len(p.columns) : len(p.columns)+2*len(p.timed)]
	if len(columns) > 0 && columns[0].Type == codec.CellType {
		var err error
		if columns, err = p.decodeTimes(columns, b.Rows); err != nil {
			return nil, err
		}
	}
	all := make([]cellTimes, len(p.timed))
	for k := range all {
		t := &all[k]
		t.write, t.ttl = &columns[2*k], &columns[2*k+1]
		writes, ttls := t.write, t.ttl
		if t.write.Type.Kind == column.List {
			writes, ttls = &t.write.Children[0], &t.ttl.Children[0]
		}
		var err error
		if t.writes, err = column.Slice[int64](writes); err != nil {
			return nil, err
		}
		if t.ttls, err = column.Slice[int32](ttls); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// decodeTimes returns columns of cells with the types of times.
func (p *Plan) decodeTimes(columns []column.Column, rows int) ([]column.Column, error) {
	infos := make([]cql.ColumnInfo, 0, len(columns))
	for _, i := range p.timed {
		write, ttl := timeTypes(p.columns[i])
		infos = append(infos, cql.ColumnInfo{Name: "writetime", TypeInfo: write})
		infos = append(infos, cql.ColumnInfo{Name: "ttl", TypeInfo: ttl})
	}
	var page []byte
	for row := range rows {
		for i := range columns {
			cell := rawCell(&columns[i], row)
			if cell == nil {
				page = wire.AppendInt(page, wire.Null)
				continue
			}
			page = append(binary.BigEndian.AppendUint32(page, uint32(len(cell))), cell...)
		}
	}
	var out column.Batch
	err := codec.NewColumnPlan(infos).Decode(page, rows, &out)
	return out.Columns, err
}

// at returns the times of a row of a column of one cell.
func (t *cellTimes) at(row int) times {
	got := times{write: t.writes[row]}
	if !t.ttl.Null(row) {
		got.ttl = t.ttls[row]
	}
	return got
}

// elements appends the times of the elements of a row. The write time of an element that is NULL, such as a field of a
// user-defined type, is noWrite.
func (t *cellTimes) elements(dst []times, row int) []times {
	i, j := t.write.Elements(row)
	k, end := 0, 0
	if !t.ttl.Null(row) {
		k, end = t.ttl.Elements(row)
	}
	for n := range j - i {
		next := times{write: noWrite}
		if !t.write.Children[0].Null(i + n) {
			next.write = t.writes[i+n]
		}
		if k+n < end && !t.ttl.Children[0].Null(k+n) {
			next.ttl = t.ttls[k+n]
		}
		dst = append(dst, next)
	}
	return dst
}

// newCellColumn returns an empty column of cells.
func newCellColumn(name string) column.Column {
	return column.Column{Name: name, Type: codec.CellType, Offsets: []int32{0}}
}
