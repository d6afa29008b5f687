// SPDX-License-Identifier: Apache-2.0

package otelvecql

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/vecql/vecql"
)

// This file gives the counters of sessions as metrics: read when metrics are collected, so that requests pay nothing for them.

// registration is the callback of the session that is observed.
type registration struct {
	mu      sync.Mutex
	current metric.Registration // nil: none is
}

// errObserved is returned for a second session: its counters would be taken for those of the first.
var errObserved = errors.New("otelvecql: a session is observed already; Instrument another configuration for this one")

// Observe gives the counters of a session as metrics, until Close. It is for one session at a time. Connections of one node are a pool, which is named by its address; since
// a connection carries many requests at once, as many of them are "used" as there are requests under way, all at most.
//
// Besides those of the conventions (db.client.connection.count, db.client.connection.pending_requests) there are, under vecql.: requests,
// requests.failed, requests.in_flight and requests.orphaned (per node), attempt.errors (by error.type), retries, speculative_executions and
// their wins, prepared (by result), connections (by event), tablet_hints and io (by direction).
func (in *Instrumentation) Observe(session *vecql.Session) error {
	in.registration.mu.Lock()
	defer in.registration.mu.Unlock()
	if in.registration.current != nil {
		return errObserved
	}
	var errs []error
	counter := func(name, unit, text string) metric.Int64ObservableCounter {
		c, err := in.meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
		errs = append(errs, err)
		return c
	}
	gauge := func(name, unit, text string) metric.Int64ObservableUpDownCounter {
		c, err := in.meter.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
		errs = append(errs, err)
		return c
	}
	count := gauge("db.client.connection.count", "{connection}", "The number of connections that are currently in state described by the state attribute.")
	pending := gauge("db.client.connection.pending_requests", "{request}", "The number of current pending requests for an open connection.")
	inFlight := gauge("vecql.requests.in_flight", "{request}", "Requests without an answer.")
	orphaned := gauge("vecql.requests.orphaned", "{request}", "Requests that were given up and not answered yet.")
	requests := counter("vecql.requests", "{request}", "Requests of the program: pages and batches count once each.")
	failed := counter("vecql.requests.failed", "{request}", "Requests that ended with an error.")
	attemptErrors := counter("vecql.attempt.errors", "{attempt}", "Attempts that failed.")
	retries := counter("vecql.retries", "{attempt}", "Attempts after the first one.")
	speculative := counter("vecql.speculative_executions", "{execution}", "Executions beside the first one.")
	wins := counter("vecql.speculative_executions.won", "{execution}", "Executions beside the first one that answered first.")
	prepared := counter("vecql.prepared", "{statement}", "Statements that were looked up in the cache of prepared ones.")
	connections := counter("vecql.connections", "{connection}", "Connections that were opened, were lost, or could not be opened.")
	hints := counter("vecql.tablet_hints", "{hint}", "Answers that named the right tablet.")
	io := counter("vecql.io", "By", "Bodies of requests and answers, uncompressed.")
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("otelvecql: %w", err)
	}
	with := func(attrs ...attribute.KeyValue) metric.MeasurementOption {
		return metric.WithAttributes(append(in.attributes(len(attrs)), attrs...)...)
	}
	common := with()
	r, err := in.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		st := session.Stats()
		for _, n := range st.Nodes {
			pool := semconv.DBClientConnectionPoolName(poolName(n.Host))
			used := min(n.InFlight, n.Connections)
			o.ObserveInt64(count, int64(used), with(pool, semconv.DBClientConnectionStateUsed))
			o.ObserveInt64(count, int64(n.Connections-used), with(pool, semconv.DBClientConnectionStateIdle))
			o.ObserveInt64(inFlight, int64(n.InFlight), with(pool))
			o.ObserveInt64(orphaned, int64(n.Orphans), with(pool))
		}
		o.ObserveInt64(pending, int64(st.Waiting), common)
		for _, c := range []struct {
			counter metric.Int64ObservableCounter
			n       uint64
			key     attribute.Key // empty: none
			value   string
		}{
			{requests, st.Requests, "", ""},
			{failed, st.Failed, "", ""},
			{retries, st.Retries, "", ""},
			{speculative, st.SpeculativeExecutions, "", ""},
			{wins, st.SpeculativeWins, "", ""},
			{hints, st.TabletHints, "", ""},
			{prepared, st.PreparedHits, "vecql.prepared.result", "hit"},
			{prepared, st.PreparedMisses, "vecql.prepared.result", "miss"},
			{prepared, st.PreparedAgain, "vecql.prepared.result", "forgotten"},
			{connections, st.ConnectionsOpened, "vecql.connection.event", "opened"},
			{connections, st.ConnectionsLost, "vecql.connection.event", "lost"},
			{connections, st.ConnectionsFailed, "vecql.connection.event", "failed"},
			{io, st.BytesOut, semconv.NetworkIODirectionKey, "transmit"},
			{io, st.BytesIn, semconv.NetworkIODirectionKey, "receive"},
		} {
			attrs := common
			if c.key != "" {
				attrs = with(c.key.String(c.value))
			}
			o.ObserveInt64(c.counter, int64(c.n), attrs)
		}
		for class, n := range st.Errors {
			o.ObserveInt64(attemptErrors, int64(n), with(semconv.ErrorTypeKey.String(class.String())))
		}
		return nil
	}, count, pending, inFlight, orphaned, requests, failed, attemptErrors, retries, speculative, wins, prepared, connections, hints, io)
	if err != nil {
		return fmt.Errorf("otelvecql: %w", err)
	}
	in.registration.current = r
	return nil
}

// Close ends what Observe began. Spans and measurements of requests go on as long as their sessions.
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
