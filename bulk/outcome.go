// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"errors"
	"fmt"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/stats"
)

// What follows an attempt: the row is done, sent again, rejected, or left for the next run.

// An outcome is what follows an attempt.
type outcome int

const (
	acknowledged outcome = iota
	sentAgain
	divided // the rows of a batch are sent one by one
	rejected
	dropped // the session is closed; the row is not done
)

// mayPass are the classes of failures that may pass.
var mayPass = map[stats.ErrorClass]bool{
	stats.ClassThrottled: true, stats.ClassTimeout: true, stats.ClassConnection: true, stats.ClassUnavailable: true,
	stats.ClassOverloaded: true, stats.ClassRateLimit: true, stats.ClassBootstrapping: true, stats.ClassTruncate: true,
	stats.ClassReadTimeout: true, stats.ClassWriteTimeout: true, stats.ClassReadFailure: true,
	stats.ClassWriteFailure: true, stats.ClassServer: true,
}

// decide returns what follows a failed attempt of a task. A batch is not rejected: each of its rows has one more
// attempt.
func (w *Writer) decide(t *task, now time.Time, err error) outcome {
	next := w.decideRow(t, now, err)
	if next == rejected && t.rows > 1 {
		return divided
	}
	return next
}

func (w *Writer) decideRow(t *task, now time.Time, err error) outcome {
	switch class := vecql.ErrorClassOf(err); {
	case errors.Is(err, vecql.ErrSessionClosed):
		w.fail(fmt.Errorf("bulk: %w", unprefixed(err)))
		return dropped
	case !mayPass[class] && !errors.Is(err, vecql.ErrStatementChanged):
		return rejected
	case now.Sub(t.since) >= w.o.RetryFor, !w.repeatable && vecql.MayHaveApplied(err):
		return rejected
	case (class == stats.ClassServer || class == stats.ClassWriteFailure) && t.attempts >= maxServerAttempts:
		return rejected
	}
	return sentAgain
}

// minPercentRows is the least number of rows that MaxRejectedPercent refers to.
const minPercentRows = 1000

// mayReject reports whether a further row may be rejected. Callers hold w.sink.
func (w *Writer) mayReject() bool {
	n := w.count.rejected.Load() + 1
	rows := max(w.count.rows.Load()+n, minPercentRows)
	return n <= uint64(w.o.MaxRejected) || float64(n) <= w.o.MaxRejectedPercent/100*float64(rows)
}

// reject passes a row that failed for good to the program, or stops the writer. A writer that has stopped leaves the
// row to the next run, as those that Close has canceled. The caller then drops the task.
func (w *Writer) reject(t *task, err error) {
	w.sink.Lock()
	defer w.sink.Unlock()
	if w.errorOf(nil) != nil {
		return
	}
	r := Rejection{Source: t.job.source, Index: t.index(), Attempts: t.attempts, Err: err}
	t.job.rows.describe(&r, t.row)
	if !w.mayReject() {
		w.fail(&RejectedError{Rows: w.count.rejected.Load() + 1, Last: r})
		return
	}
	if err := w.callRejected(r); err != nil {
		w.fail(fmt.Errorf("bulk: Options.Rejected: %w", err))
		return
	}
	w.count.rejected.Add(1)
	w.lastRejected = r
	w.ledger.reject(t.job.sets, t.index(), t.rows)
}

// endRejected returns an error if more rows were rejected than Options allow for the number of all rows, which is known
// at the end only.
func (w *Writer) endRejected() error {
	w.sink.Lock()
	defer w.sink.Unlock()
	n, rows := w.count.rejected.Load(), w.count.rows.Load()+w.count.skipped.Load()-w.count.skippedRejected.Load()
	if n <= uint64(w.o.MaxRejected) || float64(n) <= w.o.MaxRejectedPercent/100*float64(rows+n) {
		return nil
	}
	return &RejectedError{Rows: n, Last: w.lastRejected}
}

func (w *Writer) callRejected(r Rejection) error {
	if w.o.Rejected == nil {
		return nil
	}
	return w.o.Rejected(r)
}
