// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/vecql/vecql"
)

// The plan of a scan: the parts into which the ranges of a table are split.

const (
	maxParts        = 1 << 16 // of a scan, unless the table has more ranges
	partsPerWorker  = 8       // at least, so that workers end at about the same time
	estimateTimeout = 5 * time.Second
	estimateQueries = 16 // at a time
)

// plan splits the parts by the ranges of the table into pieces of about equal size. It begins with the first piece of
// each range, then has the second ones, and so on, so that all nodes work from the start.
func plan(left []Part, ranges []vecql.TokenRange, sizes []float64, splitBytes int64, workers int) []Part {
	type piece struct {
		Part
		turn int
	}
	counts := splitCounts(ranges, sizes, splitBytes, workers)
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

// An estimate is the number of bytes in a range of tokens, as a node estimates them.
type estimate struct {
	start, end int64
	bytes      float64
}

// sizesOf distributes estimates over ranges, which cover the ring in order.
func sizesOf(ranges []vecql.TokenRange, estimates []estimate) []float64 {
	sizes := make([]float64, len(ranges))
	for _, e := range estimates {
		width := float64(uint64(e.end) - uint64(e.start))
		i := sort.Search(len(ranges), func(i int) bool { return ranges[i].End > e.start })
		for ; i < len(ranges) && ranges[i].Start < e.end; i++ {
			common := uint64(min(ranges[i].End, e.end)) - uint64(max(ranges[i].Start, e.start))
			sizes[i] += e.bytes * float64(common) / width
		}
	}
	return sizes
}

// newEstimates returns the estimate of a row of system.size_estimates, two for a range that wraps around, none for an
// impossible one.
func newEstimates(start, end string, partitionSize, partitions int64) []estimate {
	first, err1 := strconv.ParseInt(start, 10, 64)
	last, err2 := strconv.ParseInt(end, 10, 64)
	if err1 != nil || err2 != nil || partitionSize <= 0 || partitions <= 0 {
		return nil
	}
	bytes := float64(partitionSize) * float64(partitions)
	if last == math.MinInt64 { // the end of the ring
		last = math.MaxInt64
	}
	above, below := Part{Start: first, End: math.MaxInt64}.width(), Part{Start: math.MinInt64, End: last}.width()
	switch {
	case first < last:
		return []estimate{{first, last, bytes}}
	case first == last: // of the only token
		return []estimate{{math.MinInt64, math.MaxInt64, bytes}}
	case above == 0:
		return []estimate{{math.MinInt64, last, bytes}}
	}
	whole := above + below
	return []estimate{{math.MinInt64, last, bytes * below / whole}, {first, math.MaxInt64, bytes * above / whole}}
}

// readEstimates asks every node for its estimates. A node that does not answer in time has none.
func readEstimates(ctx context.Context, session *vecql.Session, keyspace, table string) []estimate {
	const stmt = "SELECT range_start, range_end, mean_partition_size, partitions_count FROM system.size_estimates " +
		"WHERE keyspace_name = ? AND table_name = ?"
	ctx, cancel := context.WithTimeout(ctx, estimateTimeout)
	defer cancel()
	var mu sync.Mutex
	var all []estimate
	var nodes sync.WaitGroup
	free := make(chan struct{}, estimateQueries)
	for _, h := range session.GetHosts() {
		if !h.IsUp() {
			continue
		}
		nodes.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			it := session.Query(stmt, keyspace, table).HostID(h.HostID()).Consistency(vecql.One).IterContext(ctx)
			var start, end string
			var size, count int64
			for it.Scan(&start, &end, &size, &count) {
				mu.Lock()
				all = append(all, newEstimates(start, end, size, count)...)
				mu.Unlock()
			}
			_ = it.Close() // estimates are only hints
		})
	}
	nodes.Wait()
	return all
}
