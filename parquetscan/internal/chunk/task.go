// SPDX-License-Identifier: Apache-2.0

// Package chunk reads column chunks into columns: the rows that a Reader selects, by the kind of the column.
package chunk

import "github.com/vecql/vecql/column"

// A Task reads a column of a row group, by the kind of the column. It skips the rows before those that it reads.
type Task interface {
	// Ready returns how many of the next n rows from a row on can be read into one batch.
	Ready(row int64, n int) (int, error)
	// View returns the next n rows from a row on, if they can be tested where they are.
	View(row int64, n int) (View, error)
	// Raw returns the column that Read fills for a column of a batch.
	Raw(dst *column.Column) *column.Column
	// Read reads rows as they are stored.
	Read(dst *column.Column, r Rows) error
	// Finish completes a column of a batch: it reads it unless Read has, and converts it to its type.
	Finish(dst *column.Column, read bool, r Rows) error
}

// Task returns the task of the column in the current row group. Tasks are pointers, so that none is allocated.
func (c *Cursor) Task() Task {
	switch {
	case c.Lengths:
		return lengths{texts{c}}
	case c.Vector:
		return vectors{c}
	case c.node.Leaf == nil:
		return nested{c}
	case c.node.Leaf.Type.Kind.IsText():
		return texts{c}
	}
	return flat{c}
}
