// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"slices"
	"sync"
)

// Metrics of a query or a batch over all its executions.

// hostMetrics are the attempts on one node.
type hostMetrics struct {
	// Attempts is the number of attempts.
	Attempts int
	// TotalLatency is the sum of their latencies in nanoseconds.
	TotalLatency int64
}

// metrics are the attempts of the executions of one query or batch.
type metrics struct {
	mu    sync.Mutex
	total hostMetrics
	hosts map[string]hostMetrics // by address; filled for observers only
	used  bool                   // the query was executed or routed
}

// count counts attempts on a node that no observer asks for.
func (m *metrics) count(attempts int, nanoseconds int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total.add(attempts, nanoseconds)
}

// use marks the query as executed or routed.
func (m *metrics) use() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used = true
}

// isUsed reports whether the query was executed or routed.
func (m *metrics) isUsed() bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used || m.total.Attempts > 0
}

// observe counts attempts on a node. It returns the number of attempts before and the metrics of the node after.
func (m *metrics) observe(host *HostInfo, attempts int, nanoseconds int64) (before int, of hostMetrics) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before = m.total.Attempts
	m.total.add(attempts, nanoseconds)
	if host == nil {
		return before, hostMetrics{Attempts: attempts, TotalLatency: nanoseconds}
	}
	key := host.ConnectAddressAndPort()
	of = m.hosts[key]
	of.add(attempts, nanoseconds)
	if m.hosts == nil {
		m.hosts = make(map[string]hostMetrics)
	}
	m.hosts[key] = of
	return before, of
}

func (h *hostMetrics) add(attempts int, nanoseconds int64) {
	h.Attempts += attempts
	h.TotalLatency += nanoseconds
}

func (m *metrics) attempts() int {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total.Attempts
}

// latency returns the mean latency in nanoseconds.
func (m *metrics) latency() int64 {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.total.Attempts == 0 {
		return 0
	}
	return m.total.TotalLatency / int64(m.total.Attempts)
}

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
	r.mu.Lock()
	defer r.mu.Unlock()
	at, _ := slices.BinarySearchFunc(r.history, a.Attempt, func(h AttemptMetric, n int) int { return h.Attempt - n })
	r.history = slices.Insert(slices.Clone(r.history), at, a) // the snapshots of observers do not change
	return AttemptMetrics{attempts: r.history}
}
