// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/paging"
	"github.com/vecql/vecql/stats"
)

// A worker of a scan: it reads the pages of a part, requests the next page while the program has one, and tries again
// after failures.

// The wait before a failed range is read again: exponential backoff.
const (
	firstWait = 100 * time.Millisecond
	longWait  = 5 * time.Second
)

// restartAfter is the number of failures of one page after which an attempt begins again at the position of its part,
// because the state of the page may be the cause. With fewer retries the last one begins there.
const restartAfter = 6

// A reader is a worker of a scan.
type reader struct {
	scan   *Scan
	number int
	pages  [2]page // used in turn: the program has one while the other is filled
	ahead  *request
}

// A request is the request of a page that is under way.
type request struct {
	cancel    context.CancelFunc
	responses chan response // one
}

// A place is the place of a page in an attempt.
type place struct {
	state cql.PageToken    // nil means the first page
	empty *paging.EmptyRun // the pages without rows before the page
}

// A response is a page, with the place of the next one.
type response struct {
	page page
	next place // without a state if the part has no further page
	err  error
}

// readAll reads parts until none is left.
func (r *reader) readAll(ctx context.Context) error {
	for ctx.Err() == nil {
		w, ok := r.scan.take(r.number)
		if !ok {
			return nil
		}
		if err := r.read(ctx, &w); err != nil {
			return err
		}
		r.scan.mu.Lock()
		delete(r.scan.open, r.number)
		r.scan.mu.Unlock()
	}
	return context.Cause(ctx)
}

// An attempt reads a part from its position at the start of the attempt. It survives failures: a failed page is
// requested again by its state, so that the rows of a partition that were read before are dropped once only.
type attempt struct {
	from  Part
	at    cursor
	next  place // of the next page
	fails int   // of the next page so far
}

func newAttempt(p Part) attempt { return attempt{from: p, at: newCursor(p)} }

// read reads one part. After a failure it requests the page again, and cuts the part if that fails, too.
func (r *reader) read(ctx context.Context, w *work) error {
	a := newAttempt(w.Part)
	for {
		again, err := r.readPages(ctx, w, &a)
		if err == nil || !again {
			return err
		}
		if w.failures++; w.failures > r.scan.cfg.Retries {
			return &RangeError{Part: w.Part, Failures: w.failures, Err: err}
		}
		a.fails++
		if cut := r.scan.failed(r.number, w); cut || !mayRepeat(err) || a.fails == min(restartAfter, r.scan.cfg.Retries) {
			a = newAttempt(w.Part)
		}
		wait := background.Exponential(firstWait, longWait, w.failures-1)
		if !background.Sleep(ctx, background.Jitter(wait)) {
			return context.Cause(ctx)
		}
	}
}

// failed counts a failure. If the part failed repeatedly, it puts the upper half at the front of the queue and reports
// true.
func (s *Scan) failed(worker int, w *work) (cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures++
	if w.failures > 1 {
		s.pages.failed()
		var lower, upper Part
		if lower, upper, cut = w.cut(); cut {
			w.Part = lower
			s.queue = slices.Insert(s.queue, 0, work{Part: upper, failures: w.failures})
		}
	}
	s.open[worker] = *w
	return cut
}

// readPages reads a part page by page until its end or a failure. again means that another attempt may succeed. After
// each page that was passed to the program it advances w.
func (r *reader) readPages(ctx context.Context, w *work, a *attempt) (again bool, err error) {
	defer r.dropAhead()
	for {
		got := r.nextPage(ctx, a)
		if got.err != nil {
			return ctx.Err() == nil && (mayRepeat(got.err) || a.next.state != nil && refusesState(got.err)), got.err
		}
		before := a.at
		dropped, rest, err := a.read(got, r.scan.pages)
		if err != nil {
			return false, fmt.Errorf("tablescan: read tokens above %d up to %d: %w", w.Start, w.End, err)
		}
		if len(a.next.state) > 0 && r.scan.roomAhead() {
			r.ask(ctx, a)
		}
		if err := r.pass(w, &before, got.page, dropped, rest); err != nil {
			return false, err
		}
		if len(a.next.state) == 0 {
			return false, nil
		}
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
	}
}

// read moves the attempt over a page. It returns the number of rows at the start of the page that were read before, and
// the position after the page.
func (a *attempt) read(got response, sizes *pager) (dropped int, rest Part, err error) {
	if tokens := got.page.tokens(); len(tokens) > 0 {
		if dropped, rest, err = a.at.pass(tokens); err != nil {
			return 0, Part{}, err
		}
		sizes.read(len(tokens), got.page.size())
	}
	a.next, a.fails = got.next, 0
	return dropped, rest, nil
}

// pageRows returns the number of rows to request.
func (r *reader) pageRows(a *attempt) int {
	rows := r.scan.pages.next()
	if a.fails == 0 { // few large pages reach the new rows sooner
		rows = max(rows, int(min(a.at.toDrop(), int64(r.scan.pages.full()))))
	}
	return rows
}

// nextPage returns the next page of an attempt, which may have been requested ahead.
func (r *reader) nextPage(ctx context.Context, a *attempt) response {
	if r.ahead == nil {
		return r.fetch(ctx, a.from, a.next, r.pageRows(a))
	}
	ahead := r.ahead
	r.ahead = nil
	got := <-ahead.responses
	ahead.cancel()
	return got
}

// ask requests the next page of an attempt in the background.
func (r *reader) ask(ctx context.Context, a *attempt) {
	ctx, cancel := context.WithCancel(ctx)
	r.ahead = &request{cancel: cancel, responses: make(chan response, 1)}
	ahead, from, next, rows := r.ahead, a.from, a.next, r.pageRows(a)
	go func() { ahead.responses <- r.fetch(ctx, from, next, rows) }()
}

// dropAhead ends the request of the next page, if there is one.
func (r *reader) dropAhead() {
	if r.ahead != nil {
		r.ahead.cancel()
		<-r.ahead.responses
		r.ahead = nil
	}
}

// roomAhead reports whether the next page may be requested before the program has acknowledged the current one: half of
// the session's memory budget is left to other requests.
func (s *Scan) roomAhead() bool {
	if s.budget == 0 {
		return true
	}
	return hasRoom(s.session.Stats().Memory, int64(s.cfg.PageBytes))
}

// hasRoom reports whether a page fits into half of a memory budget for which no request waits.
func hasRoom(m stats.Memory, page int64) bool {
	return m.Waiting == 0 && m.InFlight+m.Held+page <= m.Budget/2
}

// fetch reads the page of a part at a place, of at most that many rows.
//
// The number of rows is the only bound that all servers have. CASSANDRA-11745 adds a flag by which the page size of a
// request counts bytes (bit 30 of the flags in its drafts; no release and no protocol document has it yet). The scan
// does not use it: a server without the flag ignores it, and would read a size of 1 MiB as a million rows.
func (r *reader) fetch(ctx context.Context, p Part, at place, rows int) response {
	s := r.scan
	if !at.empty.Await(ctx) {
		return response{err: context.Cause(ctx)}
	}
	values := slices.Concat(s.cfg.Values[:s.before], []any{p.Start, p.End}, s.cfg.Values[s.before:])
	q := s.session.Query(s.text, values...).Idempotent(true).RoutingToken(p.End)
	if s.cfg.Query != nil {
		s.cfg.Query(q)
	}
	it := q.PageSize(rows).PageState(at.state).Iter(ctx)
	into := r.pages[0]
	r.pages[0], r.pages[1] = r.pages[1], r.pages[0]
	err := into.read(it)
	next := place{state: it.PageState()}
	if closed := it.Close(); closed != nil {
		err = closed
	}
	if err == nil {
		if next.empty, err = at.empty.After(len(into.tokens()), at.state, next.state); err != nil {
			err = &cql.ProtocolError{Message: "read the next page of a part", Err: err}
		}
	}
	return response{into, next, err}
}

// mayRepeat reports whether a request that failed with err may succeed later.
func mayRepeat(err error) bool {
	switch {
	case errors.Is(err, vecql.ErrSessionClosed):
		return false
	case errors.Is(err, paging.ErrRepeated): // another node may have the next page
		return true
	}
	switch vecql.ErrorClassOf(err) {
	case stats.ClassOther, stats.ClassInvalid, stats.ClassCanceled:
		return false
	}
	return true
}

// refusesState reports whether err can come from a server that refuses the state of a page, such as a node of another
// version than the one that made the state.
func refusesState(err error) bool {
	return errors.Is(err, cql.CodeInvalid) || errors.Is(err, cql.CodeProtocol) || errors.Is(err, cql.CodeServer)
}

// pass passes the new rows of a page to the program, and advances w by those that it acknowledged. before is the cursor
// before the page, rest the position after it.
func (r *reader) pass(w *work, before *cursor, p page, dropped int, rest Part) error {
	// before the program has the page, which it may keep and change
	tokens, count, size := p.tokens(), len(p.tokens()), p.size()
	if dropped == count {
		return nil
	}
	rows, err := p.pass(r.number, dropped)
	if rows == 0 {
		return err
	}
	if read := dropped + rows; read < count {
		_, rest, _ = before.pass(tokens[:read]) // the whole page has passed
	}
	*w = work{Part: rest}
	r.scan.acknowledge(r.number, w, rows, size*rows/count)
	return err
}
