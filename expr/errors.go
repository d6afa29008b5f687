// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"errors"
	"fmt"
)

// Errors of the evaluation.

// The reasons of a RowError.
var (
	ErrOverflow = errors.New("the result is out of range")     // integers, dates and timestamps
	ErrDivision = errors.New("division of an integer by zero") // also the remainder
	ErrCast     = errors.New("the value does not fit the type")
)

// A RowError means that an expression has no value in a row. It wraps ErrOverflow, ErrDivision or ErrCast.
type RowError struct {
	Row    int    // of the batch
	Expr   string // the operation
	Offset int    // of the operation in the parsed text; -1 if it was made in Go
	Err    error
}

func (e *RowError) Error() string { return fmt.Sprintf("expr: row %d: %s: %v", e.Row, e.Expr, e.Err) }

func (e *RowError) Unwrap() error { return e.Err }

// failed returns the error of a row of the block.
func (t *term) failed(b *block, row int32, err error) error {
	e := &RowError{Row: b.lo + int(row), Expr: clip(t.e.String()), Offset: -1, Err: err}
	if t.e.n != nil {
		e.Offset = t.e.n.at - 1
	}
	return e
}
