// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/vecql/vecql/column"
)

// Errors of this package. An error of a file is wrapped in an [*Error], which locates it.
var (
	// ErrCorrupt means that a file does not follow the format.
	ErrCorrupt = errors.New("corrupt file")
	// ErrUnsupported means that a file uses a part of the format that this package does not read: a codec or an
	// encoding.
	ErrUnsupported = errors.New("not supported")
	// ErrTooLarge means that a row, a batch or a page exceeds [Options].MaxBatchBytes.
	ErrTooLarge = errors.New("too large")
	// ErrOutOfRange means that a value is beyond the range of its type: 300 in a column of int8, a time beyond the
	// range of nanoseconds.
	ErrOutOfRange = errors.New("value out of range")
	// ErrRagged means that a row of a column of vectors differs in length from the rows before it, or contains a NULL.
	// A reader returns it only for columns in [Options].Vectors.
	ErrRagged = errors.New("vectors of different length")
	// ErrNoColumn means that a file lacks a column, has it with another type than the other files, or has several
	// columns of that name. It is column.ErrNoColumn.
	ErrNoColumn = column.ErrNoColumn
	// ErrChanged means that the file was modified since it was opened, or since a Bucket was made.
	ErrChanged = errors.New("file has changed")
	// ErrEncrypted means that a file or a column is encrypted, and [Config].Decryption does not have the key.
	ErrEncrypted = errors.New("encrypted: Config.Decryption is needed")
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

// corrupt returns an error that wraps ErrCorrupt. It never wraps io.EOF, which means that all rows were read.
func corrupt(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %s", ErrCorrupt, err.Error())
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// A rowError is an error of one row, counted from the first row of a read. Reader.locate converts it into an Error.
type rowError struct {
	row int
	err error
}

// moved returns err; if it is a rowError, its row becomes to(row).
func moved(err error, to func(row int) int) error {
	var e *rowError
	if errors.As(err, &e) {
		return &rowError{to(e.row), e.err}
	}
	return err
}

func (e *rowError) Error() string { return e.err.Error() }
func (e *rowError) Unwrap() error { return e.err }
