// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"cmp"
	"math"
	"slices"

	"github.com/vecql/vecql"
)

// The plan of a scan: the parts into which the ranges of a table are split.

const (
	maxParts       = 1 << 16 // of a scan, unless the table has more ranges
	partsPerWorker = 8       // at least, so that workers end at about the same time
)

// plan splits the parts by the ranges of the table into pieces of about equal size. It begins with the first piece of
// each range, then has the second ones, and so on, so that all nodes work from the start. counts are the numbers of
// pieces of the ranges; with one piece each the parts are in the order of their tokens.
func plan(left []Part, ranges []vecql.TokenRange, counts []int) []Part {
	type piece struct {
		Part
		turn int
	}
	var pieces []piece
	at := 0 // in left, whose parts are in order
	for i, r := range ranges {
		for turn, split := range r.Split(counts[i]) {
			for at < len(left) && left[at].End <= split.Start {
				at++
			}
			for k := at; k < len(left) && left[k].Start < split.End; k++ {
				p := Part{Start: max(left[k].Start, split.Start), End: min(left[k].End, split.End)}
				if p.Start == left[k].Start {
					p.Skip = left[k].Skip
				}
				pieces = append(pieces, piece{p, turn})
			}
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.turn, b.turn) })
	parts := make([]Part, len(pieces))
	for i, p := range pieces {
		parts[i] = p.Part
	}
	return parts
}

// splitCounts returns the number of pieces of each range: in proportion to its estimated bytes if there are any, and
// to its width. Estimates may be wrong, so that they only raise the number.
func splitCounts(ranges []vecql.TokenRange, sizes []float64, splitBytes int64, workers int) []int {
	bytes := 0.0
	for _, size := range sizes {
		bytes += size
	}
	wanted := max(float64(partsPerWorker*workers), bytes/float64(splitBytes))
	scale := min(1, maxParts/wanted)
	counts := make([]int, len(ranges))
	for i, r := range ranges {
		share := float64(partsPerWorker*workers) * (Part{Start: r.Start, End: r.End}).width() / math.MaxUint64
		share = max(share, sizes[i]/float64(splitBytes))
		counts[i] = int(max(math.Ceil(min(share*scale, maxParts)), 1))
	}
	return counts
}
