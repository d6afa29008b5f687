// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/int128"
	"github.com/vecql/vecql/internal/textform"
)

// Casts. Each function converts one value; ErrCast means that the type has no such value.

// castInts returns the lane of a cast to integers, dates and timestamps.
func (b *builder) castInts(t *term) lane[int64] {
	a := t.args[0]
	switch t.class {
	case classDate:
		return b.castDate(t)
	case classTimestamp:
		return b.castTimestamp(t)
	}
	lo, hi := limits(t.typ.Kind)
	within := func(v int64) (int64, error) {
		if v < lo || v > hi {
			return 0, ErrCast
		}
		return v, nil
	}
	if a.class.isDecimal() || isBig(a.typ) {
		return newMap(t, b.block, b.integersOf(t), func(v column.Int128) (int64, error) {
			n, ok := int128.Int64(v)
			if !ok {
				return 0, ErrCast
			}
			return within(n)
		})
	}
	switch a.class {
	case classUint:
		return newMap(t, b.block, b.uints(a), func(v uint64) (int64, error) {
			if v > math.MaxInt64 {
				return 0, ErrCast
			}
			return within(int64(v))
		})
	case classFloat:
		return newMap(t, b.block, b.floats(a), func(v float64) (int64, error) {
			if v = math.RoundToEven(v); !(v >= -1<<63 && v < 1<<63) {
				return 0, ErrCast
			}
			return within(int64(v))
		})
	case classText:
		return newMap(t, b.block, b.texts(a), func(s string) (int64, error) {
			v, err := textform.ParseInt(withoutPlus(s), 64)
			if err != nil {
				return 0, ErrCast
			}
			return within(v)
		})
	}
	return newMap(t, b.block, b.ints(a), within)
}

// limits returns the least and the greatest value of a kind of integers up to int64.
func limits(k column.Kind) (lo, hi int64) {
	w := 8 * column.Type{Kind: k}.ValueWidth()
	if isUnsigned(k) {
		return 0, 1<<w - 1
	}
	return -1 << (w - 1), 1<<(w-1) - 1
}

func (b *builder) castDate(t *term) lane[int64] {
	a, to := t.args[0], clockOf(t.typ)
	switch a.class {
	case classText:
		return newMap(t, b.block, b.texts(a), func(s string) (int64, error) {
			days, err := textform.ParseDate(s)
			if err != nil {
				return 0, ErrCast
			}
			return to.checked(mulInt(int64(days), to.perDay))
		})
	case classDate:
		return b.ints(a)
	}
	from := clockOf(a.typ)
	return newMap(t, b.block, b.ints(a), func(v int64) (int64, error) {
		return to.checked(floorDiv(v, from.perDay), true)
	})
}

// castTimestamp returns the lane of a cast to a timestamp. To a coarser unit it rounds down.
func (b *builder) castTimestamp(t *term) lane[int64] {
	a, to := t.args[0], clockOf(t.typ)
	if a.class == classText {
		return newMap(t, b.block, b.texts(a), func(s string) (int64, error) {
			v, err := parseTime(s)
			if err != nil || int64(v.Nanosecond())%(1e9/to.perSec) != 0 {
				return 0, ErrCast
			}
			return to.value(v)
		})
	}
	from := clockOf(a.typ)
	if from.perDay > to.perDay {
		return newMap(t, b.block, b.ints(a), func(v int64) (int64, error) { return floorDiv(v, from.perDay/to.perDay), nil })
	}
	return newMap(t, b.block, b.ints(a), func(v int64) (int64, error) {
		v, ok := mulInt(v, to.perDay/from.perDay)
		return to.checked(v, ok)
	})
}

// castUints returns the lane of a cast to Uint64.
func (b *builder) castUints(t *term) lane[uint64] {
	a := t.args[0]
	if a.class.isDecimal() || isBig(a.typ) {
		return newMap(t, b.block, b.integersOf(t), func(v column.Int128) (uint64, error) {
			if v.Hi != 0 {
				return 0, ErrCast
			}
			return v.Lo, nil
		})
	}
	switch a.class {
	case classUint:
		return b.uints(a)
	case classFloat:
		return newMap(t, b.block, b.floats(a), func(v float64) (uint64, error) {
			if v = math.RoundToEven(v); !(v >= 0 && v < 1<<64) {
				return 0, ErrCast
			}
			return uint64(v), nil
		})
	case classText:
		return newMap(t, b.block, b.texts(a), func(s string) (uint64, error) {
			if strings.Trim(s, "0") == "-" && len(s) > 1 { // -0
				s = "0"
			}
			v, err := strconv.ParseUint(withoutPlus(s), 10, 64)
			if err != nil {
				return 0, ErrCast
			}
			return v, nil
		})
	}
	return newMap(t, b.block, b.ints(a), func(v int64) (uint64, error) {
		if v < 0 {
			return 0, ErrCast
		}
		return uint64(v), nil
	})
}

// castFloats returns the lane of a cast to a float, rounded to the nearest.
func (b *builder) castFloats(t *term) lane[float64] {
	a := t.args[0]
	var arg lane[float64]
	switch {
	case isBig(a.typ):
		arg = b.bigFloats(t)
	case a.class == classText:
		arg = newMap(t, b.block, b.texts(a), func(s string) (float64, error) {
			v, err := parseFloat(s, 8*t.typ.ValueWidth())
			if err != nil {
				return 0, ErrCast
			}
			return v, nil
		})
	default:
		arg = b.floats(a)
	}
	if t.typ.Kind != column.Float32 {
		return arg
	}
	return newMap(t, b.block, arg, func(v float64) (float64, error) {
		narrow := float64(float32(v))
		if math.IsInf(narrow, 0) && !math.IsInf(v, 0) {
			return 0, ErrCast
		}
		return narrow, nil
	})
}

// A decimalLane converts unscaled decimals to the nearest floats: the quotient of two exact floats is rounded once.
type decimalLane struct {
	b     *block
	arg   lane[int64]
	unit  *big.Int // of one: 10 to the power of the scale
	power float64  // unit
	out   []float64
}

func newDecimals(b *block, arg lane[int64], scale int) lane[float64] {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	power, _ := new(big.Float).SetInt(unit).Float64()
	return &decimalLane{b, arg, unit, power, room[float64](b)}
}

// exactFloats is the number from which on int64 are no exact floats.
const exactFloats = 1 << 53

// eval divides without a branch, then corrects the rows of inexact floats if there are some.
func (l *decimalLane) eval(rows []int32) (vec[float64], error) {
	v, err := l.arg.eval(rows)
	if err != nil {
		return vec[float64]{}, err
	}
	x, out, power, distances := v.values[:l.b.n], l.out[:l.b.n], l.power, uint64(0)
	if len(rows) == len(out) {
		for i, n := range x {
			out[i] = float64(n) / power
			distances |= uint64(n) + exactFloats
		}
	} else {
		for _, r := range rows {
			out[r] = float64(x[r]) / power
			distances |= uint64(x[r]) + exactFloats
		}
	}
	if distances >= 2*exactFloats {
		for _, r := range rows {
			if uint64(x[r])+exactFloats >= 2*exactFloats {
				out[r], _ = new(big.Rat).SetFrac(big.NewInt(x[r]), l.unit).Float64()
			}
		}
	}
	return vec[float64]{out, v.valid}, nil
}

// castBools returns the lane of a cast to a boolean: numbers but 0 are true.
func (b *builder) castBools(t *term) lane[bool] {
	a := t.args[0]
	switch a.class {
	case classBool:
		return b.bools(a)
	case classText:
		return newMap(t, b.block, b.texts(a), func(s string) (bool, error) {
			switch {
			case strings.EqualFold(s, "true"):
				return true, nil
			case strings.EqualFold(s, "false"):
				return false, nil
			}
			return false, ErrCast
		})
	case classUint:
		return newMap(t, b.block, b.uints(a), func(v uint64) (bool, error) { return v != 0, nil })
	case classFloat:
		return newMap(t, b.block, b.floats(a), func(v float64) (bool, error) { return v != 0, nil })
	case classWide:
		return newMap(t, b.block, b.wides(a), func(v column.Int128) (bool, error) { return int128.Sign(v) != 0, nil })
	}
	return newMap(t, b.block, b.ints(a), func(v int64) (bool, error) { return v != 0, nil })
}

// castTexts returns the lane of a cast to text.
func (b *builder) castTexts(t *term) lane[string] {
	a := t.args[0]
	if a.class.isDecimal() || isBig(a.typ) {
		return b.decimalTexts(t)
	}
	switch a.class {
	case classBool:
		return newMap(t, b.block, b.bools(a), func(v bool) (string, error) { return strconv.FormatBool(v), nil })
	case classUint:
		return newMap(t, b.block, b.uints(a), func(v uint64) (string, error) { return strconv.FormatUint(v, 10), nil })
	case classFloat:
		bits := 64
		if a.typ.Kind == column.Float32 || a.typ.Kind == column.Float16 {
			bits = 32
		}
		return newMap(t, b.block, b.floats(a), func(v float64) (string, error) {
			return strconv.FormatFloat(v, 'g', -1, bits), nil
		})
	case classInt:
		return newMap(t, b.block, b.ints(a), func(v int64) (string, error) { return strconv.FormatInt(v, 10), nil })
	case classBytes:
		return newMap(t, b.block, b.texts(a), func(s string) (string, error) {
			return cql.UUID([]byte(s)).String(), nil
		})
	case classText:
		return b.texts(a)
	}
	from, layout := clockOf(a.typ), timeLayout
	switch {
	case a.class == classDate:
		return newMap(t, b.block, b.ints(a), func(v int64) (string, error) {
			return string(textform.AppendDate(nil, int32(v))), nil
		})
	case !a.typ.UTC:
		layout = strings.TrimSuffix(timeLayout, "Z07:00")
	}
	return newMap(t, b.block, b.ints(a), func(v int64) (string, error) { return from.time(v).Format(layout), nil })
}
