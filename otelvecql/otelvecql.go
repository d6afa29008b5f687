// SPDX-License-Identifier: Apache-2.0

// Package otelvecql records traces and metrics of vecql sessions with OpenTelemetry, following the semantic conventions
// for databases (semconv v1.41.0, with those for Cassandra).
//
//	cfg := &vecql.ClusterConfig{Hosts: []string{"127.0.0.1"}}
//	in, err := otelvecql.Instrument(cfg, otelvecql.Config{})
//	...
//	session, err := vecql.NewSession(ctx, *cfg)
//	...
//	err = in.Observe(session) // the session's counters
//	defer in.Close()
//
// A span is one attempt of a request at one node. A request that is retried has several spans, each with the number of
// the retry (vecql.attempt, from 1; the first attempt has none). Each page of a result is a request. Spans are children
// of the span in the context of the call.
package otelvecql

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// scope is the name of the tracer and the meter.
const scope = "github.com/vecql/vecql/otelvecql"

// A Config selects what is recorded and the providers that receive it. The zero value is ready to use.
type Config struct {
	// TracerProvider creates the tracer. Default otel.GetTracerProvider.
	TracerProvider trace.TracerProvider
	// MeterProvider creates the meter. Default otel.GetMeterProvider.
	MeterProvider metric.MeterProvider
	// System is the attribute db.system.name. Default "cassandra", as the conventions require; "scylladb" distinguishes
	// ScyllaDB.
	System string
	// QueryText records statements as db.query.text, with a question mark for each literal and without comments. Bound
	// values are never recorded. Default false, because names may be confidential too.
	QueryText bool
	// ErrorText records the messages of errors in spans. Default false, because the messages of a server quote the
	// statement, literals included. The class and code of an error are always recorded.
	ErrorText bool
	// Attributes are added to every span and every measurement. Default none.
	Attributes []attribute.KeyValue
}

// An Instrumentation records the spans and metrics of the sessions of one configuration. Its methods may be called by
// any number of goroutines.
type Instrumentation struct {
	cfg    Config
	common []attribute.KeyValue
	tracer trace.Tracer
	meter  metric.Meter

	duration metric.Float64Histogram
	rows     metric.Int64Histogram
	create   metric.Float64Histogram

	before  vecql.Observer // observers of the original configuration; nil means none
	connect func(vecql.ObservedConnect)

	registration registration
}

// Instrument changes cfg so that its sessions record spans and metrics. Observers already set in cfg are called
// afterwards. Call Instrument once, before vecql.NewSession. It returns an error of the meter.
func Instrument(cfg *vecql.ClusterConfig, c Config) (*Instrumentation, error) {
	if c.TracerProvider == nil {
		c.TracerProvider = otel.GetTracerProvider()
	}
	if c.MeterProvider == nil {
		c.MeterProvider = otel.GetMeterProvider()
	}
	if c.System == "" {
		c.System = semconv.DBSystemNameCassandra.Value.AsString()
	}
	in := &Instrumentation{
		cfg: c, common: append([]attribute.KeyValue{semconv.DBSystemNameKey.String(c.System)}, c.Attributes...),
		tracer: c.TracerProvider.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL)),
		meter:  c.MeterProvider.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL)),
		before: cfg.Defaults.Observer, connect: cfg.Pool.ConnectObserver,
	}
	seconds := metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10)
	var errs [3]error
	in.duration, errs[0] = in.meter.Float64Histogram("db.client.operation.duration", metric.WithUnit("s"), seconds,
		metric.WithDescription("Duration of database client operations."))
	in.rows, errs[1] = in.meter.Int64Histogram("db.client.response.returned_rows", metric.WithUnit("{row}"),
		metric.WithExplicitBucketBoundaries(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000),
		metric.WithDescription("The actual number of records returned by the database operation."))
	in.create, errs[2] = in.meter.Float64Histogram("db.client.connection.create_time", metric.WithUnit("s"), seconds,
		metric.WithDescription("The time it took to create a new connection."))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	cfg.Defaults.Observer, cfg.Pool.ConnectObserver = in.attempt, in.connected
	return in, nil
}

// operation is an attempt of a query or a batch.
type operation struct {
	statement
	keyspace string
	start    time.Time
	end      time.Time
	host     *cql.Host
	err      error
	attempt  int
	text     func() string
	extra    []attribute.KeyValue // of the span
	rows     int                  // -1 means that the attempt returns no rows
}

// attempt is the Observer of a configuration.
func (in *Instrumentation) attempt(ctx context.Context, a vecql.ObservedAttempt) {
	op := operation{
		keyspace: a.Keyspace, start: a.Start, end: a.End, host: a.Host, err: a.Err, attempt: a.Attempt, rows: -1,
	}
	switch r := a.Request.(type) {
	case *vecql.Query:
		op.ofQuery(a, r)
	case *vecql.Batch:
		op.ofBatch(a, r)
	}
	in.observe(ctx, &op)
	if in.before != nil {
		in.before(ctx, a)
	}
}

// ofQuery sets what is known of an attempt of a query.
func (op *operation) ofQuery(a vecql.ObservedAttempt, q *vecql.Query) {
	op.statement, op.text = parseStatement(a.Statements[0]), func() string { return withoutLiterals(a.Statements[0]) }
	if op.operation == "SELECT" || a.Rows > 0 {
		op.rows = a.Rows
	}
	op.extra = consistency(q.GetConsistency(), q.GetIdempotent())
	if n := q.GetPageSize(); n > 0 {
		op.extra = append(op.extra, semconv.CassandraPageSize(n))
	}
}

// ofBatch sets what is known of an attempt of a batch.
func (op *operation) ofBatch(a vecql.ObservedAttempt, b *vecql.Batch) {
	op.statement, op.text = parseBatch(a.Statements), func() string { return batchText(a.Statements) }
	op.extra = consistency(b.GetConsistency(), b.GetIdempotent())
	if len(a.Statements) > 1 { // by the conventions, a batch of one statement is not a batch
		op.extra = append(op.extra, semconv.DBOperationBatchSize(len(a.Statements)))
	}
}

// connected is the ConnectObserver of a configuration.
func (in *Instrumentation) connected(o vecql.ObservedConnect) {
	attrs := append(in.attributes(8), semconv.DBClientConnectionPoolName(poolName(o.Host)))
	if o.Err != nil {
		attrs = append(attrs, semconv.ErrorTypeKey.String(vecql.ErrorClassOf(o.Err).String()))
	}
	in.create.Record(context.Background(), o.End.Sub(o.Start).Seconds(), metric.WithAttributes(attrs...))
	if in.connect != nil {
		in.connect(o)
	}
}

// parseBatch returns the properties that all statements of a batch have in common.
func parseBatch(stmts []string) statement {
	var all statement
	for i, text := range stmts {
		st := parseStatement(text)
		if i == 0 {
			all = st
			continue
		}
		if st.operation != all.operation {
			all.operation = ""
		}
		if st.keyspace != all.keyspace || st.collection != all.collection {
			all.keyspace, all.collection = "", ""
		}
	}
	if len(stmts) != 1 {
		all.operation = strings.TrimSpace("BATCH " + all.operation)
	}
	return all
}

// batchText returns the common text of all statements of a batch, or their texts one after the other.
func batchText(stmts []string) string {
	var texts []string
	size := 0
	for i, text := range stmts {
		if i > 0 && text == stmts[0] && len(texts) == 1 {
			continue
		}
		if size > maxText {
			return strings.Join(texts, "; ")[:maxText] + "…"
		}
		t := withoutLiterals(text)
		texts = append(texts, t)
		size += len(t)
	}
	return strings.Join(texts, "; ")
}

// consistency returns the attributes common to queries and batches.
func consistency(c cql.Consistency, idempotent bool) []attribute.KeyValue {
	return []attribute.KeyValue{
		semconv.CassandraConsistencyLevelKey.String(strings.ToLower(c.String())),
		semconv.CassandraQueryIdempotent(idempotent),
	}
}

// attributes returns the attributes of every span and measurement, with room for n more.
func (in *Instrumentation) attributes(n int) []attribute.KeyValue {
	return append(make([]attribute.KeyValue, 0, len(in.common)+n), in.common...)
}

// observe records a span and the measurements of an attempt.
func (in *Instrumentation) observe(ctx context.Context, op *operation) {
	attrs := in.attributes(24)
	add := func(key attribute.Key, v string) {
		if v != "" {
			attrs = append(attrs, key.String(v))
		}
	}
	add(semconv.DBOperationNameKey, op.operation)
	add(semconv.DBCollectionNameKey, op.collection)
	namespace := op.statement.keyspace
	if namespace == "" {
		namespace = op.keyspace
	}
	add(semconv.DBNamespaceKey, namespace)
	add(semconv.DBQuerySummaryKey, op.summary())
	if op.host != nil {
		add(semconv.ServerAddressKey, address(op.host))
		attrs = append(attrs, semconv.ServerPort(int(op.host.Address.Port())))
	}
	var server *cql.ServerError
	var class string
	if op.err != nil {
		class = vecql.ErrorClassOf(op.err).String()
		if errors.As(op.err, &server) {
			code := strconv.Itoa(int(server.Code))
			add(semconv.DBResponseStatusCodeKey, code)
			add(semconv.ErrorTypeKey, code)
		} else {
			add(semconv.ErrorTypeKey, class)
		}
	}
	measured := metric.WithAttributeSet(attribute.NewSet(attrs...))
	in.duration.Record(ctx, op.end.Sub(op.start).Seconds(), measured)
	if op.rows >= 0 && op.err == nil {
		in.rows.Record(ctx, int64(op.rows), measured)
	}

	name := op.summary()
	if name == "" {
		name = in.cfg.System
	}
	_, span := in.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(op.start),
		trace.WithAttributes(attrs...))
	if span.IsRecording() {
		in.describe(span, op, class)
	}
	span.End(trace.WithTimestamp(op.end))
}

// describe adds the attributes that spans have and measurements lack.
func (in *Instrumentation) describe(span trace.Span, op *operation, class string) {
	span.SetAttributes(op.extra...)
	if h := op.host; h != nil {
		span.SetAttributes(semconv.CassandraCoordinatorID(h.ID.String()), semconv.NetworkPeerAddress(address(h)),
			semconv.NetworkPeerPort(int(h.Address.Port())))
		if dc := h.DataCenter; dc != "" {
			span.SetAttributes(semconv.CassandraCoordinatorDC(dc))
		}
	}
	if op.rows >= 0 && op.err == nil {
		span.SetAttributes(semconv.DBResponseReturnedRows(op.rows))
	}
	if op.attempt > 0 {
		span.SetAttributes(attribute.Int("vecql.attempt", op.attempt))
	}
	if in.cfg.QueryText {
		span.SetAttributes(semconv.DBQueryText(op.text()))
	}
	if op.err != nil {
		text := class
		if in.cfg.ErrorText {
			text = op.err.Error()
		}
		span.SetStatus(codes.Error, text)
	}
}

// address returns a node's address without port.
func address(h *cql.Host) string {
	if a := h.Address.Addr(); a.IsValid() {
		return a.String()
	}
	return ""
}

// poolName returns the name of the connections to a node.
func poolName(h *cql.Host) string {
	if h == nil {
		return ""
	}
	return net.JoinHostPort(address(h), strconv.Itoa(int(h.Address.Port())))
}
