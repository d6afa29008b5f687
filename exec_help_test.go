// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/wire"
)

// Policies and observers for tests of requests.

// pushy is a policy that always retries.
type pushy struct {
	typ   RetryType
	asked *atomic.Int32
}

func (p pushy) Decide(context.Context, Attempt) Decision {
	p.asked.Add(1)
	return Decision{Type: p.typ}
}

// writeTimeoutFields returns the fields after the message of WRITE_TIMEOUT: consistency, received, block for, write
// type.
func writeTimeoutFields(typ string) []byte {
	b := wire.AppendShort(nil, uint16(cql.Quorum))
	b = fakecql.AppendString(wire.AppendInt(wire.AppendInt(b, 1), 2), typ)
	if typ == "CAS" {
		b = wire.AppendShort(b, 1) // contentions
	}
	return b
}

// attemptRecorder implements and records all observers.
type attemptRecorder struct {
	queries    []ObservedQuery
	batches    []ObservedBatch
	mu         sync.Mutex // guards connects: pools dial at the same time
	connects   []ObservedConnect
	frames     []ObservedFrameHeader
	streams    []string
	goroutines []string
	do         func() // called by ObserveQuery; nil means nothing
}

func (r *attemptRecorder) ObserveQuery(_ context.Context, o ObservedQuery) {
	r.queries = append(r.queries, o)
	r.goroutines = append(r.goroutines, goroutineID())
	if r.do != nil {
		r.do()
	}
}

func (r *attemptRecorder) ObserveBatch(_ context.Context, o ObservedBatch) {
	r.batches = append(r.batches, o)
}

func (r *attemptRecorder) ObserveConnect(o ObservedConnect) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.connects = append(r.connects, o)
}

func (r *attemptRecorder) ObserveFrameHeader(_ context.Context, o ObservedFrameHeader) {
	r.frames = append(r.frames, o)
}
func (r *attemptRecorder) StreamContext(context.Context) StreamObserverContext { return r }
func (r *attemptRecorder) StreamStarted(ObservedStream)                        { r.streams = append(r.streams, "started") }

func (r *attemptRecorder) StreamAbandoned(ObservedStream) { r.streams = append(r.streams, "abandoned") }

func (r *attemptRecorder) StreamFinished(ObservedStream) { r.streams = append(r.streams, "finished") }

// goroutineID returns the id of the calling goroutine.
func goroutineID() string {
	buf := make([]byte, 64)
	id, _, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), " [")
	return id
}
