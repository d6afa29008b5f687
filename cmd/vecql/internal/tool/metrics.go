// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vecql/vecql/cmd/vecql/internal/fakehttp"
	"github.com/vecql/vecql/stats"
)

// The metrics of long work, in Prometheus' text format 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats).

// metricsPath is the path at which --metrics-listen serves metrics.
const metricsPath = "/metrics"

// counts are numbers of long work, for its metrics. Verbs set those that they have.
type counts struct {
	rows, bytes, skipped, rejected, retries, differences uint64
	inFlight, pending                                    int
}

// metricsContent is what a page of metrics is made of.
type metricsContent struct {
	verb  string
	state state
	stats []stats.Session // of the sessions, in the order in which they were opened
}

// serveMetrics serves the metrics of a verb until stop is called, if --metrics-listen is set. stop may be called
// several times.
func (e *env) serveMetrics(now func() state) (stop func(), err error) {
	if e.metricsListen == "" {
		return func() {}, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", e.metricsListen)
	if err != nil {
		return nil, fmt.Errorf("--metrics-listen: %w", err)
	}
	fmt.Fprintf(e.err, "metrics: http://%s%s\n", listener.Addr(), metricsPath)
	sessions := slices.Clone(e.sessions)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+metricsPath, func(w http.ResponseWriter, _ *http.Request) {
		content := metricsContent{verb: e.verb, state: now()}
		for _, s := range sessions {
			content.stats = append(content.stats, s.Stats())
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(content.text()) // the client may have left
	})
	server := &http.Server{Handler: fakehttp.Guard(mux, e.metricsListen), ReadHeaderTimeout: 10 * time.Second}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintf(e.err, "metrics: %v\n", err) // the work goes on
		}
	})
	return sync.OnceFunc(func() {
		_ = server.Close()
		serving.Wait()
	}), nil
}

// text returns the page.
func (m *metricsContent) text() []byte {
	var x exposition
	m.addWork(&x)
	m.addSessions(&x)
	m.addNodes(&x)
	return x.b
}

// addWork adds the numbers of the verb.
func (m *metricsContent) addWork(x *exposition) {
	verb := label("verb", m.verb)
	c := &m.state.counts
	if m.state.fraction >= 0 {
		x.family("vecql_done_ratio", "gauge", "Part of the work that is done.")
		x.value(verb, min(m.state.fraction, 1))
	}
	for _, n := range []struct {
		name, help string
		value      uint64
	}{
		{"vecql_rows_total", "Rows that are written, read or compared.", c.rows},
		{"vecql_bytes_total", "Bytes of the values of these rows.", c.bytes},
		{"vecql_skipped_rows_total", "Rows of earlier runs.", c.skipped},
		{"vecql_rejected_rows_total", "Records that were rejected.", c.rejected},
		{"vecql_retries_total", "Rows or ranges of tokens that were sent or read again.", c.retries},
		{"vecql_differences_total", "Rows that are not equal.", c.differences},
	} {
		x.family(n.name, "counter", n.help)
		x.value(verb, float64(n.value))
	}
	x.family("vecql_in_flight_writes", "gauge", "Requests with rows that have no response yet.")
	x.value(verb, float64(c.inFlight))
	x.family("vecql_pending_rows", "gauge", "Rows that are accepted and not yet acknowledged.")
	x.value(verb, float64(c.pending))
}

// addSessions adds the counters of the sessions.
func (m *metricsContent) addSessions(x *exposition) {
	for _, n := range []struct {
		name, help string
		value      func(*stats.Session) uint64
	}{
		{"vecql_requests_total", "Requests.", func(s *stats.Session) uint64 { return s.Requests }},
		{"vecql_requests_failed_total", "Requests that failed.", func(s *stats.Session) uint64 { return s.Failed }},
		{"vecql_request_retries_total", "Attempts after the first one.", func(s *stats.Session) uint64 { return s.Retries }},
		{"vecql_sent_bytes_total", "Bytes of requests.", func(s *stats.Session) uint64 { return s.BytesOut }},
		{"vecql_received_bytes_total", "Bytes of responses.", func(s *stats.Session) uint64 { return s.BytesIn }},
	} {
		x.family(n.name, "counter", n.help)
		for i := range m.stats {
			x.value(sessionLabel(i), float64(n.value(&m.stats[i])))
		}
	}
	x.family("vecql_attempt_errors_total", "counter", "Attempts that failed, by the class of the error.")
	for i := range m.stats {
		for _, class := range sortedKeys(m.stats[i].Errors) {
			x.value(sessionLabel(i)+","+label("class", class.String()), float64(m.stats[i].Errors[class]))
		}
	}
}

// latencyBounds are the upper bounds of the buckets of a histogram, in seconds.
var latencyBounds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// addNodes adds the connections and the latencies of the nodes.
func (m *metricsContent) addNodes(x *exposition) {
	each := func(f func(labels string, n *stats.Node)) {
		for i := range m.stats {
			for k := range m.stats[i].Nodes {
				n := &m.stats[i].Nodes[k]
				f(sessionLabel(i)+","+label("node", n.Address), n)
			}
		}
	}
	x.family("vecql_node_connections", "gauge", "Open connections to a node.")
	each(func(labels string, n *stats.Node) { x.value(labels, float64(n.Connections)) })
	x.family("vecql_node_in_flight_requests", "gauge", "Requests to a node that have no response yet.")
	each(func(labels string, n *stats.Node) { x.value(labels, float64(n.InFlight)) })
	x.family("vecql_node_latency_seconds", "histogram", "Latencies of the attempts that a node has answered.")
	each(func(labels string, n *stats.Node) { x.histogram(labels, n.Latency) })
}

func sessionLabel(i int) string { return label("session", strconv.Itoa(i+1)) }

// sortedKeys returns the classes in a fixed order.
func sortedKeys(errs map[stats.ErrorClass]uint64) []stats.ErrorClass {
	keys := make([]stats.ErrorClass, 0, len(errs))
	for class := range errs {
		keys = append(keys, class)
	}
	slices.Sort(keys)
	return keys
}

// label returns one label.
func label(name, value string) string {
	return name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

// An exposition is a text of metrics.
type exposition struct {
	b    []byte
	name string // of the family
}

// family begins a metric, whose values follow.
func (x *exposition) family(name, kind, help string) {
	x.name = name
	x.b = fmt.Appendf(x.b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// value adds a value of the metric.
func (x *exposition) value(labels string, v float64) { x.sample("", labels, v) }

func (x *exposition) sample(suffix, labels string, v float64) {
	x.b = append(append(append(x.b, x.name...), suffix...), '{')
	x.b = append(append(x.b, labels...), "} "...)
	x.b = append(strconv.AppendFloat(x.b, v, 'f', -1, 64), '\n')
}

// histogram adds a histogram. A bucket of h counts for the first bound that it does not exceed, so that latencies are
// rounded up by at most an eighth.
func (x *exposition) histogram(labels string, h stats.Histogram) {
	buckets, count := h.Buckets(), uint64(0)
	for _, bound := range latencyBounds {
		for len(buckets) > 0 && buckets[0].Upper.Seconds() <= bound {
			count += buckets[0].Count
			buckets = buckets[1:]
		}
		x.sample("_bucket", labels+","+label("le", strconv.FormatFloat(bound, 'g', -1, 64)), float64(count))
	}
	x.sample("_bucket", labels+","+label("le", "+Inf"), float64(h.Count()))
	x.sample("_sum", labels, h.Sum().Seconds())
	x.sample("_count", labels, float64(h.Count()))
}
