// SPDX-License-Identifier: Apache-2.0

package predicate

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// Constants of filters: their conversion to the order of a column. A column has one of three orders: integers of up to
// 256 bits (numbers, booleans, dates, times, unscaled decimals), floats, bytes.

// A filterOrder is the order in which the values of a kind compare.
type filterOrder uint8

const (
	OrderNone filterOrder = iota // not comparable
	orderInts
	OrderFloats
	OrderTexts
)

// OrderOf returns the order of the values of a kind.
func OrderOf(k column.Kind) filterOrder {
	switch {
	case k == column.Float16 || k == column.Float32 || k == column.Float64:
		return OrderFloats
	case k == column.String || k == column.Binary || k == column.UUID || k == column.Fixed:
		return OrderTexts
	case k >= column.Bool && k <= column.Decimal256 && k != column.Duration:
		return orderInts
	}
	return OrderNone
}

func isDecimal(k column.Kind) bool {
	return k == column.Decimal64 || k == column.Decimal128 || k == column.Decimal256
}

func isUnsigned(k column.Kind) bool { return k >= column.Uint8 && k <= column.Uint64 }

// A leafTerm tests one column: whether the value lies in one span, equals one of several points, or contains a
// part. NULL fails, also if the leaf is inverted. A leaf without spans and part is false; inverted it is NOT NULL.
type leafTerm struct {
	number int // in predicate.leaves
	column int // in predicate.paths
	typ    column.Type
	isNull bool // test whether the value is NULL; there are no spans
	invert bool
	spans  leafSpans
	part   []byte // the value contains it; there are no spans. nil means none
}

// accepts describes, for errors, the types of values that columns of a kind compare with.
func accepts(k column.Kind) string {
	switch k {
	case column.Bool:
		return "bool"
	case column.Date, column.Timestamp:
		return "time.Time"
	case column.Time:
		return "time.Duration"
	case column.Decimal64, column.Decimal128, column.Decimal256:
		return `integers, floats, Int128, Int256 and strings such as "12.50"`
	case column.String, column.Binary, column.Fixed:
		return "string and []byte"
	case column.UUID:
		return "[16]byte and []byte"
	}
	if OrderOf(k) == OrderNone {
		return "IsNull and NotNull only"
	}
	return "integers, floats, Int128 and Int256"
}

// A span is the values from lo to hi. open excludes hi; only texts need it, because other values have a next lower one.
type span[V any] struct {
	lo, hi V
	open   bool
}

// leafSpans are the spans of a leaf, in the order of its column's kind. Several spans are points.
type leafSpans struct {
	ints   []span[wide]
	floats []span[float64] // a hi of NaN includes NaN; lo is NaN only if hi is
	texts  []span[string]
}

func (s *leafSpans) len() int { return len(s.ints) + len(s.floats) + len(s.texts) }

// sort sorts points and removes duplicates.
func (s *leafSpans) sort() {
	s.ints = sortPoints(s.ints, compareInts)
	s.floats = sortPoints(s.floats, compareFloats)
	s.texts = sortPoints(s.texts, strings.Compare)
}

func sortPoints[V any](s []span[V], compare func(a, b V) int) []span[V] {
	slices.SortFunc(s, func(a, b span[V]) int { return compare(a.lo, b.lo) })
	return slices.CompactFunc(s, func(a, b span[V]) bool { return compare(a.lo, b.lo) == 0 })
}

// add appends the span of the values that are less than v, at most v or equal to it (Lt, Le, Eq, In) if there
// are any.
func (l *leafTerm) add(op Op, v any) error {
	if v == nil {
		return fmt.Errorf("%w: nil does not compare with any value; use IsNull", failure.ErrFilter)
	}
	fits := false
	switch OrderOf(l.typ.Kind) {
	case OrderTexts:
		var text string
		text, fits = textOf(v, l.typ.Kind)
		switch {
		case !fits:
		case op == Eq || op == In:
			l.spans.texts = append(l.spans.texts, span[string]{text, text, false})
		case op == Le || text != "":
			l.spans.texts = append(l.spans.texts, span[string]{"", text, op == Lt})
		}
	case OrderFloats:
		var n filterNumber
		if n, fits = numberOf(v); !fits {
			break
		}
		if s, ok := n.floats(op, l.typ.Kind); ok {
			l.spans.floats = append(l.spans.floats, s)
		}
	case orderInts:
		var n filterNumber
		if n, fits = numberIn(v, l.typ); !fits {
			break
		}
		if s, ok := n.ints(op, l.typ.Kind); ok {
			l.spans.ints = append(l.spans.ints, s)
		}
	}
	if !fits {
		return fmt.Errorf("%w: %T %s does not compare with %v, which takes %s", failure.ErrFilter, v, constantString(v), l.typ,
			accepts(l.typ.Kind))
	}
	return nil
}

// contain sets the part that the value contains. Each value contains the empty part.
func (l *leafTerm) contain(v any) error {
	part, fits := textOf(v, l.typ.Kind)
	if !fits || l.typ.Kind != column.String && l.typ.Kind != column.Binary {
		return fmt.Errorf("%w: %v does not contain %T %s; only strings and bytes contain others", failure.ErrFilter, l.typ, v,
			constantString(v))
	}
	if part == "" {
		l.invert = !l.invert // not false
	} else {
		l.part = []byte(part)
	}
	return nil
}

// straighten replaces an inverted leaf with a single span that begins at the least value by a leaf that is not
// inverted: not at most 5 is at least 6. Texts have no next value and stay inverted.
func (l *leafTerm) straighten() {
	switch s := &l.spans; {
	case !l.invert:
	case len(s.ints) == 1:
		lowest, highest := limitsOf(l.typ.Kind)
		if s.ints[0].lo != wideOfBig(lowest) {
			return
		}
		next := s.ints[0].hi.big()
		if next.Add(next, big.NewInt(1)); next.Cmp(highest) > 0 {
			s.ints = nil
		} else {
			s.ints[0] = span[wide]{lo: wideOfBig(next), hi: wideOfBig(highest)}
		}
		l.invert = false
	case len(s.floats) == 1 && s.floats[0].lo == math.Inf(-1):
		switch hi := s.floats[0].hi; {
		case hi != hi:
			s.floats = nil
		case hi == math.Inf(1):
			s.floats[0].lo, s.floats[0].hi = math.NaN(), math.NaN()
		default:
			s.floats[0].lo, s.floats[0].hi = math.Nextafter(hi, math.Inf(1)), math.NaN()
		}
		l.invert = false
	}
}

// intersect replaces a leaf by the And of itself and another leaf of the same column, if both have a single span of
// numbers. Otherwise it returns false.
func (l *leafTerm) intersect(other *leafTerm) bool {
	if l.invert || other.invert {
		return false
	}
	a, b := &l.spans, &other.spans
	switch {
	case len(a.ints) == 1 && len(b.ints) == 1:
		a.ints = intersectSpans(a.ints[0], b.ints[0], compareInts)
	case len(a.floats) == 1 && len(b.floats) == 1:
		a.floats = intersectSpans(a.floats[0], b.floats[0], compareFloats)
	default:
		return false
	}
	return true
}

// intersectSpans returns the intersection of two spans, nil if it is empty.
func intersectSpans[V any](a, b span[V], compare func(a, b V) int) []span[V] {
	if compare(a.lo, b.lo) < 0 {
		a.lo = b.lo
	}
	if compare(a.hi, b.hi) > 0 {
		a.hi = b.hi
	}
	if compare(a.lo, a.hi) > 0 {
		return nil
	}
	return []span[V]{a}
}

// constantString returns a constant as messages show it.
func constantString(v any) string {
	switch v.(type) {
	case string, []byte:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(v)
}

// textOf returns the bytes of a value for columns of the kind; false if its type does not compare with them.
func textOf(v any, kind column.Kind) (string, bool) {
	r := reflect.ValueOf(v)
	switch {
	case r.Kind() == reflect.String && kind != column.UUID:
		return r.String(), true
	case r.Kind() == reflect.Slice && r.Type().Elem().Kind() == reflect.Uint8:
		return string(r.Bytes()), true
	case (kind == column.UUID || kind == column.Fixed) && r.Kind() == reflect.Array && r.Len() == 16 &&
		r.Type().Elem() == reflect.TypeFor[byte]():
		var id [16]byte
		reflect.Copy(reflect.ValueOf(id[:]), r)
		return string(id[:]), true
	}
	return "", false
}

// A filterNumber is a number, one of the infinities, or NaN.
type filterNumber struct {
	rat *big.Rat // if it is finite
	inf int      // -1, 1
	nan bool
}

// numberOf returns the number of a value of one of Go's integer and float types.
func numberOf(v any) (filterNumber, bool) {
	switch x := v.(type) {
	case column.Int128:
		return wholeNumber(wideOf128(x).big()), true
	case column.Int256:
		return wholeNumber(wide(x).big()), true
	case time.Duration:
		return filterNumber{}, false
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return wholeNumber(big.NewInt(r.Int())), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return wholeNumber(new(big.Int).SetUint64(r.Uint())), true
	case reflect.Float32, reflect.Float64:
		f := r.Float()
		switch {
		case f != f:
			return filterNumber{nan: true}, true
		case math.IsInf(f, 0):
			return filterNumber{inf: int(math.Copysign(1, f))}, true
		}
		return filterNumber{rat: new(big.Rat).SetFloat64(f)}, true
	}
	return filterNumber{}, false
}

func wholeNumber(i *big.Int) filterNumber { return filterNumber{rat: new(big.Rat).SetInt(i)} }

// numberIn converts a value to the integers of a column: days, units of time, unscaled decimals.
func numberIn(v any, typ column.Type) (filterNumber, bool) {
	r := reflect.ValueOf(v)
	switch {
	case typ.Kind == column.Bool:
		if r.Kind() != reflect.Bool {
			return filterNumber{}, false
		}
		return wholeNumber(big.NewInt(int64(boolBit(r.Bool())))), true
	case typ.Kind == column.Date || typ.Kind == column.Timestamp:
		t, ok := v.(time.Time)
		if !ok {
			return filterNumber{}, false
		}
		ns := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(1e9))
		ns.Add(ns, big.NewInt(int64(t.Nanosecond())))
		if typ.Kind == column.Date {
			return filterNumber{rat: new(big.Rat).SetFrac(ns, big.NewInt(86400e9))}, true
		}
		return filterNumber{rat: new(big.Rat).SetFrac(ns, nanosOf(typ.Unit))}, true
	case typ.Kind == column.Time:
		d, ok := v.(time.Duration)
		if !ok {
			return filterNumber{}, false
		}
		return filterNumber{rat: new(big.Rat).SetFrac(big.NewInt(int64(d)), nanosOf(typ.Unit))}, true
	}
	n, ok := numberOf(v)
	if !isDecimal(typ.Kind) {
		return n, ok
	}
	if r.Kind() == reflect.String {
		n.rat, ok = decimalOf(r.String())
	}
	if n.rat != nil {
		scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(typ.Scale, -typ.Scale))), nil))
		if typ.Scale < 0 {
			scale.Inv(scale)
		}
		n.rat.Mul(n.rat, scale)
	}
	return n, ok
}

// nanosOf returns the nanoseconds in a unit.
func nanosOf(u column.Unit) *big.Int { return big.NewInt(1e9 / u.PerSecond()) }

// decimalOf parses a decimal: a sign, digits, a point and more digits, all but one digit optional.
func decimalOf(s string) (*big.Rat, bool) {
	digits := strings.TrimLeft(s, "+-")
	others, some := strings.Trim(digits, "0123456789.") != "", strings.Trim(digits, ".") != ""
	if len(s)-len(digits) > 1 || strings.Count(digits, ".") > 1 || others || !some {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

// ints returns the integers of a kind that are less than the number, at most the number, or equal to it (op); false if
// there are none.
func (n filterNumber) ints(op Op, kind column.Kind) (span[wide], bool) {
	lowest, highest := limitsOf(kind)
	lo, hi := lowest, highest
	equal := op == Eq || op == In
	switch {
	case n.nan || n.inf > 0:
		if equal {
			return span[wide]{}, false
		}
	case n.inf < 0:
		return span[wide]{}, false
	default:
		// denominators are positive: below is the floor
		below, rest := new(big.Int).DivMod(n.rat.Num(), n.rat.Denom(), new(big.Int))
		whole := rest.Sign() == 0
		if equal && !whole {
			return span[wide]{}, false
		}
		if equal && below.Cmp(lo) > 0 {
			lo = below
		}
		if op == Lt && whole {
			below.Sub(below, big.NewInt(1))
		}
		if equal || below.Cmp(hi) < 0 {
			hi = below
		}
	}
	if lo.Cmp(hi) > 0 || hi.Cmp(highest) > 0 {
		return span[wide]{}, false
	}
	return span[wide]{lo: wideOfBig(lo), hi: wideOfBig(hi)}, true
}

// limitsOf returns the least and the greatest integer that a column of the kind holds.
func limitsOf(k column.Kind) (lo, hi *big.Int) {
	n := uint(column.Type{Kind: k}.ValueWidth()) * 8
	switch {
	case k == column.Bool:
		return new(big.Int), big.NewInt(1)
	case isUnsigned(k):
		lo, hi = new(big.Int), new(big.Int).Lsh(big.NewInt(1), n)
	default:
		hi = new(big.Int).Lsh(big.NewInt(1), n-1)
		lo = new(big.Int).Neg(hi)
	}
	return lo, hi.Sub(hi, big.NewInt(1))
}

// floats returns the floats that are less than the number, at most the number, or equal to it (op); false if there are
// none. Only numbers that a column of the kind can hold are equal to a float.
func (n filterNumber) floats(op Op, kind column.Kind) (span[float64], bool) {
	f, exact := math.NaN(), true
	switch {
	case n.inf != 0:
		f = math.Inf(n.inf)
	case !n.nan:
		f, exact = n.rat.Float64()
		exact = exact && !math.IsInf(f, 0)
	}
	if op == Eq || op == In {
		switch {
		case f != f:
		case kind == column.Float32:
			exact = exact && float64(float32(f)) == f
		case kind == column.Float16:
			_, ok := float16Bits(f)
			exact = exact && ok
		}
		return span[float64]{lo: f, hi: f}, exact
	}
	// An inexact float is the nearest one, on either side.
	above := !exact && (f == math.Inf(1) || !math.IsInf(f, 0) && new(big.Rat).SetFloat64(f).Cmp(n.rat) > 0)
	switch {
	case op == Lt && exact && f == math.Inf(-1):
		return span[float64]{}, false
	case op == Lt && exact && f != f:
		f = math.Inf(1)
	case above, op == Lt && exact:
		f = math.Nextafter(f, math.Inf(-1))
	}
	return span[float64]{lo: math.Inf(-1), hi: f}, true
}

// compareFloats is the order of floats: NaN equals NaN and is greater than all numbers.
func compareFloats(a, b float64) int {
	switch {
	case a < b || b != b && a == a:
		return -1
	case a > b || a != a && b == b:
		return 1
	}
	return 0
}

// float16Value returns the value of an IEEE 754 binary16.
func float16Value(b uint16) float32 {
	sign, exponent, fraction := uint32(b>>15)<<31, uint32(b>>10&31), uint32(b&1023)
	switch exponent {
	case 0: // subnormal: fraction times 2^-24, exactly
		return math.Float32frombits(math.Float32bits(float32(fraction)*0x1p-24) | sign)
	case 31:
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

// float16Bits returns the bits of the binary16 that equals f, which must not be NaN; false if there is none.
func float16Bits(f float64) (uint16, bool) {
	sign := uint16(math.Float64bits(f) >> 63 << 15)
	a := math.Abs(f)
	switch {
	case a == math.Inf(1):
		return sign | 31<<10, true
	case a < 0x1p-14: // subnormal, or zero
		n := a * 0x1p24
		return sign | uint16(n), n == math.Trunc(n)
	case a >= 0x1p16:
		return 0, false
	}
	n, exponent := math.Frexp(a) // a is n times 2^exponent, n at least a half
	n *= 1 << 11
	return sign | uint16(exponent+14)<<10 | uint16(n)&1023, n == math.Trunc(n)
}

// compareInts compares integers of 256 bits.
func compareInts(a, b wide) int {
	if c := cmp.Compare(int64(a[3]), int64(b[3])); c != 0 {
		return c
	}
	for i := 2; i >= 0; i-- {
		if c := cmp.Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// A wide is an integer of 256 bits, two's complement, the least significant word first.
type wide [4]uint64

func wideOf64(v int64) wide {
	sign := uint64(v >> 63)
	return wide{uint64(v), sign, sign, sign}
}

func wideOf128(v column.Int128) wide {
	sign := uint64(v.Hi >> 63)
	return wide{v.Lo, uint64(v.Hi), sign, sign}
}

// wideOfBytes returns an integer that is stored as two's complement, the highest byte first; false if it has no bytes
// or does not fit.
func wideOfBytes(b []byte) (v wide, ok bool) {
	if len(b) == 0 {
		return v, false
	}
	sign := byte(int8(b[0]) >> 7)
	for ; len(b) > 32; b = b[1:] {
		if b[0] != sign || b[1]>>7 != sign&1 {
			return v, false
		}
	}
	for i := range v {
		v[i] = -uint64(sign & 1)
	}
	for _, c := range b {
		v[3] = v[3]<<8 | v[2]>>56
		v[2] = v[2]<<8 | v[1]>>56
		v[1] = v[1]<<8 | v[0]>>56
		v[0] = v[0]<<8 | uint64(c)
	}
	return v, true
}

// wideOfBig returns an integer that fits 256 bits.
func wideOfBig(i *big.Int) (v wide) {
	var b [32]byte
	new(big.Int).Abs(i).FillBytes(b[:])
	v, _ = wideOfBytes(b[:])
	if i.Sign() < 0 {
		borrow := uint64(0)
		for w := range v {
			v[w], borrow = bits.Sub64(0, v[w], borrow)
		}
	}
	return v
}

func (v wide) big() *big.Int {
	i := new(big.Int)
	for w := 3; w >= 0; w-- {
		i.Lsh(i, 64).Or(i, new(big.Int).SetUint64(v[w]))
	}
	if int64(v[3]) < 0 {
		i.Sub(i, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	return i
}

// bytes returns the integer as two's complement of n bytes, the highest first; false if it does not fit.
func (v wide) bytes(n int) ([]byte, bool) {
	var all [32]byte
	sign := byte(int64(v[3]) >> 63)
	for i := range all {
		all[31-i] = byte(v[i/8] >> (i % 8 * 8))
	}
	out := make([]byte, n)
	for i := range out {
		out[i] = sign
	}
	if n >= len(all) {
		copy(out[n-len(all):], all[:])
		return out, true
	}
	for _, c := range all[:len(all)-n] {
		if c != sign {
			return nil, false
		}
	}
	copy(out, all[len(all)-n:])
	return out, n > 0 && (out[0]^sign)>>7 == 0
}

// boolBit returns 1 for true.
func boolBit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
