// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"errors"
	"fmt"

	"github.com/vecql/vecql/column"
)

// Errors of a pipe.

// Reasons of an Error beside the errors of other packages.
var (
	// ErrNoSource means that the Pipe is the zero Pipe, or that Union or Batches has no argument.
	ErrNoSource = errors.New("there is no source of rows")
	// ErrNoOrder means that OrderBy has a column of a type without an order: a list, a vector, a Varint, a Duration.
	ErrNoOrder = errors.New("the type has no order")
)

// An Error means that a verb or a source of a Pipe failed. It wraps the reason: an *expr.SyntaxError or
// *expr.CompileError with the place in the text, an *expr.RowError, a *groupby.BatchError, a *parquetscan.Error, an
// error of a request.
type Error struct {
	Verb string // the method or function: "Where"
	Text string // its argument
	// Source is the place of the batch whose rows were evaluated; it is zero for an error that is found before.
	Source column.Source
	Err    error
}

func (e *Error) Error() string {
	at := ""
	if e.Source.File != "" {
		at = fmt.Sprintf(" in %s, row group %d, rows from %d", e.Source.File, e.Source.RowGroup, e.Source.FirstRow)
	}
	return fmt.Sprintf("pipe: %s(%s)%s: %v", e.Verb, e.Text, at, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// failed wraps an error of a verb, unless it has its verb already.
func failed(verb, text string, err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &Error{Verb: verb, Text: text, Err: err}
}
