// SPDX-License-Identifier: Apache-2.0

package groupby

import "fmt"

// This file holds what an aggregate is to the rest of the package: phase 2. Built-in aggregates and those of users are the same to it.

// An Accumulator holds the states of one aggregate for groups 0 to n-1. It is used by one goroutine at a time.
//
// Group 0 belongs to nobody: rows that are to be left out come with id 0, so that loops need no branch for them. Its state is neither merged
// nor handed out, but what State and Result return includes it, as row 0.
type Accumulator interface {
	// Types returns the types of the columns that State returns, and that of Result. They depend on the types of the arguments alone.
	Types() (state []Type, result Type)
	// Resize makes room for n groups; new ones are empty. It is never called with less than before, except after Reset.
	Resize(n int)
	// Add adds each row to its group. Rows are given in ascending order of their numbers within one Accumulator only as long as it has not
	// merged anything.
	Add(rows Rows) error
	// State returns the states of all groups as columns, to be kept, written or sent, and merged by another Accumulator. They may be views of
	// the Accumulator's memory, valid until its next call.
	State() ([]Column, error)
	// Merge merges row i of the states into group ids[i].
	Merge(ids []uint32, state []Column) error
	// Result returns the aggregate of each group. It may be a view, valid until the next call.
	Result() (Column, error)
	// Reset forgets all groups and keeps memory for the next.
	Reset()
}

// A Sizer is an Accumulator whose memory is not told by the columns of State: it returns the bytes that it holds besides.
type Sizer interface{ Size() int64 }

// Rows are rows to be accumulated: row i has the values Args[k] at i and belongs to group IDs[i].
type Rows struct {
	IDs  []uint32
	Args []Column
	// Row i has the number Numbers[i], or Start+i if Numbers is nil. Numbers count the rows of the whole input and tell which of two rows
	// came first. They are there only for aggregates that ask for them.
	Start   int64
	Numbers []int64
}

// Number returns the number of row i.
func (r *Rows) Number(i int) int64 {
	if r.Numbers != nil {
		return r.Numbers[i]
	}
	return r.Start + int64(i)
}

// An Aggregate is one column of the result: what is computed of which value columns. Aggregates are made by [Count], [Sum] and the like,
// or as a literal for an Accumulator of one's own.
type Aggregate struct {
	// Name is the name of the result's column. It is for the user only; built-in aggregates have their SQL name.
	Name string
	// Args are the value columns, as positions in [Config].Values.
	Args []int
	// New returns an empty Accumulator for arguments of these types, or an error that says what it can not take.
	New func(args []Type) (Accumulator, error)
	// RowNumbers asks for the numbers of rows: for aggregates that depend on the order of rows.
	RowNumbers bool

	// Aggregates of the same kind and arguments share an accumulator, if kind is not "".
	kind string
	// parts are what the aggregate is made from, if not from its own New, and combine makes the result of their accumulators, or of its own: it
	// returns the type, and a function that is called when the states are there, as Accumulator.Result.
	parts   []Aggregate
	combine func(accs []Accumulator) (Type, func() (Column, error))

	// reference computes the aggregate from the rows of one group, in the order of their numbers; nil if the Accumulator is to do it.
	reference func(rows []referenceRow) (any, error)
}

// As returns the aggregate with another name.
func (a Aggregate) As(name string) Aggregate { a.Name = name; return a }

// badArgs is the error of an aggregate about the types of its arguments.
func badArgs(name string, args []Type, want string) error {
	return fmt.Errorf("%s of %v: it takes %s", name, args, want)
}
