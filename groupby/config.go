// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"errors"
	"fmt"
)

// This file holds what is to be grouped by what: the configuration, and the errors.

// A Config says what to group by and what to compute. Its zero values are usable except for Aggregates: without Keys there is one group.
type Config struct {
	// Keys are the types of the key columns, 32 at most; no vectors.
	Keys []Type
	// Values are the types of the value columns.
	Values []Type
	// Aggregates are the columns of the result after the keys. There may be none: then the result is the distinct keys.
	Aggregates []Aggregate
	// DropNulls leaves out rows with a NULL in any key, as some data frames do. By default NULL is a group.
	DropNulls bool
	// Order is the order of the result's rows. The default is that in which groups appeared first.
	Order Order
	// Limit is the number of groups wanted, 0 for all: the first ones in the order.
	Limit int

	// Workers is the number of goroutines of Add, of a large batch, and of Finish. Default: GOMAXPROCS.
	Workers int
	// MemoryLimit is the number of bytes that keys, states and rows waiting may take, 0 for no limit. Beyond it they are spilled, or Add
	// fails with ErrMemoryLimit if there is no SpillDir. The result counts only while it is made.
	MemoryLimit int64
	// SpillDir is where temporary files are made when MemoryLimit is reached; "" for none. os.TempDir() is often memory itself.
	SpillDir string
	// SpillCodec compresses what is spilled. Default: compress/flate at its fastest; see [Codec] for how to use another.
	SpillCodec Codec
}

// An Order is the order of a result.
type Order struct {
	by   orderBy
	col  int
	desc bool
}

type orderBy uint8

const (
	byAppearance orderBy = iota
	byNothing
	byKeys
	byAggregate
)

var (
	// FirstAppearance is the order in which groups first appeared in the input; with several goroutines that call [Worker.Add], by
	// [Batch].Start.
	FirstAppearance = Order{}
	// Unordered is any order: the cheapest one, if groups are many.
	Unordered = Order{by: byNothing}
	// ByKeys is ascending order of the key columns, the first one first. NULL comes last, NaN before it.
	ByKeys = Order{by: byKeys}
)

// ByAggregate is the order of aggregate i of the Config, ascending or descending. NULL comes last in both; groups that are equal come in order of
// their keys.
func ByAggregate(i int, descending bool) Order {
	return Order{by: byAggregate, col: i, desc: descending}
}

// A Batch is some rows: columns of equal length, of the types of the Config. It is read until the call it is given to returns.
type Batch struct {
	Keys   []Column
	Values []Column
	// Start is the number of the first row in the whole input. It matters only to FirstAppearance and to aggregates that depend on the order
	// of rows, and only for [Worker.Add]: Grouper.Add counts rows itself.
	Start int64
	// Rows is the number of rows, needed only if there are no columns.
	Rows int
}

// Errors of a Grouper.
var (
	// ErrMemoryLimit is returned when MemoryLimit is reached and nothing may be spilled.
	ErrMemoryLimit = errors.New("groupby: memory limit reached")
	// ErrTooManyGroups is returned beyond 1<<31-1 groups in one of 256 partitions.
	ErrTooManyGroups = errors.New("groupby: too many groups")
	// ErrFinished is returned by calls after Finish, or after a call that failed and lost rows.
	ErrFinished = errors.New("groupby: already finished")
)

// An OverflowError says that the sum of a group does not fit into 64 bits (see [Overflow]).
type OverflowError struct {
	Aggregate string // the name of the aggregate
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("groupby: %s: a sum is beyond 64 bits", e.Aggregate)
}

// A BatchError says what is wrong with a batch. Nothing of it was added.
type BatchError struct {
	Column string // "key 0", "value 2"
	Err    error
}

func (e *BatchError) Error() string { return fmt.Sprintf("groupby: %s: %v", e.Column, e.Err) }
func (e *BatchError) Unwrap() error { return e.Err }
