// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe/internal/order"
)

// The chain: sources and verbs.

// A Pipe is a source of rows and the verbs that follow, in their order. Each verb returns a new Pipe, so that a Pipe is
// immutable, may be the start of several others, and may be run several times and by several goroutines at once. It
// holds no resources. [Pipe.Batch], [Pipe.Batches] and [Pipe.Explain] check and run it, and report errors as an
// [*Error].
type Pipe struct {
	chain  chain
	config Config
}

// Parquet reads Parquet files: paths, or patterns as in parquetscan.Open. A run opens the files and closes them.
func Parquet(patterns ...string) Pipe {
	return sourced(&parquetSource{patterns: slices.Clone(patterns)})
}

// Dataset reads open Parquet files, which stay open.
func Dataset(files *parquetscan.Dataset) Pipe { return sourced(&parquetSource{files: files}) }

// From reads a source of another package, such as the tables of package tablescan:
//
//	pipe.From(tablescan.Source{Session: session, Table: "shop.items"})
//
// Its rows have no order before OrderBy.
func From[R Rows](source Source[R]) Pipe { return sourced(foreignSource[R]{source}) }

// Batches reads batches in memory, which must not change during a run. All have the columns of the first, found by
// name. A column that a run reads is checked (column.Column.Check); one that it does not read is not.
func Batches(batches ...*column.Batch) Pipe {
	return sourced(&memorySource{batches: slices.Clone(batches)})
}

// Union has the rows of all pipes, with the columns of the first; the others have columns of the same names and types.
func Union(pipes ...Pipe) Pipe {
	members := make([]chain, len(pipes))
	for i, p := range pipes {
		members[i] = p.chain
	}
	return sourced(&unionSource{members})
}

func sourced(s source) Pipe { return Pipe{chain: chain{source: s}} }

// Configure sets the options of a run, in place of earlier ones. The options of the pipes within a Union have no
// effect.
func (p Pipe) Configure(c Config) Pipe { p.config = c; return p }

func (p Pipe) add(s step) Pipe {
	p.chain.steps = append(slices.Clip(p.chain.steps), s)
	return p
}

// Where keeps the rows for which a condition is true, not those for which it is false or NULL. Conditions that a source
// can evaluate are evaluated there: files skip row groups and pages by statistics and indexes.
func (p Pipe) Where(condition string, args ...any) Pipe {
	return p.add(&whereStep{text: newText("Where", condition, args)})
}

// With adds a column with the values of an expression, or replaces the column of that name. The expression can be a
// column alone: With("b", "a") is the column a under the name b.
func (p Pipe) With(name, expression string, args ...any) Pipe {
	return p.add(&withStep{name: name, text: newText("With", expression, args)})
}

// Select keeps some columns, in this order.
func (p Pipe) Select(columns ...string) Pipe { return p.add(&selectStep{slices.Clone(columns)}) }

// Distinct returns the distinct rows of some columns; none means all columns. NULL equals NULL here.
func (p Pipe) Distinct(columns ...string) Pipe {
	return p.add(&groupStep{verb: "Distinct", keys: slices.Clone(columns), distinct: true})
}

// GroupBy groups rows by the values of columns, at most 32. Aggregate follows. NULL is a group, and NaN is one.
func (p Pipe) GroupBy(columns ...string) Groups { return Groups{p, slices.Clone(columns)} }

// Groups are the rows of a Pipe in groups.
type Groups struct {
	pipe Pipe
	keys []string
}

// Aggregate returns one row per group: the columns of GroupBy, then the aggregates.
func (g Groups) Aggregate(aggregates ...groupby.Aggregate) Pipe {
	return g.pipe.add(&groupStep{verb: "GroupBy", keys: g.keys, aggregates: slices.Clone(aggregates)})
}

// Aggregate returns one row, also if there are no rows: aggregates of all rows.
func (p Pipe) Aggregate(aggregates ...groupby.Aggregate) Pipe {
	return p.add(&groupStep{verb: "Aggregate", aggregates: slices.Clone(aggregates)})
}

// Having is Where, for the rows of Aggregate.
func (p Pipe) Having(condition string, args ...any) Pipe {
	return p.add(&whereStep{text: newText("Having", condition, args)})
}

// OrderBy sorts rows by columns, the first one first. Rows that are equal in all of them stay in their order if they
// come from files, batches or an earlier OrderBy; groups are ordered by their keys, and rows of tables by all columns.
// OrderBy holds all rows in memory, unless Limit follows: then it holds the first rows only.
func (p Pipe) OrderBy(by ...Order) Pipe {
	keys := make([]order.Key, len(by))
	for i, o := range by {
		keys[i] = o.key
	}
	return p.add(&orderStep{keys})
}

// An Order is a column to order by. [Ascending] and [Descending] return orders.
type Order struct{ key order.Key }

// Ascending orders by a column, the least value first, NULL last. Floats have the order of groupby: NaN is greater than
// all numbers, -0 equals 0. Texts are ordered by their bytes.
func Ascending(column string) Order { return Order{order.Key{Name: column}} }

// Descending orders by a column, the greatest value first, NULL last.
func Descending(column string) Order { return Order{order.Key{Name: column, Desc: true}} }

// NullsFirst returns the order with NULL first.
func (o Order) NullsFirst() Order { o.key.NullsFirst = true; return o }

// Limit keeps the first n rows. Without an order these are any n rows, and reading stops when there are n.
func (p Pipe) Limit(n int64) Pipe { return p.add(&windowStep{verb: "Limit", n: n}) }

// Offset skips the first n rows; without an order, any n rows.
func (p Pipe) Offset(n int64) Pipe { return p.add(&windowStep{verb: "Offset", n: n}) }
