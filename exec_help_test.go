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
	"github.com/vecql/vecql/internal/hooks"
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

// attemptRecorder has all observers and records what they see.
type attemptRecorder struct {
	queries    []ObservedAttempt
	batches    []ObservedAttempt
	mu         sync.Mutex // guards connects: pools dial at the same time
	connects   []ObservedConnect
	frames     []wire.Header
	streams    []string
	goroutines []string
	do         func() // called for a query; nil means nothing
}

func (r *attemptRecorder) observe(_ context.Context, a ObservedAttempt) {
	if _, isBatch := a.Request.(*Batch); isBatch {
		r.batches = append(r.batches, a)
		return
	}
	r.queries = append(r.queries, a)
	r.goroutines = append(r.goroutines, goroutineID())
	if r.do != nil {
		r.do()
	}
}

func (r *attemptRecorder) connected(o ObservedConnect) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.connects = append(r.connects, o)
}

// exchange is a hook of a session.
func (r *attemptRecorder) exchange(context.Context, *cql.Host) func(hooks.Answer) {
	r.streams = append(r.streams, "started")
	return func(a hooks.Answer) {
		if a.Header == nil {
			r.streams = append(r.streams, "abandoned")
			return
		}
		r.frames = append(r.frames, *a.Header)
		r.streams = append(r.streams, "finished")
	}
}

// goroutineID returns the id of the calling goroutine.
func goroutineID() string {
	buf := make([]byte, 64)
	id, _, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), " [")
	return id
}
