// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Single values as text, as in CQL literals.

// maxDigits bounds the digits of numbers, because parsing takes quadratic time.
const maxDigits = 10_000

// parseText parses the text of a literal as a value of a type without parameters.
func (t *Type) parseText(s string) ([]byte, error) {
	switch t.Kind {
	case KindASCII, KindText:
		b := []byte(s)
		if t.Kind == KindASCII && t.check(b) != nil {
			return nil, badValue("Invalid ASCII character in string literal: java.nio.charset.UnmappableCharacterException: Input length = 1")
		}
		return b, t.check(b)
	case KindBlob:
		if len(s) < 2 || s[0] != '0' || s[1]|0x20 != 'x' {
			return nil, badValue("String representation of blob is missing 0x prefix: %s", s)
		}
		b, err := hex.DecodeString(s[2:])
		if err != nil {
			return nil, fmt.Errorf("cannot parse '%s' as hex bytes", s)
		}
		return b, nil
	case KindBoolean:
		switch {
		case strings.EqualFold(s, "true"):
			return []byte{1}, nil
		case strings.EqualFold(s, "false"):
			return []byte{0}, nil
		}
		return nil, badValue("Unable to make boolean from '%s'", s)
	case KindTinyInt, KindSmallInt, KindInt, KindBigInt, KindCounter:
		size := map[Kind]int{KindTinyInt: 1, KindSmallInt: 2, KindInt: 4}[t.Kind]
		if size == 0 {
			size = 8
		}
		v, err := strconv.ParseInt(s, 10, size*8)
		if err != nil {
			return nil, badValue("Unable to make %s from '%s'", t.javaWord(), s)
		}
		return int64Bytes(v)[8-size:], nil
	case KindVarint:
		v, ok := new(big.Int), len(s) <= maxDigits
		if ok {
			_, ok = v.SetString(s, 10)
		}
		if !ok {
			return nil, fmt.Errorf("unable to make int from '%s'", s)
		}
		return varintBytes(v), nil
	case KindDecimal:
		return parseDecimal(s)
	case KindFloat:
		v, err := strconv.ParseFloat(s, 32)
		if err != nil && !math.IsInf(v, 0) {
			return nil, badValue("Unable to make float from '%s'", s)
		}
		return float32Bytes(float32(v)), nil
	case KindDouble:
		v, err := strconv.ParseFloat(s, 64)
		if err != nil && !math.IsInf(v, 0) {
			return nil, badValue("Unable to make double from '%s'", s)
		}
		return float64Bytes(v), nil
	case KindUUID, KindTimeUUID:
		b, err := parseUUID(s)
		if err != nil {
			return nil, err
		}
		if t.Kind == KindTimeUUID && b[6]>>4 != 1 {
			return nil, badValue("TimeUUID supports only version 1 UUIDs")
		}
		return b, nil
	case KindInet:
		a, err := netip.ParseAddr(s)
		if err != nil || a.Zone() != "" {
			return nil, badValue("Unable to make inet address from '%s'", s)
		}
		return a.Unmap().AsSlice(), nil
	case KindDate:
		return parseDate(s)
	case KindTime:
		v, err := parseTime(s)
		if err != nil {
			return nil, err
		}
		return int64Bytes(v), nil
	case KindTimestamp:
		v, err := parseTimestamp(s)
		if err != nil {
			return nil, err
		}
		return int64Bytes(v), nil
	case KindDuration:
		return parseDuration(s)
	}
	return nil, badValue("Unable to make %s from '%s'", t, s)
}

func (t *Type) javaWord() string {
	switch t.Kind {
	case KindTinyInt:
		return "byte"
	case KindSmallInt:
		return "short"
	case KindInt:
		return "int"
	}
	return "long"
}

func parseUUID(s string) ([]byte, error) {
	if len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' {
		if b, err := hex.DecodeString(s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]); err == nil {
			return b, nil
		}
	}
	return nil, badValue("Unable to make UUID from '%s'", s)
}

func formatUUID(b []byte) string {
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// parseDecimal parses the text of a decimal like Java's BigDecimal: the digits after the point, less the exponent, are
// the scale.
func parseDecimal(s string) ([]byte, error) {
	fault := fmt.Errorf("unable to make BigDecimal from '%s'", s)
	if len(s) > maxDigits {
		return nil, fault
	}
	mantissa, exponent := s, int64(0)
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.ParseInt(s[i+1:], 10, 32)
		if err != nil {
			return nil, fault
		}
		mantissa, exponent = s[:i], e
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	v, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok || strings.ContainsAny(fraction, "+-_") || strings.Contains(whole, "_") {
		return nil, fault
	}
	scale := int64(len(fraction)) - exponent
	if scale != int64(int32(scale)) {
		return nil, fault
	}
	return decimalBytes(v, int32(scale)), nil
}

// parseDate parses a date, or an integer that is the stored value: days with 1<<31 for 1970-01-01.
func parseDate(s string) ([]byte, error) {
	if v, err := strconv.ParseInt(s, 10, 64); err == nil && !strings.Contains(strings.TrimPrefix(s, "-"), "-") {
		if v < 0 || v > math.MaxUint32 {
			return nil, badValue("Unable to make unsigned int (for date) from: '%s'", s)
		}
		return binary.BigEndian.AppendUint32(nil, uint32(v)), nil
	}
	at, ok := parseDay(s)
	if !ok {
		return nil, badValue("Unable to coerce '%s' to a formatted date (long)", s)
	}
	return binary.BigEndian.AppendUint32(nil, uint32(floorDiv(at.Unix(), 86400)+1<<31)), nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// parseDay parses yyyy-mm-dd, with a sign and a year of up to seven digits.
func parseDay(s string) (time.Time, bool) {
	negative := strings.HasPrefix(s, "-")
	parts := strings.Split(strings.TrimPrefix(s, "-"), "-")
	if len(parts) != 3 || len(parts[0]) > 7 || len(parts[1]) > 2 || len(parts[2]) > 2 {
		return time.Time{}, false
	}
	var v [3]int
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 31)
		if err != nil {
			return time.Time{}, false
		}
		v[i] = int(n)
	}
	if negative {
		v[0] = -v[0]
	}
	at := time.Date(v[0], time.Month(v[1]), v[2], 0, 0, 0, 0, time.UTC)
	return at, at.Month() == time.Month(v[1]) && at.Day() == v[2]
}

// parseTime parses HH:MM:SS[.fffffffff], or a number of nanoseconds.
func parseTime(s string) (int64, error) {
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		if v < 0 || v >= dayNanos {
			return 0, badValue("Unable to make long (for time) from: '%s'", s)
		}
		return v, nil
	}
	if v, ok := parseClock(s, 9); ok && strings.Count(s, ":") == 2 {
		return v, nil
	}
	return 0, badValue("(TimeType) Unable to coerce '%s' to a formatted time (long)", s)
}

// parseClock parses HH:MM[:SS[.f...]] as nanoseconds.
func parseClock(s string, digits int) (int64, bool) {
	main, fraction, dotted := strings.Cut(s, ".")
	parts := strings.Split(main, ":")
	if len(parts) < 2 || len(parts) > 3 || dotted && (len(parts) != 3 || fraction == "" || len(fraction) > digits) {
		return 0, false
	}
	limits := [3]uint64{24, 60, 60}
	units := [3]int64{3600e9, 60e9, 1e9}
	total := int64(0)
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 8)
		if err != nil || n >= limits[i] || len(p) > 2 {
			return 0, false
		}
		total += int64(n) * units[i]
	}
	if dotted {
		n, err := strconv.ParseUint(fraction+strings.Repeat("0", 9-len(fraction)), 10, 63)
		if err != nil {
			return 0, false
		}
		total += int64(n)
	}
	return total, true
}

// parseTimestamp parses milliseconds, or yyyy-mm-dd[(T| )HH:MM[:SS[.fff]]][ ][Z|UTC|GMT|(+|-)HH[[:]MM]]. The default
// zone is UTC.
func parseTimestamp(s string) (int64, error) {
	fault := badValue("Unable to parse a date/time from '%s'", s)
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return v, nil
	}
	day, rest := s, ""
	if i := strings.IndexAny(s, "T "); i >= 0 {
		day, rest = s[:i], s[i+1:]
	} else if i := strings.IndexAny(s, "Z+"); i > 0 {
		day, rest = s[:i], s[i:]
	} else if strings.Count(strings.TrimPrefix(s, "-"), "-") == 3 {
		i := strings.LastIndexByte(s, '-')
		day, rest = s[:i], s[i:]
	}
	at, ok := parseDay(day)
	if !ok {
		return 0, fault
	}
	zone := int64(0)
	if i := strings.IndexAny(rest, "Z+-UG"); i >= 0 {
		if zone, ok = parseZone(rest[i:]); !ok {
			return 0, fault
		}
		rest = strings.TrimRight(rest[:i], " ")
	}
	nanos := int64(0)
	if rest != "" {
		if nanos, ok = parseClock(rest, 9); !ok {
			return 0, fault
		}
	}
	return (at.Unix()-zone)*1000 + nanos/1e6, nil
}

// parseZone returns the offset of a time zone in seconds east: Z, UTC, GMT, +hh, +hhmm or +hh:mm.
func parseZone(s string) (seconds int64, ok bool) {
	switch s {
	case "Z", "UTC", "GMT":
		return 0, true
	}
	digits := strings.Replace(s[1:], ":", "", 1)
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || len(digits) != 2 && len(digits) != 4 {
		return 0, false
	}
	if len(digits) == 2 {
		n *= 100
	}
	if n/100 > 18 || n%100 > 59 {
		return 0, false
	}
	seconds = int64(n/100*3600 + n%100*60)
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, s[0] == '-' || s[0] == '+'
}

// format formats a value like cast(... as text): texts without quotes, collections and the like as literals.
func (t *Type) format(b []byte) string {
	if b == nil {
		return "null"
	}
	if len(b) == 0 {
		return ""
	}
	switch t.Kind {
	case KindASCII, KindText:
		return string(b)
	case KindBoolean:
		return strconv.FormatBool(b[0] != 0)
	case KindTinyInt, KindSmallInt, KindInt, KindBigInt, KindCounter:
		return strconv.FormatInt(readInt(b), 10)
	case KindFloat:
		return formatFloat(float64(math.Float32frombits(binary.BigEndian.Uint32(b))), 32)
	case KindDouble:
		return formatFloat(math.Float64frombits(binary.BigEndian.Uint64(b)), 64)
	case KindVarint:
		return readVarint(b).String()
	case KindDecimal:
		return formatDecimal(splitDecimal(b))
	case KindUUID, KindTimeUUID:
		return formatUUID(b)
	case KindInet:
		if len(b) == 16 { // as in Java: zeros are not shortened
			groups := make([]string, 8)
			for i := range groups {
				groups[i] = strconv.FormatUint(uint64(binary.BigEndian.Uint16(b[2*i:])), 16)
			}
			return strings.Join(groups, ":")
		}
		if a, ok := netip.AddrFromSlice(b); ok {
			return a.String()
		}
	case KindTimestamp:
		return time.UnixMilli(readInt(b)).UTC().Format("2006-01-02T15:04:05.000Z")
	case KindDate:
		return dayOf(b).Format("2006-01-02")
	case KindTime:
		return time.Unix(0, readInt(b)).UTC().Format("15:04:05.000000000")
	case KindDuration:
		return formatDuration(b)
	case KindList, KindSet, KindMap, KindVector, KindTuple, KindUDT:
		return t.formatParts(b)
	}
	return "0x" + hex.EncodeToString(b)
}

// formatParts returns the text of a value that has parts: a collection, vector, tuple or UDT.
func (t *Type) formatParts(b []byte) string {
	split, brackets := splitCollection, "[]"
	switch t.Kind {
	case KindSet, KindMap:
		brackets = "{}"
	case KindVector:
		split = splitVector
	case KindTuple:
		split, brackets = splitTuple, "()"
	case KindUDT:
		split, brackets = splitTuple, "{}"
	}
	parts, err := split(t, b)
	if err != nil {
		return "0x" + hex.EncodeToString(b)
	}
	var out strings.Builder
	for i, p := range parts {
		elem := t.Elems[i%len(t.Elems)]
		switch {
		case t.Kind == KindMap && i%2 == 1:
			out.WriteString(": ")
		case i > 0:
			out.WriteString(", ")
		}
		if t.Kind == KindUDT {
			out.WriteString(quoteName(t.Fields[i]) + ": ")
		}
		out.WriteString(elem.literal(p))
	}
	return brackets[:1] + out.String() + brackets[1:]
}

// Text formats a value that a client sent as a CQL literal: as a blob if it is invalid.
func (t *Type) Text(b []byte) string {
	if b != nil && t.check(b) != nil {
		return fmt.Sprintf("0x%x", b)
	}
	return t.literal(b)
}

// literal formats a value as a CQL literal.
func (t *Type) literal(b []byte) string {
	s := t.format(b)
	switch t.Kind {
	case KindASCII, KindText, KindInet, KindTimestamp, KindDate, KindTime:
		if b != nil {
			return "'" + strings.ReplaceAll(s, "'", "''") + "'"
		}
	}
	return s
}

// readInt decodes a signed integer of 1, 2, 4 or 8 bytes.
func readInt(b []byte) int64 {
	switch len(b) {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	case 8:
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func dayOf(b []byte) time.Time {
	return time.Unix((int64(binary.BigEndian.Uint32(b))-1<<31)*86400, 0).UTC()
}

// formatFloat formats like Java: "1.0", "1.5E10", "NaN", "Infinity".
func formatFloat(v float64, bits int) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "Inf", "Infinity", 1)[btoi(v > 0):]
	}
	if a := math.Abs(v); a != 0 && (a < 1e-3 || a >= 1e7) {
		s := strconv.FormatFloat(v, 'E', -1, bits)
		mantissa, exponent, _ := strings.Cut(s, "E")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		exponent = strings.TrimPrefix(exponent, "+")
		if strings.HasPrefix(exponent, "-") {
			return mantissa + "E-" + strings.TrimLeft(exponent[1:], "0")
		}
		return mantissa + "E" + strings.TrimLeft(exponent, "0")
	}
	s := strconv.FormatFloat(v, 'f', -1, bits)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// formatDecimal formats like Java's BigDecimal.toString.
func formatDecimal(unscaled *big.Int, scale int32) string {
	digits := new(big.Int).Abs(unscaled).String()
	sign := ""
	if unscaled.Sign() < 0 {
		sign = "-"
	}
	if scale == 0 {
		return sign + digits
	}
	adjusted := int64(len(digits)) - 1 - int64(scale)
	if scale > 0 && adjusted >= -6 {
		if pad := int(scale) - len(digits); pad >= 0 {
			return sign + "0." + strings.Repeat("0", pad) + digits
		}
		return sign + digits[:len(digits)-int(scale)] + "." + digits[len(digits)-int(scale):]
	}
	if len(digits) > 1 {
		digits = digits[:1] + "." + digits[1:]
	}
	return fmt.Sprintf("%s%sE%+d", sign, digits, adjusted)
}
