// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
)

// Sources: what a Pipe needs of the start of its rows, and what it asks for beyond that.

// A Source is the start of a Pipe; see [From]. Its methods may be called by several goroutines at once. R is a type of
// the source's own package, so that a package can have a source without an import of this one.
type Source[R Rows] interface {
	// Label returns the Verb and the Text of the source's errors: Lines and "access.log" make pipe: Lines("access.log").
	Label() (verb, text string)
	// Open returns the rows for one run. It is called once for each Batch, Batches, Explain and Schema.
	Open(ctx context.Context) (R, error)
}

// Rows are the rows of a [Source] in one run, and belong to the run. The methods are called one at a time: Schema any
// number of times, Scan at most once, then Run at most once, and Close at the end, also after errors. Errors become the
// reasons of an [*Error]. Rows that can leave out rows by conditions implement [Filterer].
type Rows interface {
	// Schema returns the columns. It is the same in all calls, and may be shared. The dimension of a vector may be 0.
	Schema() column.Schema
	// Scan sets the columns that Run passes on, and the number of its goroutines; 0 means the source's own number. It
	// returns the line of Explain and the number of goroutines that Run will use, at least 1. It reads no rows.
	Scan(columns []string, workers int) (line string, goroutines int, err error)
	// Run passes the rows to f in batches, in any order, and returns when its goroutines have ended. A batch begins with
	// the columns of Scan, in their order and with the types of Schema; later columns are ignored. worker is the number of
	// the goroutine, from 0. A batch belongs to the source, and is not used after f has returned. Run ends with the first
	// error, and returns an error of f as it is.
	Run(ctx context.Context, f func(worker int, b *column.Batch) error) error
	// Close releases what Open acquired.
	Close() error
}

// A Filterer is Rows that can leave out rows.
type Filterer interface {
	// Filter offers a condition on a column, before Scan. It reports whether Run will pass on exactly the rows for which
	// the condition, as package expr evaluates it, is true. If false, Run may leave out rows for which it is not true, and
	// the Pipe evaluates the condition on the others.
	Filter(condition expr.Bound) bool
}

// Further abilities, of sources in this package. They are asked for once, when a run is planned; the calls precede Scan
// unless the comment differs.

// A numbered source numbers its rows from 0: Source.FirstRow of a batch is the number of its first row, and does not
// depend on the goroutines.
type numbered interface {
	NumRows() int64
}

// A selecter evaluates conditions while it reads, before it reads further columns of the rows.
type selecter interface {
	// Select leaves out rows: a function that newSelect returns appends the positions of the rows to keep, of a batch with
	// the columns. Each goroutine calls newSelect for a function of its own. Run returns an error of the function.
	Select(columns []string, newSelect func() func(b *column.Batch, rows []int32) ([]int32, error))
}

// A summarized source has exact statistics of all its rows. ok is false if one is unknown.
type summarized interface {
	numbered
	Nulls(column string) (n int64, ok bool)
	Range(column string) (least, greatest any, ok bool) // nil if all values are NULL
	String() string                                     // the source, for Explain
}

// A measurer reads the lengths of texts.
type measurer interface {
	// ReadLengths replaces the values of columns by their lengths in bytes, an Int64, in batches of Run.
	ReadLengths(columns []string)
}

// A narrower leaves out further rows while it reads.
type narrower interface {
	// NarrowBy prepares Narrow, for conditions on these columns.
	NarrowBy(columns []string)
	// BeginWith makes Run begin where the least values of a column are, or the greatest.
	BeginWith(column string, greatest bool)
	// Narrow keeps the rows for which each list has a condition that is true, from now on and in place of an earlier call.
	// Other rows may still come. Values are as column.Column.Value returns them. Any goroutine calls Narrow during Run.
	Narrow(all [][]expr.Bound) error
}

// A lateReader reads columns of few rows.
type lateReader interface {
	// NumberRows adds a column to the batches of Run, after all others: the number of the row, an Int64.
	NumberRows(column string)
	// ReadRows returns columns of the rows with ascending numbers, in their order, as a batch of the caller's. Several
	// goroutines may call it during Run.
	ReadRows(ctx context.Context, columns []string, numbers []int64) (*column.Batch, error)
}

// A reporter has numbers of a run, which are asked for when Run has ended.
type reporter interface {
	// Bytes returns the compressed bytes of the columns that were read.
	Bytes() int64
	// Ragged returns the columns that were read as vectors until a row did not fit, and as lists since. Operations were
	// compiled for vectors.
	Ragged() []string
}
