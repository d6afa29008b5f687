// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"slices"
	"sync/atomic"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/chunk"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
)

// A Scan: the columns and rows of a Dataset that are read, and the types of the columns.

// A Scan selects columns and rows of a Dataset. It is safe for concurrent use.
type Scan struct {
	ds      *Dataset
	o       Options
	columns []scanColumn
	outputs int // number of columns that are returned; the columns after them are read for filter and selector only
	pred    *predicate.Predicate
	filter  []int            // the columns that pred tests
	chosen  []int            // the columns of the selector
	nodes   [][]*footer.Node // by file, by column
	leaves  [][]*footer.Leaf // by file
	// The row groups whose bytes were requested before they were opened, by file.
	requested [][]atomic.Bool
	// The row groups whose dictionaries have no entry that passes the filter, by file.
	barren [][]atomic.Bool
	byName map[string]int
	piece  int64 // the least compressed bytes of a piece of a row group
	first  []int // the columns that are read before rows are selected; nil means all
	narrowed
}

// A narrowing is the filter of Scan.Narrow.
type narrowing struct {
	pred    *predicate.Predicate
	columns []int // of the Scan, by predicate.paths
}

// narrowed is the state of Scan.Narrow.
type narrowed struct {
	narrows   []int // positions of Options.Narrow
	narrowing atomic.Pointer[narrowing]
}

// A scanColumn is a column that is read, as the first file has it.
type scanColumn struct {
	chunk.Settings
	nth      int // among the columns of that name
	node     *footer.Node
	nullable bool // in one of the files
}

// Schema returns the columns that are read, in the order of column.Batch.Columns. The dimension of a vector is 0 if the
// footers do not contain it and no row has been read yet. After a ragged row a column of vectors is a List: see
// [Options].Lists. A column is nullable if one of the files has it so.
func (s *Scan) Schema() column.Schema {
	fields := make(column.Schema, s.outputs, s.width())
	for i, c := range s.columns[:s.outputs] {
		f := c.node.Field
		switch {
		case c.Lengths:
			f.Type = column.TypeOf[int64]()
		case c.Shared.Ragged.Load():
		case c.Vector:
			f.Type, f.Fields = column.VectorOf(f.Fields[0].Type.Kind, int(c.Shared.Dim.Load())), nil
		case c.Inner:
			f = c.node.AsRead()
		}
		f.Name, f.Nullable = c.Name, c.nullable
		fields[i] = f
	}
	if s.o.RowNumbers != "" {
		fields = append(fields, column.Field{Name: s.o.RowNumbers, Type: column.TypeOf[int64]()})
	}
	return fields
}

// Ragged returns the names of the columns that the Scan read as vectors until a row did not fit, and reads as lists
// since: see [Options].Lists. Columns that only the Filter or the Selector needs are among them.
func (s *Scan) Ragged() []string {
	var names []string
	for _, c := range s.columns {
		if c.Shared.Ragged.Load() && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// width returns the number of columns of a batch.
func (s *Scan) width() int {
	if s.o.RowNumbers != "" {
		return s.outputs + 1
	}
	return s.outputs
}
