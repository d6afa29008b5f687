// SPDX-License-Identifier: Apache-2.0

// Package int128 has the arithmetic of integers of 128 bits, and of decimals as such integers: unscaled values with a
// number of digits behind the point.
package int128

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"

	"github.com/vecql/vecql/column"
)

// An Int is an integer of 128 bits in two's complement.
type Int = column.Int128

// Of returns an int64 as an Int.
func Of(v int64) Int { return Int{Lo: uint64(v), Hi: v >> 63} }

// OfUint returns a uint64 as an Int.
func OfUint(v uint64) Int { return Int{Lo: v} }

// Int64 returns v as an int64; false if it does not fit.
func Int64(v Int) (int64, bool) { return int64(v.Lo), v.Hi == int64(v.Lo)>>63 }

// Sign returns -1, 0 or 1.
func Sign(v Int) int {
	switch {
	case v.Hi < 0:
		return -1
	case v.Hi == 0 && v.Lo == 0:
		return 0
	}
	return 1
}

// Cmp compares two integers.
func Cmp(a, b Int) int {
	if c := cmp.Compare(a.Hi, b.Hi); c != 0 {
		return c
	}
	return cmp.Compare(a.Lo, b.Lo)
}

// Add returns a + b modulo 2^128; false if the sum is out of range.
func Add(a, b Int) (Int, bool) {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	hi, _ := bits.Add64(uint64(a.Hi), uint64(b.Hi), carry)
	sum := Int{Lo: lo, Hi: int64(hi)}
	return sum, (a.Hi^sum.Hi)&(b.Hi^sum.Hi) >= 0
}

// Sub returns a - b modulo 2^128; false if the difference is out of range.
func Sub(a, b Int) (Int, bool) {
	lo, borrow := bits.Sub64(a.Lo, b.Lo, 0)
	hi, _ := bits.Sub64(uint64(a.Hi), uint64(b.Hi), borrow)
	d := Int{Lo: lo, Hi: int64(hi)}
	return d, (a.Hi^b.Hi)&(a.Hi^d.Hi) >= 0
}

// magnitude returns the absolute value as an unsigned integer: the one of the least Int is 2^127.
func magnitude(v Int) (hi, lo uint64) {
	if v.Hi >= 0 {
		return uint64(v.Hi), v.Lo
	}
	lo, borrow := bits.Sub64(0, v.Lo, 0)
	hi, _ = bits.Sub64(0, uint64(v.Hi), borrow)
	return hi, lo
}

// signed returns an unsigned integer with a sign; false if it is out of range.
func signed(hi, lo uint64, negative bool) (Int, bool) {
	if !negative {
		return Int{Lo: lo, Hi: int64(hi)}, hi <= math.MaxInt64
	}
	least := hi == 1<<63 && lo == 0
	low, borrow := bits.Sub64(0, lo, 0)
	high, _ := bits.Sub64(0, hi, borrow)
	return Int{Lo: low, Hi: int64(high)}, hi <= math.MaxInt64 || least
}

// Mul returns a * b; false if the product is out of range.
func Mul(a, b Int) (Int, bool) {
	ah, al := magnitude(a)
	bh, bl := magnitude(b)
	hi, lo := bits.Mul64(al, bl)
	if ah|bh != 0 {
		if ah != 0 && bh != 0 {
			return Int{}, false
		}
		over, cross := bits.Mul64(ah|bh, al)
		if ah != 0 {
			over, cross = bits.Mul64(ah, bl)
		}
		var carry uint64
		if hi, carry = bits.Add64(hi, cross, 0); over|carry != 0 {
			return Int{}, false
		}
	}
	return signed(hi, lo, (a.Hi^b.Hi) < 0)
}

// QuoRem returns the quotient without its fraction, and the remainder with the sign of a. b is not 0. ok is false if
// the quotient is out of range: the least Int divided by -1.
func QuoRem(a, b Int) (quotient, remainder Int, ok bool) {
	ah, al := magnitude(a)
	bh, bl := magnitude(b)
	qh, ql, rh, rl := divide(ah, al, bh, bl)
	quotient, ok = signed(qh, ql, (a.Hi^b.Hi) < 0)
	remainder, _ = signed(rh, rl, a.Hi < 0)
	return quotient, remainder, ok
}

// divide returns the quotient and the remainder of two unsigned integers. A divisor of two words is divided as in
// Henry S. Warren, Hacker's Delight, second edition, section 9-5.
func divide(ah, al, bh, bl uint64) (qh, ql, rh, rl uint64) {
	if bh == 0 {
		qh, rest := ah/bl, ah%bl
		ql, rl = bits.Div64(rest, al, bl)
		return qh, ql, 0, rl
	}
	n := uint(bits.LeadingZeros64(bh))
	top := bh<<n | bl>>1>>(63-n)
	q, _ := bits.Div64(ah>>1, ah<<63|al>>1, top)
	if q >>= 63 - n; q != 0 {
		q--
	}
	ph, pl := bits.Mul64(q, bl)
	ph += q * bh
	rl, borrow := bits.Sub64(al, pl, 0)
	rh, _ = bits.Sub64(ah, ph, borrow)
	if rh > bh || rh == bh && rl >= bl {
		q++
		rl, borrow = bits.Sub64(rl, bl, 0)
		rh, _ = bits.Sub64(rh, bh, borrow)
	}
	return 0, q, rh, rl
}

// Big returns v as a big.Int.
func Big(v Int) *big.Int {
	hi, lo := magnitude(v)
	b := new(big.Int).SetUint64(hi)
	b.Or(b.Lsh(b, 64), new(big.Int).SetUint64(lo))
	if v.Hi < 0 {
		b.Neg(b)
	}
	return b
}

// OfBig returns a big.Int as an Int; false if it is out of range.
func OfBig(b *big.Int) (Int, bool) {
	if b.BitLen() > 128 {
		return Int{}, false
	}
	abs := new(big.Int).Abs(b)
	hi := new(big.Int).Rsh(abs, 64).Uint64()
	lo := abs.And(abs, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	return signed(hi, lo, b.Sign() < 0)
}
