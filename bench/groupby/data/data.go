// SPDX-License-Identifier: Apache-2.0

// Package data generates the data of the grouping benchmarks, stores it in a folder that programs in any language can
// read, and computes the answers.
package data

import (
	"math"
)

// The manifest of a folder: tables, which are columns in files, and cases, which are queries on a table with the
// checksum of their answer.

// Types of columns.
const (
	Int64   = "int64"
	Float64 = "float64"
	String  = "string"
)

// A Manifest is the content of manifest.json.
type Manifest struct {
	Seed   uint64   `json:"seed"`
	Rows   int      `json:"rows"`
	Tables []*Table `json:"tables"`
	Cases  []*Case  `json:"cases"`
}

// A Table is a set of columns of equal length. Files may be longer than the table and may belong to several tables.
type Table struct {
	Name    string        `json:"name"`
	Rows    int           `json:"rows"`
	Columns []*ColumnFile `json:"columns"`
}

// A ColumnFile names the files of a column: little-endian values, or the bytes of strings with a file of rows+1 int32
// offsets. Validity is a file of bits, lowest first, 0 for NULL; "" means no NULLs.
type ColumnFile struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	File     string `json:"file"`
	Offsets  string `json:"offsets,omitempty"`
	Validity string `json:"validity,omitempty"`
}

// A Case is SELECT keys, aggs FROM table GROUP BY keys. Its name has the form of a benchmark's name:
// case=grid/keys=random/groups=10/agg=count.
type Case struct {
	Name   string    `json:"name"`
	Table  string    `json:"table"`
	Keys   []string  `json:"keys"`
	Aggs   []Agg     `json:"aggs"`
	Answer *Checksum `json:"answer,omitempty"`
	// AnswerNullIsZero is the answer of engines in which a sum without values is 0 instead of NULL; nil means that it
	// is equal to Answer.
	AnswerNullIsZero *Checksum `json:"answer_null_is_zero,omitempty"`
}

// An Agg is count (of rows, without a column), sum, min, max or avg.
type Agg struct {
	Func   string `json:"func"`
	Column string `json:"column,omitempty"`
}

// Values returns the distinct columns that aggregates use.
func (c *Case) Values() []string {
	var names []string
	seen := map[string]bool{}
	for _, a := range c.Aggs {
		if a.Column != "" && !seen[a.Column] {
			names, seen[a.Column] = append(names, a.Column), true
		}
	}
	return names
}

// A Column is a column in memory: Ints, Floats, or Text with Offsets, by Type.
type Column struct {
	Type    string
	Ints    []int64
	Floats  []float64
	Text    []byte
	Offsets []int32
	Valid   []byte // nil means no NULLs
}

// Len returns the number of rows.
func (c *Column) Len() int {
	switch c.Type {
	case Int64:
		return len(c.Ints)
	case Float64:
		return len(c.Floats)
	}
	return max(0, len(c.Offsets)-1)
}

// Null reports whether row i is NULL.
func (c *Column) Null(i int) bool { return c.Valid != nil && c.Valid[i>>3]>>(i&7)&1 == 0 }

// Bytes returns string i.
func (c *Column) Bytes(i int) []byte { return c.Text[c.Offsets[i]:c.Offsets[i+1]] }

// Append appends row i of another column of the same type.
func (c *Column) Append(from *Column, i int) {
	switch c.Type {
	case Int64:
		c.Ints = append(c.Ints, from.Ints[i])
	case Float64:
		c.Floats = append(c.Floats, from.Floats[i])
	case String:
		c.AppendBytes(from.Bytes(i))
	}
	if from.Null(i) {
		c.SetNull(c.Len() - 1)
	} else {
		c.grow()
	}
}

// AppendBytes appends a string.
func (c *Column) AppendBytes(s []byte) {
	if len(c.Offsets) == 0 {
		c.Offsets = append(c.Offsets, 0)
	}
	c.Text = append(c.Text, s...)
	if len(c.Text) > math.MaxInt32 {
		panic("data: a column of strings exceeds 2 GB; use fewer rows")
	}
	c.Offsets = append(c.Offsets, int32(len(c.Text)))
}

// SetNull makes the existing row i NULL.
func (c *Column) SetNull(i int) {
	if c.Valid == nil {
		c.Valid = []byte{}
	}
	c.grow()
	c.Valid[i>>3] &^= 1 << (i & 7)
}

// grow extends the validity, if there is one, to the length of the column. New rows are not NULL.
func (c *Column) grow() {
	for c.Valid != nil && len(c.Valid) < (c.Len()+7)/8 {
		c.Valid = append(c.Valid, 0xff)
	}
}

// head returns the first n rows.
func (c *Column) head(n int) *Column {
	if n >= c.Len() {
		return c
	}
	h := &Column{Type: c.Type}
	switch c.Type {
	case Int64:
		h.Ints = c.Ints[:n]
	case Float64:
		h.Floats = c.Floats[:n]
	case String:
		h.Offsets = c.Offsets[:n+1]
		h.Text = c.Text[:h.Offsets[n]]
	}
	if c.Valid != nil {
		h.Valid = c.Valid[:(n+7)/8]
	}
	return h
}
