// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// The conversions of native types that ScyllaDB's fork makes in a way of its own.

// forkBytes reports whether t is a slice of bytes, or an array of 4 or 16.
func forkBytes(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice:
		return t.Elem().Kind() == reflect.Uint8
	case reflect.Array:
		return t.Elem().Kind() == reflect.Uint8 && (t.Len() == 4 || t.Len() == 16)
	}
	return false
}

const nanosecondsOfDay = int64(24 * time.Hour)

// encodeFork encodes v as the fork does: the empty text is NULL of every type but text, bytes are addresses, integers
// of 32 bits are dates, "scale;unscaled" is a decimal, and a duration of nanoseconds has days of 24 hours. ok is
// false, and nothing is encoded, if gocql's conversion applies.
func encodeFork(typ cql.Type, v reflect.Value) (content []byte, ok bool, err error) {
	t := v.Type()
	switch {
	case t.Kind() == reflect.String && v.Len() == 0 && !isTextType(typ):
		return nil, true, nil
	case (typ == cql.TypeUUID || typ == cql.TypeTimeUUID || typ == cql.TypeInet) && t.Kind() == reflect.Slice &&
		forkBytes(t) && v.Len() == 0:
		if v.IsNil() {
			return nil, true, nil
		}
		return []byte{}, true, nil
	case typ == cql.TypeInet && forkBytes(t) && (v.Len() == 4 || v.Len() == 16) && t != ipType:
		b := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(b), bytesOf(v))
		return b, true, nil
	case typ == cql.TypeDecimal && t.Kind() == reflect.String:
		content, err = encodeForkDecimal(v.String())
		return content, true, err
	case typ == cql.TypeDuration && t.Kind() == reflect.String:
		d, isFork := parseForkDuration(v.String())
		if !isFork {
			return nil, false, nil
		}
		content, err = codec.Marshal(cql.NativeType(typ), d)
		return content, true, err
	case typ == cql.TypeDuration && t.Kind() == reflect.Int64:
		content, err = codec.Marshal(cql.NativeType(typ), cql.Duration{
			Days: int32(v.Int() / nanosecondsOfDay), Nanoseconds: v.Int() % nanosecondsOfDay,
		})
		return content, true, err
	case typ == cql.TypeDate && t.Kind() == reflect.Int32:
		return binary.BigEndian.AppendUint32(nil, uint32(v.Int())), true, nil
	case typ == cql.TypeDate && t.Kind() == reflect.Uint32:
		return binary.BigEndian.AppendUint32(nil, uint32(v.Uint())), true, nil
	}
	return nil, false, nil
}

// encodeForkDecimal returns the decimal of the text "scale;unscaled".
func encodeForkDecimal(text string) ([]byte, error) {
	scale, unscaled, ok := strings.Cut(text, ";")
	n, err := strconv.ParseInt(scale, 10, 32)
	number, valid := new(big.Int).SetString(unscaled, 10)
	if !ok || err != nil || !valid {
		return nil, fmt.Errorf("%w: %q is not a decimal", cql.ErrConversion, text)
	}
	return codec.Marshal(cql.NativeType(cql.TypeDecimal), cql.Decimal{Unscaled: number, Scale: int32(n)})
}

// isForkDecimal reports whether text may be a decimal of the fork.
func isForkDecimal(text string) bool { return strings.Contains(text, ";") }

// bytesOf returns v, a slice or an array of bytes, as a []byte.
func bytesOf(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Array {
		p := reflect.New(v.Type()).Elem()
		p.Set(v)
		v = p.Slice(0, p.Len())
	}
	return reflect.ValueOf(v.Bytes())
}

// decodeFork decodes cell as the fork does: NULL of a date is the first date, a cell without bytes is the zero value
// as text, bytes take addresses, and unsigned numbers take a varint without its sign. ok is false, and nothing is
// decoded, if gocql's conversion applies.
func decodeFork(typ cql.Type, cell []byte, v reflect.Value) (ok bool, err error) {
	t := v.Type()
	text := t.Kind() == reflect.String
	switch typ {
	case cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeCounter, cql.TypeVarint:
		if text && cell == nil {
			v.SetString("")
			return true, nil
		}
		if typ == cql.TypeVarint && v.CanUint() && len(cell) > 0 && 8*len(cell) <= t.Bits() {
			v.SetUint(binary.BigEndian.Uint64(append(make([]byte, 8-len(cell), 8), cell...)))
			return true, nil
		}
	case cql.TypeUUID, cql.TypeTimeUUID, cql.TypeInet:
		return decodeForkBytes(typ, cell, v), nil
	case cql.TypeDate:
		return decodeForkDate(cell, v), nil
	case cql.TypeTime:
		if t.Kind() == reflect.Int && len(cell) == 8 {
			n := int64(binary.BigEndian.Uint64(cell))
			if v.OverflowInt(n) {
				return true, fmt.Errorf("%w: %d does not fit %v", cql.ErrRange, n, t)
			}
			v.SetInt(n)
			return true, nil
		}
	case cql.TypeDecimal:
		if text && cell != nil {
			return true, decodeForkDecimal(cell, v)
		}
	case cql.TypeDuration:
		if (text || t.Kind() == reflect.Int64) && cell != nil {
			return decodeForkDuration(cell, v)
		}
	}
	if t.Kind() == reflect.Slice && forkBytes(t) && cell != nil && len(cell) == 0 {
		v.Set(reflect.MakeSlice(t, 0, 0))
		return true, nil
	}
	return false, nil
}

// decodeForkDecimal decodes a decimal as the text "scale;unscaled".
func decodeForkDecimal(cell []byte, v reflect.Value) error {
	var d cql.Decimal
	if len(cell) > 0 {
		if err := codec.Unmarshal(cql.NativeType(cql.TypeDecimal), cell, &d); err != nil {
			return err
		}
	} else {
		d.Unscaled = new(big.Int)
	}
	v.SetString(fmt.Sprintf("%d;%v", d.Scale, d.Unscaled))
	return nil
}

// decodeForkDuration decodes a duration as text, and one without months as nanoseconds. ok is false for others.
func decodeForkDuration(cell []byte, v reflect.Value) (ok bool, err error) {
	var d cql.Duration
	if err := codec.Unmarshal(cql.NativeType(cql.TypeDuration), cell, &d); err != nil {
		return true, err
	}
	if v.Kind() == reflect.String {
		v.SetString(forkDurationText(d))
		return true, nil
	}
	days := int64(d.Days)
	n := days*nanosecondsOfDay + d.Nanoseconds
	if d.Months != 0 || days != 0 && (n/nanosecondsOfDay-days)/2 != 0 {
		return true, fmt.Errorf("%w: %v does not fit %v", cql.ErrRange, d, v.Type())
	}
	v.SetInt(n)
	return true, nil
}

// decodeForkBytes decodes an identifier or an address without bytes, and an address into bytes. It reports whether it
// did.
func decodeForkBytes(typ cql.Type, cell []byte, v reflect.Value) bool {
	t := v.Type()
	switch {
	case cell == nil:
		return false
	case len(cell) == 0 && t.Kind() == reflect.String && typ == cql.TypeInet:
		v.SetString("0.0.0.0")
	case len(cell) == 0 && t.Kind() == reflect.String:
		v.SetString(cql.UUID{}.String())
	case t.Kind() == reflect.Slice && forkBytes(t) && (len(cell) == 0 || typ == cql.TypeInet && t != ipType):
		v.Set(reflect.MakeSlice(t, len(cell), len(cell)))
		copy(v.Bytes(), cell)
	case t.Kind() == reflect.Array && forkBytes(t) && typ == cql.TypeInet && len(cell) > 0 && len(cell) <= t.Len():
		v.SetZero()
		copy(v.Slice(0, t.Len()).Bytes(), cell)
	default:
		return false
	}
	return true
}

// decodeForkDate decodes a date, and reports whether it did. NULL is the first date, except as text and as an integer
// of 32 bits.
func decodeForkDate(cell []byte, v reflect.Value) bool {
	var days uint32
	switch {
	case len(cell) == 4:
		days = binary.BigEndian.Uint32(cell)
	case len(cell) > 0:
		return false
	}
	at := time.UnixMilli((int64(days) - math.MaxInt32 - 1) * millisecondsOfDay).UTC()
	switch t := v.Type(); {
	case t == timeType:
		*v.Addr().Interface().(*time.Time) = at
	case t.Kind() == reflect.Int64:
		v.SetInt(at.UnixMilli())
	case t.Kind() == reflect.Int32:
		v.SetInt(int64(int32(days)))
	case t.Kind() == reflect.Uint32:
		v.SetUint(uint64(days))
	case t.Kind() == reflect.String && cell != nil:
		v.SetString(at.Format(time.DateOnly))
	default:
		return false
	}
	return true
}

// ignoresHeld reports whether the fork replaces what an interface holds, whatever it is: for texts, bytes, lists, sets,
// maps and user-defined types.
func ignoresHeld(info cql.TypeInfo) bool {
	switch info.(type) {
	case cql.CollectionType, cql.VectorType, cql.UDTTypeInfo:
		return true
	}
	return info == cql.NativeType(cql.TypeVarchar) || info == cql.NativeType(cql.TypeBlob)
}

// decodeForkAny stores a cell in an interface, in place of what it holds. A text is its bytes. NULL is a typed nil, but
// nil for a user-defined type, and for a list in an interface that holds nothing.
func (d *Dialect) decodeForkAny(info cql.TypeInfo, cell []byte, v reflect.Value) error {
	_, udt := info.(cql.UDTTypeInfo)
	_, native := info.(cql.NativeType)
	switch {
	case native:
		v.Set(reflect.ValueOf(bytes.Clone(cell)))
	case cell != nil:
		return d.decodeNew(info, cell, v)
	case udt || !v.Elem().IsValid() && info.Type() != cql.TypeMap:
		v.SetZero()
	default:
		t := d.GoType(info)
		if t == nil {
			return fmt.Errorf("%w: %v has no default Go type", cql.ErrConversion, info)
		}
		v.Set(reflect.Zero(t))
	}
	return nil
}

// forkDurationText returns a duration as the fork writes it: years and months, weeks and days, and a time as Go writes
// it without the units that are 0. The last unit of a pair is never 0: two weeks are 1w7d.
func forkDurationText(d cql.Duration) string {
	var text strings.Builder
	if d.Months < 0 || d.Days < 0 || d.Nanoseconds < 0 {
		text.WriteByte('-')
	}
	pair := func(n uint64, of uint64, first, last string) {
		if n == 0 {
			return
		}
		if n > of {
			fmt.Fprint(&text, (n-1)/of, first)
		}
		fmt.Fprint(&text, (n-1)%of+1, last)
	}
	pair(magnitude(int64(d.Months)), 12, "y", "mo")
	pair(magnitude(int64(d.Days)), 7, "w", "d")
	text.WriteString(forkClock(magnitude(d.Nanoseconds)))
	if text.Len() == 0 {
		return "0s"
	}
	return text.String()
}

// magnitude returns the absolute value of n, of the smallest integer too.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// forkClock returns nanoseconds as the fork writes them, "" for 0.
func forkClock(n uint64) string {
	const second, minute, hour = uint64(time.Second), uint64(time.Minute), uint64(time.Hour)
	switch {
	case n == 0:
		return ""
	case n < second:
		return time.Duration(n).String()
	}
	text := ""
	if n >= hour {
		text = fmt.Sprint(n/hour, "h")
	}
	if n%hour >= minute {
		text += fmt.Sprint(n%hour/minute, "m")
	}
	if s := n % minute; s != 0 {
		text += strconv.FormatUint(s/second, 10)
		if rest := s % second; rest != 0 {
			text += strings.TrimRight(fmt.Sprintf(".%09d", rest), "0")
		}
		text += "s"
	}
	return text
}

// dateAndClock matches a duration with dates and a time with a fraction, which the driver does not parse.
var dateAndClock = regexp.MustCompile(`^([+-]?)((?:\d+(?:y|mo|w|d))+)((?:\d+(?:h|m))*\d*\.\d+[a-zµμ]+)$`)

// parseForkDuration parses a duration that the fork writes and the driver does not parse. ok is false for others.
func parseForkDuration(text string) (d cql.Duration, ok bool) {
	parts := dateAndClock.FindStringSubmatch(text)
	if parts == nil {
		return d, false
	}
	sign := strings.TrimPrefix(parts[1], "+")
	d, err := cql.ParseDuration(sign + parts[2])
	clock, clockErr := time.ParseDuration(sign + parts[3])
	d.Nanoseconds = int64(clock)
	return d, err == nil && clockErr == nil
}
