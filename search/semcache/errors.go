// SPDX-License-Identifier: Apache-2.0

package semcache

import (
	"errors"
	"strings"

	"github.com/vecql/vecql/internal/errtext"
)

// Errors of a cache, found by errors.Is. Errors of embeddings are the errors of package vector.
var (
	// ErrConfig means that a field of a Config has an invalid value.
	ErrConfig = errors.New("invalid configuration")
	// ErrSchema means that a table exists and is not one that Create creates for the Config.
	ErrSchema = errors.New("not the table of such a cache")
	// ErrTTL means that the server has no time to live that removes entries from the index: ScyllaDB before 2026.2.
	ErrTTL = errors.New("the server has no time to live of rows")
	// ErrPairs means that no threshold can be computed from the pairs of Calibrate.
	ErrPairs = errors.New("no threshold")
)

// An Error means that the cache failed. It wraps the reason: an error of the session, such as *vecql.RequestFailure, of
// package search, such as *search.IndexNotReadyError, of package vector, or one of the errors above.
type Error struct {
	Op    string // create, open, get, put or invalidate
	Table string // as in Config.Table
	Err   error
}

func (e *Error) Error() string {
	return "semcache: " + e.Op + " " + e.Table + ": " + strings.TrimPrefix(errtext.Of(e.Err), "search: ")
}

func (e *Error) Unwrap() error { return e.Err }

// failed returns err as an *Error, nil for nil.
func (c *Config) failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Op: op, Table: c.Table, Err: err}
}
