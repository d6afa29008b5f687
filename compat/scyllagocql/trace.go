// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Tracing.

// A TraceEntry is an activity of a traced request.
type TraceEntry struct {
	Timestamp time.Time
	Activity  string
	Source    string
	Thread    string
	Elapsed   int // in microseconds since the start of the request at Source
}

// A TracerEnhanced stores the tracing ids of requests. Its other methods read their traces.
type TracerEnhanced struct {
	session *Session
	mu      sync.Mutex
	ids     [][]byte
}

// NewTracer returns a Tracer of requests of the session.
func NewTracer(session *Session) *TracerEnhanced { return &TracerEnhanced{session: session} }

// Trace implements Tracer.
func (t *TracerEnhanced) Trace(traceId []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ids = append(t.ids, traceId)
}

// AllTraceIDs returns the tracing ids.
func (t *TracerEnhanced) AllTraceIDs() [][]byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([][]byte(nil), t.ids...)
}

// IsReady reports whether the server has written the whole trace.
func (t *TracerEnhanced) IsReady(traceId []byte) (bool, error) {
	_, duration, err := t.GetCoordinatorTime(traceId)
	return duration > 0, err
}

// GetCoordinatorTime returns the coordinator of a request and its duration, 0 if the trace is not ready.
func (t *TracerEnhanced) GetCoordinatorTime(traceId []byte) (string, time.Duration, error) {
	var coordinator string
	var duration int
	err := t.session.system("SELECT coordinator, duration FROM system_traces.sessions WHERE session_id = ?", traceId).
		Scan(&coordinator, &duration)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return coordinator, time.Duration(duration) * time.Microsecond, err
}

// GetActivities returns the activities of a request.
func (t *TracerEnhanced) GetActivities(traceId []byte) ([]TraceEntry, error) {
	it := t.session.system("SELECT event_id, activity, source, source_elapsed, thread FROM system_traces.events "+
		"WHERE session_id = ?", traceId).Iter()
	var out []TraceEntry
	for {
		var e TraceEntry
		if !it.Scan(&e.Timestamp, &e.Activity, &e.Source, &e.Elapsed, &e.Thread) {
			return out, it.Close()
		}
		out = append(out, e)
	}
}

// system returns a query of the system tables: with consistency ONE, without observers, tracing and warnings.
func (s *Session) system(stmt string, values ...any) *Query {
	q := s.Query(stmt, values...).Consistency(One).Idempotent(true)
	q.quiet = true
	return q.Observer(nil).Trace(nil)
}

// A TraceWriter is a Tracer that writes the trace of each request as text.
type TraceWriter struct {
	tracer *TracerEnhanced
	mu     sync.Mutex
	w      io.Writer

	attempts int
	interval time.Duration
}

// NewTraceWriter returns a TraceWriter that writes to w.
func NewTraceWriter(session *Session, w io.Writer) *TraceWriter {
	return &TraceWriter{tracer: NewTracer(session), w: w, attempts: 5, interval: 3 * time.Millisecond}
}

// SetMaxAttempts sets how often a trace that is not ready is read.
func (t *TraceWriter) SetMaxAttempts(maxAttempts int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.attempts = maxAttempts
}

// SetSleepInterval sets the wait between the attempts.
func (t *TraceWriter) SetSleepInterval(sleepInterval time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.interval = sleepInterval
}

// Trace implements Tracer. It waits until the server has written the trace.
func (t *TraceWriter) Trace(traceId []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.write(traceId); err != nil {
		t.printf("Error: %v\n", err)
	}
}

// printf writes text. An error of the writer has no other place to go, and is ignored.
func (t *TraceWriter) printf(format string, args ...any) { _, _ = fmt.Fprintf(t.w, format, args...) }

// write writes a trace, after as many attempts to read it as it needs.
func (t *TraceWriter) write(traceId []byte) error {
	coordinator, duration, err := t.tracer.GetCoordinatorTime(traceId)
	for range t.attempts - 1 {
		if err != nil || duration > 0 {
			break
		}
		time.Sleep(t.interval)
		coordinator, duration, err = t.tracer.GetCoordinatorTime(traceId)
	}
	if err != nil {
		return err
	}
	if duration <= 0 {
		t.printf("Error: failed to wait tracing to complete. !!! Tracing is incomplete !!!\n")
	}
	t.printf("Tracing session %016x (coordinator: %s, duration: %v):\n", traceId, coordinator, duration)
	entries, err := t.tracer.GetActivities(traceId)
	for _, e := range entries {
		t.printf("%s: %s [%s] (source: %s, elapsed: %d)\n", e.Timestamp.Format("2006/01/02 15:04:05.999999"), e.Activity,
			e.Thread, e.Source, e.Elapsed)
	}
	return err
}
