// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
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
		buckets = []Bucket{s.bucket(0, s.units())}
	}
	r := predicate.NewRanger()
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
			if r.Type != (column.Type{}) && r.Type != n.Leaf.Type {
				return Range{}, &Error{
					f.src.Name, -1, name, -1,
					fmt.Errorf("%w: it is %v here and %v elsewhere", ErrNoColumn, n.Leaf.Type, r.Type),
				}
			}
			r.Type = n.Leaf.Type
			for g := p.First; g < p.End; g++ {
				r.Add(f.Footer, g, n.Leaf)
			}
			r.Partial = r.Partial || p.To != 0
		}
	}
	var out Range
	out.Min, out.Max, out.Exact, out.Nulls = r.Result()
	return out, nil
}
