// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"time"
	"unsafe"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Rows of columns to values of varint, decimal, inet, date, time, timestamp and duration.

// appendTwos appends an integer in two's complement as the value of a varint, without its length and in as few bytes as
// possible. words are its base 2^64 digits, the least significant first.
func appendTwos(dst []byte, words ...uint64) []byte {
	n := 8 * len(words)
	byteAt := func(k int) byte { return byte(words[k/8] >> (8 * (k % 8))) } // k counts from the least significant byte
	for ; n > 1; n-- {
		first, next := byteAt(n-1), byteAt(n-2)
		if first == 0 && next < 0x80 || first == 0xff && next >= 0x80 {
			continue
		}
		break
	}
	for k := n - 1; k >= 0; k-- {
		dst = append(dst, byteAt(k))
	}
	return dst
}

// appendUnscaled appends the unscaled value of row i of a column of integers or fixed-scale decimals, without its
// length.
func appendUnscaled(dst []byte, c *column.Column, i int) []byte {
	switch c.Type.Kind {
	case column.Decimal64:
		return appendTwos(dst, uint64At(c, i))
	case column.Decimal128:
		return appendTwos(dst, uint64At(c, 2*i), uint64At(c, 2*i+1))
	case column.Decimal256:
		return appendTwos(dst, uint64At(c, 4*i), uint64At(c, 4*i+1), uint64At(c, 4*i+2), uint64At(c, 4*i+3))
	}
	v, above := integerAt(c, i)
	if above {
		return appendTwos(dst, uint64(v), 0)
	}
	return appendTwos(dst, uint64(v))
}

func isScaled(k column.Kind) bool { return k >= column.Decimal64 && k <= column.Decimal256 }

// fewestBytes removes bytes at the start of a number in two's complement that do not change it, because equal numbers
// must be equal keys.
func fewestBytes(b []byte) []byte {
	for len(b) > 1 && (b[0] == 0 && b[1] < 0x80 || b[0] == 0xff && b[1] >= 0x80) {
		b = b[1:]
	}
	return b
}

// planText returns the function for rows of a String column that appends the value that a text stands for, by parse.
func planText[T any](parse func(text string) (T, error), appendValue func(dst []byte, v T) ([]byte, error)) appendRow {
	return func(dst []byte, c *column.Column, i int) ([]byte, error) {
		v, err := parse(string(textAt(c, i)))
		if err != nil {
			return dst, fmt.Errorf("%w: %w", cql.ErrConversion, err)
		}
		return appendValue(dst, v)
	}
}

func parseDigits(text string) (*big.Int, error) {
	if v, ok := new(big.Int).SetString(text, 10); ok {
		return v, nil
	}
	return nil, fmt.Errorf("%.60q is not an integer in decimal digits", text)
}

// planVarint accepts Varint columns in as few bytes as possible, integers, fixed-scale decimals of scale 0, and a
// String column of decimal digits.
func planVarint(t column.Type) appendRow {
	switch {
	case t.Kind == column.String:
		return planText(parseDigits, func(dst []byte, v *big.Int) ([]byte, error) { return appendBigInt(dst, 0, v) })
	case t.Kind == column.Varint:
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			b := textAt(c, i)
			if len(b) == 0 {
				return dst, fmt.Errorf("%w: a varint of 0 bytes", cql.ErrMissing)
			}
			return appendContentOf(dst, fewestBytes(b)), nil
		}
	case t.Kind.IsInteger(), isScaled(t.Kind) && t.Scale == 0:
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			dst, at := beginCell(dst)
			return endLength(appendUnscaled(dst, c, i), at), nil
		}
	}
	return nil
}

// endLength sets the length of the [bytes] from position at to the end of dst.
func endLength(dst []byte, at int) []byte {
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// planDecimal accepts Decimal columns, their numbers in as few bytes as possible, fixed-scale decimals with the
// column's scale, integers with scale 0, and a String column of decimals.
func planDecimal(t column.Type) appendRow {
	switch {
	case t.Kind == column.String:
		return planText(cql.ParseDecimal, func(dst []byte, v cql.Decimal) ([]byte, error) {
			return encodeCQLDecimal(dst, unsafe.Pointer(&v))
		})
	case t.Kind == column.Decimal:
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			b := textAt(c, i)
			if len(b) < 5 {
				return dst, fmt.Errorf("%w: a decimal of %d bytes", cql.ErrMissing, len(b))
			}
			digits := fewestBytes(b[4:])
			dst = append(wire.AppendInt(dst, int32(4+len(digits))), b[:4]...)
			return append(dst, digits...), nil
		}
	case t.Kind.IsInteger(), isScaled(t.Kind):
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			dst, at := beginCell(dst)
			dst = wire.AppendInt(dst, int32(t.Scale))
			return endLength(appendUnscaled(dst, c, i), at), nil
		}
	}
	return nil
}

// planInet accepts 4 or 16 bytes, or a String column with addresses. CQL cannot store the zone of an address. An IPv4
// address mapped to IPv6 is stored in 4 bytes, as the server stores its literal.
func planInet(t column.Type) appendRow {
	switch t.Kind {
	case column.Inet, column.Binary:
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			b := textAt(c, i)
			a, ok := netip.AddrFromSlice(b)
			if !ok {
				return dst, exactSize(len(b), 16)
			}
			return appendAddr(dst, a)
		}
	case column.String:
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			a, err := netip.ParseAddr(string(textAt(c, i)))
			if err != nil || a.Zone() != "" {
				return dst, fmt.Errorf("%w: %q is not an IP address", cql.ErrConversion, textAt(c, i))
			}
			return appendAddr(dst, a)
		}
	}
	return nil
}

// planDate accepts days since 1970, timestamps at the start of a day, and integers that are such timestamps. CQL stores
// the days as uint32, with 1<<31 for 1970-01-01.
func planDate(t column.Type) appendRow {
	switch t.Kind {
	case column.Date:
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			return appendBits32(dst, uint32At(c, i)^1<<31), nil
		}
	case column.Timestamp, column.Int64: // milliseconds since 1970
		perDay := int64(86400e3)
		if t.Kind == column.Timestamp {
			perDay = 86400 * t.Unit.PerSecond()
		}
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			v := int64(uint64At(c, i))
			if v%perDay != 0 || v/perDay < math.MinInt32 || v/perDay > math.MaxInt32 {
				return dst, fmt.Errorf("%w: %v is not the start of a day", cql.ErrRange, c.Value(i))
			}
			return appendBits32(dst, uint32(int32(v/perDay))^1<<31), nil
		}
	}
	return nil
}

// planTime accepts times of day of any unit, and integers that count nanoseconds.
func planTime(t column.Type) appendRow {
	var factor int64
	switch t.Kind {
	case column.Time:
		factor = int64(time.Second) / t.Unit.PerSecond()
	case column.Int64: // nanoseconds since midnight
		factor = 1
	default:
		return nil
	}
	return func(dst []byte, c *column.Column, i int) ([]byte, error) {
		v := int64(uint64At(c, i))
		if v < 0 || v >= nanosPerDay/factor {
			return dst, fmt.Errorf("%w: %v is not a time of day", cql.ErrRange, c.Value(i))
		}
		return appendBits64(dst, uint64(v*factor)), nil
	}
}

// planTimestamp accepts milliseconds as they are, timestamps of other units without a part below the millisecond, and
// dates.
func planTimestamp(t column.Type) appendRow {
	if t.Kind == column.Int64 || t.Kind == column.Timestamp && t.Unit == column.Millis { // milliseconds since 1970
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			return appendBits64(dst, uint64At(c, i)), nil
		}
	}
	if t.Kind == column.Date {
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			return appendBits64(dst, uint64(int64(int32(uint32At(c, i)))*86400e3)), nil
		}
	}
	if t.Kind != column.Timestamp {
		return nil
	}
	perMilli := t.Unit.PerSecond() / 1000
	return func(dst []byte, c *column.Column, i int) ([]byte, error) {
		v := int64(uint64At(c, i))
		if v%perMilli != 0 {
			return dst, fmt.Errorf("%w: %v has a part below the millisecond, which a CQL timestamp cannot hold", cql.ErrRange,
				c.Value(i))
		}
		return appendBits64(dst, uint64(v/perMilli)), nil
	}
}

// planDuration accepts a String column, and Duration columns: int32 months, int32 days and int64 nanoseconds in 16
// bytes. CQL stores each as a vint, and all three have one sign.
func planDuration(t column.Type) appendRow {
	if t.Kind == column.String {
		return planText(parseDurationText, appendDuration)
	}
	if t.Kind != column.Duration {
		return nil
	}
	return func(dst []byte, c *column.Column, i int) ([]byte, error) {
		months, days := int32(binary.NativeEndian.Uint32(c.Values[16*i:])),
			int32(binary.NativeEndian.Uint32(c.Values[16*i+4:]))
		d := cql.Duration{Months: months, Days: days, Nanoseconds: int64(uint64At(c, 2*i+1))}
		if err := checkSigns(d); err != nil {
			return dst, err
		}
		dst, at := beginCell(dst)
		dst = wire.AppendVint(dst, int64(months))
		dst = wire.AppendVint(dst, int64(days))
		return endLength(wire.AppendVint(dst, d.Nanoseconds), at), nil
	}
}
