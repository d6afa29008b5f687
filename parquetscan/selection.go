// SPDX-License-Identifier: Apache-2.0

package parquetscan

// Ranges of rows within a row group.

// A rowRange is the rows [from, to) of a row group. Lists of ranges are in order; no range is empty or touches
// the next one.
type rowRange struct{ from, to int64 }

// addRange appends a range that does not begin before the last one does.
func addRange(ranges []rowRange, r rowRange) []rowRange {
	switch last := len(ranges) - 1; {
	case r.from >= r.to:
	case last >= 0 && r.from <= ranges[last].to:
		ranges[last].to = max(ranges[last].to, r.to)
	default:
		ranges = append(ranges, r)
	}
	return ranges
}

// intersectRanges returns the rows that are in both lists, nil if there are none.
func intersectRanges(a, b []rowRange) []rowRange {
	var out []rowRange
	for len(a) > 0 && len(b) > 0 {
		out = addRange(out, rowRange{max(a[0].from, b[0].from), min(a[0].to, b[0].to)})
		if a[0].to < b[0].to {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}

// uniteRanges returns the rows that are in one of the lists, nil if there are none.
func uniteRanges(a, b []rowRange) []rowRange {
	var out []rowRange
	for len(a) > 0 || len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].from <= b[0].from {
			out, a = addRange(out, a[0]), a[1:]
		} else {
			out, b = addRange(out, b[0]), b[1:]
		}
	}
	return out
}
