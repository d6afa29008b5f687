// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"regexp"
	"strconv"
	"strings"
)

// Policies of speculative retries: NEVER, ALWAYS, 50ms, 99p, MIN(99p,50ms) and MAX(99p,50ms).

var (
	retryFixed      = regexp.MustCompile(`(?i)^([0-9]+)(\.[0-9]+)?MS$`)
	retryPercentile = regexp.MustCompile(`(?i)^([0-9]+(\.[0-9]+)?)P(ERCENTILE)?$`)
	retryHybrid     = regexp.MustCompile(`(?i)^(MIN|MAX)\(([^,]*),([^,]*)\)$`)
)

// canonicalRetry returns the policy of speculative_retry or additional_write_policy as Cassandra stores it.
func canonicalRetry(v string) (string, error) {
	switch strings.ToUpper(v) {
	case "NONE", "NEVER":
		return "NEVER", nil
	case "ALWAYS":
		return "ALWAYS", nil
	}
	if m := retryHybrid.FindStringSubmatch(v); m != nil {
		return hybridRetry(v, strings.ToUpper(m[1]), strings.TrimSpace(m[2]), strings.TrimSpace(m[3]))
	}
	if m := retryFixed.FindStringSubmatch(v); m != nil {
		return strings.TrimLeft(m[1][:len(m[1])-1], "0") + m[1][len(m[1])-1:] + "ms", nil
	}
	if m := retryPercentile.FindStringSubmatch(v); m != nil {
		f, err := strconv.ParseFloat(m[1], 64)
		if err != nil || f <= 0 || f >= 100 {
			return "", configError("Invalid value %s for PERCENTILE option 'speculative_retry': must be between (0.0 and 100.0)", v)
		}
		short := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(f, 'f', 4, 64), "0"), ".")
		return strings.TrimPrefix(short, "0") + "p", nil
	}
	return "", configError("Invalid value %s for option 'speculative_retry'", v)
}

// hybridRetry returns the minimum or maximum of a percentile and a fixed time, the percentile first.
func hybridRetry(v, kind, a, b string) (string, error) {
	first, err := canonicalRetry(a)
	if err != nil {
		return "", err
	}
	second, err := canonicalRetry(b)
	if err != nil {
		return "", err
	}
	fixed := func(s string) bool { return strings.HasSuffix(s, "ms") }
	percentile := func(s string) bool { return strings.HasSuffix(s, "p") }
	switch {
	case !fixed(first) && !percentile(first) || !fixed(second) && !percentile(second):
		return "", configError("Invalid value %s for option 'speculative_retry'", v)
	case fixed(first) == fixed(second):
		kinds := map[bool]string{true: "FIXED", false: "PERCENTILE"}
		return "", configError("Invalid value %s for option 'speculative_retry': MIN()/MAX() arguments should be of different "+
			"types, but both are of type %s", v, kinds[fixed(first)])
	case fixed(first):
		first, second = second, first
	}
	return kind + "(" + first + "," + second + ")", nil
}
