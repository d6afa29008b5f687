// SPDX-License-Identifier: Apache-2.0

package int128

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// Decimals: powers of ten, rounding, and conversions to floats and texts.

// MaxDigits is the number of decimal digits that an Int can always have.
const MaxDigits = 38

// powers are the powers of ten up to 10^38.
var powers = func() (p [MaxDigits + 1]Int) {
	p[0] = Of(1)
	for i := range MaxDigits {
		p[i+1], _ = Mul(p[i], Of(10))
	}
	return p
}()

// Pow10 returns 10^n, n from 0 to MaxDigits.
func Pow10(n int) Int { return powers[n] }

// Within reports whether v has at most so many digits.
func Within(v Int, digits int) bool {
	limit := powers[digits]
	hi, lo := magnitude(v)
	return hi < uint64(limit.Hi) || hi == uint64(limit.Hi) && lo < limit.Lo
}

// A Mode is a way of rounding.
type Mode uint8

// The ways of rounding.
const (
	Nearest Mode = iota // a half away from zero
	Down                // toward zero
	Floor               // toward negative infinity
	Ceil                // toward positive infinity
)

// Drop returns v / 10^n, rounded.
func Drop(v Int, n int, mode Mode) Int {
	if n <= 0 {
		return v
	}
	if n > MaxDigits { // more than all digits: v is less than half of the power
		return Of(adjustment(Sign(v), -1, mode))
	}
	q, r, _ := QuoRem(v, powers[n])
	hi, lo := magnitude(r)
	lo, carry := bits.Add64(lo, lo, 0)
	hi, _ = bits.Add64(hi, hi, carry)
	limit, half := powers[n], -1
	if hi > uint64(limit.Hi) || hi == uint64(limit.Hi) && lo >= limit.Lo {
		half = 1
	}
	q, _ = Add(q, Of(adjustment(Sign(r), half, mode)))
	return q
}

// adjustment returns what is added to a quotient without its fraction, from the sign of the fraction and whether the
// fraction is at least a half.
func adjustment(sign, half int, mode Mode) int64 {
	switch {
	case mode == Nearest && half > 0, mode == Floor && sign < 0, mode == Ceil && sign > 0:
		return int64(sign)
	}
	return 0
}

// Scale returns the unscaled value of a decimal of one scale as one of another scale; digits that it loses are rounded
// to the nearest, a half away from zero. It returns false if the result is out of range.
func Scale(v Int, from, to int) (Int, bool) {
	if by := to - from; by < 0 {
		return Drop(v, -by, Nearest), true
	} else if by <= MaxDigits {
		return Mul(v, powers[by])
	}
	return v, Sign(v) == 0
}

// CmpScaled compares two decimals, of scales from 0 to MaxDigits.
func CmpScaled(a Int, scaleA int, b Int, scaleB int) int {
	if scaleA > scaleB {
		return -CmpScaled(b, scaleB, a, scaleA)
	}
	scaled, ok := Scale(a, scaleA, scaleB)
	if !ok { // greater than all Ints, or less
		return Sign(a)
	}
	return Cmp(scaled, b)
}

// Float returns the float nearest to a decimal.
func Float(v Int, scale int) float64 {
	const exact = 1 << 53 // integers up to it are floats
	if small, ok := Int64(v); ok && scale <= 22 && small <= exact && small >= -exact {
		return float64(small) / math.Pow10(scale) // of two exact floats: rounded once
	}
	f, _ := new(big.Rat).SetFrac(Big(v), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).Float64()
	return f
}

// OfFloat returns the decimal nearest to a float, a half away from zero; false if it has more than MaxDigits digits, or
// if the float is no number.
func OfFloat(f float64, scale int) (Int, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Int{}, false
	}
	if scale <= 22 {
		p := f * math.Pow10(scale)
		whole := math.Trunc(p)
		// The product is off by less than its last bit. A fraction near one half needs the exact product.
		if distance := math.Abs(p-whole) - 0.5; math.Abs(p) < 1<<50 && math.Abs(distance) > 0x1p-4 {
			return Of(int64(math.Round(p))), true
		}
	}
	r := new(big.Rat).SetFloat64(f)
	r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
	v, ok := OfBig(Round(r))
	return v, ok && Within(v, MaxDigits)
}

// Round returns the integer nearest to a number, a half away from zero.
func Round(r *big.Rat) *big.Int {
	twice := new(big.Int).Lsh(r.Denom(), 1)
	n := new(big.Int).Lsh(new(big.Int).Abs(r.Num()), 1)
	n.Quo(n.Add(n, r.Denom()), twice)
	if r.Sign() < 0 {
		n.Neg(n)
	}
	return n
}

// Append appends the text of a decimal with all digits of its scale: 1.50, -0.05.
func Append(dst []byte, v Int, scale int) []byte {
	hi, lo := magnitude(v)
	if v.Hi < 0 {
		dst = append(dst, '-')
	}
	at := len(dst)
	if hi == 0 {
		dst = strconv.AppendUint(dst, lo, 10)
	} else {
		const word = 1e19 // the greatest power of ten in a word
		qh, ql, _, rest := divide(hi, lo, 0, word)
		// 2^128 has 39 digits, so that the quotient has at most 20: one and 19.
		if qh != 0 || ql >= word {
			var first uint64
			_, first, _, ql = divide(qh, ql, 0, word)
			dst = strconv.AppendUint(dst, first, 10)
			dst = appendPadded(dst, ql, 19)
		} else {
			dst = strconv.AppendUint(dst, ql, 10)
		}
		dst = appendPadded(dst, rest, 19)
	}
	if scale == 0 {
		return dst
	}
	for len(dst)-at <= scale {
		dst = append(dst, 0)
		copy(dst[at+1:], dst[at:])
		dst[at] = '0'
	}
	dst = append(dst, 0)
	point := len(dst) - scale - 1
	copy(dst[point+1:], dst[point:])
	dst[point] = '.'
	return dst
}

// appendPadded appends a number with zeros before it.
func appendPadded(dst []byte, v uint64, digits int) []byte {
	text := strconv.FormatUint(v, 10)
	for range digits - len(text) {
		dst = append(dst, '0')
	}
	return append(dst, text...)
}

// Parse returns the decimal of a text, such as -12.50, .5 or 1e3, with the wanted scale: further digits are rounded, a
// half away from zero. It returns false if the text is no number, or if it has more than MaxDigits digits.
func Parse(s string, scale int) (Int, bool) {
	digits, exponent, negative, ok := cutNumber(s)
	if !ok {
		return Int{}, false
	}
	digits = strings.TrimLeft(digits, "0")
	switch at := len(digits) + exponent + scale; { // digits that remain
	case digits == "" || at < 0:
		return Int{}, true
	case at > MaxDigits:
		return Int{}, false
	case at < len(digits):
		up := digits[at] >= '5'
		v := ofDigits(digits[:at])
		if up {
			v, _ = Add(v, Of(1))
		}
		return withSign(v, negative), Within(v, MaxDigits)
	default:
		v, _ := Mul(ofDigits(digits), powers[at-len(digits)])
		return withSign(v, negative), true
	}
}

func withSign(v Int, negative bool) Int {
	if negative {
		v, _ = Sub(Int{}, v)
	}
	return v
}

// ofDigits returns the integer of at most MaxDigits digits.
func ofDigits(digits string) Int {
	var v Int
	for len(digits) > 0 {
		n := min(len(digits), 18)
		part, _ := strconv.ParseInt(digits[:n], 10, 64)
		v, _ = Mul(v, powers[n])
		v, _ = Add(v, Of(part))
		digits = digits[n:]
	}
	return v
}

// cutNumber splits a number: its digits without the point, and the power of ten that they are multiplied by.
func cutNumber(s string) (digits string, exponent int, negative, ok bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative, s = s[0] == '-', s[1:]
	}
	mantissa, power, hasPower := s, "", false
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, power, hasPower = s[:i], s[i+1:], true
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits = whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", 0, false, false
	}
	if hasPower {
		var err error
		if exponent, err = strconv.Atoi(power); err != nil || exponent > 1e6 || exponent < -1e6 {
			return "", 0, false, false
		}
	}
	return digits, exponent - len(fraction), negative, true
}
