// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/vecql/vecql/column"
)

// Lists of the values of a group, the most frequent one, and quantiles that are values.

// ArrayAgg collects the values of a column of any kind without children, but for vectors, in the order of row numbers:
// ARRAY_AGG. The result is a List of the column's type, with the NULLs; it is NULL for no rows. Memory: 24 bytes per
// value, and the value.
func ArrayAgg(name string) Aggregate {
	a := call("array_agg", []string{name}).newWith(func(t column.Type) (Accumulator, error) {
		base, err := newGathered(t, true)
		return &listed{gathered: base}, err
	})
	a.RowNumbers = true
	return a
}

// listed is ArrayAgg.
type listed struct {
	gathered
	elements builder
}

func (l *listed) Types() ([]column.Type, column.Field) {
	return []column.Type{typeBytes}, listOf(l.typ)
}

func (l *listed) Size() int64 { return l.gathered.Size() + l.elements.size() }

func (l *listed) Result(i, j int) (column.Column, error) {
	l.settle()
	l.elements.begin(l.typ)
	valid, offsets := make([]byte, (j-i+7)/8), make([]int32, 1, j-i+1)
	for id := i; id < j; id++ {
		list := l.list(uint32(id))
		if len(list) > 0 {
			valid[(id-i)>>3] |= 1 << ((id - i) & 7)
		}
		for _, e := range list {
			if l.appendValue(&l.elements, e); max(len(l.elements.text), l.elements.n) > maxText {
				return column.Column{}, tooLarge(l.elements.n)
			}
		}
		offsets = append(offsets, int32(l.elements.n))
	}
	return column.Lists("", offsets, l.elements.column()).WithValidity(valid), nil
}

// Mode finds the most frequent value of a column of any kind without children, but for vectors; of several the one
// whose first row comes first. It has the column's type; NULL if all values are NULL. NaN equals NaN, and -0 equals 0.
// Memory: 24 bytes per value, and the value.
func Mode(name string) Aggregate {
	a := call("mode", []string{name}).newWith(func(t column.Type) (Accumulator, error) {
		base, err := newGathered(t, false)
		return &mostFrequent{gathered: base, counts: map[string]int{}}, err
	})
	a.RowNumbers = true
	return a
}

// mostFrequent is Mode.
type mostFrequent struct {
	gathered
	counts map[string]int // of the values of a group
	out    builder
}

func (m *mostFrequent) Size() int64 { return m.gathered.Size() + m.out.size() }

func (m *mostFrequent) Result(i, j int) (column.Column, error) {
	return m.aValueOf(&m.out, i, j, func(list []gatheredValue) (best gatheredValue) {
		clear(m.counts)
		for _, e := range list {
			m.counts[m.canonical(e)]++
		}
		most := 0
		for _, e := range list {
			if n := m.counts[m.canonical(e)]; n > most {
				best, most = e, n
			}
		}
		return best
	})
}

// canonical returns bytes that are the same for equal values. It changes the bytes of floats in place.
func (m *mostFrequent) canonical(e gatheredValue) string {
	b := m.value(e)
	switch m.typ.Kind {
	case column.Float16:
		binary.NativeEndian.PutUint16(b, canonical16(binary.NativeEndian.Uint16(b)))
	case column.Float32:
		binary.NativeEndian.PutUint32(b, canonical32(math.Float32frombits(binary.NativeEndian.Uint32(b))))
	case column.Float64:
		binary.NativeEndian.PutUint64(b, canonical64(math.Float64frombits(binary.NativeEndian.Uint64(b))))
	case column.Varint:
		return trimVarint(stringOf(b))
	}
	return stringOf(b)
}

// QuantileDisc finds the least value of a column that at least the share q of its values do not exceed, 0 <= q <= 1:
// PERCENTILE_DISC. The column has any kind with an order, see [Min], and the result its type; NULL if all values are
// NULL. NaN is greater than all numbers. Memory: 24 bytes per value, and the value.
func QuantileDisc(name string, q float64) Aggregate {
	a := call("quantile_disc", []string{name}, q).newWith(func(t column.Type) (Accumulator, error) {
		if !hasOrder(t) {
			return nil, refused(0, "a kind with an order")
		}
		base, err := newGathered(t, false)
		return &quantileDisc{gathered: base, q: q}, err
	})
	a.RowNumbers, a.err = true, checkQuantiles(defaultCompression, []float64{q})
	return a
}

// quantileDisc is QuantileDisc.
type quantileDisc struct {
	gathered
	q      float64
	values builder // of a group
	keys   []uint64
	order  []int
	out    builder
}

func (d *quantileDisc) Size() int64 {
	return d.gathered.Size() + d.values.size() + d.out.size() + 8*int64(cap(d.keys)+cap(d.order))
}

func (d *quantileDisc) Result(i, j int) (column.Column, error) {
	return d.aValueOf(&d.out, i, j, func(list []gatheredValue) gatheredValue {
		n := float64(len(list))
		return list[d.sorted(list)[max(1, len(list)-int(math.Floor(n-n*d.q)))-1]]
	})
}

// sorted returns the places of the values in ascending order.
func (d *quantileDisc) sorted(list []gatheredValue) []int {
	d.order = d.order[:0]
	for k := range list {
		d.order = append(d.order, k)
	}
	if !isSortable(d.typ) {
		compare := comparer(d.typ)
		slices.SortStableFunc(d.order, func(a, b int) int {
			return compare(stringOf(d.value(list[a])), stringOf(d.value(list[b])))
		})
		return d.order
	}
	d.values.begin(d.typ)
	for _, e := range list {
		d.appendValue(&d.values, e)
	}
	c := d.values.column()
	d.keys = orderKeys(d.keys, &c, false)
	slices.SortStableFunc(d.order, func(a, b int) int { return cmp.Compare(d.keys[a], d.keys[b]) })
	return d.order
}
