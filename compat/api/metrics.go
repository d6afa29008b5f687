// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"sync"

	"github.com/vecql/vecql"
)

// Metrics of a query or a batch over all its executions.

// HostMetrics are the attempts on one node.
type HostMetrics struct {
	// Attempts is the number of attempts.
	Attempts int
	// TotalLatency is the sum of their latencies in nanoseconds.
	TotalLatency int64
}

// NewHostMetrics returns the metrics of vecql in the API's shape.
func NewHostMetrics(m vecql.HostMetrics) *HostMetrics {
	return &HostMetrics{Attempts: m.Attempts, TotalLatency: m.TotalLatency.Nanoseconds()}
}

func (h *HostMetrics) add(attempts int, nanoseconds int64) {
	h.Attempts += attempts
	h.TotalLatency += nanoseconds
}

// Metrics are the attempts of the executions of one query or batch of v1.7 or the fork. nil has none.
type Metrics struct {
	mu    sync.Mutex
	total HostMetrics
	hosts map[string]HostMetrics // by address; filled for observers only
	used  bool                   // the query was executed or routed
}

// Count counts attempts on a node that no observer asks for.
func (m *Metrics) Count(attempts int, nanoseconds int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total.add(attempts, nanoseconds)
}

// Reset forgets the attempts, before an execution that counts its own only.
func (m *Metrics) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used = m.used || m.total.Attempts > 0
	m.total, m.hosts = HostMetrics{}, nil
}

// Observe counts attempts on the node at an address, "" for an unknown one. It returns the number of attempts before
// and the metrics of the node after.
func (m *Metrics) Observe(address string, attempts int, nanoseconds int64) (before int, of HostMetrics) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before = m.total.Attempts
	m.total.add(attempts, nanoseconds)
	if address == "" {
		return before, HostMetrics{Attempts: attempts, TotalLatency: nanoseconds}
	}
	of = m.hosts[address]
	of.add(attempts, nanoseconds)
	if m.hosts == nil {
		m.hosts = make(map[string]HostMetrics)
	}
	m.hosts[address] = of
	return before, of
}

// Use marks the query as executed or routed.
func (m *Metrics) Use() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used = true
}

// Used reports whether the query was executed or routed.
func (m *Metrics) Used() bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used || m.total.Attempts > 0
}

// Attempts returns the number of attempts.
func (m *Metrics) Attempts() int {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total.Attempts
}

// Latency returns the mean latency in nanoseconds.
func (m *Metrics) Latency() int64 {
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

// counted are the counts of attempts that queries and batches of v1.7 and the fork have. H is the module's HostInfo.
type counted[H any] struct {
	metrics *Metrics // shared by copies; nil for a Batch that the program made without a session
}

// Cancel does nothing.
//
// Deprecated: cancel the context.
func (*counted[H]) Cancel() {}

// Attempts returns the number of attempts of all executions so far.
func (c *counted[H]) Attempts() int { return c.metrics.Attempts() }

// AddAttempts adds to the number of attempts on a node.
func (c *counted[H]) AddAttempts(i int, host *H) { c.metrics.Observe(AddressOf(host), i, 0) }

// Latency returns the mean latency of the attempts in nanoseconds.
func (c *counted[H]) Latency() int64 { return c.metrics.Latency() }

// AddLatency adds to the latency of the attempts on a node, in nanoseconds.
func (c *counted[H]) AddLatency(l int64, host *H) { c.metrics.Observe(AddressOf(host), 0, l) }

// AddressOf returns the address of a module's HostInfo, "" for nil.
func AddressOf[H any](host *H) string {
	if host == nil {
		return ""
	}
	return any(host).(interface{ ConnectAddressAndPort() string }).ConnectAddressAndPort()
}
