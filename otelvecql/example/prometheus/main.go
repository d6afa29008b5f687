// SPDX-License-Identifier: Apache-2.0

// Command prometheus serves the metrics of a session to Prometheus, and its health to a load balancer.
//
//	go run ./otelvecql/example/prometheus [-listen :9464] [host:port ...]
//
// With -listen it serves /metrics and /health until it is interrupted; grafana.json in the folder of otelvecql is a
// dashboard for Grafana with these metrics. Without -listen it reads both once. Without hosts it starts a cluster of
// three nodes in its own process. Then it prints:
//
//	/health 200
//	vecql_node_serving 1
//	vecql_node_serving 1
//	vecql_node_serving 1
//	vecql_requests_total 102
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/otelvecql"
)

func main() {
	listen := flag.String("listen", "", "address to serve /metrics and /health at; empty means to read them once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, flag.Args(), func(handler http.Handler) error {
		if *listen == "" {
			return readOnce(handler, os.Stdout)
		}
		return serve(ctx, *listen, handler)
	})
	if err != nil {
		log.Fatal(err)
	}
}

// run calls use with a handler of /metrics and /health of a session.
func run(ctx context.Context, hosts []string, use func(http.Handler) error) error {
	if len(hosts) == 0 {
		cluster, err := cqltest.Start(cqltest.Config{Nodes: 3})
		if err != nil {
			return err
		}
		defer cluster.Close()
		hosts = cluster.Hosts()
	}
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo())
	if err != nil {
		return err
	}
	meters := metric.NewMeterProvider(metric.WithReader(reader))
	defer func() { _ = meters.Shutdown(context.Background()) }()

	config := &vecql.ClusterConfig{Hosts: hosts}
	config.Limits.MemoryBudget = 256 << 20
	telemetry, err := otelvecql.Instrument(config, otelvecql.Config{MeterProvider: meters})
	if err != nil {
		return err
	}
	session, err := vecql.NewSession(ctx, *config)
	if err != nil {
		return err
	}
	defer session.Close()
	if err := telemetry.Observe(session); err != nil {
		return err
	}
	defer func() { _ = telemetry.Close() }()

	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) {
		health := session.Health()
		w.Header().Set("Content-Type", "application/json")
		if !health.Serving {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(health)
	})
	if err := work(ctx, session); err != nil {
		return err
	}
	return use(mux)
}

// work waits for all nodes and sends some requests, so that there is something to see.
func work(ctx context.Context, session *vecql.Session) error {
	ready, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := session.Ready(ready); err != nil {
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
	for id := range 100 {
		if err := session.Query("INSERT INTO examples.sales (id, item) VALUES (?, 'lamp')", id).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// serve serves until ctx ends.
func serve(ctx context.Context, listen string, handler http.Handler) error {
	server := &http.Server{
		Addr: listen, Handler: handler, ReadHeaderTimeout: 5 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// readOnce prints the status of the health check, and the metrics that the comment of this command shows.
func readOnce(handler http.Handler, out io.Writer) error {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/health", nil))
	fmt.Fprintln(out, "/health", answer.Code)
	answer = httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), "{")
		_, value, _ := strings.Cut(rest, "} ")
		if name == "vecql_requests_total" || name == "vecql_node_serving" {
			fmt.Fprintln(out, name, value)
		}
	}
	return nil
}
