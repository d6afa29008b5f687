// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"math"
	"strconv"

	chart "github.com/go-analyze/charts/chartdraw"
)

// Scales: the marks of an axis.

// A scale is marks at equal distances: multiples of a step, which is 1, 2 or 5 times a power of ten.
type scale struct {
	factor      float64 // 1, 2 or 5
	digits      int     // the power of ten
	first, last float64 // the first and the last mark, in steps
}

// newScale returns a scale of at most most steps, or one more, from low or below to high or above. Numbers that are
// nearly equal get room around them.
func newScale(low, high float64, most int) scale {
	low, high = apart(low, high)
	digits := int(math.Floor(math.Log10((high - low) / float64(most))))
	s := scale{factor: 1, digits: digits + 1}
	for _, factor := range []float64{5, 2, 1} {
		if finer := (scale{factor: factor, digits: digits}); (high-low)/finer.mark(1) <= float64(most) {
			s = finer
		}
	}
	return s.enclose(low, high)
}

// wholeScale is newScale for integers: the step is at least 1.
func wholeScale(low, high float64, most int) scale {
	s := newScale(low, high, most)
	if s.digits < 0 {
		s.factor, s.digits = 1, 0
	}
	return s.enclose(low, high)
}

// enclose returns the scale with the marks around a range. A mark that only rounding moves beyond an end is that end.
func (s scale) enclose(low, high float64) scale {
	s.first, s.last = math.Floor(low/s.mark(1)+1e-9), math.Ceil(high/s.mark(1)-1e-9)
	return s
}

// apart returns a range that has an extent: numbers nearly equal are the middle of it.
func apart(low, high float64) (float64, float64) {
	size := max(math.Abs(low), math.Abs(high))
	if high-low > size*1e-9 && high-low > 1e-290 {
		return low, high
	}
	room := size / 10
	if room < 1e-290 {
		room = 1
	}
	return low - room, high + room
}

// mark returns the mark of a number of steps, rounded once, so that it is the number that its decimals spell.
func (s scale) mark(steps float64) float64 {
	if s.digits < 0 {
		return steps * s.factor / math.Pow10(-s.digits)
	}
	return steps * s.factor * math.Pow10(s.digits)
}

// steps returns the number of the last mark that is not above v.
func (s scale) steps(v float64) float64 {
	n := math.Floor(v / s.mark(1))
	for ; s.mark(n+1) <= v; n++ {
	}
	for ; s.mark(n) > v; n-- {
	}
	return n
}

// decimal returns a mark with all of its digits, and as many decimals as the others.
func (s scale) decimal(steps float64) string {
	return strconv.FormatFloat(s.mark(steps), 'f', max(0, -s.digits), 64)
}

// short returns a mark in thousands (k), millions (M) or billions (G) where the marks are large, and with an exponent
// where they are beyond these.
func (s scale) short(steps float64) string {
	largest := max(math.Abs(s.mark(s.first)), math.Abs(s.mark(s.last)))
	if largest >= 1e15 || s.digits < -9 {
		return strconv.FormatFloat(s.mark(steps), 'g', -1, 64)
	}
	for _, unit := range []struct {
		digits int
		name   string
	}{{9, "G"}, {6, "M"}, {3, "k"}} {
		if largest >= 10*math.Pow10(unit.digits) {
			return strconv.FormatFloat(s.mark(steps)/math.Pow10(unit.digits), 'f', max(0, unit.digits-s.digits), 64) + unit.name
		}
	}
	return s.decimal(steps)
}

// ticks returns the marks of an axis from low or below to high or above, at most eight steps or nine.
func ticks(low, high float64) []chart.Tick {
	s := newScale(low, high, 8)
	return s.ticks(s.decimal)
}

// ticks returns the marks of the scale for a chart.
func (s scale) ticks(label func(steps float64) string) []chart.Tick {
	var marks []chart.Tick
	for i := s.first; i <= s.last; i++ {
		marks = append(marks, chart.Tick{Value: s.mark(i), Label: label(i)})
	}
	return marks
}
