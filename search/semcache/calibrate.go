// SPDX-License-Identifier: Apache-2.0

package semcache

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vecql/vecql/internal/vectorcheck"
	"github.com/vecql/vecql/vector"
)

// A Pair is two embeddings of one model, and whether the value of one is a right value for the other.
type Pair struct {
	A, B []float32
	Same bool
}

// A Point is what a threshold does with the pairs of a calibration. Found pairs have a distance up to the threshold.
type Point struct {
	Threshold float32
	Precision float64 // the part of the found pairs that are the same: the hits that are right
	Recall    float64 // the part of the same pairs that are found: the hits that the cache does not miss
	F1        float64 // the harmonic mean of both
}

// A Report is the result of a calibration.
type Report struct {
	Best            Point
	Same, Different int     // pairs
	Points          []Point // each threshold that changes the result, in ascending order
}

// Calibrate computes the threshold for pairs of prompts, from the cosine distances of their embeddings. With
// precision 0 the threshold is the one with the greatest F1, else the one with the greatest recall whose precision is
// at least the wanted one, up to 1. A threshold is in the middle between the distances of two pairs, so that prompts a
// little farther apart are found too. A few hundred pairs of real prompts are enough. A wrong hit costs more than a
// miss: most programs want a precision near 1.
//
// The error wraps ErrPairs if no pair is the same or none is different, or if no threshold has the precision.
func Calibrate(pairs []Pair, precision float64) (Report, error) {
	if !(precision >= 0 && precision <= 1) {
		return Report{}, fmt.Errorf("semcache: calibrate: %w: precision %v: want 0 to 1", ErrPairs, precision)
	}
	measured, report, err := measure(pairs)
	if err != nil {
		return report, fmt.Errorf("semcache: calibrate: %w", err)
	}
	report.Points = pointsOf(measured, report.Same)
	found := false
	for _, p := range report.Points {
		better := p.F1 > report.Best.F1
		if precision > 0 {
			better = p.Precision >= precision && p.Recall > 0 && (!found || p.Recall >= report.Best.Recall)
		}
		if better {
			report.Best, found = p, true
		}
	}
	if !found {
		return report, fmt.Errorf("semcache: calibrate: %w: none has precision %v: the nearest pairs are different", ErrPairs, precision)
	}
	return report, nil
}

// A measurement is the distance of a pair.
type measurement struct {
	distance float32
	same     bool
}

// measure computes the distances of pairs, in ascending order.
func measure(pairs []Pair) (measured []measurement, r Report, err error) {
	for i, p := range pairs {
		if err := checkPair(p); err != nil {
			return nil, r, fmt.Errorf("pair %d: %w", i, err)
		}
		measured = append(measured, measurement{float32(vector.Reference(vector.Cosine, p.A, p.B)), p.Same})
		if p.Same {
			r.Same++
		} else {
			r.Different++
		}
	}
	if r.Same == 0 || r.Different == 0 {
		return nil, r, fmt.Errorf("%w: %d pairs are the same and %d are different: want some of both", ErrPairs, r.Same, r.Different)
	}
	slices.SortFunc(measured, func(a, b measurement) int { return cmp.Compare(a.distance, b.distance) })
	return measured, r, nil
}

func checkPair(p Pair) error {
	if err := vectorcheck.Check("A", p.A, len(p.A), vector.Cosine); err != nil {
		return err
	}
	return vectorcheck.Check("B", p.B, len(p.A), vector.Cosine)
}

// pointsOf returns a point for each distance: the threshold in the middle between this distance and the next one.
func pointsOf(measured []measurement, same int) (points []Point) {
	right := 0
	for i, m := range measured {
		if m.same {
			right++
		}
		p := Point{Threshold: m.distance, Precision: float64(right) / float64(i+1), Recall: float64(right) / float64(same)}
		if i+1 < len(measured) {
			next := measured[i+1].distance
			if next == m.distance {
				continue
			}
			// below next: float32 has no number between two neighbors
			if middle := m.distance + (next-m.distance)/2; middle < next {
				p.Threshold = middle
			}
		}
		if right > 0 {
			p.F1 = 2 * p.Precision * p.Recall / (p.Precision + p.Recall)
		}
		points = append(points, p)
	}
	return points
}
