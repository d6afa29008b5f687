// SPDX-License-Identifier: Apache-2.0

package predicate

// Ranges of rows within a row group.

// A Range is the rows [from, to) of a row group. Lists of ranges are in order; no range is empty or touches
// the next one.
type Range struct{ From, To int64 }

// AddRange appends a range that does not begin before the last one does.
func AddRange(ranges []Range, r Range) []Range {
	switch last := len(ranges) - 1; {
	case r.From >= r.To:
	case last >= 0 && r.From <= ranges[last].To:
		ranges[last].To = max(ranges[last].To, r.To)
	default:
		ranges = append(ranges, r)
	}
	return ranges
}

// IntersectRanges returns the rows that are in both lists, nil if there are none.
func IntersectRanges(a, b []Range) []Range {
	var out []Range
	for len(a) > 0 && len(b) > 0 {
		out = AddRange(out, Range{max(a[0].From, b[0].From), min(a[0].To, b[0].To)})
		if a[0].To < b[0].To {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}

// uniteRanges returns the rows that are in one of the lists, nil if there are none.
func uniteRanges(a, b []Range) []Range {
	var out []Range
	for len(a) > 0 || len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].From <= b[0].From {
			out, a = AddRange(out, a[0]), a[1:]
		} else {
			out, b = AddRange(out, b[0]), b[1:]
		}
	}
	return out
}
