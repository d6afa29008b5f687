// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/textform"
)

// Values to text: the inverse of parse.go and json_parse.go.

// appendValue appends row i, which is not NULL: a scalar as text, other types as JSON.
func (v *Values) appendValue(dst []byte, c *column.Column, i int) ([]byte, error) {
	switch kind := c.Type.Kind; {
	case kind == column.Vector || kind.IsNested():
		return v.appendJSON(dst, c, i)
	case kind == column.Bool:
		word := v.True
		if c.Values[i] == 0 {
			word = v.False
		}
		if word == "" {
			return strconv.AppendBool(dst, c.Values[i] != 0), nil
		}
		return append(dst, word...), nil
	case isNumber(kind):
		first := len(dst)
		dst, err := appendNumber(dst, c, i)
		if v.DecimalPoint != 0 && v.DecimalPoint != '.' {
			for k := first; k < len(dst); k++ {
				if dst[k] == '.' {
					dst[k] = v.DecimalPoint
				}
			}
		}
		return dst, err
	case kind == column.Date || kind == column.Time || kind == column.Timestamp:
		return v.appendTime(dst, c, i)
	case kind == column.UUID:
		return appendUUID(dst, c.Values[16*i:16*i+16]), nil
	case kind == column.Fixed:
		return v.appendBlob(dst, c.Values[i*c.Type.Width:(i+1)*c.Type.Width]), nil
	case kind == column.Binary || kind == column.String:
		text, err := c.Text()
		if err != nil {
			return dst, err
		}
		if kind == column.Binary {
			return v.appendBlob(dst, text.Bytes(i)), nil
		}
		if !utf8.Valid(text.Bytes(i)) {
			return dst, fmt.Errorf("column %s: the text is not UTF-8", c.Name)
		}
		return append(dst, text.Bytes(i)...), nil
	}
	return appendOther(dst, c, i)
}

// isNumber reports whether JSON has numbers for values of a kind.
func isNumber(kind column.Kind) bool {
	return kind >= column.Int8 && kind <= column.Float64 || kind == column.Varint || kind == column.Decimal ||
		kind >= column.Decimal64 && kind <= column.Decimal256
}

// appendNumber appends row i of a kind of isNumber. Bytes that are no number are an error.
func appendNumber(dst []byte, c *column.Column, i int) ([]byte, error) {
	switch c.Type.Kind {
	case column.Int32:
		return strconv.AppendInt(dst, int64(int32(binary.NativeEndian.Uint32(c.Values[4*i:]))), 10), nil
	case column.Int64:
		return strconv.AppendInt(dst, int64(binary.NativeEndian.Uint64(c.Values[8*i:])), 10), nil
	case column.Float32:
		return appendFloat(dst, float64(math.Float32frombits(binary.NativeEndian.Uint32(c.Values[4*i:]))), 32), nil
	case column.Float64:
		return appendFloat(dst, math.Float64frombits(binary.NativeEndian.Uint64(c.Values[8*i:])), 64), nil
	case column.Float16:
		return appendFloat(dst, float64(c.Value(i).(float32)), 32), nil
	}
	switch value := c.Value(i).(type) {
	case []byte:
		return dst, noText(c, value)
	default:
		return fmt.Append(dst, value), nil // integers of other widths, cql.Decimal, *big.Int
	}
}

func appendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, bits)
}

// appendOther appends values of the kinds that have a Go type with a text of its own.
func appendOther(dst []byte, c *column.Column, i int) ([]byte, error) {
	switch value := c.Value(i).(type) {
	case net.IP:
		a, _ := netip.AddrFromSlice(value) // net.IP prints an embedded IPv4 address as if it had 4 bytes
		return a.AppendTo(dst), nil
	case cql.Duration:
		return append(dst, value.String()...), nil
	default:
		return dst, noText(c, value)
	}
}

// noText returns the error for bytes that are no value of the type of their column.
func noText(c *column.Column, value any) error {
	return fmt.Errorf("column %s: %v is not a value of %v", c.Name, value, c.Type)
}

func appendUUID(dst, u []byte) []byte {
	for _, part := range [][2]int{{0, 4}, {4, 6}, {6, 8}, {8, 10}, {10, 16}} {
		if part[0] > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, u[part[0]:part[1]])
	}
	return dst
}

func (v *Values) appendBlob(dst, b []byte) []byte {
	if v.Base64 {
		return base64.StdEncoding.AppendEncode(dst, b)
	}
	return hex.AppendEncode(append(dst, '0', 'x'), b)
}

// appendTime appends a Date, Time or Timestamp. Timestamps of years that layouts do not have are written as numbers,
// which parseTimestamp and CQL read: CQL reads no other text of a time before year 1.
func (v *Values) appendTime(dst []byte, c *column.Column, i int) ([]byte, error) {
	switch c.Type.Kind {
	case column.Date:
		days := int32(binary.NativeEndian.Uint32(c.Values[4*i:]))
		if v.Date == Epoch {
			return strconv.AppendInt(dst, int64(days), 10), nil
		}
		if t := dayTime(days); v.Date != "" && hasLayout(t) {
			return t.AppendFormat(dst, v.Date), nil
		}
		return textform.AppendDate(dst, days), nil
	case column.Time:
		clock := c.Value(i).(time.Duration)
		if v.Time == Epoch {
			return strconv.AppendInt(dst, int64(clock), 10), nil
		}
		return time.Time{}.Add(clock).AppendFormat(dst, cmp.Or(v.Time, "15:04:05.999999999")), nil
	}
	n := int64(binary.NativeEndian.Uint64(c.Values[8*i:]))
	per := c.Type.Unit.PerSecond()
	t := time.Unix(n/per, n%per*(1e9/per)).In(v.Zone)
	if v.Timestamp != Epoch && hasLayout(t) {
		layout := "2006-01-02T15:04:05.999999999"
		if c.Type.UTC {
			layout += "Z07:00"
		}
		return t.AppendFormat(dst, cmp.Or(v.Timestamp, layout)), nil
	}
	step := int64(time.Second) / per
	unit := int64(v.EpochUnit)
	if unit < step && n != 0 && n*(step/unit)/n != step/unit || unit > step && n%(unit/step) != 0 {
		return dst, fmt.Errorf("column %s: %d %v are not a number of %v", c.Name, n, c.Type.Unit, v.EpochUnit)
	}
	if unit < step {
		n *= step / unit
	} else {
		n /= unit / step
	}
	return strconv.AppendInt(dst, n, 10), nil
}

func hasLayout(t time.Time) bool { return t.Year() >= 1 && t.Year() <= 9999 }

// appendJSON appends row i as JSON.
func (v *Values) appendJSON(dst []byte, c *column.Column, i int) ([]byte, error) {
	if c.Null(i) {
		return append(dst, "null"...), nil
	}
	switch kind := c.Type.Kind; {
	case kind == column.Vector:
		elements := column.Column{Type: column.Type{Kind: c.Type.Elem}, Len: c.Len * c.Type.Dim, Values: c.Values}
		return v.appendElements(dst, &elements, i*c.Type.Dim, (i+1)*c.Type.Dim)
	case kind == column.List:
		first, end := c.Elements(i)
		return v.appendElements(dst, &c.Children[0], first, end)
	case kind == column.Map:
		return v.appendMap(dst, c, i)
	case kind == column.Struct || kind == column.Tuple:
		return v.appendFields(dst, c.Children, i, kind == column.Struct)
	case kind == column.Bool:
		return strconv.AppendBool(dst, c.Values[i] != 0), nil
	case isNumber(kind):
		first := len(dst)
		dst, err := appendNumber(dst, c, i)
		if err != nil {
			return dst, err
		}
		if last := dst[len(dst)-1]; last == 'N' || last == 'y' { // NaN and Infinity
			return appendString(dst[:first], []byte(string(dst[first:]))), nil
		}
		return dst, nil
	}
	first := len(dst)
	dst, err := v.appendValue(append(dst, '"'), c, i)
	if err != nil {
		return dst, err
	}
	if text := dst[first+1:]; slices.ContainsFunc(text, isEscaped) {
		return appendString(dst[:first], bytes.Clone(text)), nil
	}
	return append(dst, '"'), nil
}

// isEscaped reports whether a byte of a string in JSON is escaped.
func isEscaped(c byte) bool { return c == '"' || c == '\\' || c < ' ' }

func (v *Values) appendElements(dst []byte, c *column.Column, first, end int) ([]byte, error) {
	dst = append(dst, '[')
	var err error
	for i := first; i < end; i++ {
		if i > first {
			dst = append(dst, ',')
		}
		if dst, err = v.appendJSON(dst, c, i); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// appendMap appends an object if keys are scalars, otherwise an array of pairs.
func (v *Values) appendMap(dst []byte, c *column.Column, row int) ([]byte, error) {
	keys, values := &c.Children[0], &c.Children[1]
	isObject := !keys.Type.Kind.IsNested() && keys.Type.Kind != column.Vector
	first, end := c.Elements(row)
	brackets := "[]"
	if isObject {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i := first; i < end; i++ {
		if i > first {
			dst = append(dst, ',')
		}
		var err error
		if isObject {
			var key []byte
			if key, err = v.appendValue(nil, keys, i); err == nil {
				dst, err = v.appendJSON(append(appendString(dst, key), ':'), values, i)
			}
		} else {
			dst, err = v.appendFields(dst, c.Children, i, false)
		}
		if err != nil {
			return dst, err
		}
	}
	return append(dst, brackets[1]), nil
}

// appendFields appends one row of columns, as an object or an array.
func (v *Values) appendFields(dst []byte, columns []column.Column, row int, named bool) ([]byte, error) {
	brackets := "[]"
	if named {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i := range columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		if named {
			dst = append(appendString(dst, []byte(columns[i].Name)), ':')
		}
		var err error
		if dst, err = v.appendJSON(dst, &columns[i], row); err != nil {
			return dst, err
		}
	}
	return append(dst, brackets[1]), nil
}

// appendString appends a string of JSON.
func appendString(dst, s []byte) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// AppendRecord appends row i of a batch for a person to read: the text of its record if the batch has it, otherwise
// JSON.
func AppendRecord(dst []byte, b *column.Batch, i int) []byte {
	if c := b.Column(RecordColumn); c.Err() == nil {
		return append(dst, strings.TrimRight(c.Value(i).(string), "\r\n")...)
	}
	first := len(dst)
	dst, err := AppendJSON(dst, b, i)
	if err != nil {
		return append(dst[:first], errors.Join(errors.New("no text"), err).Error()...)
	}
	return dst
}

// AppendJSON appends row i of a batch as an object of JSON, as a line of a JSON file has it.
func AppendJSON(dst []byte, b *column.Batch, i int) ([]byte, error) {
	v, _ := Values{}.withDefaults() // the zero value is valid
	return v.appendFields(dst, b.Columns, i, true)
}
