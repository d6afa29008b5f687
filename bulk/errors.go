// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vecql/vecql/column"
)

// Errors, and rejected rows.

var (
	// ErrOptions means that Options has an invalid field.
	ErrOptions = errors.New("bulk: invalid options")
	// ErrClosed means that a method was called after Close.
	ErrClosed = errors.New("bulk: the writer is closed")
	// ErrColumns means that the columns of a batch do not match the columns of the table.
	ErrColumns = errors.New("bulk: columns do not match the table")
	// ErrCounters means that a statement updates counters, which Options.Counters does not allow.
	ErrCounters = errors.New("bulk: the statement updates counters")
	// ErrInDoubt means that a row may have been written before a crash, and that writing it twice is not safe.
	ErrInDoubt = errors.New("bulk: the row may have been written before")
	// ErrCheckpoint means that a checkpoint cannot be read, belongs to another job, or cannot be written.
	ErrCheckpoint = errors.New("bulk: checkpoint")
)

// A JobError means that a checkpoint belongs to another job: of another statement or table, or with another
// Options.Job. It wraps ErrCheckpoint.
type JobError struct {
	Checkpoint string // path of the file
	Got, Want  string // jobs of the file and of the writer
}

// Error returns both jobs.
func (e *JobError) Error() string {
	return fmt.Sprintf("%v: %s belongs to another job: it is of %.300q, want %.300q", ErrCheckpoint, e.Checkpoint, e.Got, e.Want)
}

// Unwrap returns ErrCheckpoint.
func (e *JobError) Unwrap() error { return ErrCheckpoint }

// A Rejection is a row that failed for good.
type Rejection struct {
	Source string // of the row; see the package documentation
	Index  int64
	// Batch has the row as its only one, in the memory of the batch that was written; nil for a struct. Value is the
	// pointer to a struct; nil for a batch.
	Batch    *column.Batch
	Value    any
	Attempts int   // 0 means that the row was not sent
	Err      error // vecql.MayHaveApplied reports whether the row may have been written
}

// position returns the position for error texts.
func (r *Rejection) position() string {
	if r.Source == "" {
		return fmt.Sprintf("row %d", r.Index)
	}
	return fmt.Sprintf("row %d of %s", r.Index, r.Source)
}

// A RejectedError means that more rows failed for good than Options allow. The writer has stopped. The last of these
// rows was not passed to Options.Rejected; it is not done.
type RejectedError struct {
	Rows uint64 // that failed for good, the last one included
	Last Rejection
}

// Error returns the number of rows, and the position and the error of the last one.
func (e *RejectedError) Error() string {
	return fmt.Sprintf("bulk: write %s, number %d of the rows that failed for good: %v", e.Last.position(), e.Rows,
		unprefixed(e.Last.Err))
}

// Unwrap returns the error of the last row.
func (e *RejectedError) Unwrap() error { return e.Last.Err }

// unprefixedError is an error without the name of its package, so that a text begins with one name.
type unprefixedError struct{ error }

func unprefixed(err error) error { return unprefixedError{err} }

func (e unprefixedError) Error() string {
	return strings.TrimPrefix(strings.TrimPrefix(e.error.Error(), "vecql: "), "bulk: ")
}

func (e unprefixedError) Unwrap() error { return e.error }
