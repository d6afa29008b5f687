// SPDX-License-Identifier: Apache-2.0

// Package textform parses and prints texts of numbers, dates and times as the literals of CQL are. The records in
// testdata are verdicts of a real Cassandra (TestTextForms of package tests).
package textform

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Numbers.

var (
	// ErrSyntax means that a text is not of the form of a type.
	ErrSyntax = errors.New("not a value of the type")
	// ErrRange means that the value of a text does not fit its type.
	ErrRange = errors.New("out of range of the type")
)

// ParseFloat parses digits with an optional minus sign, point and exponent, or NaN, Infinity and -Infinity in any case.
// Other notations of Go, such as 1_0, 0x1p2, +1, .5 and Inf, are an error, as in CQL. NaN has the bits of Java's NaN.
func ParseFloat(s string, bits int) (float64, error) {
	if !isPlain(s) {
		return parseSpecial(s)
	}
	v, err := strconv.ParseFloat(s, bits)
	return v, numberError(err)
}

// isPlain reports whether s has none of the notations that strconv.ParseFloat accepts beside digits, a minus sign, a
// point and an exponent. strconv checks the rest.
func isPlain(s string) bool {
	digits := s
	if len(s) > 0 && s[0] == '-' {
		digits = s[1:]
	}
	if len(digits) == 0 || digits[0] < '0' || digits[0] > '9' {
		return false
	}
	for i := 1; i < len(digits); i++ {
		if c := digits[i]; c == '_' || c|0x20 == 'x' {
			return false
		}
	}
	return true
}

func parseSpecial(s string) (float64, error) {
	word, negative := strings.CutPrefix(s, "-")
	switch {
	case strings.EqualFold(word, "nan"):
		return math.Float64frombits(0x7ff8 << 48), nil
	case !strings.EqualFold(word, "infinity"):
		return 0, ErrSyntax
	case negative:
		return math.Inf(-1), nil
	}
	return math.Inf(1), nil
}

// ParseInt parses decimal digits with an optional minus sign.
func ParseInt(s string, bits int) (int64, error) {
	if strings.HasPrefix(s, "+") {
		return 0, ErrSyntax
	}
	v, err := strconv.ParseInt(s, 10, bits)
	return v, numberError(err)
}

// ParseUint parses decimal digits.
func ParseUint(s string, bits int) (uint64, error) {
	v, err := strconv.ParseUint(s, 10, bits)
	return v, numberError(err)
}

func numberError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, strconv.ErrRange):
		return ErrRange
	}
	return ErrSyntax
}

// IsInteger reports whether s is decimal digits with an optional minus sign.
func IsInteger(s string) bool {
	_, rest := cutDigits(strings.TrimPrefix(s, "-"))
	return rest == "" && s != "" && s != "-"
}

// IsNumber reports whether s is digits with an optional minus sign, point and exponent, as decimals of CQL are.
func IsNumber(s string) bool {
	whole, rest := cutDigits(strings.TrimPrefix(s, "-"))
	if whole == "" {
		return false
	}
	if fraction, ok := strings.CutPrefix(rest, "."); ok {
		_, rest = cutDigits(fraction)
	}
	if rest == "" {
		return true
	}
	if rest[0]|0x20 != 'e' {
		return false
	}
	rest = rest[1:]
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		rest = rest[1:]
	}
	exponent, rest := cutDigits(rest)
	return exponent != "" && rest == ""
}

// cutDigits returns the digits at the start of s, and the rest.
func cutDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}
