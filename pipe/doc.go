// SPDX-License-Identifier: Apache-2.0

// Package pipe runs filters, computed columns, groups, sorts and limits as one chain: over Parquet files, tables and
// batches in memory, on all processors.
//
//	top, err := pipe.Parquet("hits*.parquet").
//		Where("CounterID = ? and URL like '%google%'", 62).
//		With("minute", "date_trunc('minute', EventTime)").
//		GroupBy("minute").Aggregate(groupby.Count().As("c"), groupby.CountDistinct("UserID").As("users")).
//		Having("c > 10").
//		OrderBy(pipe.Descending("c")).Offset(1000).Limit(10).
//		Batch(ctx)
//
// A chain is a source and verbs, which apply in their order: Where after Limit keeps some of the limited rows. Sources
// are [Parquet], [Dataset], [Batches], [Union], and with [From] the sources of other packages: tablescan.Source is a
// table. [Pipe.Batch] and [Pipe.Batches] run the chain, [Pipe.Explain] returns its plan.
//
// # Expressions
//
// Conditions and computed columns are texts in the language of package expr. Each ? stands for the next argument: the
// value of a literal, which needs no quotes, or an expr.Expr, so that Where("?", e) takes an expression made in Go.
//
// Wherever a verb or an aggregate takes the name of a column, it takes an expression, too:
// GroupBy("length(URL)"), groupby.Sum("price * quantity"). If there is a column of exactly that name, it is the column.
// Otherwise the text is computed, as a column whose name is the text.
//
// # What a run does
//
// Only the columns that the result depends on are read. Conditions that compare a column with literals are evaluated by
// the source: Parquet files skip row groups and pages by statistics and indexes; tables are asked for partitions if the
// partition key is stated. All other conditions are evaluated on the rows. Counts, minimums and maximums of whole files
// are read from footers if these have them exactly.
//
// Results do not depend on the number of goroutines, except for the order of groups and of rows of tables without
// OrderBy, for the rows of Limit and Offset without OrderBy, for groupby.Any, and for the last digits of sums of
// floats.
package pipe
