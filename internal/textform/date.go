// SPDX-License-Identifier: Apache-2.0

package textform

import (
	"strconv"
	"time"
)

// Dates: ISO 8601 with astronomical years. A year beyond 9999 has a sign, year 0 is 1 BC.

const secondsOfDay = 86400

// ParseDate parses a date such as 2024-02-29, -0044-03-15 and +10000-01-01, and returns the days since 1970-01-01.
func ParseDate(s string) (int32, error) {
	year, rest, ok := cutYear(s, false)
	if !ok {
		return 0, ErrSyntax
	}
	seconds, rest, err := cutMonthDay(year, rest)
	if err != nil || rest != "" {
		return 0, ErrSyntax
	}
	if days := floorDiv(seconds, secondsOfDay); days == int64(int32(days)) {
		return int32(days), nil
	}
	return 0, ErrRange
}

// maxYearDigits bounds the digits of a year: the greatest and the least timestamp are in years of 9 digits.
const maxYearDigits = 10

// cutYear reads a year: four digits, more after a sign, or after none if it may be bare. Minus zero is not a year.
func cutYear(s string, bare bool) (year int64, rest string, ok bool) {
	sign := byte(0)
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[0], s[1:]
	}
	digits, rest := cutDigits(s)
	n := len(digits)
	if n < 4 || n > maxYearDigits || n == 4 && sign == '+' || n > 4 && sign == 0 && !bare {
		return 0, "", false
	}
	year, _ = strconv.ParseInt(digits, 10, 64) // at most 10 digits
	if sign == '-' {
		return -year, rest, year > 0
	}
	return year, rest, true
}

// cutMonthDay reads -MM-DD and returns the seconds from 1970 to the start of the day, in UTC.
func cutMonthDay(year int64, s string) (seconds int64, rest string, err error) {
	if len(s) < 6 || s[0] != '-' || s[3] != '-' {
		return 0, "", ErrSyntax
	}
	month, after, ok := cutTwo(s[1:])
	day, rest, ok2 := cutTwo(s[4:])
	if !ok || !ok2 || len(after) != len(s)-3 {
		return 0, "", ErrSyntax
	}
	at := time.Date(int(year), time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if at.Month() != time.Month(month) || at.Day() != day {
		return 0, "", ErrSyntax
	}
	return at.Unix(), rest, nil
}

// cutTwo reads two digits.
func cutTwo(s string) (n int, rest string, ok bool) {
	if len(s) < 2 || s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' {
		return 0, "", false
	}
	return int(s[0]-'0')*10 + int(s[1]-'0'), s[2:], true
}

// AppendDate appends the date of a number of days since 1970-01-01 in the form that [ParseDate] reads.
func AppendDate(dst []byte, days int32) []byte {
	t := time.Unix(int64(days)*secondsOfDay, 0).UTC()
	year := t.Year()
	if year >= 0 && year <= 9999 {
		return t.AppendFormat(dst, time.DateOnly)
	}
	sign := byte('+')
	if year < 0 {
		sign, year = '-', -year
	}
	dst = append(dst, sign)
	for limit := 1000; limit > year; limit /= 10 {
		dst = append(dst, '0')
	}
	return t.AppendFormat(strconv.AppendInt(dst, int64(year), 10), "-01-02")
}

// floorDiv is a/b rounded down.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// mulAdd returns a*b+c for b and c that are not negative. ok is false on overflow.
func mulAdd(a, b, c int64) (sum int64, ok bool) {
	if a < 0 { // the product alone may be below the least integer
		a, c = a+1, c-b
	}
	n := a * b
	sum = n + c
	return sum, (a == 0 || n/a == b) && (c == 0 || (c > 0) == (sum > n))
}
