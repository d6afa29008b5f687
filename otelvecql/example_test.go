// SPDX-License-Identifier: Apache-2.0

package otelvecql_test

import (
	"context"
	"fmt"
	"log"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/otelvecql"
)

// A session whose requests are spans. A program sets the provider of its exporter in place of the recorder.
func ExampleInstrument() {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	spans := tracetest.NewSpanRecorder()
	config := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
	telemetry, err := otelvecql.Instrument(config, otelvecql.Config{
		TracerProvider: trace.NewTracerProvider(trace.WithSpanProcessor(spans)), QueryText: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = telemetry.Close() }()
	session, err := vecql.NewSession(context.Background(), *config)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	if err := telemetry.Observe(session); err != nil { // its counters become metrics
		log.Fatal(err)
	}
	var version string
	if err := session.Query("SELECT release_version FROM system.local WHERE key = 'local'").
		Scan(context.Background(), &version); err != nil {
		log.Fatal(err)
	}
	for _, span := range spans.Ended() {
		fmt.Println(span.Name())
		for _, a := range span.Attributes() {
			if a.Key == "db.query.text" {
				fmt.Println(a.Value.AsString())
			}
		}
	}
	// Output:
	// SELECT system.local
	// SELECT release_version FROM system.local WHERE key = ?
}
