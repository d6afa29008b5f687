// SPDX-License-Identifier: Apache-2.0

package predicate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// The minimum and maximum of a column, from footers alone.

// A ranger merges the bounds of row groups.
type ranger struct {
	Type     column.Type
	min, max boundValue
	any      bool // min and max are set
	unknown  bool // a row group has values without statistics
	exact    bool
	nulls    int64
	Partial  bool // only some rows of a row group are in the buckets: its statistics are bounds
}

// NewRanger returns a ranger of no row groups.
func NewRanger() *ranger { return &ranger{exact: true} }

// Add adds a row group.
func (r *ranger) Add(f *footer.Footer, group int, l *footer.Leaf) {
	b := ChunkBounds(f, group, l.Index, l.Type)
	if b.Nulls < 0 || r.nulls < 0 {
		r.nulls = -1
	} else {
		r.nulls += b.Nulls
	}
	switch {
	case b.Rows == 0 || b.Nulls == b.Rows: // no values
	case !b.Known:
		r.unknown = true
	case !r.any:
		r.min, r.max, r.any, r.exact = b.Min, b.Max, true, b.Exact
	default:
		if compareBounds(r.Type, &b.Min, &r.min) < 0 {
			r.min = b.Min
		}
		if compareBounds(r.Type, &r.max, &b.Max) < 0 {
			r.max = b.Max
		}
		r.exact = r.exact && b.Exact
	}
}

// compareBounds compares values in the order of a type.
func compareBounds(t column.Type, a, b *boundValue) int {
	switch OrderOf(t.Kind) {
	case orderInts:
		return compareInts(a.int, b.int)
	case OrderFloats:
		return cmp.Compare(a.float, b.float)
	default:
		return strings.Compare(a.text, b.text)
	}
}

// A Chunk is a leaf in a row group.
type Chunk struct {
	Footer *footer.Footer
	Group  int
	Leaf   *footer.Leaf
}

// Leading returns the positions of chunks by their least values, or by their greatest ones in reverse. Chunks without
// bounds, and with another type than the first one, come last.
func Leading(chunks []Chunk, greatest bool) []int {
	order, all := make([]int, len(chunks)), make([]bounds, len(chunks))
	for i, c := range chunks {
		order[i] = i
		if t := c.Leaf.Type; t == chunks[0].Leaf.Type {
			all[i] = ChunkBounds(c.Footer, c.Group, c.Leaf.Index, t)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &all[i], &all[j]
		switch t := chunks[0].Leaf.Type; {
		case !a.Known || !b.Known:
			return number(!a.Known) - number(!b.Known)
		case greatest:
			return compareBounds(t, &b.Max, &a.Max)
		default:
			return compareBounds(t, &a.Min, &b.Min)
		}
	})
	return order
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Result returns the least and greatest value of the row groups seen, whether they are exact, and the number of NULLs,
// -1 if unknown. If a row group has values without statistics, there are no bounds, and they are not exact.
func (r *ranger) Result() (low, high any, exact bool, nulls int64) {
	nulls = r.nulls
	if r.Partial && r.nulls > 0 {
		nulls = -1
	}
	if r.unknown || !r.any {
		return nil, nil, !r.unknown, nulls
	}
	low, okLow := r.min.Value(r.Type)
	high, okHigh := r.max.Value(r.Type)
	if !okLow || !okHigh {
		return nil, nil, false, nulls
	}
	return low, high, r.exact && !r.Partial, nulls
}
