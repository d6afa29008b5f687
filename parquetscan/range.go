// SPDX-License-Identifier: Apache-2.0

package parquetscan

import "fmt"

// This file answers what the least and the greatest value of a column are, from footers alone.

// A Range is what footers say about the values of a column.
type Range struct {
	// Min and Max are of the Go type of the column's Kind: string for String, []byte for Binary and Fixed, and for values of ID that were cut.
	// They are nil if some row group with values does not say, and if there are no values.
	Min, Max any
	// Exact tells that both are values of the column and that none lies outside. Otherwise they are bounds: no value is less than Min or greater
	// than Max, except NaN, which may be there beside them.
	Exact bool
	// Nulls is the number of NULLs, -1 if some row group does not say.
	Nulls int64
}

// Range returns the range of a column, or of a field in a struct, in some buckets, in all if there is no such argument. It reads nothing. It is the range of all
// rows, before any filter. Columns without an order (lists, structs) and those within lists have none.
func (s *Scan) Range(column string, buckets ...Bucket) (Range, error) {
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
			n := lookup(f.nodes, column)
			if n == nil {
				return Range{}, &Error{f.src.Name, -1, column, -1, ErrNoColumn}
			}
			if n.leaf == nil || n.leaf.maxRep > 0 {
				return Range{Nulls: -1}, nil
			}
			if r.typ != (Type{}) && r.typ != n.leaf.typ {
				return Range{}, &Error{f.src.Name, -1, column, -1, fmt.Errorf("%w: it is %v here and %v elsewhere", ErrNoColumn, n.leaf.typ, r.typ)}
			}
			r.typ = n.leaf.typ
			for g := p.First; g < p.End; g++ {
				r.add(f, g, n.leaf)
			}
		}
	}
	return r.result(), nil
}

// A ranger merges the bounds of row groups.
type ranger struct {
	typ      Type
	min, max boundValue
	any      bool // there are min and max
	unknown  bool // a row group has values, and does not say which
	exact    bool
	nulls    int64
}

// add adds a row group.
func (r *ranger) add(f *dataFile, group int, l *leaf) {
	b := bounds{nulls: -1, rows: f.groups[group].rows}
	if !guarded(func() { b = chunkBounds(f.meta, group, l.index, l.typ) }) {
		b = bounds{nulls: -1, rows: f.groups[group].rows}
	}
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
	switch r.typ.Kind.order() {
	case orderInts:
		return compareInts(a.int, b.int) < 0
	case orderFloats:
		return a.float < b.float
	default:
		return a.text < b.text
	}
}

func (r *ranger) result() Range {
	out := Range{Nulls: r.nulls}
	if r.unknown || !r.any {
		out.Exact = !r.unknown
		return out
	}
	low, ok := r.min.value(r.typ)
	high, ok2 := r.max.value(r.typ)
	if ok && ok2 {
		out.Min, out.Max, out.Exact = low, high, r.exact
	}
	return out
}
