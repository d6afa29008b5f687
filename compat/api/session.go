// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"sync"

	"github.com/vecql/vecql"
)

// Defaults are the options of the queries of a session of v1.7 or the fork that the program can change. They are
// embedded in the Session of a module.
type Defaults[C any] struct {
	mu       sync.RWMutex
	cons     C
	pageSize int
	prefetch float64
	trace    vecql.Tracer
}

// NewDefaults returns the options of a new session.
func NewDefaults[C any](cons C, pageSize int) Defaults[C] {
	return Defaults[C]{cons: cons, pageSize: pageSize, prefetch: 0.25}
}

// SetConsistency sets the consistency of queries and batches made from now on.
func (d *Defaults[C]) SetConsistency(cons C) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cons = cons
}

// SetPageSize sets the page size of queries made from now on; 0 or less means no paging.
func (d *Defaults[C]) SetPageSize(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pageSize = n
}

// SetPrefetch sets the share of a page that is left when queries made from now on request the next page.
func (d *Defaults[C]) SetPrefetch(p float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.prefetch = p
}

// SetTrace sets the tracer of queries and batches made from now on.
func (d *Defaults[C]) SetTrace(trace vecql.Tracer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trace = trace
}

// applyTo applies the options of a session to a query. nil has none.
func (d *Defaults[C]) applyTo(st *Statement[C], trace *vecql.Tracer) {
	if d == nil {
		return
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	st.Cons, st.PageSize, st.Prefetch, *trace = d.cons, d.pageSize, d.prefetch, d.trace
}

// ofBatch returns the options of a session for a batch. nil has none.
func (d *Defaults[C]) ofBatch() (cons C, trace vecql.Tracer) {
	if d == nil {
		return cons, nil
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.cons, d.trace
}
