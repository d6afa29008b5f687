// SPDX-License-Identifier: Apache-2.0

package cdc

import (
	"errors"
	"fmt"
	"time"
)

// Errors of readers.

// ErrDisabled means that a table has no change log. ALTER TABLE ... WITH cdc = {'enabled': true} creates it.
var ErrDisabled = errors.New("cdc: the table has no change log: change data capture is not enabled")

// ErrDropped means that the change log was dropped, or dropped and created again, after the reader was opened or its
// checkpoint was made. Changes may be lost: read the table, then open a reader without the checkpoint.
var ErrDropped = errors.New("cdc: the change log was dropped")

// ErrCheckpoint means that a checkpoint belongs to another table, or is damaged.
var ErrCheckpoint = errors.New("cdc: resume: not a checkpoint of this table")

// ErrRunning means that Run or Batches was called while the reader was running.
var ErrRunning = errors.New("cdc: run: the reader is running already")

// An ExpiredError means that changes may have expired before they were read: the reader is later than the log's TTL, or
// the streams of that time are no longer listed. Read the table, then open a reader without the checkpoint.
type ExpiredError struct {
	Table       string
	From, Until time.Time // the changes that may be lost
}

// Error returns the table and the times.
func (e *ExpiredError) Error() string {
	return fmt.Sprintf("cdc: changes of %s from %s to %s may have expired before they were read", e.Table,
		e.From.UTC().Format(time.RFC3339Nano), e.Until.UTC().Format(time.RFC3339Nano))
}

// A ReadError means that a request failed more often than Config.Retries.
type ReadError struct {
	Table    string
	Doing    string // what was read, as text
	Failures int
	Err      error // the last failure
}

// Error returns what was read and the last failure.
func (e *ReadError) Error() string {
	return fmt.Sprintf("cdc: %s of %s: failed %d times: %v", e.Doing, e.Table, e.Failures, e.Err)
}

// Unwrap returns Err.
func (e *ReadError) Unwrap() error { return e.Err }
