// SPDX-License-Identifier: Apache-2.0

package predicate

import (
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
		if r.less(&b.Min, &r.min) {
			r.min = b.Min
		}
		if r.less(&r.max, &b.Max) {
			r.max = b.Max
		}
		r.exact = r.exact && b.Exact
	}
}

// less compares values in the order of the type.
func (r *ranger) less(a, b *boundValue) bool {
	switch OrderOf(r.Type.Kind) {
	case orderInts:
		return compareInts(a.int, b.int) < 0
	case OrderFloats:
		return a.float < b.float
	default:
		return a.text < b.text
	}
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
