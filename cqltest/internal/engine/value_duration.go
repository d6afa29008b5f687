// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Durations as text: 1y2mo3w4d5h6m7s8ms9us10ns and the two forms of ISO 8601.

const (
	nsPerHour   = int64(3600e9)
	nsPerMinute = int64(60e9)
	nsPerSecond = int64(1e9)
)

// durationSum adds up the parts of a duration.
type durationSum struct {
	months, days, nanos int64
	unit                int // index of the last unit, -1 before the first
}

// add adds a number of a unit, an index in durationUnits. The units of a duration come in their order, each once.
func (d *durationSum) add(number string, unit int) error {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return &Error{Message: fmt.Sprintf("java.lang.NumberFormatException: For input string: \"%s\"", number)}
	}
	u := durationUnits[unit]
	switch {
	case unit == d.unit:
		return badValue("Invalid duration. The %s are specified multiple times", u.plural)
	case unit < d.unit:
		return badValue("Invalid duration. The %s should be after %s", durationUnits[d.unit].plural, u.plural)
	}
	d.unit = unit
	for _, part := range []struct {
		sum   *int64
		unit  int64
		limit int64
		name  string
	}{
		{&d.months, u.months, math.MaxInt32, "months"},
		{&d.days, u.days, math.MaxInt32, "days"},
		{&d.nanos, u.nanos, math.MaxInt64, "nanoseconds"},
	} {
		sum, ok := mulAdd(*part.sum, n, part.unit)
		if !ok || sum > part.limit {
			return badValue("Invalid duration. The total number of %s must be less or equal to %d", part.name, math.MaxInt32)
		}
		*part.sum = sum
	}
	return nil
}

// parseDuration parses the text of a duration in one of Cassandra's three forms: P0001-02-03T04:05:06, P1Y2M3DT4H5M6S,
// and 1y2mo3d4h5m6s.
func parseDuration(s string) ([]byte, error) {
	text, negative := strings.CutPrefix(s, "-")
	d, ok := durationSum{unit: -1}, false
	var err error
	switch {
	case strings.HasPrefix(text, "P") && strings.Count(text, "-") == 2:
		d.months, d.days, d.nanos, ok = parseISOAlternative(text)
	case strings.HasPrefix(text, "P"):
		ok, err = d.parseISO(text)
	default:
		ok, err = d.parseUnits(text)
	}
	if err == nil && (!ok || d.months > math.MaxInt32 || d.days > math.MaxInt32) {
		err = badValue("Unable to convert '%s' to a duration", s)
	}
	if err != nil {
		return nil, err
	}
	if negative {
		d.months, d.days, d.nanos = -d.months, -d.days, -d.nanos
	}
	return durationBytes(d.months, d.days, d.nanos), nil
}

func durationBytes(months, days, nanos int64) []byte {
	return appendZigzag(appendZigzag(appendZigzag(nil, months), days), nanos)
}

// durationUnits are in the order in which a duration must list them.
var durationUnits = []struct {
	name, plural        string
	months, days, nanos int64
}{
	{"y", "years", 12, 0, 0},
	{"mo", "months", 1, 0, 0},
	{"w", "weeks", 0, 7, 0},
	{"d", "days", 0, 1, 0},
	{"h", "hours", 0, 0, nsPerHour},
	{"m", "minutes", 0, 0, nsPerMinute},
	{"s", "seconds", 0, 0, nsPerSecond},
	{"ms", "milliseconds", 0, 0, 1e6},
	{"us", "microseconds", 0, 0, 1e3},
	{"ns", "nanoseconds", 0, 0, 1},
}

// durationPart matches a number with its unit.
var durationPart = regexp.MustCompile(`^(\d+)([yY]|[mM][oO]|[mM][sS]|[uUµ][sS]|[nN][sS]|[wWdDhHmMsS])`)

// parseUnits parses numbers with units.
func (d *durationSum) parseUnits(s string) (ok bool, err error) {
	for s != "" {
		part := durationPart.FindStringSubmatch(s)
		if part == nil {
			return false, nil
		}
		name := strings.Replace(strings.ToLower(part[2]), "µ", "u", 1)
		for i := range durationUnits {
			if durationUnits[i].name == name {
				if err := d.add(part[1], i); err != nil {
					return false, err
				}
			}
		}
		ok, s = true, s[len(part[0]):]
	}
	return ok, nil
}

// mulAdd returns sum + n*unit; false means that it overflows.
func mulAdd(sum, n, unit int64) (int64, bool) {
	if unit == 0 || n == 0 {
		return sum, true
	}
	if n > math.MaxInt64/unit || sum > math.MaxInt64-n*unit {
		return 0, false
	}
	return sum + n*unit, true
}

// isoDuration matches P1Y2M3DT4H5M6S, isoWeeks P7W. Each part may be missing.
var (
	isoDuration = regexp.MustCompile(`^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$`)
	isoWeeks    = regexp.MustCompile(`^P(\d+)W$`)
)

// parseISO parses P1Y2M3DT4H5M6S or P7W.
func (d *durationSum) parseISO(s string) (ok bool, err error) {
	if weeks := isoWeeks.FindStringSubmatch(s); weeks != nil {
		return true, d.add(weeks[1], 2)
	}
	parts := isoDuration.FindStringSubmatch(s)
	if parts == nil {
		return false, nil
	}
	for i, unit := range []int{0, 1, 3, 4, 5, 6} {
		if parts[i+1] != "" {
			if err := d.add(parts[i+1], unit); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// parseISOAlternative parses P0001-02-03T04:05:06.
func parseISOAlternative(s string) (months, days, nanos int64, ok bool) {
	var y, mo, d, h, mi, sec int64
	if len(s) != len("P0001-02-03T04:05:06") {
		return 0, 0, 0, false
	}
	if n, err := fmt.Sscanf(s, "P%04d-%02d-%02dT%02d:%02d:%02d", &y, &mo, &d, &h, &mi, &sec); err != nil || n != 6 {
		return 0, 0, 0, false
	}
	if y < 0 || mo < 0 || d < 0 || h < 0 || mi < 0 || sec < 0 {
		return 0, 0, 0, false
	}
	return y*12 + mo, d, h*nsPerHour + mi*nsPerMinute + sec*nsPerSecond, true
}

// formatDuration returns the text of a duration with units, without those that are 0.
func formatDuration(b []byte) string {
	mo, d, ns, err := splitDuration(b)
	if err != nil {
		return ""
	}
	months, days, nanos := int64(mo), int64(d), uint64(ns)
	var out strings.Builder
	if mo < 0 || d < 0 || ns < 0 {
		out.WriteByte('-')
		months, days, nanos = -months, -days, -nanos
	}
	add := func(n uint64, unit string) {
		if n > 0 {
			out.WriteString(strconv.FormatUint(n, 10) + unit)
		}
	}
	add(uint64(months/12), "y")
	add(uint64(months%12), "mo")
	add(uint64(days), "d")
	for i := 4; i < len(durationUnits); i++ {
		u := durationUnits[i]
		add(nanos/uint64(u.nanos), u.name)
		nanos %= uint64(u.nanos)
	}
	return out.String()
}
