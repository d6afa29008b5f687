// SPDX-License-Identifier: Apache-2.0

package column

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/vecql/vecql/cql"
)

// Batch: columns of equal length, and the origin of their rows.

// A Batch is a set of rows as columns. Column names may repeat; use positions to distinguish them. A function that
// returns a batch documents the owner of its memory: a fresh batch may be kept, a borrowed one is valid until the next
// use of the function, and Clone returns a fresh copy.
type Batch struct {
	Columns []Column
	Rows    int
	Source  Source
}

// A Source is the origin of the rows of a batch. Fields that do not apply to the origin are zero.
type Source struct {
	// FirstRow is the number of the batch's first row in the whole input, from 0: all files one after the other, or all
	// pages of a result. It is counted before any filter; with a filter the rows of a batch are not consecutive.
	FirstRow int64

	// The file name and the row group number, for a Parquet file.
	File     string
	RowGroup int

	// For a page of a CQL result: the address and the host id of the node that responded, the token of the next page
	// (empty on the last one), the server's warnings, and the id of the tracing session if the query was traced.
	Host     netip.AddrPort
	HostID   cql.UUID
	NextPage cql.PageToken
	Warnings []string
	TraceID  cql.UUID
	// EmptyCells counts cells of 0 bytes, which columns have as NULL, such as blob_as_int(0x) of an int, which is
	// no value. Elements and fields count, too.
	EmptyCells int
}

// NewBatch returns a batch of columns. It panics if their lengths differ.
func NewBatch(columns ...Column) *Batch {
	b := &Batch{Columns: columns}
	if len(columns) > 0 {
		b.Rows = columns[0].Len
	}
	if err := b.checkLengths(); err != nil {
		panic(err.Error())
	}
	return b
}

func (b *Batch) checkLengths() error {
	for i := range b.Columns {
		if c := &b.Columns[i]; c.Len != b.Rows {
			return fmt.Errorf("column: %s has %d rows, want %d", c.Name, c.Len, b.Rows)
		}
	}
	return nil
}

// Check returns an error if the columns differ in length or violate the rules of [Column].
func (b *Batch) Check() error {
	if err := b.checkLengths(); err != nil {
		return err
	}
	for i := range b.Columns {
		if err := b.Columns[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

// Index returns the position of the first column with that name, -1 if there is none.
func (b *Batch) Index(name string) int {
	for i := range b.Columns {
		if b.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// Column returns the first column with that name. It never returns nil. If there is none, it returns a column without
// type and rows, whose views return an error that wraps [ErrNoColumn] and names the existing columns.
func (b *Batch) Column(name string) *Column {
	if i := b.Index(name); i >= 0 {
		return &b.Columns[i]
	}
	names := make([]string, len(b.Columns))
	for i := range b.Columns {
		names[i] = b.Columns[i].Name
	}
	return &Column{Name: name, missing: fmt.Errorf("column: %w: %q; the columns are: %s", ErrNoColumn, name,
		strings.Join(names, ", "))}
}

// Err returns the error of a column that [Batch.Column] did not find, and nil for any other column.
func (c *Column) Err() error { return c.missing }

// Schema returns the fields of the columns. All are nullable.
func (b *Batch) Schema() Schema {
	s := make(Schema, len(b.Columns))
	for i := range b.Columns {
		s[i] = b.Columns[i].Field()
	}
	return s
}

// Select returns a batch of the columns with these names, in this order. It shares the memory of b. The error wraps
// [ErrNoColumn].
func (b *Batch) Select(names ...string) (*Batch, error) {
	s := &Batch{Rows: b.Rows, Source: b.Source, Columns: make([]Column, len(names))}
	for i, name := range names {
		c := b.Column(name)
		if c.missing != nil {
			return nil, c.missing
		}
		s.Columns[i] = *c
	}
	return s, nil
}

// Slice returns rows i to j as a batch. It shares the memory of b, except for validity bits; see [Column.Slice].
func (b *Batch) Slice(i, j int) *Batch {
	if i < 0 || j < i || j > b.Rows {
		panic(fmt.Sprintf("column: slice rows %d to %d of a batch of %d rows", i, j, b.Rows))
	}
	s := &Batch{Rows: j - i, Source: b.Source, Columns: make([]Column, len(b.Columns))}
	for k := range b.Columns {
		s.Columns[k] = b.Columns[k].Slice(i, j)
	}
	return s
}
