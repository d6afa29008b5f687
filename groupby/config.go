// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/vecql/vecql/column"
)

// Configuration and errors.

// A Config lists the keys and the aggregates, and has the options. The zero value of each field is valid.
type Config struct {
	// Keys are the names of the key columns, at most 32. A key column has any kind except Decimal, vectors, and kinds
	// with children. Without keys all rows are one group.
	Keys []string
	// Aggregates are the columns of the result that follow the keys. Without aggregates the result is the distinct
	// keys.
	Aggregates []Aggregate
	// DropNulls skips rows with a NULL in any key. By default NULL is a group.
	DropNulls bool
	// Order is the order of the result's rows. The default is [FirstAppearance].
	Order Order
	// Limit is the maximum number of groups in the result, the first ones in Order; 0 means all. With Unordered, Finish
	// ends when it has as many, and does not report an [OverflowError] of other groups.
	Limit int

	// Workers is the number of goroutines that Add uses for a large batch, and that Finish uses. Default: GOMAXPROCS.
	Workers int
	// MemoryLimit is the maximum number of live bytes while rows and partials are added; 0 means no limit. When keys,
	// states and waiting rows take three quarters of it, partitions are spilled; if SpillDir is empty, the call fails
	// with ErrMemoryLimit. The last quarter is for copies and buffers. The Grouper collects garbage whenever the
	// heap has grown by a quarter of the limit, so that the resident memory of the process grows by at most 1.5 times the
	// limit and 64 MiB, with or without GOMEMLIMIT, if nothing else allocates.
	//
	// Not counted are batches that the program holds, the result and its batches in FinishBatches, one frame of a partial
	// (4 MiB, or one row that is longer), about 1 MiB per worker, and the states of a single group, which cannot be
	// divided.
	MemoryLimit int64
	// SpillDir is the directory of the temporary file that is created when MemoryLimit is reached; "" means none. Note
	// that os.TempDir() is often in memory.
	SpillDir string
	// SpillCodec compresses spilled data. Default: compress/flate at its fastest level.
	SpillCodec Codec
}

// By returns the names of the key columns, for New and Config.Keys.
func By(columns ...string) []string { return columns }

// An Order is the order of the rows of a result.
type Order struct {
	by     orderBy
	column string
	desc   bool
}

type orderBy uint8

const (
	byAppearance orderBy = iota
	byNothing
	byKeys
	byColumn
)

var (
	// FirstAppearance orders groups by their first row in the input. If several goroutines call [Worker.Add],
	// Source.FirstRow of their batches numbers the rows.
	FirstAppearance = Order{}
	// Unordered leaves the order unspecified. It is the cheapest order if there are many groups.
	Unordered = Order{by: byNothing}
	// ByKeys orders by the key columns, ascending, the first key first. NULL comes last, NaN before it.
	ByKeys = Order{by: byKeys}
)

// Ascending orders by a column of the result, a key or an aggregate. NULL comes last; ties are ordered by their keys.
func Ascending(column string) Order { return Order{by: byColumn, column: column} }

// Descending orders by a column of the result, a key or an aggregate, greatest first. NULL comes last; ties are ordered
// by their keys, ascending.
func Descending(column string) Order { return Order{by: byColumn, column: column, desc: true} }

// Errors of a Grouper.
var (
	// ErrMemoryLimit means that MemoryLimit was reached and SpillDir is empty.
	ErrMemoryLimit = errors.New("groupby: memory limit reached")
	// ErrTooManyGroups means that one of the 256 partitions has more than 1<<31-1 groups, or a result more than
	// 1<<32-1.
	ErrTooManyGroups = errors.New("groupby: too many groups")
	// ErrFinished means that the Grouper was finished or closed, or that an earlier call failed and lost rows.
	ErrFinished = errors.New("groupby: the Grouper has finished, was closed, or lost rows")
)

// An OverflowError means that the sum of a group does not fit into 64 bits; see [Overflow].
type OverflowError struct {
	Aggregate string // the name of the result's column
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("groupby: %s: the sum of a group does not fit into 64 bits; see SumOverflow", e.Aggregate)
}

// A BatchError means that a batch cannot be added: a column is missing, has an unsuitable type, or a type that differs
// from earlier batches. Nothing of the batch was added. Column is "rows" if the number of rows is negative, and lists
// several names, separated by ", ", if the error concerns all arguments of an aggregate.
type BatchError struct {
	Column string // the name of the column
	Err    error  // wraps column.ErrNoColumn if the batch has no such column
}

func (e *BatchError) Error() string { return fmt.Sprintf("groupby: column %s: %v", e.Column, e.Err) }
func (e *BatchError) Unwrap() error { return e.Err }

// maxKeys is the number of key columns that fit into the bits of keys.mask.
const maxKeys = 32

// check returns the Config with its defaults, or an error that lists all problems that can be found without the types
// of the columns.
func (c Config) check() (Config, error) {
	c.Keys, c.Aggregates = slices.Clone(c.Keys), slices.Clone(c.Aggregates)
	if c.Workers <= 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if c.SpillCodec == nil {
		c.SpillCodec = flateCodec{}
	}
	var errs []error
	if len(c.Keys) > maxKeys {
		errs = append(errs, fmt.Errorf("%d keys: at most %d", len(c.Keys), maxKeys))
	}
	names := c.resultNames()
	for i, name := range names {
		if k := slices.Index(names, name); k < i && i < len(c.Keys) {
			errs = append(errs, fmt.Errorf("key %q is listed twice", name))
		} else if k < i {
			errs = append(errs, fmt.Errorf("two columns of the result are named %q: rename an aggregate with As", name))
		}
	}
	for _, a := range c.Aggregates {
		if a.err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", a.Name, a.err))
		} else if a.New == nil && a.typed == nil && a.parts == nil {
			errs = append(errs, fmt.Errorf("%s: New is nil", a.Name))
		}
	}
	if c.Limit < 0 {
		errs = append(errs, fmt.Errorf("limit %d is negative", c.Limit))
	}
	if c.Order.by == byColumn && !slices.Contains(names, c.Order.column) {
		errs = append(errs, fmt.Errorf("order by %q: no such column in the result, which has %q", c.Order.column, names))
	}
	if len(errs) > 0 {
		return Config{}, fmt.Errorf("groupby: %w", errors.Join(errs...))
	}
	return c, nil
}

// resultNames returns the names of the columns of the result.
func (c *Config) resultNames() []string {
	names := slices.Clone(c.Keys)
	for _, a := range c.Aggregates {
		names = append(names, a.Name)
	}
	return names
}

// inputNames returns the names of the columns that are read: the keys, then the distinct arguments of the aggregates.
func (c *Config) inputNames() []string {
	names := slices.Clone(c.Keys)
	for _, a := range c.Aggregates {
		for _, arg := range a.Args {
			if !slices.Contains(names[len(c.Keys):], arg) {
				names = append(names, arg)
			}
		}
	}
	return names
}

// inputs appends the columns of a batch that are read to cols, in the order of names, or returns a *BatchError. For
// columns with children it appends the validity alone, since aggregates of them read nothing else.
func inputs(names []string, b *column.Batch, cols []column.Column) ([]column.Column, error) {
	if b.Rows < 0 {
		return nil, &BatchError{"rows", fmt.Errorf("negative count %d", b.Rows)}
	}
	for _, name := range names {
		c := b.Column(name)
		err := c.Err()
		switch {
		case err != nil:
		case c.Len != b.Rows:
			err = fmt.Errorf("it has %d rows, the batch has %d", c.Len, b.Rows)
		default:
			err = checkInput(c)
		}
		if err != nil {
			return nil, &BatchError{name, err}
		}
		if c.Type.Kind.IsNested() {
			cols = append(cols, column.Column{Name: name, Type: c.Type, Len: c.Len, Nulls: c.Nulls, Validity: c.Validity})
		} else {
			cols = append(cols, *c)
		}
	}
	return cols, nil
}

// checkInput returns an error if the buffers of a column are too short, or if a code is beyond the dictionary. It does
// not check every offset, which would take as long as grouping: reads of text are safe for offsets in any order.
func checkInput(c *column.Column) error {
	if err := c.Type.Check(); err != nil {
		return err
	}
	if c.Nulls < 0 || c.Nulls > c.Len || c.Nulls > 0 && len(c.Validity) < (c.Len+7)/8 {
		return fmt.Errorf("%d NULLs and a validity of %d bytes do not fit %d rows", c.Nulls, len(c.Validity), c.Len)
	}
	switch text := c.Type.Kind.IsText(); {
	case c.Type.Kind.IsNested() || c.Len == 0:
	case text && c.Dict != nil:
		return c.Check()
	case text && (len(c.Offsets) <= c.Len || c.Offsets[0] < 0 || int(c.Offsets[c.Len]) > len(c.Values)):
		return fmt.Errorf("%d offsets into %d bytes do not fit %d rows", len(c.Offsets), len(c.Values), c.Len)
	case !text && len(c.Values)/max(1, c.Type.ValueWidth()) < c.Len && c.Type.ValueWidth() > 0:
		return fmt.Errorf("%d bytes of values are too short for %d rows of %v", len(c.Values), c.Len, c.Type)
	}
	return nil
}
