// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"sync/atomic"

	"github.com/vecql/vecql"
)

// Defaults are the options of the requests of a session of v1.7 or the fork that the program can change. They are
// embedded in the Session of a module. It has the parameters of Query.
type Defaults[C, R any] struct {
	of atomic.Pointer[requestDefaults[C, R]] // nil for a session that the program made as a literal
}

// requestDefaults are immutable.
type requestDefaults[C, R any] struct {
	cons C
	rare Rare[R]
}

// InitDefaults sets the options of a new session. Its prefetch is the API's.
func InitDefaults[C, R any](d *Defaults[C, R], cons C, rare Rare[R]) {
	rare.Prefetch = 0.25
	d.of.Store(&requestDefaults[C, R]{cons, rare})
}

// get returns the options. d may be nil.
func (d *Defaults[C, R]) get() *requestDefaults[C, R] {
	if d != nil {
		if of := d.of.Load(); of != nil {
			return of
		}
	}
	return new(requestDefaults[C, R])
}

// change calls set on a copy of the options and stores the copy.
func (d *Defaults[C, R]) change(set func(o *requestDefaults[C, R])) {
	for {
		old := d.of.Load()
		o := *d.get()
		set(&o)
		if d.of.CompareAndSwap(old, &o) {
			return
		}
	}
}

// SetConsistency sets the consistency of queries and batches made from now on.
func (d *Defaults[C, R]) SetConsistency(cons C) {
	d.change(func(o *requestDefaults[C, R]) { o.cons = cons })
}

// SetPageSize sets the page size of queries made from now on; 0 or less means no paging.
func (d *Defaults[C, R]) SetPageSize(n int) {
	d.change(func(o *requestDefaults[C, R]) { o.rare.PageSize = n })
}

// SetPrefetch sets the share of a page that is left when queries made from now on request the next page.
func (d *Defaults[C, R]) SetPrefetch(p float64) {
	d.change(func(o *requestDefaults[C, R]) { o.rare.Prefetch = p })
}

// SetTrace sets the tracer of queries and batches made from now on.
func (d *Defaults[C, R]) SetTrace(trace vecql.Tracer) {
	d.change(func(o *requestDefaults[C, R]) { o.rare.Trace = trace })
}
