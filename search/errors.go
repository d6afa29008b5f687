// SPDX-License-Identifier: Apache-2.0

package search

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vecql/vecql/internal/errtext"
)

// Errors of searches, found by errors.Is. Errors of vectors are the errors of package vector: *vector.DimensionError,
// *vector.ElementError and vector.ErrZero.
var (
	// ErrTarget means that a text does not name a table, or a column of vectors of one.
	ErrTarget = errors.New("no column of vectors")
	// ErrNoIndex means that the column has no vector index. Create one, or search exactly.
	ErrNoIndex = errors.New("no vector index")
	// ErrIndexExists means that the column has a vector index already, or that the name of the new one is taken.
	ErrIndexExists = errors.New("the index exists already")
	// ErrDowntime means that an index cannot be replaced without a time in which searches fail.
	ErrDowntime = errors.New("no replacement without downtime")
	// ErrMetric means that the index of the column has another similarity than the one requested, or that an exact
	// search of a column without an index was given none.
	ErrMetric = errors.New("another similarity")
	// ErrK means that the number of hits is below 1, or above the limit of the server.
	ErrK = errors.New("unsupported number of hits")
	// ErrElement means that an element of a query is beyond ±1e17, the range of the indexes of Cassandra.
	ErrElement = errors.New("unsupported element")
	// ErrOption means that an option of a search or an index has a value that the server does not accept.
	ErrOption = errors.New("unsupported option")
	// ErrNoVector means that the vector of a row is NULL.
	ErrNoVector = errors.New("the row has no vector")
	// ErrRow means that a type of rows does not fit the columns of the table.
	ErrRow = errors.New("the type of rows does not fit the table")
)

// A FilterError means that a condition of Where cannot be sent to the server with a search by an index.
type FilterError struct {
	Condition string // as text of package expr
	Index     string // the index of the search; empty if no index serves such a condition
	Reason    string
}

func (e *FilterError) Error() string {
	index := ","
	if e.Index != "" {
		index = " (index " + e.Index + "): create an index that serves it,"
	}
	return fmt.Sprintf("search: filter %s: %s%s or search exactly", e.Condition, e.Reason, index)
}

// An IndexNotReadyError means that an index exists and does not answer yet: WaitReady waits for it. It wraps the error
// of the server.
type IndexNotReadyError struct {
	Index    string  // keyspace.index
	Progress float64 // the part that is built, from 0 to 1; negative if the server did not say
	Err      error
}

func (e *IndexNotReadyError) Error() string {
	progress := ""
	if e.Progress >= 0 {
		progress = fmt.Sprintf(", %.1f %% are built", 100*e.Progress)
	}
	return fmt.Sprintf("search: index %s does not serve yet%s: %s", e.Index, progress, errtext.Of(e.Err))
}

func (e *IndexNotReadyError) Unwrap() error { return e.Err }

// errorf makes an error of this package. It removes the prefix from the texts of errors in args.
func errorf(format string, args ...any) error {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = unprefixed{err}
		}
	}
	return fmt.Errorf("search: "+format, args...)
}

// unprefixed is an error without the prefix of its package.
type unprefixed struct{ err error }

func (e unprefixed) Error() string { return strings.TrimPrefix(errtext.Of(e.err), "search: ") }
func (e unprefixed) Unwrap() error { return e.err }
