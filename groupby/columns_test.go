// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// This file makes random columns for the cases of cases_test.go, in all the forms that a column has.

// A columnMaker makes columns of the values of a pool.
type columnMaker struct {
	typ     Type
	pool    any // a slice
	size    int
	stride  int // keys: group g has value g*stride of the pool; values: 0, any value
	nulls   int // per 100
	wild    bool
	strings []string
	dict    *Dictionary // of the pool twice
	rand    *rand.Rand
}

func newColumnMaker(c chooser, t Type, size, i, style int) *columnMaker {
	m := &columnMaker{typ: t, size: size, stride: 1 + i*(2*c.n(1000)+1), rand: rand.New(rand.NewPCG(uint64(c.n(1<<16)), 1))}
	if c.n(2) == 0 {
		m.nulls = [...]int{1, 5, 30, 100}[c.n(4)]
	}
	m.pool = makePool(m.rand, t, size, style)
	m.addDictionary()
	return m
}

// newValueMaker makes values of which sums are exact, or wild ones: great ones, infinities, NaN.
func newValueMaker(c chooser, t Type) *columnMaker {
	m := &columnMaker{typ: t, size: 64, rand: rand.New(rand.NewPCG(uint64(c.n(1<<16)), 2))}
	m.wild = c.n(3) == 0
	if c.n(2) == 0 {
		m.nulls = [...]int{1, 5, 50, 100}[c.n(4)]
	}
	switch {
	case t == Float32:
		m.pool = valueFloats[float32](m.rand, m.size, m.wild)
	case t == Float64:
		m.pool = valueFloats[float64](m.rand, m.size, m.wild)
	case m.wild:
		m.pool = makePool(m.rand, t, m.size, 3)
	default:
		m.pool = makePool(m.rand, t, m.size, 0)
	}
	m.addDictionary()
	return m
}

func (m *columnMaker) addDictionary() {
	if m.typ != String {
		return
	}
	m.strings = m.pool.([]string)
	entries := append(append([]string(nil), m.strings...), m.strings...)
	m.dict = NewDictionary(Values(entries))
	if m.rand.IntN(2) == 0 {
		m.dict = NewDictionary(textOf(entries))
	}
}

func textOf(s []string) Column {
	data := []byte("...") // the first row need not begin at 0
	offsets := []int32{3}
	for _, s := range s {
		data = append(data, s...)
		offsets = append(offsets, int32(len(data)))
	}
	return Text(data, offsets)
}

// column returns a column for rows of these groups; now and then it is a slice of a longer one.
func (m *columnMaker) column(c chooser, groups []int) Column {
	n, cut := len(groups), 0
	if n > 0 && c.n(4) == 0 {
		cut = 8 * (1 + c.n(3))
		groups = append(make([]int, cut), groups...)
	}
	at := make([]int, len(groups))
	for i, g := range groups {
		if m.stride == 0 {
			at[i] = m.rand.IntN(m.size)
		} else {
			at[i] = g * m.stride % m.size
		}
	}
	var validity []byte
	if m.nulls > 0 {
		validity = make([]byte, (len(at)+7)/8+m.rand.IntN(10))
		for i := range validity {
			validity[i] = 0xff
		}
		for i := range at {
			if m.rand.IntN(100) < m.nulls {
				validity[i/8] &^= 1 << (i % 8)
			}
		}
	}
	col := m.take(c, at, validity).WithValidity(validity)
	return col.Slice(cut, cut+n)
}

func (m *columnMaker) take(c chooser, at []int, validity []byte) Column {
	switch pool := m.pool.(type) {
	case []int8:
		return takeOf(pool, at)
	case []int16:
		return takeOf(pool, at)
	case []int32:
		return takeOf(pool, at)
	case []int64:
		return takeOf(pool, at)
	case []uint8:
		return takeOf(pool, at)
	case []uint16:
		return takeOf(pool, at)
	case []uint32:
		return takeOf(pool, at)
	case []uint64:
		return takeOf(pool, at)
	case []float32:
		return takeOf(pool, at)
	case []float64:
		return takeOf(pool, at)
	case []bool:
		return takeOf(pool, at)
	case [][16]byte:
		return takeOf(pool, at)
	}
	switch c.n(3) {
	case 0:
		codes := make([]uint32, len(at))
		for i, x := range at {
			codes[i] = uint32(x + m.rand.IntN(2)*len(m.strings))
			if validity != nil && validity[i/8]>>(i%8)&1 == 0 && m.rand.IntN(2) == 0 {
				codes[i] = math.MaxUint32 // nobody may look at it
			}
		}
		return Codes(codes, m.dict)
	case 1:
		s := make([]string, len(at))
		for i, x := range at {
			s[i] = m.strings[x]
		}
		return textOf(s)
	}
	return takeOf(m.strings, at)
}

func takeOf[T Value](pool []T, at []int) Column {
	s := make([]T, len(at))
	for i, x := range at {
		s[i] = pool[x]
	}
	return Values(s)
}

// makePool returns n values, in one of four styles: dense from 0; dense but for a few outliers; anything; extremes among small ones.
func makePool(r *rand.Rand, t Type, n, style int) any {
	switch t {
	case Int8:
		return poolInts[int8](r, n, style)
	case Int16:
		return poolInts[int16](r, n, style)
	case Int32:
		return poolInts[int32](r, n, style)
	case Int64:
		return poolInts[int64](r, n, style)
	case Uint8:
		return poolInts[uint8](r, n, style)
	case Uint16:
		return poolInts[uint16](r, n, style)
	case Uint32:
		return poolInts[uint32](r, n, style)
	case Uint64:
		return poolInts[uint64](r, n, style)
	case Float32:
		bits := []uint32{0x7fc00000, 0xffc00001, 0x7f800001, 0x80000000, 0, 0x7f800000, 0xff800000, 1}
		s := make([]float32, n)
		for i := range s {
			s[i] = float32(i)
			if style > 1 {
				s[i] = math.Float32frombits(r.Uint32())
			}
			if style > 0 && r.IntN(10) == 0 {
				s[i] = math.Float32frombits(bits[r.IntN(len(bits))])
			}
		}
		return s
	case Float64:
		bits := []uint64{0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001, 1 << 63, 0, 0x7ff0000000000000, 0xfff0000000000000, 1}
		s := make([]float64, n)
		for i := range s {
			s[i] = float64(i)
			if style > 1 {
				s[i] = math.Float64frombits(r.Uint64())
			}
			if style > 0 && r.IntN(10) == 0 {
				s[i] = math.Float64frombits(bits[r.IntN(len(bits))])
			}
		}
		return s
	case Bool:
		s := make([]bool, n)
		for i := range s {
			s[i] = i&1 != 0
		}
		return s
	case ID:
		s := make([][16]byte, n)
		for i := range s {
			for k := range s[i] {
				if style > 1 {
					s[i][k] = byte(r.Uint32())
				}
			}
			s[i][15], s[i][14], s[i][7] = byte(i), byte(i>>8), byte(i>>(style*4))
		}
		return s
	}
	lengths := [...]int{0, 1, 2, 3, 4, 5, 7, 8, 9, 14, 15, 16, 17, 33}
	length := lengths[r.IntN(len(lengths))]
	s := make([]string, n)
	for i := range s {
		if style > 0 {
			length = lengths[r.IntN(len(lengths))]
			if r.IntN(50) == 0 {
				length = 300
			}
		}
		s[i] = fmt.Sprint(strings.Repeat("/a", max(0, length-5)/2+1), i) // what is alike comes first
		s[i] = s[i][max(0, len(s[i])-length):]
		if style == 3 {
			s[i] = strings.ReplaceAll(s[i], "1", "\x00")
		}
	}
	return s
}

func poolInts[T signed | unsigned](r *rand.Rand, n, style int) []T {
	least, greatest := bounds[T]()
	extremes := []T{least, greatest, least + 1, greatest - 1, 0, 1, greatest / 2}
	base := T(0)
	if r.IntN(3) == 0 {
		base = T(r.Uint64())
	}
	s := make([]T, n)
	for i := range s {
		s[i] = base + T(i)
		switch style {
		case 0:
			s[i] = T(i)
		case 1:
			if r.IntN(500) == 0 {
				s[i] = T(r.Uint64())
			}
		case 2:
			s[i] = T(r.Uint64())
		case 3:
			if r.IntN(3) == 0 {
				s[i] = extremes[r.IntN(len(extremes))]
			}
		}
	}
	return s
}

func valueFloats[T float](r *rand.Rand, n int, wild bool) []T {
	s := make([]T, n)
	specials := []T{T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1)), T(math.Copysign(0, -1))}
	some := wild && r.IntN(2) == 0
	for i := range s {
		s[i] = T(r.IntN(16000)-8000) / 8 // any sum of these is exact
		if wild {
			s[i] = T(math.Pow(10, 30*r.Float64()-15)) // all positive: no cancellation
		}
		if some && r.IntN(10) == 0 {
			s[i] = specials[r.IntN(len(specials))]
		}
	}
	return s
}
