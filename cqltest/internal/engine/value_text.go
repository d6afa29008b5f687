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
			length := 1 // in UTF-16
			if first := s[strings.IndexFunc(s, func(r rune) bool { return r > 0x7F }):]; first >= "\U00010000" {
				length = 2
			}
			return nil, badValue("Invalid ASCII character in string literal: "+
				"java.nio.charset.UnmappableCharacterException: Input length = %d", length)
		}
		return b, t.check(b)
	case KindBlob:
		if len(s) < 2 || s[0] != '0' || s[1]|0x20 != 'x' {
			return nil, badValue("String representation of blob is missing 0x prefix: %s", s)
		}
		b, err := hex.DecodeString(s[2:])
		if err != nil {
			return nil, fmt.Errorf("cannot parse '%s' as hex bytes", s[2:])
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
		return parseInet(s)
	case KindDate:
		return parseDate(s)
	case KindTime:
		v, err := parseTime(s)
		if err != nil {
			return nil, err
		}
		return int64Bytes(v), nil
	case KindTimestamp:
		if s == "" {
			return []byte{}, nil
		}
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
		return formatTimestamp(readInt(b))
	case KindDate:
		return formatDay(dayOf(b))
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
	brackets := "[]"
	switch t.Kind {
	case KindSet, KindMap, KindUDT:
		brackets = "{}"
	case KindTuple:
		brackets = "()"
	}
	parts, err := t.split(b)
	if err != nil {
		return "0x" + hex.EncodeToString(b)
	}
	var out strings.Builder
	for i, p := range parts {
		switch {
		case t.Kind == KindMap && i%2 == 1:
			out.WriteString(": ")
		case i > 0:
			out.WriteString(", ")
		}
		if t.Kind == KindUDT {
			out.WriteString(quoteName(t.Fields[i]) + ": ")
		}
		out.WriteString(t.part(i).literal(p))
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
