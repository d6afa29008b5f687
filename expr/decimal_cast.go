// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/int128"
)

// Casts to decimals and from them. Digits that a type lacks are rounded, a half away from zero; a number with more
// digits before the point than the type is an error.

// fitted returns a decimal of one scale as one of a type.
func fitted(v column.Int128, from int, to column.Type) (column.Int128, error) {
	v, ok := int128.Scale(v, from, to.Scale)
	if !ok || !int128.Within(v, to.Precision) {
		return v, ErrCast
	}
	return v, nil
}

// castWides returns the lane of a cast to a decimal, in 128 bits.
func (b *builder) castWides(t *term) lane[column.Int128] {
	a, to := t.args[0], t.typ
	switch {
	case isBig(a.typ):
		return ofBig(b, t, func(v *big.Int, scale int) (column.Int128, error) { return fittedBig(v, scale, to) })
	case a.class == classFloat:
		return newMap(t, b.block, b.floats(a), func(f float64) (column.Int128, error) {
			v, ok := int128.OfFloat(f, to.Scale)
			if !ok {
				return v, ErrCast
			}
			return fitted(v, to.Scale, to)
		})
	case a.class == classText:
		return newMap(t, b.block, b.texts(a), func(s string) (column.Int128, error) {
			v, ok := int128.Parse(s, to.Scale)
			if !ok {
				return v, ErrCast
			}
			return fitted(v, to.Scale, to)
		})
	}
	return newMap(t, b.block, b.wide(t, a, a.typ.Scale), func(v column.Int128) (column.Int128, error) {
		return fitted(v, a.typ.Scale, to)
	})
}

// castNarrow returns the lane of a cast to a Decimal64: in 64 bits of an integer or a Decimal64.
func (b *builder) castNarrow(t *term) lane[int64] {
	a, by := t.args[0], t.typ.Scale-t.args[0].typ.Scale
	limit, _ := int128.Int64(int128.Pow10(t.typ.Precision))
	within := func(v int64) (int64, error) {
		if v >= limit || v <= -limit {
			return 0, ErrCast
		}
		return v, nil
	}
	if !a.class.isInts() && a.class != classBool {
		return newMap(t, b.block, b.castWides(t), func(v column.Int128) (int64, error) { return int64(v.Lo), nil })
	}
	power, _ := int128.Int64(int128.Pow10(max(by, -by)))
	if by < 0 {
		return newMap(t, b.block, b.ints(a), func(v int64) (int64, error) {
			return within(dropInt(v, power, int128.Nearest))
		})
	}
	return newMap(t, b.block, b.ints(a), func(v int64) (int64, error) {
		v, ok := mulInt(v, power)
		if !ok {
			return 0, ErrCast
		}
		return within(v)
	})
}

// integersOf returns the lane of a decimal, or a number that only casts take, as the nearest integer.
func (b *builder) integersOf(t *term) lane[column.Int128] {
	a := t.args[0]
	if isBig(a.typ) {
		return ofBig(b, t, func(v *big.Int, scale int) (column.Int128, error) {
			return fittedBig(v, scale, column.Type{Precision: int128.MaxDigits})
		})
	}
	return newMap(t, b.block, b.wide(t, a, a.typ.Scale), func(v column.Int128) (column.Int128, error) {
		return int128.Drop(v, a.typ.Scale, int128.Nearest), nil
	})
}

// decimalTexts returns the lane of a decimal, or a number that only casts take, as text.
func (b *builder) decimalTexts(t *term) lane[string] {
	a := t.args[0]
	switch {
	case isBig(a.typ):
		return ofBig(b, t, func(v *big.Int, scale int) (string, error) {
			if a.typ.Kind == column.Decimal256 {
				unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
				return new(big.Rat).SetFrac(v, unit).FloatString(scale), nil
			}
			return cql.Decimal{Unscaled: v, Scale: int32(scale)}.String(), nil
		})
	case a.class == classDecimal:
		return newMap(t, b.block, b.ints(a), func(v int64) (string, error) {
			return string(int128.Append(nil, int128.Of(v), a.typ.Scale)), nil
		})
	}
	return newMap(t, b.block, b.wides(a), func(v column.Int128) (string, error) {
		return string(int128.Append(nil, v, a.typ.Scale)), nil
	})
}

// decimalFloats returns the lane of a decimal as the nearest floats.
func (b *builder) decimalFloats(t *term) lane[float64] {
	if t.class == classDecimal {
		return newDecimals(b.block, b.ints(t), t.typ.Scale)
	}
	return &wideFloats{b.block, b.wides(t), t.typ.Scale, room[float64](b.block)}
}

// A wideFloats converts a Decimal128 to the nearest floats.
type wideFloats struct {
	b     *block
	arg   lane[column.Int128]
	scale int
	out   []float64
}

func (l *wideFloats) eval(rows []int32) (vec[float64], error) {
	v, err := l.arg.eval(rows)
	if err != nil {
		return vec[float64]{}, err
	}
	for _, r := range rows {
		l.out[r] = int128.Float(v.values[r], l.scale)
	}
	return vec[float64]{l.out[:l.b.n], v.valid}, nil
}

// ofBig returns the lane of a function of numbers that only casts take: a Decimal256, a Decimal or a Varint, which are
// always columns.
func ofBig[T any](b *builder, t *term, f func(v *big.Int, scale int) (T, error)) lane[T] {
	a := t.args[0]
	if a.typ.Kind == column.Decimal256 {
		return newMap(t, b.block, columnOf[column.Int256](b, a), func(v column.Int256) (T, error) {
			return f(bigOfWords(v), a.typ.Scale)
		})
	}
	text := &textLane{b.block, b.sources[a.index], room[string](b.block)}
	return newMap(t, b.block, lane[string](text), func(s string) (T, error) {
		scale := 0
		if a.typ.Kind == column.Decimal {
			if len(s) < 5 {
				var none T
				return none, ErrCast
			}
			scale, s = int(int32(binary.BigEndian.Uint32([]byte(s[:4])))), s[4:]
		}
		return f(bigOfBytes(s), scale)
	})
}

// bigOfWords returns an integer of 256 bits.
func bigOfWords(v column.Int256) *big.Int {
	var b [32]byte
	for i, w := range v {
		binary.BigEndian.PutUint64(b[24-8*i:], w)
	}
	return bigOfBytes(string(b[:]))
}

// bigOfBytes returns the integer of bytes in two's complement, the most significant byte first.
func bigOfBytes(s string) *big.Int {
	v := new(big.Int).SetBytes([]byte(s))
	if s != "" && s[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(s))))
	}
	return v
}

// fittedBig returns a decimal of any size and scale as one of a type.
func fittedBig(v *big.Int, scale int, to column.Type) (column.Int128, error) {
	by := to.Scale - scale
	digits := int(float64(v.BitLen())*math.Log10(2)) + 1 // at least as many as v has
	switch {
	case v.Sign() == 0, digits+by < 0: // less than a tenth of the last digit
		return column.Int128{}, nil
	case by > int128.MaxDigits:
		return column.Int128{}, ErrCast
	}
	r := new(big.Rat).SetInt(v)
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(by, -by))), nil)
	if by < 0 {
		r.SetFrac(v, power)
	} else {
		r.Mul(r, new(big.Rat).SetInt(power))
	}
	w, ok := int128.OfBig(int128.Round(r))
	if !ok || !int128.Within(w, to.Precision) {
		return w, ErrCast
	}
	return w, nil
}

// bigFloats returns the lane of a number that only casts take as the nearest float.
func (b *builder) bigFloats(t *term) lane[float64] {
	return ofBig(b, t, func(v *big.Int, scale int) (float64, error) {
		f, err := strconv.ParseFloat(cql.Decimal{Unscaled: v, Scale: int32(scale)}.String(), 64)
		if err != nil {
			return 0, ErrCast
		}
		return f, nil
	})
}
