// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"
)

// Latencies: a histogram of each connection, always on. The reader records each answer to a request of the program,
// also one whose caller has left. It reads no clock: a call has read the time at its start, and the reader reads the
// time when bytes arrive.
//
// The buckets are log-linear, as in HdrHistogram: each power of two is divided into latencySteps buckets of equal
// width.

const (
	// latencySteps is the number of buckets for each power of two. A power of two itself.
	latencySteps = 8
	// latencyUnit is the logarithm of the width of the first buckets in nanoseconds: about a microsecond.
	latencyUnit = 10
	// latencyBuckets is the number of buckets: up to 2^37 ns, about two minutes. The last one takes longer ones too.
	latencyBuckets = latencySteps * (37 - latencyUnit - 2)
)

// latencies counts the latencies of a connection. A connection uses few powers of two, so that the counts of one are
// allocated on first use.
type latencies struct {
	sum    atomic.Uint64 // nanoseconds
	counts [latencyBuckets / latencySteps]atomic.Pointer[[latencySteps]atomic.Uint64]
}

// record counts a latency in nanoseconds. Only the reader calls it.
func (l *latencies) record(took int64) {
	took = max(took, 0)
	l.sum.Add(uint64(took))
	bucket := latencyBucket(took)
	power := &l.counts[bucket/latencySteps]
	if power.Load() == nil {
		power.Store(new([latencySteps]atomic.Uint64))
	}
	power.Load()[bucket%latencySteps].Add(1)
}

// recordLatency records the latency of the call in a slot, whose answer has arrived, and returns it; 0 means unknown.
func (c *conn) recordLatency(s *slot) time.Duration {
	if s.began == 0 {
		return 0
	}
	took := c.readAt - s.began
	c.latencies.record(took)
	c.smooth(took)
	return time.Duration(max(took, 0))
}

// latencyBucket returns the bucket of a latency in nanoseconds.
func latencyBucket(took int64) int {
	units := uint64(took) >> latencyUnit
	if units < latencySteps {
		return int(units)
	}
	shift := bits.Len64(units) - bits.Len64(2*latencySteps-1)
	return min(shift*latencySteps+int(units>>shift), latencyBuckets-1)
}

// latencyBound returns the upper bound of a bucket.
func latencyBound(bucket int) time.Duration {
	if bucket < latencySteps {
		return time.Duration(bucket+1) << latencyUnit
	}
	shift := bucket/latencySteps - 1
	return time.Duration(bucket%latencySteps+latencySteps+1) << (shift + latencyUnit)
}

// A LatencyHistogram is a distribution of latencies: of the attempts that a node has answered, from the start of the
// attempt to the arrival of the answer. The waits for a stream id and for the socket are included. Attempts without an
// answer are not counted; an answer counts even if its caller has left. The zero value is empty.
type LatencyHistogram struct {
	counts []uint64 // latencyBuckets of them, nil means none; not modified
	count  uint64
	sum    uint64
}

// A LatencyBucket is the number of latencies up to an upper bound and above that of the previous bucket.
type LatencyBucket struct {
	Upper time.Duration
	Count uint64
}

// add adds the latencies of a connection.
func (h *LatencyHistogram) add(l *latencies) {
	if h.counts == nil {
		h.counts = make([]uint64, latencyBuckets)
	}
	h.sum += l.sum.Load()
	for i := range l.counts {
		power := l.counts[i].Load()
		if power == nil {
			continue
		}
		for j := range power {
			n := power[j].Load()
			h.counts[i*latencySteps+j] += n
			h.count += n
		}
	}
}

// clone returns a copy with counts of its own.
func (h LatencyHistogram) clone() LatencyHistogram {
	h.counts = slices.Clone(h.counts)
	return h
}

// Count returns the number of latencies.
func (h LatencyHistogram) Count() uint64 { return h.count }

// Sum returns the sum of the latencies. It is exact.
func (h LatencyHistogram) Sum() time.Duration { return time.Duration(h.sum) }

// Mean returns the mean of the latencies, 0 if there are none. It is exact.
func (h LatencyHistogram) Mean() time.Duration {
	if h.count == 0 {
		return 0
	}
	return time.Duration(h.sum / h.count)
}

// Quantile returns an upper bound of the latency that a share q, from 0 to 1, of all latencies do not exceed; 0 if
// there are none. The bound is at most an eighth above that latency, or 1 µs if that is more. A latency of more than
// two minutes counts as two minutes.
func (h LatencyHistogram) Quantile(q float64) time.Duration {
	if h.count == 0 {
		return 0
	}
	rank := uint64(math.Ceil(min(max(q, 0), 1) * float64(h.count)))
	seen := uint64(0)
	for i, n := range h.counts {
		if seen += n; n > 0 && seen >= rank {
			return latencyBound(i)
		}
	}
	return latencyBound(latencyBuckets - 1)
}

// String returns number, mean and quantiles in one line.
func (h LatencyHistogram) String() string {
	return fmt.Sprintf("count=%d mean=%v p50<=%v p99<=%v p999<=%v", h.count, roundTime(h.Mean()),
		roundTime(h.Quantile(0.5)), roundTime(h.Quantile(0.99)), roundTime(h.Quantile(0.999)))
}

// Buckets returns the buckets that have latencies, in ascending order. Each power of two nanoseconds from 1,024 on is
// the upper bound of a bucket, so that a coarser histogram is a sum of buckets.
func (h LatencyHistogram) Buckets() []LatencyBucket {
	var buckets []LatencyBucket
	for i, n := range h.counts {
		if n > 0 {
			buckets = append(buckets, LatencyBucket{Upper: latencyBound(i), Count: n})
		}
	}
	return buckets
}

// Since returns the latencies that h has and an earlier snapshot of the same node does not: those of the time between.
func (h LatencyHistogram) Since(earlier LatencyHistogram) LatencyHistogram {
	if earlier.count == 0 {
		return h
	}
	h = h.clone()
	h.sum -= min(h.sum, earlier.sum)
	h.count = 0
	for i := range h.counts {
		h.counts[i] -= min(h.counts[i], earlier.counts[i])
		h.count += h.counts[i]
	}
	return h
}
