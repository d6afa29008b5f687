// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
)

// Tracing: the events of a request on the nodes.

// NewTraceWriter returns a Tracer that waits up to 5 s until a trace is complete and writes its events to w.
func NewTraceWriter(session *Session, w io.Writer) Tracer {
	return &traceWriter{session: session, w: w}
}

// traceWriter writes traces as text. mu keeps the lines of one trace together.
type traceWriter struct {
	session *Session
	mu      sync.Mutex
	w       io.Writer
}

// Trace implements Tracer. If the trace cannot be read, it writes the error in place of the events.
func (t *traceWriter) Trace(traceID []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	text, err := t.read(ctx, traceID)
	if err != nil {
		text = fmt.Sprintf("tracing session %x: %v\n", traceID, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = io.WriteString(t.w, text)
}

// read waits until the trace is complete and returns its text. The coordinator writes the duration of the session last.
func (t *traceWriter) read(ctx context.Context, traceID []byte) (string, error) {
	var coordinator net.IP
	var micros cql.Null[int]
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		err := t.session.Query("SELECT coordinator, duration FROM system_traces.sessions WHERE session_id = ?", traceID).
			Consistency(cql.One).Scan(ctx, &coordinator, &micros)
		if err == nil && micros.Valid {
			break
		}
		if !background.Sleep(ctx, wait) {
			if err == nil {
				err = ctx.Err()
			}
			return "", err
		}
	}
	text := fmt.Sprintf("tracing session %x (coordinator %s, duration %v):\n", traceID, coordinator,
		time.Duration(micros.V)*time.Microsecond)
	it := t.session.Query("SELECT event_id, activity, source, source_elapsed FROM system_traces.events WHERE session_id = ?", traceID).
		Consistency(cql.One).Iter(ctx)
	var at cql.UUID
	var activity string
	var source net.IP
	var elapsed int
	for it.Scan(&at, &activity, &source, &elapsed) {
		text += fmt.Sprintf("%s: %s [%s] (elapsed %v)\n", at.Time().Format("15:04:05.000000"), activity, source,
			time.Duration(elapsed)*time.Microsecond)
	}
	return text, it.Close()
}

// trace passes a tracing id to the tracer.
func (s *Session) trace(t Tracer, id cql.UUID) {
	defer s.caught("tracer")
	t.Trace(id[:]) // a copy, which the tracer may keep
}
