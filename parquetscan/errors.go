// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Errors of this package. All that concern a file come inside an [*Error], which says where.
var (
	// ErrCorrupt is what is wrong with a file that does not follow the format.
	ErrCorrupt = errors.New("corrupt file")
	// ErrUnsupported is a part of the format that can not be read: a codec or an encoding.
	ErrUnsupported = errors.New("not supported")
	// ErrTooLarge is a row, a batch or a page beyond [Options].MaxBatchBytes.
	ErrTooLarge = errors.New("too large")
	// ErrOutOfRange is a value beyond the range of its type: 300 in a column of int8, a time that nanoseconds can not tell.
	ErrOutOfRange = errors.New("value out of range")
	// ErrRagged is a row of a Vector column that is longer or shorter than the ones before it, or has a NULL in it. Such columns can be
	// read as lists: see [Options].Lists.
	ErrRagged = errors.New("vectors of different length")
	// ErrNoColumn is a column that a file does not have, or has with another type than the other files.
	ErrNoColumn = errors.New("no such column")
	// ErrChanged is a file that is not the one it was: when it was opened, or when a Bucket was made.
	ErrChanged = errors.New("file has changed")
	// ErrEncrypted is an encrypted file, or column, whose key is not in [Config].Decryption.
	ErrEncrypted = errors.New("encrypted: Config.Decryption is needed")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("parquetscan: dataset is closed")
)

// An Error says where in a file something went wrong.
type Error struct {
	File     string
	RowGroup int    // -1 if it concerns the file as a whole
	Column   string // "" if it concerns no column in particular
	Row      int64  // the row within the row group, -1 if unknown
	Err      error
}

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

// corrupt returns an error that is ErrCorrupt, and never io.EOF, which says that all has been read.
func corrupt(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %s", ErrCorrupt, err.Error())
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// rowError is an error of one row, counted from the first one of a read; what reads a column turns it into an Error.
type rowError struct {
	row int
	err error
}

// moved returns err, and if it is a rowError, with the row that to gives for its.
func moved(err error, to func(row int) int) error {
	var e *rowError
	if errors.As(err, &e) {
		return &rowError{to(e.row), e.err}
	}
	return err
}

func (e *rowError) Error() string { return e.err.Error() }
func (e *rowError) Unwrap() error { return e.err }
