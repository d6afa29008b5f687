// SPDX-License-Identifier: Apache-2.0

// Package groupby aggregates columnar batches by groups: SELECT keys, aggregates ... GROUP BY keys. It reads batch by
// batch, on all processors, and any number of groups is possible.
//
//	g, err := groupby.New(groupby.By("label"),
//		groupby.Count(), groupby.Mean("embedding").As("centroid"), groupby.Median("price"))
//	err = g.Add(ctx, batch)         // *column.Batch, of any origin: columns are found by name
//	result, err := g.Finish(ctx)    // *column.Batch: label, count, centroid, median(price)
//	fmt.Print(result)
//
// [New] has a complete program. [Config] sets the order of the result, a limit, and a memory limit beyond which groups
// are spilled to a temporary file. The first batch sets the types of the columns. Results keep them: a key or a Max of
// a timestamp is a timestamp of the same type.
//
// # How it works
//
// Phase 1 maps each row to the number of its group; the numbers are dense and small. Phase 2 is one loop per aggregate
// over these numbers. If the groups exceed the processor's caches, rows are first partitioned by the hash of their
// keys, and each partition goes through both phases alone. If the groups exceed the memory limit, partitions are
// written to a temporary file.
//
// NULL is a group of its own, as in SQL, unless [Config].DropNulls is set. NaN is one group, and -0 equals 0.
// Aggregates skip NULLs.
package groupby
