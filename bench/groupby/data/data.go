// SPDX-License-Identifier: Apache-2.0

// Package data makes the data of the grouping benchmarks, keeps it in a folder that programs in any language can read, and knows the
// answers.
package data

import (
	"math"
)

// This file holds what the folder's manifest says: tables, which are columns in files, and cases, which are queries on a table with the
// checksum of their answer.

// Types of columns.
const (
	Int64   = "int64"
	Float64 = "float64"
	String  = "string"
)

// A Manifest is manifest.json of a folder.
type Manifest struct {
	Seed   uint64   `json:"seed"`
	Rows   int      `json:"rows"`
	Tables []*Table `json:"tables"`
	Cases  []*Case  `json:"cases"`
}

// A Table is some columns of equal length. Files may be longer than the table, and belong to several tables.
type Table struct {
	Name    string        `json:"name"`
	Rows    int           `json:"rows"`
	Columns []*ColumnFile `json:"columns"`
}

// A ColumnFile says where a column is: little-endian values, or the bytes of strings with a file of int32 offsets, one more than rows. Validity
// is a file of bits, lowest first, 0 for NULL; "" for no NULLs.
type ColumnFile struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	File     string `json:"file"`
	Offsets  string `json:"offsets,omitempty"`
	Validity string `json:"validity,omitempty"`
}

// A Case is SELECT keys, aggs FROM table GROUP BY keys. Its name has the form of a benchmark's: case=grid/keys=random/groups=10/agg=count.
type Case struct {
	Name   string    `json:"name"`
	Table  string    `json:"table"`
	Keys   []string  `json:"keys"`
	Aggs   []Agg     `json:"aggs"`
	Answer *Checksum `json:"answer,omitempty"`
	// AnswerNullIsZero is the answer of those to whom the sum of nothing is 0 rather than NULL; nil if it is the same.
	AnswerNullIsZero *Checksum `json:"answer_null_is_zero,omitempty"`
}

// An Agg is count (of rows, no column), sum, min, max or avg.
type Agg struct {
	Func   string `json:"func"`
	Column string `json:"column,omitempty"`
}

// Values returns the columns that aggregates are of, each once.
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

// A Column is a column in memory: one of Ints, Floats, and Text with Offsets, by Type.
type Column struct {
	Type    string
	Ints    []int64
	Floats  []float64
	Text    []byte
	Offsets []int32
	Valid   []byte // nil for no NULLs
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

// Null tells whether row i is NULL.
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
		panic("a column of strings is beyond 2 GB: fewer rows, please")
	}
	c.Offsets = append(c.Offsets, int32(len(c.Text)))
}

// SetNull makes row i NULL, which has been appended.
func (c *Column) SetNull(i int) {
	if c.Valid == nil {
		c.Valid = []byte{}
	}
	c.grow()
	c.Valid[i>>3] &^= 1 << (i & 7)
}

// grow makes the validity, if there is one, as long as the column: what is new is not NULL.
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
