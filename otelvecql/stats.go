// SPDX-License-Identifier: Apache-2.0

package otelvecql

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/stats"
)

// Counters of sessions as metrics. They are read when metrics are collected and cost requests nothing.

// registration is the callback of the observed session.
type registration struct {
	mu      sync.Mutex
	current metric.Registration // nil means no session
}

// errObserved is the error of Observe for a second session, whose counters would be mistaken for the first one's.
var errObserved = errors.New("otelvecql: another session is observed already; call Instrument for the configuration of this one")

// Keys of the attributes of the driver's own metrics.
const (
	bucketKey   = attribute.Key("le") // Prometheus's name, for histogram_quantile
	causeKey    = attribute.Key("vecql.connection.end_cause")
	memoryKey   = attribute.Key("vecql.memory.kind")
	eventKey    = attribute.Key("vecql.connection.event")
	preparedKey = attribute.Key("vecql.prepared.result")
	stateKey    = attribute.Key("vecql.pool.state")
)

// Observe exports the counters of a session as metrics until Close. An Instrumentation observes one session at a time.
// The connections to one node are a pool, named by the node's address. A connection carries many requests at once, so
// the number of "used" connections is the number of requests in flight, at most all connections.
//
// The metrics of the conventions are db.client.connection.count and db.client.connection.pending_requests. The driver's
// own metrics have the prefix vecql. By node they are: requests.in_flight, requests.orphaned, connections.silent,
// node.serving (1 or 0), node.state (1 for the state of the pool) and the latencies of all answers, node.latency.sum
// and node.latency.bucket. The latter has the upper bound in seconds in the attribute le, as histogram_quantile of
// Prometheus expects it. The metrics of the session are: requests, requests.failed, requests.moved, attempt.errors (by
// error.type), retries, speculative_executions and speculative_executions.won, prepared (by result), connections (by
// event), connections.ended (by cause), wrong_peers, tablet_hints, io (by direction), control.connected (1 or 0) and
// control.age, the age of the session's view of the cluster. With a ClusterConfig.Limits.MemoryBudget they are also:
// memory.budget, memory.used (by kind, in_flight or held), memory.waiting, memory.waits, memory.waited and
// memory.overdrawn.
func (in *Instrumentation) Observe(session *vecql.Session) error {
	in.registration.mu.Lock()
	defer in.registration.mu.Unlock()
	if in.registration.current != nil {
		return errObserved
	}
	m, err := in.newSessionMetrics()
	if err != nil {
		return fmt.Errorf("otelvecql: %w", err)
	}
	r, err := in.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		st := session.Stats()
		m.observeSession(o, &st)
		for i := range st.Nodes {
			m.observeNode(o, &st.Nodes[i])
		}
		return nil
	}, m.all...)
	if err != nil {
		return fmt.Errorf("otelvecql: %w", err)
	}
	in.registration.current = r
	return nil
}

// sessionMetrics are the metrics of a session.
type sessionMetrics struct {
	in   *Instrumentation
	all  []metric.Observable
	errs []error

	count, pending, inFlight, orphaned, silent, serving, state, connected metric.Int64ObservableUpDownCounter
	requests, failed, moved, attemptErrors, retries, speculative, wins    metric.Int64ObservableCounter
	prepared, connections, ended, wrongPeers, hints, io, latencies        metric.Int64ObservableCounter
	budget, memory, memoryWaiting                                         metric.Int64ObservableUpDownCounter
	memoryWaits, overdrawn                                                metric.Int64ObservableCounter
	latencySum, memoryWaited                                              metric.Float64ObservableCounter
	age                                                                   metric.Float64ObservableGauge
}

// newSessionMetrics returns the metrics of a session, or an error of the meter.
func (in *Instrumentation) newSessionMetrics() (*sessionMetrics, error) {
	m := &sessionMetrics{in: in}
	m.count = m.gauge("db.client.connection.count", "{connection}",
		"The number of connections that are currently in state described by the state attribute.")
	m.pending = m.gauge("db.client.connection.pending_requests", "{request}",
		"The number of current pending requests for an open connection.")
	m.inFlight = m.gauge("vecql.requests.in_flight", "{request}", "Requests without a response yet.")
	m.orphaned = m.gauge("vecql.requests.orphaned", "{request}",
		"Requests that were canceled or timed out and have no response yet.")
	m.silent = m.gauge("vecql.connections.silent", "{connection}", "Connections that answer no request.")
	m.serving = m.gauge("vecql.node.serving", "{node}", "1 if a connection to the node takes and answers requests, else 0.")
	m.state = m.gauge("vecql.node.state", "{node}", "1 for the state of the connections to the node.")
	m.latencies = m.counter("vecql.node.latency.bucket", "{attempt}",
		"Attempts that the node answered within the number of seconds in the attribute le.")
	m.requests = m.counter("vecql.requests", "{request}",
		"Requests of the program. Each page and each batch counts as one.")
	m.failed = m.counter("vecql.requests.failed", "{request}", "Requests that ended with an error.")
	m.moved = m.counter("vecql.requests.moved", "{attempt}", "Attempts that left a silent node for the next one.")
	m.attemptErrors = m.counter("vecql.attempt.errors", "{attempt}", "Attempts that failed.")
	m.retries = m.counter("vecql.retries", "{attempt}", "Attempts after the first one.")
	m.speculative = m.counter("vecql.speculative_executions", "{execution}", "Executions after the first one.")
	m.wins = m.counter("vecql.speculative_executions.won", "{execution}",
		"Executions after the first one that completed first.")
	m.prepared = m.counter("vecql.prepared", "{statement}", "Lookups in the cache of prepared statements.")
	m.connections = m.counter("vecql.connections", "{connection}",
		"Connections that were opened, lost, or failed to open.")
	m.ended = m.counter("vecql.connections.ended", "{connection}", "Connections that have ended, by cause.")
	m.wrongPeers = m.counter("vecql.wrong_peers", "{connection}",
		"Attempts to connect that failed because another cluster or node answered.")
	m.hints = m.counter("vecql.tablet_hints", "{hint}", "Tablet hints in responses.")
	m.io = m.counter("vecql.io", "By", "Bodies of requests and responses, uncompressed.")
	m.connected = m.gauge("vecql.control.connected", "{connection}", "1 if there is a control connection, else 0.")
	m.budget = m.gauge("vecql.memory.budget", "By", "The bound of the memory of requests and pages.")
	m.memory = m.gauge("vecql.memory.used", "By", "The memory of requests in flight, and of answers that the program holds.")
	m.memoryWaiting = m.gauge("vecql.memory.waiting", "{request}", "Requests that are waiting for memory.")
	m.memoryWaits = m.counter("vecql.memory.waits", "{request}", "Requests that have waited for memory.")
	m.overdrawn = m.counter("vecql.memory.overdrawn", "{request}", "Requests that were sent beyond the memory budget.")
	var err error
	m.memoryWaited, err = in.meter.Float64ObservableCounter("vecql.memory.waited", metric.WithUnit("s"),
		metric.WithDescription("The time that requests have waited for memory."))
	m.errs = append(m.errs, err)
	m.latencySum, err = in.meter.Float64ObservableCounter("vecql.node.latency.sum", metric.WithUnit("s"),
		metric.WithDescription("Sum of the latencies of the attempts that the node answered."))
	m.errs = append(m.errs, err)
	m.age, err = in.meter.Float64ObservableGauge("vecql.control.age", metric.WithUnit("s"),
		metric.WithDescription("Time since the system tables were last read."))
	m.errs = append(m.errs, err)
	m.all = append(m.all, m.latencySum, m.memoryWaited, m.age)
	return m, errors.Join(m.errs...)
}

func (m *sessionMetrics) counter(name, unit, text string) metric.Int64ObservableCounter {
	c, err := m.in.meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
	m.all, m.errs = append(m.all, c), append(m.errs, err)
	return c
}

func (m *sessionMetrics) gauge(name, unit, text string) metric.Int64ObservableUpDownCounter {
	c, err := m.in.meter.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
	m.all, m.errs = append(m.all, c), append(m.errs, err)
	return c
}

func (m *sessionMetrics) with(attrs ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributes(append(m.in.attributes(len(attrs)), attrs...)...)
}

// observeSession records the metrics of the whole session.
func (m *sessionMetrics) observeSession(o metric.Observer, st *stats.Session) {
	common := m.with()
	for _, c := range []struct {
		counter metric.Int64ObservableCounter
		n       uint64
		key     attribute.Key // empty means none
		value   string
	}{
		{m.requests, st.Requests, "", ""},
		{m.failed, st.Failed, "", ""},
		{m.moved, st.Moved, "", ""},
		{m.retries, st.Retries, "", ""},
		{m.speculative, st.SpeculativeExecutions, "", ""},
		{m.wins, st.SpeculativeWins, "", ""},
		{m.hints, st.TabletHints, "", ""},
		{m.prepared, st.PreparedHits, preparedKey, "hit"},
		{m.prepared, st.PreparedMisses, preparedKey, "miss"},
		{m.prepared, st.PreparedAgain, preparedKey, "forgotten"},
		{m.connections, st.ConnectionsOpened, eventKey, "opened"},
		{m.connections, st.ConnectionsLost, eventKey, "lost"},
		{m.connections, st.ConnectionsFailed, eventKey, "failed"},
		{m.wrongPeers, st.WrongPeers, "", ""},
		{m.io, st.BytesOut, semconv.NetworkIODirectionKey, "transmit"},
		{m.io, st.BytesIn, semconv.NetworkIODirectionKey, "receive"},
	} {
		attrs := common
		if c.key != "" {
			attrs = m.with(c.key.String(c.value))
		}
		o.ObserveInt64(c.counter, int64(c.n), attrs)
	}
	for class, n := range st.Errors {
		o.ObserveInt64(m.attemptErrors, int64(n), m.with(semconv.ErrorTypeKey.String(class.String())))
	}
	for cause, n := range st.ConnectionsEnded {
		o.ObserveInt64(m.ended, int64(n), m.with(causeKey.String(cause.String())))
	}
	o.ObserveInt64(m.pending, int64(st.Waiting), common)
	if st.Memory.Budget > 0 {
		m.observeMemory(o, &st.Memory)
	}
	o.ObserveInt64(m.connected, boolean(st.Control.Node != ""), common)
	if !st.Control.LastRead.IsZero() {
		o.ObserveFloat64(m.age, time.Since(st.Control.LastRead).Seconds(), common)
	}
}

// observeMemory records the use of the memory budget.
func (m *sessionMetrics) observeMemory(o metric.Observer, use *stats.Memory) {
	common := m.with()
	o.ObserveInt64(m.budget, use.Budget, common)
	o.ObserveInt64(m.memory, use.InFlight, m.with(memoryKey.String("in_flight")))
	o.ObserveInt64(m.memory, use.Held, m.with(memoryKey.String("held")))
	o.ObserveInt64(m.memoryWaiting, int64(use.Waiting), common)
	o.ObserveInt64(m.memoryWaits, int64(use.Waits), common)
	o.ObserveFloat64(m.memoryWaited, use.Waited.Seconds(), common)
	o.ObserveInt64(m.overdrawn, int64(use.Overdrawn), common)
}

// observeNode records the metrics of one node.
func (m *sessionMetrics) observeNode(o metric.Observer, n *stats.Node) {
	pool := semconv.DBClientConnectionPoolName(n.Address)
	attrs := m.with(pool)
	used := min(n.InFlight, n.Connections)
	o.ObserveInt64(m.count, int64(used), m.with(pool, semconv.DBClientConnectionStateUsed))
	o.ObserveInt64(m.count, int64(n.Connections-used), m.with(pool, semconv.DBClientConnectionStateIdle))
	o.ObserveInt64(m.inFlight, int64(n.InFlight), attrs)
	o.ObserveInt64(m.orphaned, int64(n.Orphans), attrs)
	o.ObserveInt64(m.silent, int64(n.Silent), attrs)
	o.ObserveInt64(m.serving, boolean(n.Serves()), attrs)
	for state := stats.PoolOpen; state <= stats.PoolClosed; state++ {
		o.ObserveInt64(m.state, boolean(n.State == state), m.with(pool, stateKey.String(state.String())))
	}
	o.ObserveFloat64(m.latencySum, n.Latency.Sum().Seconds(), attrs)
	buckets, answered := n.Latency.Buckets(), uint64(0)
	for _, bound := range latencyBounds {
		for len(buckets) > 0 && buckets[0].Upper <= bound {
			answered += buckets[0].Count
			buckets = buckets[1:]
		}
		o.ObserveInt64(m.latencies, int64(answered), m.with(pool, boundText(bound.Seconds())))
	}
	o.ObserveInt64(m.latencies, int64(n.Latency.Count()), m.with(pool, boundText(math.Inf(1))))
}

// latencyBounds are the upper bounds of the exported buckets: powers of two from 66 µs to 17 s, which are bounds of the
// driver's buckets as well.
var latencyBounds = func() (bounds []time.Duration) {
	for power := 16; power <= 34; power++ {
		bounds = append(bounds, 1<<power)
	}
	return bounds
}()

// boundText returns the attribute of an upper bound in Prometheus's notation.
func boundText(seconds float64) attribute.KeyValue {
	return bucketKey.String(strconv.FormatFloat(seconds, 'g', -1, 64))
}

func boolean(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

// Close ends the metrics of Observe. Spans and measurements of requests continue as long as their sessions.
func (in *Instrumentation) Close() error {
	in.registration.mu.Lock()
	defer in.registration.mu.Unlock()
	r := in.registration.current
	in.registration.current = nil
	if r == nil {
		return nil
	}
	return r.Unregister()
}
