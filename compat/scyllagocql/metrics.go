// SPDX-License-Identifier: Apache-2.0

package gocql

import "slices"

// Metrics of the attempts of an execution.

// An AttemptMetric is one attempt.
type AttemptMetric struct {
	_ struct{} // no literal without field names

	Host    *HostInfo
	Attempt int   // from 0
	Latency int64 // in nanoseconds
}

// AttemptMetrics are the attempts of an execution so far, pages included.
type AttemptMetrics struct {
	_        [0]func() // not comparable, as in gocql
	attempts []AttemptMetric
}

// Attempts returns the number of attempts.
func (m AttemptMetrics) Attempts() int { return len(m.attempts) }

// TotalLatency returns the sum of the latencies in nanoseconds.
func (m AttemptMetrics) TotalLatency() (sum int64) {
	for _, a := range m.attempts {
		sum += a.Latency
	}
	return sum
}

// ForEachAttempt calls yield for the attempts in their order, until it returns false.
func (m AttemptMetrics) ForEachAttempt(yield func(AttemptMetric) bool) {
	for _, a := range m.attempts {
		if !yield(a) {
			return
		}
	}
}

// record adds an attempt and returns the attempts so far.
func (r *execution) record(a AttemptMetric) AttemptMetrics {
	r.recordMu.Lock()
	defer r.recordMu.Unlock()
	at, _ := slices.BinarySearchFunc(r.history, a.Attempt, func(h AttemptMetric, n int) int { return h.Attempt - n })
	r.history = slices.Insert(slices.Clone(r.history), at, a) // the snapshots of observers do not change
	return AttemptMetrics{attempts: r.history}
}
