// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"errors"
	"fmt"
	"regexp"
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

// fractions are the fractions of the numbers in a time.Duration's text.
var fractions = regexp.MustCompile(`([0-9])\.[0-9]+`)

// parseDurationText parses a duration of CQL, or one as Go writes it, such as 1m1.5s, whose units are in order too.
func parseDurationText(s string) (cql.Duration, error) {
	d, err := cql.ParseDuration(s)
	if err == nil || !strings.Contains(s, ".") {
		return d, err
	}
	nanos, goErr := time.ParseDuration(s)
	if _, orderErr := cql.ParseDuration(fractions.ReplaceAllString(s, "$1")); goErr != nil || orderErr != nil {
		return d, err
	}
	return cql.Duration{Nanoseconds: int64(nanos)}, nil
}
