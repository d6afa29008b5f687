// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/groupby"
)

// Aggregates from the statistics of a source.

// fromStatistics returns a node with the aggregates of all rows if the source has them exactly: counts, minimums and
// maximums; otherwise nil.
func fromStatistics(p *plan, source opened, op *groupOp) node {
	s, ok := able[summarized](source)
	if !ok || len(op.keys) > 0 || len(op.aggregates) == 0 || source.input().evaluates() {
		return nil
	}
	b := &column.Batch{Rows: 1}
	for _, a := range op.aggregates {
		c, ok := op.summary(s, a)
		if !ok {
			return nil
		}
		c.Name = a.Name
		b.Columns = append(b.Columns, c)
	}
	return &memoryNode{[]*column.Batch{b}, p.describe("statistics of %v", s)}
}

// summary returns an aggregate from statistics.
func (op *groupOp) summary(s summarized, a groupby.Aggregate) (c column.Column, ok bool) {
	var v any
	switch f := a.Function(); {
	case f == "count" && len(a.Args) == 0:
		return column.Of(a.Name, []int64{s.NumRows()}), true
	case f == "count":
		n, ok := s.Nulls(a.Args[0])
		return column.Of(a.Name, []int64{s.NumRows() - n}), ok
	case f == "min":
		v, _, ok = s.Range(a.Args[0])
	case f == "max":
		_, v, ok = s.Range(a.Args[0])
	}
	if !ok {
		return c, false
	}
	return single(op.input[op.input.Index(a.Args[0])], v)
}

// single returns a column of one value, nil for NULL; false if its Go type is not the type of the field's kind.
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
