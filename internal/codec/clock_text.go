// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/textform"
)

// Strings as dates and durations.

func encodeDateText(s string) ([]byte, error) {
	days, err := textform.ParseDate(s)
	switch {
	case errors.Is(err, textform.ErrRange):
		return nil, fmt.Errorf("%w: date %q", cql.ErrRange, s)
	case err != nil:
		return nil, fmt.Errorf("%w: %q is not a date such as 2006-01-02", cql.ErrConversion, s)
	}
	return encodeDay(int64(days))
}

// parseDurationText parses a duration of CQL, or one as Go writes it, such as 1m1.5s, whose units are in order too.
func parseDurationText(s string) (cql.Duration, error) {
	d, err := cql.ParseDuration(s)
	if err == nil || !strings.Contains(s, ".") {
		return d, err
	}
	nanos, goErr := time.ParseDuration(s)
	if _, orderErr := cql.ParseDuration(withoutFractions(s)); goErr != nil || orderErr != nil {
		return d, err
	}
	return cql.Duration{Nanoseconds: int64(nanos)}, nil
}

// withoutFractions returns the text of a time.Duration without the fractions of its numbers, which have digits on both
// sides of the point.
func withoutFractions(s string) string {
	isDigit := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '.' || !isDigit(i-1) || !isDigit(i+1) {
			b = append(b, s[i])
			continue
		}
		for isDigit(i + 1) {
			i++
		}
	}
	return string(b)
}
