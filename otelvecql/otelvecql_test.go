// SPDX-License-Identifier: Apache-2.0

package otelvecql_test

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/otelvecql"
)

// observer counts its calls.
type observer struct{ queries, batches, connects int }

func (o *observer) attempt(_ context.Context, a vecql.ObservedAttempt) {
	if _, isBatch := a.Request.(*vecql.Batch); isBatch {
		o.batches++
	} else {
		o.queries++
	}
}

func (o *observer) connected(vecql.ObservedConnect) { o.connects++ }

// fixture is a session whose spans and metrics stay in memory.
type fixture struct {
	t       *testing.T
	session *vecql.Session
	in      *otelvecql.Instrumentation
	spans   *tracetest.SpanRecorder
	tracer  trace.Tracer
	reader  *metric.ManualReader
	before  *observer
	port    int
	fail    int
}

func start(t *testing.T, c otelvecql.Config) *fixture {
	f := &fixture{t: t, spans: tracetest.NewSpanRecorder(), reader: metric.NewManualReader(), before: &observer{}}
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(f.spans))
	f.tracer = tp.Tracer("test")
	c.TracerProvider, c.MeterProvider = tp, metric.NewMeterProvider(metric.WithReader(f.reader))
	addr := server(t, &f.fail)
	cfg := &vecql.ClusterConfig{Hosts: []string{addr}}
	cfg.Protocol.Version, cfg.Pool.NumConns, cfg.Timeout = 4, 1, 5*time.Second
	cfg.Limits.MemoryBudget = 1 << 20
	cfg.Keyspace, cfg.Logger = "ks", slog.New(slog.DiscardHandler)
	cfg.Defaults.Consistency = cql.LocalQuorum
	cfg.Defaults.Observer, cfg.Pool.ConnectObserver = f.before.attempt, f.before.connected
	var err error
	f.in, err = otelvecql.Instrument(cfg, c)
	require.NoError(t, err)
	f.session, err = vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	t.Cleanup(f.session.Close)
	f.port = int(f.session.GetHosts()[0].Address.Port())
	return f
}

// span returns the only span that ended since the last call.
func (f *fixture) span() sdktrace.ReadOnlySpan {
	f.t.Helper()
	spans := f.ended()
	require.Len(f.t, spans, 1)
	return spans[0]
}

func (f *fixture) ended() []sdktrace.ReadOnlySpan {
	spans := f.spans.Ended()
	f.spans.Reset()
	return spans
}

// attributes returns a set as text.
func attributes(attrs []attribute.KeyValue) map[string]string {
	m := map[string]string{}
	for _, a := range attrs {
		m[string(a.Key)] = a.Value.String()
	}
	return m
}

// metric returns the data points of a metric: for each its attributes with the value, or the count and sum of a
// histogram.
func (f *fixture) metric(name string) []map[string]string {
	f.t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(f.t, f.reader.Collect(f.t.Context(), &all))
	var points []map[string]string
	add := func(set attribute.Set, value string) {
		p := attributes(set.ToSlice())
		p["value"] = value
		points = append(points, p)
	}
	for _, s := range all.ScopeMetrics {
		require.Equal(f.t, "github.com/vecql/vecql/otelvecql", s.Scope.Name)
		for _, m := range s.Metrics {
			if m.Name != name {
				continue
			}
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					add(p.Attributes, strconv.FormatInt(p.Value, 10))
				}
			case metricdata.Sum[float64]:
				for _, p := range d.DataPoints {
					add(p.Attributes, strconv.FormatFloat(p.Value, 'g', -1, 64))
				}
			case metricdata.Gauge[float64]:
				for _, p := range d.DataPoints {
					add(p.Attributes, strconv.FormatFloat(p.Value, 'g', -1, 64))
				}
			case metricdata.Histogram[int64]:
				for _, p := range d.DataPoints {
					add(p.Attributes, strconv.FormatUint(p.Count, 10)+" "+strconv.FormatInt(p.Sum, 10))
				}
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					require.Equal(f.t, []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}, p.Bounds)
					require.Positive(f.t, p.Sum)
					require.Less(f.t, p.Sum, 10.0)
					add(p.Attributes, strconv.FormatUint(p.Count, 10))
				}
			}
		}
	}
	return points
}

func TestQuerySpan(t *testing.T) {
	f := start(t, otelvecql.Config{Attributes: []attribute.KeyValue{attribute.String("deployment", "blue")}})
	ctx, parent := f.tracer.Start(t.Context(), "parent")
	before := time.Now()
	require.NoError(t, f.session.Query("SELECT v FROM other.t WHERE id = ?", 5).PageSize(100).Idempotent(true).Exec(ctx))
	s := f.span()
	require.Equal(t, "SELECT other.t", s.Name())
	require.Equal(t, trace.SpanKindClient, s.SpanKind())
	require.Equal(t, parent.SpanContext().SpanID(), s.Parent().SpanID())
	require.Equal(t, codes.Unset, s.Status().Code)
	require.False(t, s.StartTime().Before(before))
	require.Greater(t, s.EndTime(), s.StartTime())
	common := map[string]string{
		"db.system.name": "cassandra", "db.operation.name": "SELECT", "db.collection.name": "t", "db.namespace": "other",
		"db.query.summary": "SELECT other.t", "server.address": "127.0.0.1", "server.port": strconv.Itoa(f.port), "deployment": "blue",
	}
	want := map[string]string{
		"cassandra.consistency.level": "local_quorum", "cassandra.query.idempotent": "true", "cassandra.page.size": "100",
		"cassandra.coordinator.id": "07070707-0707-0707-0707-070707070707", "cassandra.coordinator.dc": "dc1",
		"network.peer.address": "127.0.0.1", "network.peer.port": strconv.Itoa(f.port), "db.response.returned_rows": "3",
	}
	for k, v := range common {
		want[k] = v
	}
	require.Equal(t, want, attributes(s.Attributes()))

	common["value"] = "1"
	require.Equal(t, []map[string]string{common}, f.metric("db.client.operation.duration"))
	common["value"] = "1 3"
	require.Equal(t, []map[string]string{common}, f.metric("db.client.response.returned_rows"))
	require.Equal(t, 1, f.before.queries, "the observer of the original configuration is still called")
}

func TestWriteAndBatchSpans(t *testing.T) {
	f := start(t, otelvecql.Config{QueryText: true})
	require.NoError(t, f.session.Query("INSERT INTO t (a, b) VALUES (?, 'secret')", 5).Exec(t.Context()))
	s := f.span()
	a := attributes(s.Attributes())
	require.Equal(t, "INSERT t", s.Name())
	require.Equal(t, "ks", a["db.namespace"], "the session's")
	require.Equal(t, "INSERT INTO t (a, b) VALUES (?, ?)", a["db.query.text"])
	require.NotContains(t, a, "db.response.returned_rows")

	b := f.session.Batch(cql.UnloggedBatch)
	for i := range 3 {
		b.Query("INSERT INTO t (a) VALUES (?)", i)
	}
	require.NoError(t, b.Exec(t.Context()))
	s = f.span()
	a = attributes(s.Attributes())
	require.Equal(t, "BATCH INSERT t", s.Name())
	require.Equal(t, []string{"BATCH INSERT", "3", "INSERT INTO t (a) VALUES (?)", "local_quorum"},
		[]string{a["db.operation.name"], a["db.operation.batch.size"], a["db.query.text"], a["cassandra.consistency.level"]})
	require.Equal(t, 1, f.before.batches)
	require.Empty(t, f.metric("db.client.response.returned_rows"))
	require.Len(t, f.metric("db.client.operation.duration"), 2)
}

func TestErrorSpan(t *testing.T) {
	for _, text := range []bool{false, true} {
		f := start(t, otelvecql.Config{ErrorText: text, System: "scylladb"})
		require.ErrorIs(t, f.session.Query("SELECT v FROM wrong").Exec(t.Context()), cql.CodeInvalid)
		s := f.span()
		a := attributes(s.Attributes())
		require.Equal(t, []string{"8704", "8704", "scylladb"}, []string{a["db.response.status_code"], a["error.type"], a["db.system.name"]})
		require.Equal(t, codes.Error, s.Status().Code)
		if text {
			require.Contains(t, s.Status().Description, "secret 'literal'")
		} else {
			require.Equal(t, "invalid", s.Status().Description)
		}
		require.Equal(t, "8704", f.metric("db.client.operation.duration")[0]["error.type"])

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, f.session.Query("SELECT v FROM t").Exec(ctx), context.Canceled)
		for _, s := range f.ended() {
			require.Equal(t, "canceled", attributes(s.Attributes())["error.type"])
		}
	}
}

// again is a retry policy that retries once on the same node.
type again struct{}

func (again) Decide(_ context.Context, a vecql.Attempt) vecql.Decision {
	if a.Number > 1 {
		return vecql.Decision{Type: vecql.Rethrow}
	}
	return vecql.Decision{Type: vecql.Retry}
}

// TestAttemptsAreSpans makes a node refuse a request once.
func TestAttemptsAreSpans(t *testing.T) {
	f := start(t, otelvecql.Config{})
	require.NoError(t, f.session.Query("SELECT v FROM flaky").Exec(t.Context()))
	f.ended()
	f.fail = 1
	require.NoError(t, f.session.Query("SELECT v FROM flaky").RetryPolicy(again{}).Idempotent(true).Exec(t.Context()))
	spans := f.ended()
	require.Len(t, spans, 2)
	first, second := attributes(spans[0].Attributes()), attributes(spans[1].Attributes())
	require.Equal(t, "4097", first["db.response.status_code"])
	require.NotContains(t, first, "vecql.attempt")
	require.Equal(t, "1", second["vecql.attempt"])
	require.Equal(t, codes.Unset, spans[1].Status().Code)
}

func TestSessionMetrics(t *testing.T) {
	f := start(t, otelvecql.Config{})
	require.NoError(t, f.in.Observe(f.session))
	require.Error(t, f.in.Observe(f.session))
	for range 3 {
		require.NoError(t, f.session.Query("SELECT v FROM t").Exec(t.Context()))
	}
	require.Error(t, f.session.Query("SELECT v FROM wrong").Exec(t.Context()))
	pool := "127.0.0.1:" + strconv.Itoa(f.port)
	find := func(name, key, value string) string {
		t.Helper()
		points := f.metric(name)
		i := slices.IndexFunc(points, func(p map[string]string) bool { return key == "" || p[key] == value })
		require.GreaterOrEqual(t, i, 0, "%s: %v", name, points)
		require.Equal(t, "cassandra", points[i]["db.system.name"])
		return points[i]["value"]
	}
	require.Equal(t, "1", find("db.client.connection.count", "db.client.connection.state", "idle"))
	require.Equal(t, "0", find("db.client.connection.count", "db.client.connection.state", "used"))
	require.Equal(t, "0", find("db.client.connection.pending_requests", "", ""))
	require.Equal(t, "4", find("vecql.requests", "", ""))
	require.Equal(t, "1", find("vecql.requests.failed", "", ""))
	require.Equal(t, "1", find("vecql.attempt.errors", "error.type", "invalid"))
	require.Equal(t, "2", find("vecql.prepared", "vecql.prepared.result", "hit"))
	require.Equal(t, "2", find("vecql.prepared", "vecql.prepared.result", "miss"))
	require.Equal(t, "0", find("vecql.requests.in_flight", "db.client.connection.pool.name", pool))
	require.NotEqual(t, "0", find("vecql.io", "network.io.direction", "transmit"))
	require.NotEqual(t, "0", find("vecql.connections", "vecql.connection.event", "opened"))
	require.Equal(t, "0", find("vecql.wrong_peers", "", ""))
	require.Equal(t, strconv.Itoa(1<<20), find("vecql.memory.budget", "", ""))
	require.Equal(t, "0", find("vecql.memory.used", "vecql.memory.kind", "in_flight"))
	require.Equal(t, "0", find("vecql.memory.used", "vecql.memory.kind", "held"))
	require.Equal(t, "0", find("vecql.memory.waiting", "", ""))
	require.Equal(t, "0", find("vecql.memory.waits", "", ""))
	require.Equal(t, "0", find("vecql.memory.waited", "", ""))
	require.Equal(t, "0", find("vecql.memory.overdrawn", "", ""))
	require.Equal(t, "1", find("vecql.node.serving", "db.client.connection.pool.name", pool))
	require.Equal(t, "1", find("vecql.node.state", "vecql.pool.state", "open"))
	require.Equal(t, "0", find("vecql.node.state", "vecql.pool.state", "waiting"))
	require.Equal(t, "0", find("vecql.connections.silent", "db.client.connection.pool.name", pool))
	require.Equal(t, "1", find("vecql.control.connected", "", ""))
	require.NotEmpty(t, find("vecql.control.age", "", ""))
	answered := strconv.FormatUint(f.session.Stats().Nodes[0].Latency.Count(), 10)
	require.NotEqual(t, "0", answered)
	require.Equal(t, answered, find("vecql.node.latency.bucket", "le", "+Inf"))
	require.Equal(t, answered, find("vecql.node.latency.bucket", "le", "17.179869184"))
	require.NotEqual(t, "0", find("vecql.node.latency.sum", "db.client.connection.pool.name", pool))
	require.NotEqual(t, "0", find("db.client.connection.create_time", "db.client.connection.pool.name", pool))
	require.Positive(t, f.before.connects)
	require.NoError(t, f.in.Close())
	require.NoError(t, f.in.Close())
	require.Empty(t, f.metric("vecql.requests"))
	require.NoError(t, f.in.Observe(f.session))
	require.NoError(t, f.in.Close())
}

// TestNothingIsRecordedWithoutProviders uses the default providers of OpenTelemetry, as in a program that sets none.
func TestNothingIsRecordedWithoutProviders(t *testing.T) {
	fail := 0
	cfg := &vecql.ClusterConfig{Hosts: []string{server(t, &fail)}}
	cfg.Protocol.Version, cfg.Pool.NumConns, cfg.Logger = 4, 1, slog.New(slog.DiscardHandler)
	in, err := otelvecql.Instrument(cfg, otelvecql.Config{})
	require.NoError(t, err)
	s, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, in.Observe(s))
	require.NoError(t, s.Query("SELECT v FROM t").Exec(t.Context()))
	require.NoError(t, in.Close())
}
