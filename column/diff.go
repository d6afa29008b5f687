// SPDX-License-Identifier: Apache-2.0

package column

import (
	"bytes"
	"fmt"
	"strings"
)

// Equal and Diff: comparison of batches in tests.

// Equal reports whether two batches have the same columns (name, type, fields) with the same values in the same order.
// It compares values by their bytes: a NaN equals the same NaN, and -0 differs from 0. It ignores Source, the memory of
// NULL rows, and whether text has a dictionary.
func Equal(a, b *Batch) bool { return Diff(a, b) == "" }

// maxDiffs is the maximum number of differences that Diff reports.
const maxDiffs = 10

// Diff returns "" if the batches are equal by [Equal], otherwise their first differences, one per line: `price, row 3:
// 1.5, want NULL`.
func Diff(got, want *Batch) string {
	d := &differ{}
	if got.Rows != want.Rows {
		d.add("%d rows, want %d", got.Rows, want.Rows)
	}
	if len(got.Columns) != len(want.Columns) {
		d.add("columns %v; want %v", got.Schema(), want.Schema())
		return d.String()
	}
	for i := range got.Columns {
		d.columns(got.Columns[i].Name, &got.Columns[i], &want.Columns[i])
	}
	return d.String()
}

// A differ collects differences.
type differ struct {
	lines []string
	more  int
}

func (d *differ) add(format string, args ...any) {
	if len(d.lines) == maxDiffs {
		d.more++
		return
	}
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *differ) String() string {
	if d.more > 0 {
		d.lines = append(d.lines, fmt.Sprintf("and %d more", d.more))
		d.more = 0
	}
	return strings.Join(d.lines, "\n")
}

func (d *differ) columns(path string, got, want *Column) {
	if g, w := got.Field().String(), want.Field().String(); g != w {
		d.add("column %s; want %s", g, w)
		return
	}
	for i := range min(got.Len, want.Len) {
		if !equalRows(got, i, want, i) {
			d.add("%s, row %d: %s, want %s", path, i, got.Format(i, 60), want.Format(i, 60))
		}
	}
}

// equalRows reports whether row i of a equals row j of b. Both have the same type.
func equalRows(a *Column, i int, b *Column, j int) bool {
	if a.Null(i) || b.Null(j) {
		return a.Null(i) && b.Null(j)
	}
	switch kind := a.Type.Kind; {
	case kind == Struct || kind == Tuple:
		for k := range a.Children {
			if !equalRows(&a.Children[k], i, &b.Children[k], j) {
				return false
			}
		}
		return true
	case kind.IsList():
		return equalElements(a, i, b, j)
	case kind.IsText():
		return bytes.Equal(TextView{a, a.codes()}.Bytes(i), TextView{b, b.codes()}.Bytes(j))
	}
	w := a.width()
	return bytes.Equal(a.Values[i*w:(i+1)*w], b.Values[j*w:(j+1)*w])
}

// equalElements reports whether row i of a and row j of b, both lists or maps, have equal elements in the same order.
func equalElements(a *Column, i int, b *Column, j int) bool {
	ai, aEnd := a.Elements(i)
	bi, bEnd := b.Elements(j)
	if aEnd-ai != bEnd-bi {
		return false
	}
	for k := range a.Children {
		for n := range aEnd - ai {
			if !equalRows(&a.Children[k], ai+n, &b.Children[k], bi+n) {
				return false
			}
		}
	}
	return true
}
