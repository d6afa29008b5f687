// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Inner loops of phase 2: count and sum. Each aggregate has one loop for rows without NULLs, which contains only the
// aggregate, and one that iterates over the set bits of the validity.

var (
	typeInt64   = column.Type{Kind: column.Int64}
	typeUint64  = column.Type{Kind: column.Uint64}
	typeFloat64 = column.Type{Kind: column.Float64}
	typeBytes   = column.Type{Kind: column.Binary} // of encoded states
)

// fieldOf returns the field of a type without children.
func fieldOf(t column.Type) column.Field { return column.Field{Type: t} }

// grown returns s with n elements; new elements are zero.
func grown[T any](s []T, n int) []T {
	if n <= cap(s) {
		old := len(s)
		s = s[:n]
		if old < n {
			clear(s[old:])
		}
		return s
	}
	t := make([]T, n, max(n, 2*cap(s), 64))
	copy(t, s)
	return t
}

// extended is grown, except that new elements are unspecified.
func extended[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return grown(s, n)
}

// appendBytes appends bytes to a text.
func appendBytes[T string | []byte](dst []byte, s T) []byte {
	return append(roomForText(dst, len(s)), s...)
}

// roomForText returns s with room for n more bytes. If there was less it doubles the room: append would add a quarter,
// and copy long texts five times on average.
func roomForText(s []byte, n int) []byte {
	if n <= cap(s)-len(s) {
		return s
	}
	t := makeLarge[byte](max(len(s)+n, 2*cap(s), 64))[:len(s)]
	copy(t, s)
	return t
}

// If groups are few, consecutive rows are added to different copies of the states, the lanes. Otherwise consecutive
// rows of one group would wait for each other's sum to be stored and loaded again.
const (
	laneGroups = 64
	laneCount  = 4
)

// count counts rows.
type count struct{ n []int64 }

func (c *count) Types() ([]column.Type, column.Field) {
	return []column.Type{typeInt64}, fieldOf(typeInt64)
}

func (c *count) Resize(n int)                            { c.n = grown(c.n, n) }
func (c *count) Reset()                                  { c.n = c.n[:0] }
func (c *count) State(i, j int) ([]column.Column, error) { return []column.Column{of(c.n[i:j])}, nil }
func (c *count) Result(i, j int) (column.Column, error)  { return of(c.n[i:j]), nil }

// Add counts in lanes if groups are few. Ids are then below laneGroups, and the modulo only removes bounds checks.
func (c *count) Add(rows Rows) error {
	n, ids := c.n, rows.IDs
	if rows.only {
		n[ids[0]] += int64(len(ids))
		return nil
	}
	if len(n) <= laneGroups {
		var lanes [laneCount][laneGroups]int64
		i := 0
		for ; i+laneCount <= len(ids); i += laneCount {
			lanes[0][ids[i]%laneGroups]++
			lanes[1][ids[i+1]%laneGroups]++
			lanes[2][ids[i+2]%laneGroups]++
			lanes[3][ids[i+3]%laneGroups]++
		}
		for id := range n {
			n[id] += lanes[0][id] + lanes[1][id] + lanes[2][id] + lanes[3][id]
		}
		ids = ids[i:]
	}
	for _, id := range ids {
		n[id]++
	}
	return nil
}

func (c *count) Merge(ids []uint32, state []column.Column) error {
	from := view[int64](&state[0])
	for i, id := range ids {
		c.n[id] += from[i]
	}
	return nil
}

// nulls counts the NULLs of a column. The number of values is rows less NULLs: one count of rows serves all columns,
// and most columns have no NULLs.
type nulls struct {
	n      []int64 // nil until the first NULL
	groups int
}

func (c *nulls) Types() ([]column.Type, column.Field) {
	return []column.Type{typeInt64}, fieldOf(typeInt64)
}

func (c *nulls) Reset() { *c = nulls{} }

func (c *nulls) Resize(n int) {
	c.groups = n
	if c.n != nil {
		c.n = grown(c.n, n)
	}
}

func (c *nulls) start() {
	if c.n == nil {
		c.n = make([]int64, c.groups)
	}
}

// Add visits the NULLs alone, in words of 64 rows.
func (c *nulls) Add(rows Rows) error {
	col := &rows.Args[0]
	if col.Nulls == 0 {
		return nil
	}
	c.start()
	for at := 0; at < col.Len; at += 64 {
		w := ^validWord(col, at)
		if left := col.Len - at; left < 64 {
			w &= 1<<left - 1
		}
		for ; w != 0; w &= w - 1 {
			c.n[rows.IDs[at+bits.TrailingZeros64(w)]]++
		}
	}
	return nil
}

func (c *nulls) State(i, j int) ([]column.Column, error) {
	r, err := c.Result(i, j)
	return []column.Column{r}, err
}

func (c *nulls) Merge(ids []uint32, state []column.Column) error {
	if isZeros(&state[0]) {
		return nil
	}
	c.start()
	from := view[int64](&state[0])
	for i, id := range ids {
		c.n[id] += from[i]
	}
	return nil
}

func (c *nulls) Result(i, j int) (column.Column, error) {
	if c.n == nil {
		return zeroColumn(typeInt64, j-i), nil
	}
	return of(c.n[i:j]), nil
}

// values returns the number of values of a group that are not NULL.
func (c *nulls) values(rows *count, id int) int64 {
	if c.n == nil {
		return rows.n[id]
	}
	return rows.n[id] - c.n[id]
}

type (
	signed   interface{ int8 | int16 | int32 | int64 }
	unsigned interface {
		uint8 | uint16 | uint32 | uint64
	}
	float  interface{ float32 | float64 }
	number interface{ signed | unsigned | float }
)

// sums are sums of integers in 128 bits: low holds the low 64 bits of each, and over the carries. The final sum does
// not depend on the order of rows, even if an intermediate sum overflows 64 bits.
type sums struct {
	seen
	low  []int64
	over carries
}

func (s *sums) Resize(n int) {
	s.low = grown(s.low, n)
	s.seen.resize(n)
}

func (s *sums) Reset() {
	s.low, s.over = s.low[:0], carries{}
	s.seen.reset()
}

// carries are the carries of sums by group.
type carries struct {
	first []int64          // of the first groups; nil until one of them has a carry
	rest  map[uint32]int64 // of the other groups that have any
}

// firstCarries is the number of groups with an element of their own: a sum of large values has a carry every few rows.
const firstCarries = 1024

func (c *carries) add(id uint32, n int64) {
	if id < firstCarries {
		if c.first == nil {
			c.first = make([]int64, firstCarries)
		}
		c.first[id] += n
		return
	}
	if c.rest == nil {
		c.rest = map[uint32]int64{}
	}
	c.rest[id] += n
}

func (c *carries) of(id int) int64 {
	if id < len(c.first) {
		return c.first[id]
	}
	return c.rest[uint32(id)]
}

// between returns the carries of groups [i, j), nil if all are 0.
func (c *carries) between(i, j int) []int64 {
	var out []int64
	set := func(id int, n int64) {
		if n == 0 || id < i || j <= id {
			return
		}
		if out == nil {
			out = make([]int64, j-i)
		}
		out[id-i] = n
	}
	for id, n := range c.first {
		set(id, n)
	}
	for id, n := range c.rest {
		set(int(id), n)
	}
	return out
}

// addSum adds hi<<64 + lo to a sum whose low word is signed.
func (s *sums) addSum(id uint32, hi int64, lo uint64) {
	v, old := int64(lo), s.low[id]
	sum := old + v
	s.low[id] = sum
	hi -= v >> 63 // the low word counts as signed
	if (old^sum)&(v^sum) < 0 {
		hi += 1 | v>>63
	}
	if hi != 0 {
		s.over.add(id, hi)
	}
}

// sumSigned returns the sum of x in 128 bits.
func sumSigned[T signed](x []T) (hi int64, lo uint64) {
	if unsafe.Sizeof(x[0]) < 8 {
		var sum, sum1, sum2, sum3 int64 // additions to one sum would wait for each other
		for ; len(x) >= 4; x = x[4:] {
			sum += int64(x[0])
			sum1 += int64(x[1])
			sum2 += int64(x[2])
			sum3 += int64(x[3])
		}
		for _, v := range x {
			sum += int64(v)
		}
		sum += sum1 + sum2 + sum3
		return sum >> 63, uint64(sum)
	}
	var low, low1 uint64 // sums of halves of 32 bits, which fit for 1<<32 rows
	var high, high1 int64
	for ; len(x) >= 2; x = x[2:] {
		low += uint64(uint32(x[0]))
		high += int64(x[0]) >> 32
		low1 += uint64(uint32(x[1]))
		high1 += int64(x[1]) >> 32
	}
	if len(x) > 0 {
		low += uint64(uint32(x[0]))
		high += int64(x[0]) >> 32
	}
	high += high1
	lo, carry := bits.Add64(uint64(high)<<32, low+low1, 0)
	return high>>32 + int64(carry), lo
}

// sumUnsigned returns the sum of x in 128 bits.
func sumUnsigned[T unsigned](x []T) (hi int64, lo uint64) {
	var carry uint64
	for _, v := range x {
		lo, carry = bits.Add64(lo, uint64(v), 0)
		hi += int64(carry)
	}
	return hi, lo
}

// addSigned adds values to their groups; only means that all belong to one. Carries are rare, so that their branch is
// almost free.
func addSigned[T signed](s *sums, ids []uint32, only bool, col *column.Column) {
	low := s.low
	x := view[T](col)[:len(ids)]
	s.begin(ids, col.Nulls != 0)
	if only && col.Nulls == 0 {
		hi, lo := sumSigned(x)
		s.addSum(ids[0], hi, lo)
	} else if col.Nulls == 0 {
		for i, id := range ids {
			v, old := int64(x[i]), low[id]
			sum := old + v
			low[id] = sum
			if (old^sum)&(v^sum) < 0 {
				s.over.add(id, 1|v>>63)
			}
		}
	} else {
		for _, i := range s.valid(col) {
			id := ids[i]
			v, old := int64(x[i]), low[id]
			sum := old + v
			low[id] = sum
			s.bits[id] = true
			if (old^sum)&(v^sum) < 0 {
				s.over.add(id, 1|v>>63)
			}
		}
	}
	s.end()
}

// addUnsigned adds unsigned integers to the low 64 bits of their sums and carries what overflows.
func addUnsigned[T unsigned](s *sums, ids []uint32, only bool, col *column.Column) {
	low := s.low
	x := view[T](col)[:len(ids)]
	s.begin(ids, col.Nulls != 0)
	add := func(i int) {
		id := ids[i]
		v := uint64(x[i])
		sum := uint64(low[id]) + v
		low[id] = int64(sum)
		if sum < v {
			s.over.add(id, 1)
		}
	}
	switch {
	case only && col.Nulls == 0:
		hi, lo := sumUnsigned(x)
		sum, carry := bits.Add64(uint64(low[ids[0]]), lo, 0)
		low[ids[0]] = int64(sum)
		if hi += int64(carry); hi != 0 {
			s.over.add(ids[0], hi)
		}
	case col.Nulls == 0:
		for i := range ids {
			add(i)
		}
	default:
		for _, i := range s.valid(col) {
			add(int(i))
			s.bits[ids[i]] = true
		}
	}
	s.end()
}

// state returns the sums of groups [i, j) as two columns; merge adds such columns.
func (s *sums) state(t column.Type, i, j int) []column.Column {
	over := zeroColumn(typeInt64, j-i)
	if o := s.over.between(i, j); o != nil {
		over = of(o)
	}
	return []column.Column{columnOf(t, j-i, s.low[i:j]).WithValidity(s.validity(i, j)), over}
}

// merge adds the states of other sums: a column of low words, and one of carries, which is nearly always zeros.
func (s *sums) merge(ids []uint32, state []column.Column) {
	if state[0].Type == typeUint64 {
		addUnsigned[uint64](s, ids, false, &state[0])
	} else {
		addSigned[int64](s, ids, false, &state[0])
	}
	if !isZeros(&state[1]) {
		for i, n := range view[int64](&state[1]) {
			if n != 0 {
				s.over.add(ids[i], n)
			}
		}
	}
}

// float returns approximately the sum of a group as a float64.
func (s *sums) float(id int, unsigned bool) float64 {
	f := float64(s.low[id])
	if unsigned {
		f = float64(uint64(s.low[id]))
	}
	if n := s.over.of(id); n != 0 {
		f += float64(n) * (1 << 64)
	}
	return f
}

// sumInt is the sum of integers and of Decimal64. Result returns the low 64 bits of each sum; over lists those that
// overflow.
type sumInt struct {
	sums
	add      func(s *sums, ids []uint32, only bool, col *column.Column)
	unsigned bool
	typ      column.Type // of the result
}

// low64 returns the type of the low 64 bits.
func (s *sumInt) low64() column.Type {
	if s.unsigned {
		return typeUint64
	}
	return typeInt64
}

func (s *sumInt) Types() ([]column.Type, column.Field) {
	return []column.Type{s.low64(), typeInt64}, fieldOf(s.typ)
}

func (s *sumInt) Add(rows Rows) error {
	s.add(&s.sums, rows.IDs, rows.only, &rows.Args[0])
	return nil
}

func (s *sumInt) State(i, j int) ([]column.Column, error) { return s.state(s.low64(), i, j), nil }

func (s *sumInt) Merge(ids []uint32, state []column.Column) error { s.merge(ids, state); return nil }

func (s *sumInt) Result(i, j int) (column.Column, error) {
	return columnOf(s.typ, j-i, s.low[i:j]).WithValidity(s.validity(i, j)), nil
}

// floats returns the sums of groups [i, j) as floats, without the scale of decimals. It uses the memory of dst if there
// is enough. Aggregates that share the sums each have their own dst.
func (s *sumInt) floats(dst []float64, i, j int) []float64 {
	dst = grown(dst[:0], j-i)
	for k := range dst {
		dst[k] = s.float(i+k, s.unsigned)
	}
	return dst
}

// sumFloat is the sum of floats in float64. If compensated is set, it uses Neumaier's method (A. Neumaier,
// Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, ZAMM 54, 1974), whose error does not grow
// with the number of rows.
type sumFloat struct {
	seen
	sum, comp   []float64
	compensated bool
	add         func(*sumFloat, []uint32, *column.Column)
	out         []float64
}

// addFloat adds floats in the order of rows, or in lanes if groups are few. Lanes change the order of additions, and so
// the last bits of a sum; a compensated sum has no lanes.
func addFloat[T float](s *sumFloat, ids []uint32, col *column.Column) {
	sum := s.sum
	x := view[T](col)[:len(ids)]
	s.begin(ids, col.Nulls != 0)
	switch {
	case s.compensated:
		forValid(col, func(i int) {
			s.addCompensated(ids[i], float64(x[i]))
			if s.bits != nil {
				s.bits[ids[i]] = true
			}
		})
	case col.Nulls == 0:
		i := 0
		if len(sum) <= laneGroups && len(ids) > laneGroups {
			var lanes [laneCount][laneGroups]float64
			for ; i+laneCount <= len(ids); i += laneCount {
				lanes[0][ids[i]%laneGroups] += float64(x[i])
				lanes[1][ids[i+1]%laneGroups] += float64(x[i+1])
				lanes[2][ids[i+2]%laneGroups] += float64(x[i+2])
				lanes[3][ids[i+3]%laneGroups] += float64(x[i+3])
			}
			for id := range sum {
				sum[id] += lanes[0][id] + lanes[1][id] + (lanes[2][id] + lanes[3][id])
			}
		}
		for ; i < len(ids); i++ {
			sum[ids[i]] += float64(x[i])
		}
	default:
		for _, i := range s.valid(col) {
			id := ids[i]
			sum[id] += float64(x[i])
			s.bits[id] = true
		}
	}
	s.end()
}

// addCompensated adds v to a sum and the rounding error of the addition to its compensation: one step of Neumaier's
// method.
func (s *sumFloat) addCompensated(id uint32, v float64) {
	old := s.sum[id]
	t := old + v
	switch {
	case math.IsInf(t, 0) || t != t: // no error to keep, and Inf - Inf is NaN
	case math.Abs(old) >= math.Abs(v):
		s.comp[id] += (old - t) + v
	default:
		s.comp[id] += (v - t) + old
	}
	s.sum[id] = t
}

func (s *sumFloat) Types() ([]column.Type, column.Field) {
	if s.compensated {
		return []column.Type{typeFloat64, typeFloat64}, fieldOf(typeFloat64)
	}
	return []column.Type{typeFloat64}, fieldOf(typeFloat64)
}

func (s *sumFloat) Resize(n int) {
	s.sum = grown(s.sum, n)
	if s.compensated {
		s.comp = grown(s.comp, n)
	}
	s.resize(n)
}

func (s *sumFloat) Reset() {
	s.sum, s.comp = s.sum[:0], s.comp[:0]
	s.reset()
}

func (s *sumFloat) Add(rows Rows) error { s.add(s, rows.IDs, &rows.Args[0]); return nil }

func (s *sumFloat) State(i, j int) ([]column.Column, error) {
	state := []column.Column{of(s.sum[i:j]).WithValidity(s.validity(i, j))}
	if s.compensated {
		state = append(state, of(s.comp[i:j]))
	}
	return state, nil
}

func (s *sumFloat) Merge(ids []uint32, state []column.Column) error {
	addFloat[float64](s, ids, &state[0])
	if s.compensated {
		for i, c := range view[float64](&state[1]) {
			s.comp[ids[i]] += c
		}
	}
	return nil
}

func (s *sumFloat) Result(i, j int) (column.Column, error) {
	out := s.sum[i:j]
	if s.compensated {
		s.out = grown(s.out[:0], j-i)
		for k := range s.out {
			s.out[k] = s.sum[i+k] + s.comp[i+k]
		}
		out = s.out
	}
	return of(out).WithValidity(s.validity(i, j)), nil
}
