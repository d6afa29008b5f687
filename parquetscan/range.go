// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// The minimum and maximum of a column, from footers alone.

// A Range describes the values of a column according to footers.
type Range struct {
	// Min and Max have the Go type of the column's Kind: string for String, []byte for Binary, Fixed and truncated
	// UUIDs. nil means that there are no values, or that the footer of a row group with values lacks them.
	Min, Max any
	// Exact means that Min and Max are values of the column, and that all values lie between them. Otherwise they are
	// bounds: no value is less than Min or greater than Max, except NaN.
	Exact bool
	// Nulls is the number of NULLs, -1 if the footer of a row group lacks it, or if a bucket has a part of a row group
	// with NULLs.
	Nulls int64
}

// Range returns the range of a column, or of a field in a struct, in buckets; nil means all row groups. It reads no
// data and ignores the filter. Columns of kinds that filters do not compare, and columns within lists, have no range.
func (s *Scan) Range(name string, buckets ...Bucket) (Range, error) {
	if buckets == nil {
		buckets = s.SplitByCount(1)
	}
	r := ranger{exact: true}
	for _, b := range buckets {
		files, err := s.check(b)
		if err != nil {
			return Range{}, err
		}
		for i, p := range b.Parts {
			f := s.ds.files[files[i]]
			n := footer.Lookup(f.Nodes, name)
			if n == nil {
				return Range{}, &Error{f.src.Name, -1, name, -1, ErrNoColumn}
			}
			if err := s.checkUnique(f, name); err != nil {
				return Range{}, err
			}
			if n.Leaf == nil || n.Leaf.MaxRep > 0 || n.HasText() {
				return Range{Nulls: -1}, nil
			}
			if r.typ != (column.Type{}) && r.typ != n.Leaf.Type {
				return Range{}, &Error{
					f.src.Name, -1, name, -1,
					fmt.Errorf("%w: it is %v here and %v elsewhere", ErrNoColumn, n.Leaf.Type, r.typ),
				}
			}
			r.typ = n.Leaf.Type
			for g := p.First; g < p.End; g++ {
				r.add(f, g, n.Leaf)
			}
			r.partial = r.partial || p.To != 0
		}
	}
	return r.result(), nil
}

// A ranger merges the bounds of row groups.
type ranger struct {
	typ      column.Type
	min, max boundValue
	any      bool // min and max are set
	unknown  bool // a row group has values without statistics
	exact    bool
	nulls    int64
	partial  bool // only some rows of a row group are in the buckets: its statistics are bounds
}

// add adds a row group.
func (r *ranger) add(f *dataFile, group int, l *footer.Leaf) {
	b := chunkBounds(f.Footer, group, l.Index, l.Type)
	if b.nulls < 0 || r.nulls < 0 {
		r.nulls = -1
	} else {
		r.nulls += b.nulls
	}
	switch {
	case b.rows == 0 || b.nulls == b.rows: // no values
	case !b.known:
		r.unknown = true
	case !r.any:
		r.min, r.max, r.any, r.exact = b.min, b.max, true, b.exact
	default:
		if r.less(&b.min, &r.min) {
			r.min = b.min
		}
		if r.less(&r.max, &b.max) {
			r.max = b.max
		}
		r.exact = r.exact && b.exact
	}
}

// less compares values in the order of the type.
func (r *ranger) less(a, b *boundValue) bool {
	switch orderOf(r.typ.Kind) {
	case orderInts:
		return compareInts(a.int, b.int) < 0
	case orderFloats:
		return a.float < b.float
	default:
		return a.text < b.text
	}
}

// result returns the range of the row groups seen. If one of them has values without statistics, the range has no
// bounds and is not exact.
func (r *ranger) result() Range {
	out := Range{Nulls: r.nulls}
	if r.partial && r.nulls > 0 {
		out.Nulls = -1
	}
	if r.unknown || !r.any {
		out.Exact = !r.unknown
		return out
	}
	if r.partial {
		r.exact = false
	}
	low, ok := r.min.value(r.typ)
	high, ok2 := r.max.value(r.typ)
	if ok && ok2 {
		out.Min, out.Max, out.Exact = low, high, r.exact
	}
	return out
}
