// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// This file holds what lets a user see into a request on the server: tracing.

// Tracer receives the tracing id, 16 bytes, of each traced request, on the goroutine that made the request. It may keep the slice.
type Tracer interface {
	Trace(traceID []byte)
}

// NewTraceWriter returns a Tracer that waits for each trace to be complete, at most a few seconds, and writes its events to w.
func NewTraceWriter(session *Session, w io.Writer) Tracer {
	return &traceWriter{session: session, w: w}
}

type traceWriter struct {
	session *Session
	mu      sync.Mutex
	w       io.Writer
}

// Trace implements Tracer. A trace that can't be read, or written to w, is reported in place of its events.
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

// read waits until the coordinator has written the session's duration, which it does last.
func (t *traceWriter) read(ctx context.Context, traceID []byte) (string, error) {
	var coordinator net.IP
	var micros Null[int]
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		err := t.session.Query("SELECT coordinator, duration FROM system_traces.sessions WHERE session_id = ?", traceID).
			Consistency(One).ScanContext(ctx, &coordinator, &micros)
		if err == nil && micros.Valid {
			break
		}
		if !sleep(ctx, wait) {
			if err == nil {
				err = ctx.Err()
			}
			return "", err
		}
	}
	text := fmt.Sprintf("tracing session %x (coordinator %s, duration %v):\n", traceID, coordinator, time.Duration(micros.V)*time.Microsecond)
	it := t.session.Query("SELECT event_id, activity, source, source_elapsed FROM system_traces.events WHERE session_id = ?", traceID).
		Consistency(One).IterContext(ctx)
	var at UUID
	var activity string
	var source net.IP
	var elapsed int
	for it.Scan(&at, &activity, &source, &elapsed) {
		text += fmt.Sprintf("%s: %s [%s] (elapsed %v)\n", at.Time().Format("15:04:05.000000"), activity, source, time.Duration(elapsed)*time.Microsecond)
	}
	return text, it.Close()
}
