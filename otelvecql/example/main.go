// SPDX-License-Identifier: Apache-2.0

// Command example records the spans and metrics of a session with OpenTelemetry, and prints them.
//
//	go run ./otelvecql/example [host:port ...]
//
// Without hosts it starts a cluster in its own process, whose first node to receive the INSERT refuses it: the driver
// sends it again, which is a second span of the same request. Then it prints:
//
//	span CREATE KEYSPACE examples
//	span CREATE TABLE examples.sales
//	span INSERT examples.sales: overloaded
//	span INSERT examples.sales, retry 1
//	span place order
//	metric vecql.requests 3
//	metric vecql.retries 1
//
// The command in the folder prometheus serves the metrics to Prometheus.
//
// In production, the exporter of the spans is otlptracegrpc with sdktrace.WithBatcher, and the reader of the metrics a
// PeriodicReader with otlpmetricgrpc.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/otelvecql"
)

// A printer is an exporter that prints spans.
type printer struct{ out io.Writer }

// ExportSpans implements trace.SpanExporter.
func (p printer) ExportSpans(_ context.Context, spans []trace.ReadOnlySpan) error {
	for _, span := range spans {
		text := "span " + span.Name()
		for _, a := range span.Attributes() {
			if a.Key == "vecql.attempt" { // the first attempt has none
				text += ", retry " + a.Value.String()
			}
		}
		if status := span.Status(); status.Code == codes.Error {
			text += ": " + status.Description
		}
		fmt.Fprintln(p.out, text)
	}
	return nil
}

// Shutdown implements trace.SpanExporter.
func (printer) Shutdown(context.Context) error { return nil }

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, hosts []string, out io.Writer) error {
	if len(hosts) == 0 {
		cluster, err := cqltest.Start(cqltest.Config{})
		if err != nil {
			return err
		}
		defer cluster.Close()
		overloaded := &cqltest.Error{Code: cqltest.CodeOverloaded}
		cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT INTO examples", Times: 1, Error: overloaded})
		hosts = cluster.Hosts()
	}
	tracers := trace.NewTracerProvider(trace.WithSyncer(printer{out}))
	defer func() { _ = tracers.Shutdown(ctx) }()
	reader := metric.NewManualReader()
	meters := metric.NewMeterProvider(metric.WithReader(reader))
	defer func() { _ = meters.Shutdown(ctx) }()

	config := &vecql.ClusterConfig{Hosts: hosts}
	telemetry, err := otelvecql.Instrument(config, otelvecql.Config{TracerProvider: tracers, MeterProvider: meters})
	if err != nil {
		return err
	}
	defer func() { _ = telemetry.Close() }()
	session, err := vecql.NewSession(ctx, *config)
	if err != nil {
		return err
	}
	defer session.Close()
	if err := telemetry.Observe(session); err != nil {
		return err
	}
	for _, ddl := range []string{
		"CREATE KEYSPACE IF NOT EXISTS examples WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE IF NOT EXISTS examples.sales (id int PRIMARY KEY, item text)",
	} {
		if err := session.Query(ddl).Exec(ctx); err != nil {
			return err
		}
	}
	ctx, span := tracers.Tracer("shop").Start(ctx, "place order") // the parent of the spans of the requests
	err = session.Query("INSERT INTO examples.sales (id, item) VALUES (?, ?)", 1, "lamp").Idempotent(true).Exec(ctx)
	span.End()
	if err != nil {
		return err
	}
	return printMetrics(ctx, reader, out)
}

// printMetrics prints the counters of the requests; there are more metrics.
func printMetrics(ctx context.Context, reader metric.Reader, out io.Writer) error {
	var all metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &all); err != nil {
		return err
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if sum, ok := m.Data.(metricdata.Sum[int64]); ok && (m.Name == "vecql.requests" || m.Name == "vecql.retries") {
				fmt.Fprintln(out, "metric", m.Name, sum.DataPoints[0].Value)
			}
		}
	}
	return nil
}
