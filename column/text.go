// SPDX-License-Identifier: Apache-2.0

package column

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"net"
	"net/netip"

	"github.com/vecql/vecql/cql"
)

// Canonical text of the kinds that Parquet and Arrow do not have: Inet, Varint, Decimal and Duration.

// HasText reports whether [FormatText] and [ParseText] support kind k: Inet, Varint, Decimal and Duration.
func (k Kind) HasText() bool { return k == Inet || k == Varint || k == Decimal || k == Duration }

// FormatText returns a column of Inet, Varint, Decimal or Duration as a String column in new memory, with the same
// NULLs. Addresses become "10.0.0.1" and "2001:db8::1", integers decimal digits, decimals the text of [cql.Decimal],
// durations their CQL form ("1mo2d3ns"). The error is a *TypeError for another kind, wraps [ErrTooLarge], or names the
// row that is not a value of the kind.
func FormatText(c *Column) (Column, error) {
	if c.missing != nil {
		return Column{}, c.missing
	}
	if !c.Type.Kind.HasText() {
		return Column{}, &TypeError{Column: c.Name, Type: c.Type, Want: "inet, varint, decimal or duration"}
	}
	out := Column{
		Name: c.Name, Type: Type{Kind: String}, Len: c.Len, Nulls: c.Nulls, Validity: c.Validity,
		Offsets: make([]int32, 1, c.Len+1),
	}
	for i := range c.Len {
		switch v := c.Value(i).(type) {
		case nil:
		case []byte:
			return Column{}, fmt.Errorf("column: %s, row %d: %d bytes are not a value of %v", c.Name, i, len(v), c.Type)
		case net.IP:
			a, _ := netip.AddrFromSlice(v) // net.IP prints an embedded IPv4 address as if it had 4 bytes
			out.Values = a.AppendTo(out.Values)
		default:
			out.Values = fmt.Append(out.Values, v)
		}
		if len(out.Values) > math.MaxInt32 {
			return Column{}, fmt.Errorf("column: %s: %w", c.Name, ErrTooLarge)
		}
		out.Offsets = append(out.Offsets, int32(len(out.Values)))
	}
	return out, nil
}

// ParseText is the inverse of [FormatText]: it returns a String column as a column of type t, one of the four kinds, in
// new memory. The error is a *TypeError, or names the row that is not the text of a value.
func ParseText(c *Column, t Type) (Column, error) {
	if !t.Kind.HasText() {
		return Column{}, &TypeError{Column: c.Name, Type: t, Want: "inet, varint, decimal or duration"}
	}
	text, err := c.Text()
	if err != nil {
		return Column{}, err
	}
	out := Column{Name: c.Name, Type: t, Len: c.Len, Nulls: c.Nulls, Validity: c.Validity}
	var durations []cql.Duration
	if t.Kind == Duration {
		durations = make([]cql.Duration, c.Len)
		out.Values = bytesOf(durations)
	} else {
		out.Offsets = make([]int32, 1, c.Len+1)
	}
	for i := range c.Len {
		if !c.Null(i) {
			switch s := text.String(i); t.Kind {
			case Duration:
				durations[i], err = cql.ParseDuration(s)
			case Inet:
				out.Values, err = appendInet(out.Values, s)
			case Varint:
				out.Values, err = appendDigits(out.Values, s)
			case Decimal:
				out.Values, err = appendDecimal(out.Values, s)
			}
			if err != nil {
				return Column{}, fmt.Errorf("column: %s, row %d: %q is not a value of %v: %w", c.Name, i, clip(text.String(i)), t,
					err)
			}
		}
		if t.Kind != Duration {
			if len(out.Values) > math.MaxInt32 {
				return Column{}, fmt.Errorf("column: %s: %w", c.Name, ErrTooLarge)
			}
			out.Offsets = append(out.Offsets, int32(len(out.Values)))
		}
	}
	return out, nil
}

func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}

// appendInet appends the 4 or 16 bytes of an address. An IPv6 address that embeds an IPv4 address keeps its 16 bytes.
func appendInet(dst []byte, s string) ([]byte, error) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return dst, errors.New("not an IP address")
	}
	if a.Zone() != "" {
		return dst, errors.New("address has a zone")
	}
	return append(dst, a.AsSlice()...), nil
}

func appendDigits(dst []byte, s string) ([]byte, error) {
	v, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return dst, errors.New("not an integer")
	}
	return appendVarint(dst, v), nil
}

// appendVarint appends v in two's complement, the most significant byte first, in as few bytes as possible.
func appendVarint(dst []byte, v *big.Int) []byte {
	if v.Sign() >= 0 {
		b := v.Bytes()
		if len(b) == 0 || b[0]&0x80 != 0 {
			dst = append(dst, 0)
		}
		return append(dst, b...)
	}
	n := new(big.Int).Not(v).BitLen()/8 + 1
	return append(dst, new(big.Int).Add(v, new(big.Int).Lsh(big.NewInt(1), uint(8*n))).FillBytes(make([]byte, n))...)
}

// appendDecimal appends the scale and the unscaled value of a decimal in the text form of [cql.Decimal].
func appendDecimal(dst []byte, s string) ([]byte, error) {
	d, err := cql.ParseDecimal(s)
	if err != nil {
		return dst, err
	}
	dst = append(dst, byte(d.Scale>>24), byte(d.Scale>>16), byte(d.Scale>>8), byte(d.Scale))
	return appendVarint(dst, d.Unscaled), nil
}
