// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// Errors of this package. An error of a file is wrapped in an [*Error], which locates it.
var (
	// ErrCorrupt means that a file does not follow the format.
	ErrCorrupt = failure.ErrCorrupt
	// ErrUnsupported means that a file uses a part of the format that this package does not read: a codec or an
	// encoding.
	ErrUnsupported = failure.ErrUnsupported
	// ErrTooLarge means that a row, a batch or a page exceeds [Options].MaxBatchBytes.
	ErrTooLarge = failure.ErrTooLarge
	// ErrOutOfRange means that a value is beyond the range of its type: 300 in a column of int8, a time beyond the
	// range of nanoseconds.
	ErrOutOfRange = failure.ErrOutOfRange
	// ErrRagged means that a row of a column of vectors differs in length from the rows before it, or contains a NULL.
	// A reader returns it only for columns in [Options].Vectors.
	ErrRagged = failure.ErrRagged
	// ErrNoColumn means that a file lacks a column, has it with another type than the other files, or has several
	// columns of that name. It is column.ErrNoColumn.
	ErrNoColumn = column.ErrNoColumn
	// ErrChanged means that the file was modified since it was opened, or since a Bucket was made.
	ErrChanged = failure.ErrChanged
	// ErrEncrypted means that a file or a column is encrypted, and [Config].Decryption does not have the key.
	ErrEncrypted = failure.ErrEncrypted
	// ErrClosed means that the Dataset is closed.
	ErrClosed = errors.New("parquetscan: read: the Dataset is closed")
)

// An Error wraps an error of a file and locates it.
type Error struct {
	File     string
	RowGroup int    // -1 if it concerns the file as a whole
	Column   string // "" if it concerns no column in particular
	Row      int64  // the row within the row group, -1 if unknown
	Err      error
}

// Error returns the place, as far as it is known, and the cause.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "parquetscan: %s", e.File)
	if e.RowGroup >= 0 {
		fmt.Fprintf(&b, ", row group %d", e.RowGroup)
	}
	if e.Column != "" {
		fmt.Fprintf(&b, ", column %s", e.Column)
	}
	if e.Row >= 0 {
		fmt.Fprintf(&b, ", row %d", e.Row)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }
