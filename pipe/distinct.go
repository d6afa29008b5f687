// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
)

// Counts of distinct values, as groups of groups: GROUP BY k of count(DISTINCT x) is a count of the groups of k and x.
// Groups are divided among goroutines and partitions; the set of the values of one group is not.

// distinctArg returns the column if all aggregates are counts of the distinct values of one column that can be a key
// and is none; else "". With a memory limit it returns "", since groups of groups would have the limit twice.
func distinctArg(c groupby.Config, input column.Schema) string {
	if len(c.Aggregates) == 0 || c.MemoryLimit > 0 || len(c.Keys) >= maxKeys {
		return ""
	}
	arg := ""
	for _, a := range c.Aggregates {
		if a.Function() != "count_distinct" || arg != "" && a.Args[0] != arg {
			return ""
		}
		arg = a.Args[0]
	}
	i := input.Index(arg)
	if i < 0 || slices.Contains(c.Keys, arg) {
		return ""
	}
	// Groups of a text are found by the codes of its dictionary, which pairs do not have.
	for _, key := range c.Keys {
		if k := input.Index(key); k < 0 || input[k].Type.Kind.IsText() {
			return ""
		}
	}
	switch kind := input[i].Type.Kind; {
	case kind == column.Decimal, kind == column.Vector, kind.IsNested():
		return ""
	}
	return arg
}

// maxKeys is the number of keys that groupby accepts.
const maxKeys = 32

// pairsOf returns the configuration of the groups of the keys and arg.
func pairsOf(c groupby.Config, arg string) groupby.Config {
	c.Keys = append(slices.Clone(c.Keys), arg)
	c.Aggregates, c.Order, c.Limit = nil, groupby.Unordered, 0
	return c
}

// countPairs returns a Grouper of a configuration that counts the groups of pairs. A pair whose value is NULL makes a
// group, but is not counted.
func countPairs(
	ctx context.Context, c groupby.Config, pairs *groupby.Grouper, arg string,
) (*groupby.Grouper, error) {
	aggregates := c.Aggregates
	c.Aggregates = nil
	for _, a := range aggregates {
		c.Aggregates = append(c.Aggregates, groupby.CountOf(arg).As(a.Name))
	}
	g, err := c.New()
	if err != nil {
		return nil, err
	}
	batches := make(chan *column.Batch)
	// The first goroutine takes the groups, which all workers of pairs make, and the others count them.
	err = parallel(ctx, 1+cmp.Or(max(0, c.Workers), runtime.GOMAXPROCS(0)), func(ctx context.Context, k int) error {
		if k == 0 {
			defer close(batches)
			return sendGroups(ctx, pairs, batches)
		}
		w := g.Worker()
		for b := range batches {
			if err := w.Add(ctx, b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		_ = g.Close()
		return nil, err
	}
	return g, nil
}

// sendGroups sends the groups of a Grouper until ctx ends.
func sendGroups(ctx context.Context, g *groupby.Grouper, batches chan<- *column.Batch) error {
	for b, err := range g.FinishBatches(ctx) {
		if err != nil {
			return err
		}
		select {
		case batches <- b:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
