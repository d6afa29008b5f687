// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// This file holds budgets of allocations.

// TestWorkerAllocations: rows of groups that are known cost no allocations, but for those that a call has.
func TestWorkerAllocations(t *testing.T) {
	const rows, groups = 1 << 16, 1000
	dense, sparse, values := make([]int64, rows), make([]int64, rows), make([]int64, rows)
	one, two := make([]string, rows), make([]string, rows)
	for i := range rows {
		g := i * 7919 % groups
		dense[i], sparse[i], values[i] = int64(g), int64(g)*0x9e3779b97f4a7c1, int64(i)
		one[i], two[i] = fmt.Sprint("name ", g), fmt.Sprint("a longer name ", g%10)
	}
	validity := make([]byte, rows/8)
	for i := range validity {
		validity[i] = 0x7f
	}
	aggregates := []Aggregate{Count(), Sum(0), Min(0)}
	// One for each chunk: the Rows that sumInt.Add gives to a function by their address. Two integers: keyPlan.places, too.
	const chunks = rows / chunkRows
	for _, row := range []struct {
		name   string
		keys   []Column
		direct bool
		most   float64
	}{
		{"dense", []Column{Values(dense)}, true, chunks},
		{"sparse", []Column{Values(sparse)}, false, chunks},
		{"with NULLs", []Column{Values(sparse).WithValidity(validity)}, false, chunks},
		{"two integers", []Column{Values(sparse), Values(dense)}, false, 2 * chunks},
		{"string", []Column{Values(one)}, false, chunks},
		{"two strings", []Column{Values(one), Values(two)}, false, chunks},
		{"string and integer", []Column{Values(two), Values(dense)}, false, chunks},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := Config{Values: []Type{Int64}, Aggregates: aggregates}
			for _, k := range row.keys {
				c.Keys = append(c.Keys, k.Type())
			}
			g, err := New(c)
			require.NoError(t, err)
			w := g.Worker()
			ctx := context.Background()
			b := Batch{Keys: row.keys, Values: []Column{Values(values)}}
			add := func() {
				if err := w.Add(ctx, b); err != nil {
					t.Fatal(err)
				}
			}
			add()
			if got := w.local.t.direct.ids != nil; got != row.direct {
				t.Errorf("direct table: %v", got)
			}
			if n := testing.AllocsPerRun(5, add); n > row.most {
				t.Errorf("%v allocations of a batch of %d rows, want %v at most", n, rows, row.most)
			}
		})
	}
}

// TestGrouperAllocations: many groups cost no allocation each, and many rows neither. There are some dozens per partition: columns of blocks, that grow;
// and more with strings, whose blocks are full sooner.
func TestGrouperAllocations(t *testing.T) {
	const rows, groups, length = 1_000_000, 200_000, 1 << 16
	ints, values, strs := make([]int64, rows), make([]int64, rows), make([]string, rows)
	names := make([]string, groups)
	for g := range names {
		names[g] = fmt.Sprint("a name of more than 15 bytes ", g)
	}
	for i := range rows {
		g := i * 7919 % groups
		ints[i], values[i], strs[i] = int64(g)*1_000_003, int64(i), names[g]
	}
	for _, row := range []struct {
		name string
		key  Column
		most uint64
	}{
		{"integer", Values(ints), 80 * partitions},
		{"string", Values(strs), 200 * partitions},
	} {
		for _, order := range []Order{Unordered, FirstAppearance} {
			for _, sample := range []int{defaultLimits.sample, rows + 1} { // parted from the first row on, or when the table is full
				c := Config{Keys: []Type{row.key.Type()}, Values: []Type{Int64}, Aggregates: []Aggregate{Count(), Sum(0)}, Workers: 2, Order: order}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				g, err := New(c)
				require.NoError(t, err)
				g.plan.limits.sample = sample
				for i := 0; i < rows; i += length {
					j := min(i+length, rows)
					require.NoError(t, g.Add(context.Background(), Batch{Keys: []Column{row.key.Slice(i, j)}, Values: []Column{Values(values[i:j])}}))
				}
				r, err := g.Finish(context.Background())
				require.NoError(t, err)
				runtime.ReadMemStats(&after)
				require.Equal(t, groups, r.Len())
				n := after.Mallocs - before.Mallocs
				t.Logf("%s, order %d, sample %d: %d allocations, %d MB", row.name, order.by, sample, n, (after.TotalAlloc-before.TotalAlloc)>>20)
				if n > row.most {
					t.Errorf("%s, order %d, sample %d: %d allocations for %d groups, want %d at most", row.name, order.by, sample, n, groups, row.most)
				}
			}
		}
	}
}
