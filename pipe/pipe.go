// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"slices"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
)

// The chain: sources and verbs.

// A Pipe is a source of rows and the verbs that follow, in their order. Each verb returns a new Pipe, so that a Pipe is
// immutable, may be the start of several others, and may be run several times and by several goroutines at once. It
// holds no resources. [Pipe.Batch], [Pipe.Batches] and [Pipe.Explain] check and run it, and report errors as an
// [*Error].
type Pipe struct {
	source source
	steps  []step
	config Config
}

// A Config has the options of a run. The zero value of each field is valid.
type Config struct {
	// Workers is the number of goroutines. Default: GOMAXPROCS. A table is read by tablescan.Config.Workers goroutines.
	Workers int
	// MemoryLimit, SpillDir and SpillCodec bound the memory of each Aggregate and Distinct, as in groupby.Config.
	MemoryLimit int64
	SpillDir    string
	SpillCodec  groupby.Codec
	// AllowFiltering lets the server of a table evaluate conditions that CQL permits only with ALLOW FILTERING. Without
	// it such conditions are evaluated on the rows that are read.
	AllowFiltering bool
	// Stats is set when a run ends; nil means none. It must not be shared by runs at the same time.
	Stats *Stats

	lists []string // columns of files that are read as lists, after a run that read them as vectors at first
}

// Parquet reads Parquet files: paths, or patterns as in parquetscan.Open. A run opens the files and closes them.
func Parquet(patterns ...string) Pipe {
	return Pipe{source: &parquetSource{patterns: slices.Clone(patterns)}}
}

// Dataset reads open Parquet files, which stay open.
func Dataset(files *parquetscan.Dataset) Pipe { return Pipe{source: &parquetSource{files: files}} }

// Table reads a table or a materialized view, named as in CQL: "shop.items", or "items" in the keyspace of the session.
// If conditions state the partition key, it reads these partitions, otherwise all ranges of tokens (package tablescan).
func Table(session *vecql.Session, name string) Pipe {
	return Pipe{source: &tableSource{session: session, name: name}}
}

// Batches reads batches in memory, which must not change during a run. All have the columns of the first, found by
// name.
func Batches(batches ...*column.Batch) Pipe {
	return Pipe{source: &memorySource{batches: slices.Clone(batches)}}
}

// Union has the rows of all pipes, with the columns of the first; the others have columns of the same names and types.
func Union(pipes ...Pipe) Pipe { return Pipe{source: &unionSource{pipes: slices.Clone(pipes)}} }

// Configure sets the options of a run, in place of earlier ones. The options of the pipes within a Union have no
// effect.
func (p Pipe) Configure(c Config) Pipe { p.config = c; return p }

func (p Pipe) add(s step) Pipe {
	p.steps = append(slices.Clip(p.steps), s)
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
func (p Pipe) OrderBy(by ...Order) Pipe { return p.add(&orderStep{slices.Clone(by)}) }

// An Order is a column to order by. [Ascending] and [Descending] return orders.
type Order struct {
	column     string
	desc       bool
	nullsFirst bool
}

// Ascending orders by a column, the least value first, NULL last. Floats have the order of groupby: NaN is greater than
// all numbers, -0 equals 0. Texts are ordered by their bytes.
func Ascending(column string) Order { return Order{column: column} }

// Descending orders by a column, the greatest value first, NULL last.
func Descending(column string) Order { return Order{column: column, desc: true} }

// NullsFirst returns the order with NULL first.
func (o Order) NullsFirst() Order { o.nullsFirst = true; return o }

// Limit keeps the first n rows. Without an order these are any n rows, and reading stops when there are n.
func (p Pipe) Limit(n int64) Pipe { return p.add(&windowStep{verb: "Limit", n: n}) }

// Offset skips the first n rows; without an order, any n rows.
func (p Pipe) Offset(n int64) Pipe { return p.add(&windowStep{verb: "Offset", n: n}) }
