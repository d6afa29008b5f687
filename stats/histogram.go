// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/internal/errtext"
)

// The buckets are log-linear, as in HdrHistogram: each power of two is divided into buckets of equal width.

const (
	// steps is the number of buckets for each power of two. A power of two itself.
	steps = 8
	// unit is the logarithm of the width of the first buckets in nanoseconds: about a microsecond.
	unit = 10
	// buckets is the number of buckets: up to 2^37 ns, about two minutes. The last one takes longer ones too.
	buckets = steps * (37 - unit - 2)
)

// A Recorder counts latencies. One goroutine records, while any number read (Histogram.Add). The zero value is ready.
type Recorder struct {
	sum atomic.Uint64 // nanoseconds
	// A connection uses few powers of two, so that the counts of one are allocated on first use.
	counts [buckets / steps]atomic.Pointer[[steps]atomic.Uint64]
}

// Record counts a latency. A negative one counts as zero.
func (r *Recorder) Record(latency time.Duration) {
	took := max(int64(latency), 0)
	r.sum.Add(uint64(took))
	bucket := bucketOf(took)
	power := &r.counts[bucket/steps]
	if power.Load() == nil {
		power.Store(new([steps]atomic.Uint64))
	}
	power.Load()[bucket%steps].Add(1)
}

// bucketOf returns the bucket of a latency in nanoseconds.
func bucketOf(took int64) int {
	units := uint64(took) >> unit
	if units < steps {
		return int(units)
	}
	shift := bits.Len64(units) - bits.Len64(2*steps-1)
	return min(shift*steps+int(units>>shift), buckets-1)
}

// upperBound returns the upper bound of a bucket.
func upperBound(bucket int) time.Duration {
	if bucket < steps {
		return time.Duration(bucket+1) << unit
	}
	shift := bucket/steps - 1
	return time.Duration(bucket%steps+steps+1) << (shift + unit)
}

// A Histogram is a distribution of latencies. The zero value is empty.
type Histogram struct {
	counts []uint64 // buckets of them, nil means none
	count  uint64
	sum    uint64
}

// A Bucket is the number of latencies up to an upper bound and above the bound of the previous bucket.
type Bucket struct {
	Upper time.Duration
	Count uint64
}

// Add adds the latencies that a Recorder has counted so far.
func (h *Histogram) Add(r *Recorder) {
	if h.counts == nil {
		h.counts = make([]uint64, buckets)
	}
	h.sum += r.sum.Load()
	for i := range r.counts {
		power := r.counts[i].Load()
		if power == nil {
			continue
		}
		for j := range power {
			n := power[j].Load()
			h.counts[i*steps+j] += n
			h.count += n
		}
	}
}

// Clone returns a copy of h that later calls of Add do not change.
func (h Histogram) Clone() Histogram {
	h.counts = slices.Clone(h.counts)
	return h
}

// Count returns the number of latencies.
func (h Histogram) Count() uint64 { return h.count }

// Sum returns the sum of the latencies. It is exact.
func (h Histogram) Sum() time.Duration { return time.Duration(h.sum) }

// Mean returns the mean of the latencies, 0 if there are none. It is exact.
func (h Histogram) Mean() time.Duration {
	if h.count == 0 {
		return 0
	}
	return time.Duration(h.sum / h.count)
}

// Quantile returns an upper bound of the latency that a share q, from 0 to 1, of all latencies do not exceed; 0 if
// there are none. The bound is at most an eighth above that latency, or 1 µs if that is more. A latency of more than
// two minutes counts as two minutes.
func (h Histogram) Quantile(q float64) time.Duration {
	if h.count == 0 {
		return 0
	}
	rank := uint64(math.Ceil(min(max(q, 0), 1) * float64(h.count)))
	seen := uint64(0)
	for i, n := range h.counts {
		if seen += n; n > 0 && seen >= rank {
			return upperBound(i)
		}
	}
	return upperBound(buckets - 1)
}

// String returns number, mean and quantiles in one line.
func (h Histogram) String() string {
	return fmt.Sprintf("count=%d mean=%v p50<=%v p99<=%v p999<=%v", h.count, errtext.Round(h.Mean()),
		errtext.Round(h.Quantile(0.5)), errtext.Round(h.Quantile(0.99)), errtext.Round(h.Quantile(0.999)))
}

// Buckets returns the buckets that have latencies, in ascending order. Each power of two nanoseconds from 1,024 on is
// the upper bound of a bucket, so that a coarser histogram is a sum of buckets.
func (h Histogram) Buckets() []Bucket {
	var used []Bucket
	for i, n := range h.counts {
		if n > 0 {
			used = append(used, Bucket{Upper: upperBound(i), Count: n})
		}
	}
	return used
}

// Since returns the latencies that h has and an earlier snapshot of the same node does not: the latencies of the time
// between.
func (h Histogram) Since(earlier Histogram) Histogram {
	if earlier.count == 0 {
		return h
	}
	h = h.Clone()
	h.sum -= min(h.sum, earlier.sum)
	h.count = 0
	for i := range h.counts {
		h.counts[i] -= min(h.counts[i], earlier.counts[i])
		h.count += h.counts[i]
	}
	return h
}
