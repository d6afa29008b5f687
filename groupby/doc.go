// SPDX-License-Identifier: Apache-2.0

// Package groupby aggregates columns by groups: SELECT keys, aggregates ... GROUP BY keys, on slices in memory, batch by batch, on all
// processors, at any number of groups.
//
//	g, err := groupby.New(groupby.Config{
//		Keys:       []groupby.Type{groupby.String},
//		Values:     []groupby.Type{groupby.Int64},
//		Aggregates: []groupby.Aggregate{groupby.Count(), groupby.Sum(0)},
//	})
//	err = g.Add(ctx, groupby.Batch{Keys: []groupby.Column{groupby.Values(names)}, Values: []groupby.Column{groupby.Values(sizes)}})
//	res, err := g.Finish(ctx)
//
// It works in two phases. Phase 1 gives each row the number of its group, dense and small; phase 2 is one loop per aggregate over these numbers.
// When groups are too many for the processor's caches, rows are first parted by the hash of their keys, and each part goes
// through both phases alone. When they are too many for the memory, parts go to temporary files.
//
// NULL is a group of its own, as in SQL, unless [Config].DropNulls; NaN is one group, and -0 is 0. Aggregates leave NULLs out.
package groupby
