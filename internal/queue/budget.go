// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Errors of Budget.Acquire.
var (
	// ErrFull means that a request waited until its timeout.
	ErrFull = errors.New("the memory budget is in use")
	// ErrClosed means that the budget was closed during the wait.
	ErrClosed = errors.New("closed")
)

// A Budget bounds the memory of requests, of their answers, and of the answers that the program holds. A request whose
// size does not fit waits; an answer never does, so that each admitted request comes to its end.
//
// Every wait ends. Memory in flight belongs to admitted requests until their answers are there; it is released
// without the program's help, at the latest by the timeouts of the requests. Held memory belongs to pages and may be
// released by a goroutine that is itself about to wait for the budget: it reads the rows of one query and executes
// another one for each row. Therefore
//
//   - a request whose answer is not a page waits for memory in flight only, never for held memory;
//   - the last quarter of the budget is left to pages of at most a sixteenth of the budget;
//   - when no held memory was released for patience, one of the requests that wait for it is admitted nevertheless.
//
// A request larger than the budget is admitted when nothing that it waits for is counted. The methods may be called by
// any number of goroutines. Where no request waits, each costs one or two atomic additions.
type Budget struct {
	limit  int64
	closed <-chan struct{}

	inFlight atomic.Int64
	held     atomic.Int64
	peak     atomic.Int64
	waiting  atomic.Int64 // requests in all lines

	mu       sync.Mutex
	lines    [kinds]line
	arrivals uint64
	ticks    *time.Timer // runs while a request that waits for held memory is in line
	freed    bool        // held memory was released since the last tick
	waits    uint64
	waited   time.Duration
	overdrew uint64
}

// The kinds of requests, which have a line each.
const (
	passing   = iota // without a page
	smallPage        // with a page of at most a sixteenth of the budget
	largePage
	kinds
)

const (
	// patience is how long the program may hold all of the budget without releasing any of it.
	patience = time.Second
	// pageShare and reserveShare are parts of the budget: the largest small page, and what is left to small pages.
	pageShare, reserveShare = 16, 4
)

// NewBudget returns a budget of limit bytes. Requests stop waiting when closed is closed.
func NewBudget(limit int64, closed <-chan struct{}) *Budget {
	b := &Budget{limit: limit, closed: closed}
	b.ticks = time.AfterFunc(patience, b.tick)
	b.ticks.Stop()
	return b
}

// kind returns the kind of a request.
func (b *Budget) kind(size int64, page bool) int {
	switch {
	case !page:
		return passing
	case size <= b.limit/pageShare:
		return smallPage
	}
	return largePage
}

// most returns the memory that requests of a kind may fill.
func (b *Budget) most(kind int) int64 {
	if kind == largePage {
		return b.limit - b.limit/reserveShare
	}
	return b.limit
}

// fits reports whether a request fits beside what is counted: a page beside all memory, another request beside the
// memory in flight.
func (b *Budget) fits(inFlight, size int64, kind int) bool {
	used := inFlight
	if kind != passing {
		used += b.held.Load()
	}
	return used <= 0 || used+size <= b.most(kind)
}

// tryAdd counts a request as admitted if it fits, and reports whether it does.
func (b *Budget) tryAdd(size int64, kind int) bool {
	inFlight := b.inFlight.Add(size)
	if b.fits(inFlight-size, size, kind) {
		b.notePeak(inFlight)
		return true
	}
	b.inFlight.Add(-size)
	return false
}

// notePeak updates the peak.
func (b *Budget) notePeak(inFlight int64) {
	used := inFlight + b.held.Load()
	for peak := b.peak.Load(); used > peak && !b.peak.CompareAndSwap(peak, used); peak = b.peak.Load() {
	}
}

// Acquire admits a request. size is the size of the request and the expected answer. page means that the answer will
// be held: see Answered. Acquire blocks until the request is admitted, ctx ends, timeout has passed or the budget is
// closed; a timeout of 0 means none. waited is the time in line. The caller of an admitted request calls Answered.
func (b *Budget) Acquire(ctx context.Context, size int64, page bool,
	timeout time.Duration,
) (waited time.Duration, err error) {
	kind := b.kind(size, page)
	if b.waiting.Load() == 0 && b.tryAdd(size, kind) {
		return 0, nil
	}
	began := time.Now()
	w := &waiter{size: size, page: page}
	if b.enqueue(w, kind) {
		return 0, nil
	}
	if err = w.wait(ctx, timeout, b.closed); errors.Is(err, errTimeout) {
		err = ErrFull
	}
	waited = max(time.Since(began), 1)
	b.leave(w, kind, waited, err)
	return waited, err
}

// enqueue appends a request to its line and reports whether it was admitted at once.
func (b *Budget) enqueue(w *waiter, kind int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting.Add(1) // before the request is checked again, so that no release is missed
	b.arrivals++
	w.arrival = b.arrivals
	if kind != passing && b.holders() == 0 {
		b.freed = false
		b.ticks.Reset(patience)
	}
	b.lines[kind].push(w)
	b.admit()
	if w.admitted() {
		return true
	}
	b.waits++
	return false
}

// holders returns the number of requests in line that wait for held memory too. Callers hold b.mu.
func (b *Budget) holders() int { return b.lines[smallPage].n + b.lines[largePage].n }

// leave ends the wait of a request. After an error it withdraws the request, even if it has just been admitted.
func (b *Budget) leave(w *waiter, kind int, waited time.Duration, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waited += waited
	if err == nil {
		return
	}
	if w.admitted() {
		b.inFlight.Add(-w.size)
	} else {
		b.remove(w, kind)
	}
	b.admit() // others may have been queued behind it
}

// remove removes a request from its line. Callers hold b.mu.
func (b *Budget) remove(w *waiter, kind int) {
	b.lines[kind].remove(w)
	b.waiting.Add(-1)
	if kind != passing && b.holders() == 0 {
		b.ticks.Stop()
	}
}

// admit admits requests while they fit, in order of arrival, except that requests which wait for held memory are
// overtaken. Callers hold b.mu.
func (b *Budget) admit() {
	for {
		w, kind := b.first()
		if w == nil || !b.tryAdd(w.size, kind) {
			return
		}
		b.remove(w, kind)
		close(w.done)
	}
}

// first returns the request in line that is the next to be admitted: of the heads of the lines that do not wait for
// held memory the one that arrived first. nil means none. Callers hold b.mu.
func (b *Budget) first() (first *waiter, kind int) {
	for k := range b.lines {
		w := b.lines[k].head
		if w == nil || b.blocked(w, k) || first != nil && first.arrival < w.arrival {
			continue
		}
		first, kind = w, k
	}
	return first, kind
}

// blocked reports whether a request would not fit even if no other request were in flight.
func (b *Budget) blocked(w *waiter, kind int) bool { return !b.fits(0, w.size, kind) }

// tick admits a request beyond the budget if no held memory was released since the last tick.
func (b *Budget) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for kind := smallPage; kind < kinds && !b.freed; kind++ {
		w := b.lines[kind].head
		if w == nil || !b.blocked(w, kind) {
			continue
		}
		b.overdrew++
		b.notePeak(b.inFlight.Add(w.size))
		b.remove(w, kind)
		close(w.done)
		break
	}
	if b.freed = false; b.holders() > 0 {
		b.ticks.Reset(patience)
	}
}

// Add counts memory of an answer that is arriving, beyond what its request has acquired. It never blocks.
func (b *Budget) Add(size int64) { b.notePeak(b.inFlight.Add(size)) }

// Release releases memory in flight.
func (b *Budget) Release(size int64) {
	b.inFlight.Add(-size)
	b.wake(false)
}

// Answered ends the part in flight of a request: it releases size and counts the answer as held.
func (b *Budget) Answered(size, answer int64) {
	if answer > 0 {
		b.held.Add(answer)
	}
	inFlight := b.inFlight.Add(-size)
	if answer > size {
		b.notePeak(inFlight)
	}
	b.wake(false)
}

// ReleaseHeld releases held memory.
func (b *Budget) ReleaseHeld(size int64) {
	b.held.Add(-size)
	b.wake(true)
}

// wake admits requests after memory was released.
func (b *Budget) wake(held bool) {
	if b.waiting.Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.freed = b.freed || held
	b.admit()
}

// Full reports whether a request would block, or others are waiting.
func (b *Budget) Full(size int64, page bool) bool {
	return b.waiting.Load() > 0 || !b.fits(b.inFlight.Load(), size, b.kind(size, page))
}

// Limit returns the size of the budget.
func (b *Budget) Limit() int64 { return b.limit }

// Usage is a snapshot of a Budget. Sizes are in bytes.
type Usage struct {
	InFlight, Held, Peak int64
	Waiting              int
	Waits                uint64        // requests that had to wait
	Waited               time.Duration // by requests that have left their line
	Overdrawn            uint64        // requests admitted beyond the budget because no held memory was released
}

// Usage returns a snapshot.
func (b *Budget) Usage() Usage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Usage{
		InFlight: b.inFlight.Load(), Held: b.held.Load(), Peak: b.peak.Load(), Waiting: int(b.waiting.Load()),
		Waits: b.waits, Waited: b.waited, Overdrawn: b.overdrew,
	}
}
