// SPDX-License-Identifier: Apache-2.0

// Package failure contains the kinds of errors of package parquetscan and its rooms.
package failure

import (
	"errors"
	"fmt"
	"io"
)

// The kinds of errors. Package parquetscan documents them.
var (
	ErrCorrupt     = errors.New("corrupt file")
	ErrUnsupported = errors.New("not supported")
	ErrTooLarge    = errors.New("too large")
	ErrOutOfRange  = errors.New("value out of range")
	ErrRagged      = errors.New("vectors of different length")
	ErrChanged     = errors.New("file has changed")
	ErrEncrypted   = errors.New("encrypted: Config.Decryption is needed")
	ErrFilter      = errors.New("filter does not fit the column")
)

// Corrupt returns an error that wraps ErrCorrupt. It never wraps io.EOF, which means that all rows were read.
func Corrupt(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %s", ErrCorrupt, err.Error())
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// A RowError is an error of one row, counted from the first row of a read. Reader.locate converts it into an Error.
type RowError struct {
	Row int
	Err error
}

// AtRow returns err as the error of a row.
func AtRow(row int, err error) error { return &RowError{row, err} }

// Moved returns err; if it is a RowError, its row becomes to(row).
func Moved(err error, to func(row int) int) error {
	var e *RowError
	if errors.As(err, &e) {
		return AtRow(to(e.Row), e.Err)
	}
	return err
}

func (e *RowError) Error() string { return e.Err.Error() }
func (e *RowError) Unwrap() error { return e.Err }

// Guarded calls fn, which reads metadata of a file, and returns false if fn panics.
func Guarded(fn func()) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	fn()
	return true
}
