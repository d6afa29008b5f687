// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"strings"

	"github.com/vecql/vecql/column"
)

// Aggregates and accumulators (phase 2). Built-in aggregates and aggregates of programs are treated alike.

// An Accumulator holds the states of one aggregate for groups 0 to n-1. It is used by one goroutine at a time. Columns
// have no names.
//
// Group 0 is a sink for rows to be left out, so that loops need no branch. Its state is neither read nor merged.
type Accumulator interface {
	// Types returns the types of the columns that State returns, and the field of the column that Result returns: its
	// type and, for a List, the field of its elements. Both depend only on the types of the arguments. States have
	// kinds without children.
	Types() (state []column.Type, result column.Field)
	// Resize makes room for n groups; new ones are empty. n never decreases, except after Reset.
	Resize(n int)
	// Add adds each row to its group. Rows come in ascending order of their numbers until the first Merge.
	Add(rows Rows) error
	// State returns the states of groups [i, j) as columns. They can be stored or sent, and merged by another
	// Accumulator. The columns may be views of the Accumulator's memory, valid until its next call.
	State(i, j int) ([]column.Column, error)
	// Merge merges row k of the states into group ids[k].
	Merge(ids []uint32, state []column.Column) error
	// Result returns the aggregate of groups [i, j). It may be a view, valid until the next call. After an error that
	// wraps column.ErrTooLarge, Result is called again with fewer groups.
	Result(i, j int) (column.Column, error)
	// Reset removes all groups and keeps the memory for reuse.
	Reset()
}

// A Sizer is an Accumulator that holds memory beyond the fixed-width columns of State. Size returns the number of these
// bytes.
type Sizer interface{ Size() int64 }

// A joiner is an Accumulator of this package that takes all groups of another one of the same aggregate at once, for
// which State and Merge would take longer.
type joiner interface {
	Accumulator
	// join merges each group id of other, except 0, into group groups[id]. It may change other's scratch memory.
	join(other Accumulator, groups []uint32)
}

// Rows are rows to accumulate: row i has the values Args[k] at i and belongs to group IDs[i].
type Rows struct {
	IDs  []uint32
	Args []column.Column
	// Row i has the number Numbers[i], or Start+i if Numbers is nil. Numbers are positions in the whole input: a row
	// with a smaller number comes first. They are set only for aggregates with RowNumbers.
	Start   int64
	Numbers []int64

	only bool // all rows belong to one group, and there is a row
}

// Number returns the number of row i.
func (r *Rows) Number(i int) int64 {
	if r.Numbers != nil {
		return r.Numbers[i]
	}
	return r.Start + int64(i)
}

// An Aggregate is one column of the result. [Count], [Sum] and the other functions of this package return built-in
// ones; a literal defines one with an Accumulator of the program.
type Aggregate struct {
	// Name is the name of the result's column. Built-in aggregates are named like a call: "mean(price)".
	Name string
	// Args are the names of the columns to compute it from.
	Args []string
	// New returns an empty Accumulator for arguments of these types, or an error that names the types it takes. It is
	// called with the first batch, and again for each goroutine that aggregates. The dimension of a vector is 0 as long
	// as all rows are NULL; once a batch has the dimension, New is called again. Earlier states of vectors become zeros
	// of the new dimension, NULL where they were NULL.
	New func(args []column.Type) (Accumulator, error)
	// RowNumbers requests the numbers of rows, for aggregates that depend on the order of rows.
	RowNumbers bool

	// fn and params are the function of a built-in aggregate and its parameters. Aggregates with the same function,
	// parameters and arguments share an accumulator.
	fn     string
	params []any
	origin string // the Name before As; "" means Name
	// typed returns the aggregate for arguments of these types; nil means that it is the same for all.
	typed func(args []column.Type) Aggregate
	// parts are the aggregates that this one is computed from, in place of New. combine returns the field of the result
	// and its resultFunc.
	parts   []Aggregate
	combine func(name string, accs []Accumulator) (column.Field, resultFunc)
	err     error // error in the parameters
}

// A resultFunc is Accumulator.Result.
type resultFunc func(i, j int) (column.Column, error)

// As returns the aggregate with another name for the result's column. Partials are not affected: an aggregate of the
// program keeps the Name of its literal there.
func (a Aggregate) As(name string) Aggregate {
	a.origin = a.originalName()
	a.Name = name
	return a
}

func (a *Aggregate) originalName() string {
	if a.origin != "" {
		return a.origin
	}
	return a.Name
}

// call returns a built-in aggregate of some columns, named like a call with these columns and parameters.
func call(fn string, args []string, params ...any) Aggregate {
	words := append([]string(nil), args...)
	for _, p := range params {
		words = append(words, fmt.Sprint(p))
	}
	name := fn
	if len(words) > 0 {
		name += "(" + strings.Join(words, ", ") + ")"
	}
	return Aggregate{Name: name, Args: args, fn: fn, params: params}
}

// Function returns the name of the function of a built-in aggregate: "count" of Count and of CountOf, which has an
// argument, "min" of Min. It is "" for an aggregate of the program.
func (a Aggregate) Function() string { return a.fn }

// key identifies the accumulator of the aggregate, so that equal aggregates share it; "" means that it shares none.
func (a *Aggregate) key() string {
	if a.fn == "" {
		return ""
	}
	return a.identity()
}

// identity returns the function, arguments and parameters of the aggregate, for partials: equal ones have states that
// can be merged. An aggregate of the program is identified by its quoted name, which no built-in one has.
func (a *Aggregate) identity() string {
	fn := a.fn
	if fn == "" {
		fn = fmt.Sprintf("%q", a.originalName())
	}
	var words []string
	for _, arg := range a.Args {
		words = append(words, fmt.Sprintf("%q", arg))
	}
	for _, p := range a.params {
		words = append(words, fmt.Sprint(p))
	}
	return fn + "(" + strings.Join(words, ", ") + ")"
}

// newWith returns the aggregate with a constructor of accumulators for the type of its only argument.
func (a Aggregate) newWith(f func(t column.Type) (Accumulator, error)) Aggregate {
	a.New = func(args []column.Type) (Accumulator, error) { return f(args[0]) }
	return a
}

// An argError means that an aggregate does not take the type of an argument.
type argError struct {
	arg  int // position in Args
	want string
}

func (e *argError) Error() string { return e.want }

// refused returns the error of an aggregate about its argument i.
func refused(i int, want string) error { return &argError{i, want} }
