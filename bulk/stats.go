// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"cmp"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql"
)

// Statistics.

// Stats are the counters of a writer since its start, and a snapshot of its state.
type Stats struct {
	Rows     uint64 // acknowledged
	Rejected uint64 // failed for good, within Options.MaxRejected
	Skipped  uint64 // done in an earlier run, according to the checkpoint
	// SkippedRejected counts the rows of Skipped that the earlier run has rejected. The others were acknowledged.
	SkippedRejected uint64
	Retries         uint64 // attempts after the first one of a row
	Bytes           uint64 // of the acknowledged rows, encoded
	// RowsPerSecond is Rows over Elapsed. The difference of two Stats has the rate of the time between them.
	RowsPerSecond float64
	Elapsed       time.Duration
	// Pending counts rows that are accepted and not finished, InFlight requests. The bounds are Options.MaxInFlight and
	// MaxBytes.
	Pending, InFlight, PeakInFlight int
	PendingBytes, PeakBytes         int64
	// P50 and P99 are latencies of acknowledged requests, rounded up by at most a quarter.
	P50, P99 time.Duration
	Targets  []TargetStats // ordered by host id and shard
}

// TargetStats is a snapshot of a node, or of a shard of ScyllaDB.
type TargetStats struct {
	vecql.Replica     // the zero host id means that the driver chooses the node
	Limit         int // of requests in flight
	InFlight      int
	Queued        int           // requests
	Latency       time.Duration // moving average of acknowledged requests
}

// counts are the counters.
type counts struct{ rows, rejected, skipped, skippedRejected, retries, bytes atomic.Uint64 }

// Stats returns the statistics. They belong to the caller.
func (w *Writer) Stats() Stats {
	s := Stats{
		Rows: w.count.rows.Load(), Rejected: w.count.rejected.Load(), Skipped: w.count.skipped.Load(),
		SkippedRejected: w.count.skippedRejected.Load(), Retries: w.count.retries.Load(), Bytes: w.count.bytes.Load(),
		Elapsed: time.Since(w.began),
	}
	if s.Elapsed > 0 {
		s.RowsPerSecond = float64(s.Rows) / s.Elapsed.Seconds()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s.Pending, s.InFlight, s.PeakInFlight = w.pending, w.inFlight, w.peakInFlight
	s.PendingBytes, s.PeakBytes = w.pendingBytes, w.peakBytes
	s.P50, s.P99 = w.latency.quantile(.5), w.latency.quantile(.99)
	for _, t := range w.targets {
		s.Targets = append(s.Targets, TargetStats{
			Replica: t.key, Limit: int(t.limit.limit), InFlight: t.inFlight, Queued: t.queued(),
			Latency: time.Duration(t.limit.latency),
		})
	}
	slices.SortFunc(s.Targets, func(a, b TargetStats) int {
		return cmp.Or(slices.Compare(a.HostID[:], b.HostID[:]), a.Shard-b.Shard)
	})
	return s
}

// A histogram counts durations in buckets, four for each power of two.
type histogram struct {
	counts [4 * 64]uint64
	total  uint64
}

func (h *histogram) record(d time.Duration) {
	n := uint64(max(d, 4))
	exponent := bits.Len64(n) - 3 // n >> exponent is from 4 to 7
	h.counts[4*exponent+int(n>>exponent)-4]++
	h.total++
}

// quantile returns an upper bound of the q-quantile, 0 without durations.
func (h *histogram) quantile(q float64) time.Duration {
	if h.total == 0 {
		return 0
	}
	rest := uint64(q * float64(h.total-1))
	for i, n := range h.counts {
		if rest < n {
			return time.Duration(uint64(i%4+5) << (i / 4))
		}
		rest -= n
	}
	return 0
}
