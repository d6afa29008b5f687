// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Text form of durations.

// durationUnits maps the units of a duration's text to the part of Duration that they count in.
var durationUnits = map[string]struct {
	part   int // 0 months, 1 days, 2 nanoseconds
	factor uint64
}{
	"y": {0, 12}, "mo": {0, 1}, "w": {1, 7}, "d": {1, 1}, "h": {2, 3600e9}, "m": {2, 60e9}, "s": {2, 1e9}, "ms": {2, 1e6},
	"us": {2, 1e3}, "µs": {2, 1e3}, "ns": {2, 1},
}

// ParseDuration parses a duration as Go writes it, "1h30m0.5s", or as CQL does, "1y2mo3w4d5h6m7s8ms9us10ns" with an
// optional leading "-". A text that is valid in both has the same value in both. The error wraps ErrConversion or
// ErrRange.
func ParseDuration(s string) (Duration, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return Duration{Nanoseconds: int64(d)}, nil
	}
	rest, negative := strings.CutPrefix(s, "-")
	parts, limits := [3]uint64{}, [3]uint64{math.MaxInt32, math.MaxInt32, math.MaxInt64}
	if negative {
		limits = [3]uint64{math.MaxInt32 + 1, math.MaxInt32 + 1, math.MaxInt64 + 1}
	}
	for first := true; first || rest != ""; first = false {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.ParseUint(rest[:digits], 10, 64)
		rest = rest[digits:]
		letters := len(rest) - len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzµ"))
		unit, ok := durationUnits[rest[:letters]]
		rest = rest[letters:]
		if err != nil || !ok {
			return Duration{}, fmt.Errorf("%w: %q is not a duration", ErrConversion, s)
		}
		over, value := bits.Mul64(n, unit.factor)
		sum, carry := bits.Add64(parts[unit.part], value, 0)
		if over != 0 || carry != 0 || sum > limits[unit.part] {
			return Duration{}, fmt.Errorf("%w: duration %q", ErrRange, s)
		}
		parts[unit.part] = sum
	}
	d := Duration{Months: int32(parts[0]), Days: int32(parts[1]), Nanoseconds: int64(parts[2])}
	if negative {
		d = Duration{Months: -d.Months, Days: -d.Days, Nanoseconds: -d.Nanoseconds}
	}
	return d, nil
}
