// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Plans of timestamp (int64 milliseconds), date (uint32 days, 1<<31 is 1970-01-01), time (int64 nanoseconds of a day)
// and duration (three [vint]s: months, days, nanoseconds): native_protocol_v5.spec, section 5.

const (
	day        = 24 * time.Hour
	secondsDay = 24 * 60 * 60
	millisDay  = 1000 * secondsDay
	epochDate  = 1 << 31
)

// planTimeEncode returns the plan of timestamp, date, time or duration. Integers are milliseconds for timestamp and
// date, nanoseconds for time and duration.
func planTimeEncode(typ cql.Type, t reflect.Type) EncodeAt {
	instant, span := t == reflect.TypeFor[time.Time](), t == reflect.TypeFor[time.Duration]()
	integer := t.Kind() == reflect.Int64 && !span
	switch {
	case typ == cql.TypeTimestamp && instant:
		return encodeTimestamp
	case typ == cql.TypeTimestamp && integer:
		return encodeBits64
	case typ == cql.TypeDate && instant:
		return encodeDate
	case typ == cql.TypeDate && integer:
		return encodeDateMillis
	case typ == cql.TypeTime && (span || integer):
		return encodeTime
	case typ == cql.TypeDuration && t == reflect.TypeFor[cql.Duration]():
		return encodeDuration
	case typ == cql.TypeDuration && (span || integer):
		return encodeNanoseconds
	}
	return nil
}

// planTimeDecode accepts the pairs of planTimeEncode except a duration in a plain integer.
func planTimeDecode(typ cql.Type, t reflect.Type) DecodeAt {
	instant, span := t == reflect.TypeFor[time.Time](), t == reflect.TypeFor[time.Duration]()
	integer := t.Kind() == reflect.Int64 && !span
	switch {
	case typ == cql.TypeTimestamp && instant:
		return decodeTimestamp
	case typ == cql.TypeTimestamp && integer:
		return decodeBits64
	case typ == cql.TypeDate && instant:
		return decodeDate
	case typ == cql.TypeDate && integer:
		return decodeDateMillis
	case typ == cql.TypeTime && (span || integer):
		return decodeTime
	case typ == cql.TypeDuration && t == reflect.TypeFor[cql.Duration]():
		return decodeDuration
	case typ == cql.TypeDuration && span:
		return decodeNanoseconds
	}
	return nil
}

func encodeTimestamp(dst []byte, p unsafe.Pointer) ([]byte, error) {
	return appendTimestamp(dst, *(*time.Time)(p))
}

func appendTimestamp(dst []byte, t time.Time) ([]byte, error) {
	ms := t.UnixMilli()
	if time.UnixMilli(ms).Unix() != t.Unix() { // the milliseconds overflowed int64
		return dst, fmt.Errorf("%w: year %d does not fit a timestamp", cql.ErrRange, t.Year())
	}
	return appendBits64(dst, uint64(ms)), nil
}

func decodeTimestamp(cell []byte, p unsafe.Pointer, _ *Shared) error {
	if len(cell) != 8 {
		return cellSize(cell, 8)
	}
	*(*time.Time)(p) = time.UnixMilli(int64(binary.BigEndian.Uint64(cell))).UTC()
	return nil
}

func encodeDate(dst []byte, p unsafe.Pointer) ([]byte, error) {
	return appendDate(dst, (*time.Time)(p).Unix(), secondsDay)
}

func encodeDateMillis(dst []byte, p unsafe.Pointer) ([]byte, error) {
	ms := *(*int64)(p)
	if ms%millisDay != 0 {
		return dst, notMidnight(ms)
	}
	return appendDate(dst, ms, millisDay)
}

// notMidnight is the error for an integer that is to become a date and has a time of day, which would be lost. A
// time.Time stands for its day in UTC.
func notMidnight(ms int64) error {
	return fmt.Errorf("%w: %d ms since 1970 is not the start of a day; a time.Time stands for its day in UTC",
		cql.ErrRange, ms)
}

// appendDate appends the day that contains n, where n counts units; perDay units are a day.
func appendDate(dst []byte, n, perDay int64) ([]byte, error) {
	days := n / perDay
	if n%perDay < 0 {
		days--
	}
	if days < -epochDate || days >= epochDate {
		return dst, fmt.Errorf("%w: day %d does not fit a date", cql.ErrRange, days)
	}
	return appendBits32(dst, uint32(days+epochDate)), nil
}

func decodeDate(cell []byte, p unsafe.Pointer, _ *Shared) error {
	days, err := parseDate(cell)
	if err == nil {
		*(*time.Time)(p) = time.Unix(days*secondsDay, 0).UTC()
	}
	return err
}

func decodeDateMillis(cell []byte, p unsafe.Pointer, _ *Shared) error {
	days, err := parseDate(cell)
	if err == nil {
		*(*int64)(p) = days * millisDay
	}
	return err
}

// parseDate returns the days since 1970-01-01.
func parseDate(cell []byte) (int64, error) {
	if err := cellSize(cell, 4); err != nil {
		return 0, err
	}
	return int64(binary.BigEndian.Uint32(cell)) - epochDate, nil
}

// encodeTime encodes a time.Duration, or an int64 of nanoseconds.
func encodeTime(dst []byte, p unsafe.Pointer) ([]byte, error) {
	v := *(*time.Duration)(p)
	if v < 0 || v >= day {
		return dst, fmt.Errorf("%w: %v is not a time of day", cql.ErrRange, v)
	}
	return appendBits64(dst, uint64(v)), nil
}

func decodeTime(cell []byte, p unsafe.Pointer, _ *Shared) error {
	if len(cell) != 8 {
		return cellSize(cell, 8)
	}
	v := time.Duration(binary.BigEndian.Uint64(cell))
	if v < 0 || v >= day {
		return fmt.Errorf("%w: %v is not a time of day", cql.ErrRange, v)
	}
	*(*time.Duration)(p) = v
	return nil
}

func encodeDuration(dst []byte, p unsafe.Pointer) ([]byte, error) {
	return appendDuration(dst, *(*cql.Duration)(p))
}

func encodeNanoseconds(dst []byte, p unsafe.Pointer) ([]byte, error) {
	return appendDuration(dst, cql.Duration{Nanoseconds: *(*int64)(p)})
}

func appendDuration(dst []byte, d cql.Duration) ([]byte, error) {
	if err := checkSigns(d); err != nil {
		return dst, err
	}
	dst, at := beginCell(dst)
	dst = wire.AppendVint(dst, int64(d.Months))
	dst = wire.AppendVint(dst, int64(d.Days))
	dst = wire.AppendVint(dst, d.Nanoseconds)
	return endCell(dst, at)
}

func checkSigns(d cql.Duration) error {
	if (d.Months < 0 || d.Days < 0 || d.Nanoseconds < 0) && (d.Months > 0 || d.Days > 0 || d.Nanoseconds > 0) {
		return fmt.Errorf("%w: the parts of a duration differ in sign", cql.ErrRange)
	}
	return nil
}

func decodeDuration(cell []byte, p unsafe.Pointer, _ *Shared) error {
	d, err := parseDuration(cell)
	if err != nil {
		return err
	}
	*(*cql.Duration)(p) = d
	return nil
}

func decodeNanoseconds(cell []byte, p unsafe.Pointer, _ *Shared) error {
	d, err := parseDuration(cell)
	if err != nil {
		return err
	}
	if d.Months != 0 || d.Days != 0 {
		return fmt.Errorf("%w: %d months and %d days have no fixed length", cql.ErrRange, d.Months, d.Days)
	}
	*(*int64)(p) = d.Nanoseconds
	return nil
}

// parseDuration parses the content of a duration: vints of months, days and nanoseconds of one sign.
func parseDuration(cell []byte) (d cql.Duration, err error) {
	var parts [3]int64
	for i := range parts {
		v, n := wire.Vint(cell)
		if n == 0 {
			return d, fmt.Errorf("%w: a duration ends in part %d", cql.ErrMissing, i)
		}
		parts[i], cell = v, cell[n:]
	}
	if len(cell) > 0 {
		return d, fmt.Errorf("%w: %d bytes after a duration", cql.ErrTrailing, len(cell))
	}
	d = cql.Duration{Months: int32(parts[0]), Days: int32(parts[1]), Nanoseconds: parts[2]}
	if int64(d.Months) != parts[0] || int64(d.Days) != parts[1] {
		return d, fmt.Errorf("%w: a duration of %d months and %d days", cql.ErrRange, parts[0], parts[1])
	}
	return d, checkSigns(d)
}
