// SPDX-License-Identifier: Apache-2.0

// Package paging bounds results whose pages repeat or have no rows.
package paging

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/vecql/vecql/internal/background"
)

// ErrRepeated means that the paging state of a page leads to that page again.
var ErrRepeated = errors.New("the page has a paging state that leads to the same page again")

const (
	// freePages is the number of empty pages in a row after which further ones are paced.
	freePages = 64
	// pace is the least time from the request of an empty page to the next request. ScyllaDB ends a page after 10,000
	// tombstones (query_tombstone_page_limit), whose reading takes about as long, so its pages are not delayed.
	pace = 5 * time.Millisecond
	// cycleLeast is the number of empty pages in a row after which a paging state that was seen before is an error.
	cycleLeast = 1024
)

// An EmptyRun is a run of pages without rows. A server may send any number of them before further rows. An error ends a
// run that cannot end by itself, and other long runs have a bounded rate of requests. nil is a run without pages.
type EmptyRun struct {
	count int
	mark  []byte // a paging state of the run, see After
	asked time.Time
}

// After returns the run after a further page, which was requested with the paging state sent, has this number of rows,
// and whose next page has the state next; empty means that it is the last one. A page with rows ends the run. The error
// is ErrRepeated. States of empty pages that lead to each other in a circle are found by Brent's algorithm, which keeps
// the state of the last page whose number is a power of two.
func (r *EmptyRun) After(rows int, sent, next []byte) (*EmptyRun, error) {
	switch {
	case len(next) == 0:
		return nil, nil
	case bytes.Equal(sent, next):
		return r, ErrRepeated
	case rows > 0:
		return nil, nil
	case r == nil:
		r = new(EmptyRun)
	}
	r.count++
	if r.count > cycleLeast && bytes.Equal(r.mark, next) {
		return r, ErrRepeated
	}
	if r.count&(r.count-1) == 0 {
		r.mark = bytes.Clone(next)
	}
	return r, nil
}

// Await blocks before the request of the page after the run, as long as the pace of requests needs, and reports whether
// ctx lasted.
func (r *EmptyRun) Await(ctx context.Context) bool {
	if r == nil || r.count < freePages {
		return true
	}
	if wait := pace - time.Since(r.asked); wait > 0 && !background.Sleep(ctx, wait) {
		return false
	}
	r.asked = time.Now()
	return true
}
