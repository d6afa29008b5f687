// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/parquetscan"
)

// Aggregates from the statistics in footers.

// fromStatistics returns a node with the aggregates of all rows of files if footers have them exactly: counts, minimums
// and maximums; otherwise nil.
func (op *groupOp) fromStatistics(p *plan, source opened) node {
	o, ok := source.(*openedParquet)
	if !ok || len(op.keys) > 0 || len(op.aggregates) == 0 || len(o.filter)+len(o.selected) > 0 {
		return nil
	}
	scan, err := o.files.Scan(parquetscan.Options{Columns: []string{}, NumberNames: true})
	if err != nil {
		return nil
	}
	b := &column.Batch{Rows: 1}
	for _, a := range op.aggregates {
		var c column.Column
		switch {
		case a.Function() == "count" && len(a.Args) == 0:
			c = column.Of(a.Name, []int64{o.files.NumRows()})
		case !slices.Contains([]string{"count", "min", "max"}, a.Function()):
			return nil
		default:
			r, err := scan.Range(a.Args[0])
			field := op.input[op.input.Index(a.Args[0])]
			switch {
			case err != nil || a.Function() == "count" && r.Nulls < 0 || a.Function() != "count" && !r.Exact:
				return nil
			case a.Function() == "count":
				c = column.Of(a.Name, []int64{o.files.NumRows() - r.Nulls})
			case a.Function() == "min":
				c, ok = single(field, r.Min)
			default:
				c, ok = single(field, r.Max)
			}
			if !ok {
				return nil
			}
			c.Name = a.Name
		}
		b.Columns = append(b.Columns, c)
	}
	n := &memoryNode{batches: []*column.Batch{b}, goroutines: 1}
	n.meter = p.describe("statistics of parquet %s", files(o.files.Files()))
	return n
}

// single returns a column of one value, nil for NULL; false if its Go type is not that of the field's kind.
func single(f column.Field, v any) (c column.Column, ok bool) {
	switch v := v.(type) {
	case nil:
		return nullColumn(column.Schema{f}.Empty().Columns[0]), true
	case bool:
		c = column.Of(f.Name, []bool{v})
	case int8:
		c = column.Of(f.Name, []int8{v})
	case int16:
		c = column.Of(f.Name, []int16{v})
	case int32:
		c = column.Of(f.Name, []int32{v})
	case int64:
		c = column.Of(f.Name, []int64{v})
	case uint8:
		c = column.Of(f.Name, []uint8{v})
	case uint16:
		c = column.Of(f.Name, []uint16{v})
	case uint32:
		c = column.Of(f.Name, []uint32{v})
	case uint64:
		c = column.Of(f.Name, []uint64{v})
	case float32:
		c = column.Of(f.Name, []float32{v})
	case float64:
		c = column.Of(f.Name, []float64{v})
	case cql.UUID:
		c = column.Of(f.Name, []cql.UUID{v})
	case string:
		c = column.Strings(f.Name, []string{v})
	case []byte:
		c = column.Binaries(f.Name, [][]byte{v})
	default:
		return c, false
	}
	c, err := c.WithType(f.Type)
	return c, err == nil
}
