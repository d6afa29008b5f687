// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"errors"
	"math"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/background"
)

// Dispatch: a row waits in the queue of a target until the limits let a worker send it. A failed row is delayed, and
// then goes to the queue of a target again.

// A job is the rows of one call of Write.
type job struct {
	rows   rowSet
	key    []int // bind markers of the clustering columns
	source string
	first  int64 // number of row 0
	sets   *rowSets

	announced int64 // the first row that is not announced; for statements that are not idempotent
}

// A task is a row, or several rows of a batch, that are accepted and not finished.
type task struct {
	job      *job
	row      int // the first one, in the job
	rows     int
	encoded  *vecql.EncodedRows // without rows if the statement could not be prepared yet
	size     int                // in bytes, encoded
	attempts int
	since    time.Time // of the first attempt
	target   *target
}

func (t *task) index() int64 { return t.job.first + int64(t.row) }

// A target is a node or shard with its limit and its queue. Writer.mu guards it.
type target struct {
	key      vecql.Replica
	limit    limiter
	inFlight int
	queue    []task
	head     int // of queue
}

func (t *target) queued() int { return len(t.queue) - t.head }

// wait returns about how long a further row would wait: the share of the limit that is used, the queue included, times
// the latency. A slow replica gets few rows, and always one, which measures its latency. Before the first response a
// target gets no rows beyond its limit if there are others.
func (t *target) wait() float64 {
	latency := t.limit.latency
	if latency == 0 {
		latency = 1
		if t.inFlight+t.queued() >= int(t.limit.limit) {
			latency = math.MaxFloat64
		}
	}
	return float64(t.inFlight+t.queued()) / t.limit.limit * latency
}

// full reports whether the queue has as many rows as the limit, so that one round trip is prepared.
func (t *target) full() bool { return t.queued() >= int(t.limit.limit) }

func (t *target) push(next task) {
	if len(t.queue) == cap(t.queue) && t.head > len(t.queue)/2 { // reuse the memory of rows that were sent
		n := copy(t.queue, t.queue[t.head:])
		clear(t.queue[n:])
		t.queue, t.head = t.queue[:n], 0
	}
	next.target = t
	t.queue = append(t.queue, next)
}

func (t *target) pop() task {
	next := t.queue[t.head]
	t.queue[t.head] = task{}
	if t.head++; t.head == len(t.queue) {
		t.queue, t.head = t.queue[:0], 0
	}
	return next
}

// A delayedTask is a failed row that is due later.
type delayedTask struct {
	task

	due time.Time
}

// Delays of a failed row, and attempts of a row for which a server has an error that need not pass.
const (
	firstDelay        = 25 * time.Millisecond
	mostDelay         = time.Second
	maxServerAttempts = 10
)

// A worker sends one row at a time.
type worker struct{ tasks chan task }

// offer accepts the rows of the group if the bounds allow.
func (w *Writer) offer(t task) (accepted bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch err := w.stopped(); {
	case err != nil:
		return false, err
	case w.tasks > 0 && (w.tasks >= 2*w.o.MaxInFlight || w.pendingBytes+int64(t.size) > w.o.MaxBytes):
		w.waits = true
		return false, nil
	}
	to := w.choose(w.group.targets)
	if to.full() {
		w.waits = true
		return false, nil
	}
	w.tasks++
	w.pending += t.rows
	w.pendingBytes += int64(t.size)
	w.peakBytes = max(w.peakBytes, w.pendingBytes)
	to.push(t)
	w.send(to)
	return true, nil
}

// choose returns the target with the shortest wait. Without candidates the driver chooses a node. Callers
// hold w.mu.
func (w *Writer) choose(candidates []vecql.Replica) *target {
	if len(candidates) == 0 {
		return w.target(vecql.Replica{Shard: -1})
	}
	var best *target
	for _, key := range candidates {
		if t := w.target(key); best == nil || t.wait() < best.wait() {
			best = t
		}
	}
	return best
}

// target returns the target of a key. Callers hold w.mu.
func (w *Writer) target(key vecql.Replica) *target {
	t := w.targets[key]
	if t == nil {
		t = &target{key: key, limit: newLimiter(w.o.MaxInFlight)}
		w.targets[key] = t
	}
	return t
}

// send hands queued tasks of a target to workers, within the limits. Callers hold w.mu.
func (w *Writer) send(t *target) {
	for {
		next, ok := w.begin(t)
		if !ok {
			return
		}
		if len(w.idle) == 0 {
			k := &worker{tasks: make(chan task, 1)}
			w.workers.Go(func() { w.work(k) })
			w.idle = append(w.idle, k)
		}
		k := w.idle[len(w.idle)-1]
		w.idle = w.idle[:len(w.idle)-1]
		k.tasks <- next
	}
}

// begin takes the next task of a target, if the limits let it be sent. Callers hold w.mu.
func (w *Writer) begin(t *target) (next task, ok bool) {
	if t.queued() == 0 || t.inFlight >= int(t.limit.limit) {
		return task{}, false
	}
	if w.inFlight >= w.o.MaxInFlight {
		w.starved = true
		return task{}, false
	}
	t.inFlight++
	w.inFlight++
	w.peakInFlight = max(w.peakInFlight, w.inFlight)
	return t.pop(), true
}

// work sends tasks until the writer is closed.
func (w *Writer) work(k *worker) {
	for t := range k.tasks {
		for more := true; more; {
			began := time.Now()
			err := w.exec(&t)
			t, more = w.done(k, t, began, err)
		}
	}
}

// done handles the end of a request that began then, with the error err. It returns the next task for the worker; false
// means that the worker is idle.
func (w *Writer) done(k *worker, t task, began time.Time, err error) (next task, more bool) {
	now := time.Now()
	if t.attempts++; t.attempts == 1 {
		t.since = began
	}
	what := acknowledged
	if err == nil {
		w.ledger.done(t.job.sets, t.index(), t.rows)
	} else {
		what = w.decide(&t, now, err)
	}
	w.mu.Lock()
	w.release(t.target, began, now, err)
	switch what {
	case acknowledged:
		w.count.rows.Add(uint64(t.rows))
		w.count.bytes.Add(uint64(t.size))
		w.latency.record(now.Sub(began))
		w.finish(t)
	case sentAgain:
		w.delay(t, now)
	case dropped:
		w.drop(t, err)
	case divided:
		w.split(t, err)
	case rejected:
		w.mu.Unlock() // the slot of the target is free while the program handles the row
		w.reject(&t, err)
		w.mu.Lock()
		w.drop(t, err)
	}
	// w.mu is held since the task has ended: when no task is left, all workers are idle
	if next, more = w.begin(t.target); !more {
		w.idle = append(w.idle, k)
	}
	w.sendMore(t.target)
	wake := w.hasRoom(t.target)
	w.mu.Unlock()
	if wake {
		w.wakeWrite()
	}
	return next, more
}

// hasRoom reports whether a Write waits for room and should try again: there is much room, so that Write is not woken
// for each row. When no task is left, there is much room. A request to the target has just ended. Callers hold w.mu.
func (w *Writer) hasRoom(t *target) bool {
	room := w.waits && t.queued() <= int(t.limit.limit)/2 && w.tasks <= 2*w.o.MaxInFlight*7/8 &&
		w.pendingBytes <= w.o.MaxBytes/8*7
	if room {
		w.waits = false
	}
	return room
}

// exec sends the rows of a task.
func (w *Writer) exec(t *task) error {
	if t.encoded.Rows() == 0 { // it was sent before, or could not be prepared
		if err := t.encode(w.ctx); err != nil {
			return err
		}
	}
	return t.encoded.ExecOn(w.ctx, t.target.key.HostID)
}

// release ends a request. Callers hold w.mu.
func (w *Writer) release(t *target, began, now time.Time, err error) {
	full := t.inFlight >= int(t.limit.limit)
	t.inFlight--
	w.inFlight--
	switch {
	case err == nil:
		t.limit.succeed(began, now, full)
	case isOfNode(err):
		t.limit.fail(began, now)
	}
}

// isOfNode reports whether a failure shows that a node has too many requests. The session itself may have refused the
// request.
func isOfNode(err error) bool {
	var memory *vecql.MemoryBudgetError
	return !errors.Is(err, vecql.ErrThrottled) && !errors.As(err, &memory) && mayPass[vecql.ErrorClassOf(err)]
}

// sendMore sends the next rows after a request to a target has ended. Callers hold w.mu.
func (w *Writer) sendMore(t *target) {
	w.send(t)
	if !w.starved || w.inFlight >= w.o.MaxInFlight {
		return
	}
	w.starved = false
	for _, other := range w.targets {
		w.send(other)
	}
}

// finish ends a task. Callers hold w.mu.
func (w *Writer) finish(t task) {
	freeEncoded(t.encoded)
	w.pendingBytes -= int64(t.size)
	w.pending -= t.rows
	if w.tasks--; w.tasks == 0 && w.drained != nil {
		close(w.drained)
		w.drained = nil
	}
}

// drop ends a row that failed with err. Unless it is done, it may be in doubt. Callers hold w.mu.
func (w *Writer) drop(t task, err error) {
	if !w.repeatable && vecql.MayHaveApplied(err) {
		w.ledger.doubt(t.job.sets, t.index(), t.rows)
	}
	w.finish(t)
}

// wakeWrite wakes the Write that waits for room.
func (w *Writer) wakeWrite() {
	select {
	case w.roomWake <- struct{}{}:
	default:
	}
}

// fail stops the writer: no further row is sent. Requests in flight continue.
func (w *Writer) fail(err error) {
	w.mu.Lock()
	if w.err == nil {
		w.err = err
	}
	for _, t := range w.targets {
		for t.queued() > 0 {
			w.finish(t.pop())
		}
	}
	for _, t := range w.delayed {
		w.finish(t.task)
	}
	w.delayed = nil
	w.mu.Unlock()
	w.wakeWrite()
}

// delay delays a row that has failed. Callers hold w.mu.
func (w *Writer) delay(t task, now time.Time) {
	if w.err != nil {
		w.finish(t)
		return
	}
	w.count.retries.Add(uint64(t.rows))
	due := now.Add(background.Jitter(background.Exponential(firstDelay, mostDelay, t.attempts-1)))
	w.delayed = append(w.delayed, delayedTask{t, due})
	w.setRetry(now)
}

// setRetry sets the timer for the next delayed row. Callers hold w.mu.
func (w *Writer) setRetry(now time.Time) {
	if len(w.delayed) == 0 {
		return
	}
	next := w.delayed[0].due
	for _, t := range w.delayed {
		if t.due.Before(next) {
			next = t.due
		}
	}
	w.retry.Reset(next.Sub(now))
}

// retryDue queues the delayed rows that are due: the replicas may have changed.
func (w *Writer) retryDue() {
	w.mu.Lock()
	now := time.Now()
	var due []task
	later := w.delayed[:0]
	for _, t := range w.delayed {
		if t.due.After(now) {
			later = append(later, t)
		} else {
			due = append(due, t.task)
		}
	}
	w.delayed = later
	w.setRetry(now)
	w.mu.Unlock()
	var candidates []vecql.Replica
	for _, t := range due {
		candidates = t.encoded.Targets(candidates[:0])
		w.mu.Lock()
		if w.err != nil {
			w.finish(t)
		} else {
			to := w.choose(candidates)
			to.push(t)
			w.send(to)
		}
		w.mu.Unlock()
	}
}
