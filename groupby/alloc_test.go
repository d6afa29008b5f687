// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
)

// Allocation budgets.

// TestWorkerAllocations checks that rows of known groups cost no allocations, except a few per call.
func TestWorkerAllocations(t *testing.T) {
	soak.NoRace(t)
	const rows, groups = 1 << 16, 1000
	dense, sparse, values := make([]int64, rows), make([]int64, rows), make([]int64, rows)
	one, two := make([]string, rows), make([]string, rows)
	for i := range rows {
		g := int(int64(i) * 7919 % groups)
		dense[i], sparse[i], values[i] = int64(g), int64(g)*0x9e3779b97f4a7c1, int64(i)
		one[i], two[i] = fmt.Sprint("name ", g), fmt.Sprint("a longer name ", g%10)
	}
	validity := make([]byte, rows/8)
	for i := range validity {
		validity[i] = 0x7f
	}
	aggregates := []Aggregate{Count(), Sum("v0"), Min("v0")}
	// One per chunk, for the Rows that sumInt.Add passes to a function by address. For two integers keyPlan.places adds
	// one.
	const chunks = rows / chunkRows
	for _, row := range []struct {
		name   string
		keys   []column.Column
		direct bool
		most   float64
	}{
		{"dense", []column.Column{vals(dense)}, true, chunks},
		{"sparse", []column.Column{vals(sparse)}, false, chunks},
		{"with NULLs", []column.Column{vals(sparse).WithValidity(validity)}, false, chunks},
		{"two integers", []column.Column{vals(sparse), vals(dense)}, false, 2 * chunks},
		{"string", []column.Column{vals(one)}, false, chunks},
		{"two strings", []column.Column{vals(one), vals(two)}, false, chunks},
		{"string and integer", []column.Column{vals(two), vals(dense)}, false, chunks},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := Config{Aggregates: aggregates}
			for i := range row.keys {
				c.Keys = append(c.Keys, fmt.Sprint("k", i))
			}
			g, err := c.New()
			require.NoError(t, err)
			w := g.Worker()
			ctx := context.Background()
			b := batchOf(0, row.keys, cols(vals(values)))
			add := func() {
				if err := w.Add(ctx, b); err != nil {
					t.Fatal(err)
				}
			}
			add()
			if got := w.in.local.t.direct.ids != nil; got != row.direct {
				t.Errorf("direct table: %v", got)
			}
			if n := testing.AllocsPerRun(5, add); n > row.most {
				t.Errorf("%v allocations of a batch of %d rows, want %v at most", n, rows, row.most)
			}
		})
	}
}

// TestGrouperAllocations checks that allocations are independent of the number of groups and rows. There are some
// dozens per partition, for the growing columns of blocks. Strings cost more, since their blocks fill sooner.
func TestGrouperAllocations(t *testing.T) {
	if soak.Race {
		t.Skip("the numbers are those of the build without the race detector; TestGrouperEqualsReference has the races")
	}
	const rows, groups, length = 1_000_000, 200_000, 1 << 16
	ints, values, strs := make([]int64, rows), make([]int64, rows), make([]string, rows)
	names := make([]string, groups)
	for g := range names {
		names[g] = fmt.Sprint("a name of more than 15 bytes ", g)
	}
	for i := range rows {
		g := int(int64(i) * 7919 % groups)
		ints[i], values[i], strs[i] = int64(g)*1_000_003, int64(i), names[g]
	}
	for _, row := range []struct {
		name string
		key  column.Column
		most uint64
	}{
		{"integer", vals(ints), 80 * partitions},
		{"string", vals(strs), 200 * partitions},
	} {
		for _, order := range []Order{Unordered, FirstAppearance} {
			// partitioned from the first row, or when the table is full
			for _, sample := range []int{defaultLimits.sample, rows + 1} {
				c := Config{Keys: By("k0"), Aggregates: []Aggregate{Count(), Sum("v0")}, Workers: 2, Order: order}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				g, err := c.New()
				require.NoError(t, err)
				g.limits.sample = sample
				for i := 0; i < rows; i += length {
					j := min(i+length, rows)
					require.NoError(t, g.Add(context.Background(), batchOf(0, cols(row.key.Slice(i, j)), cols(vals(values[i:j])))))
				}
				r, err := g.Finish(context.Background())
				require.NoError(t, err)
				runtime.ReadMemStats(&after)
				require.Equal(t, groups, r.Rows)
				n := after.Mallocs - before.Mallocs
				t.Logf("%s, order %d, sample %d: %d allocations, %d MB", row.name, order.by, sample, n, (after.TotalAlloc-before.TotalAlloc)>>20)
				if n > row.most {
					t.Errorf("%s, order %d, sample %d: %d allocations for %d groups, want %d at most", row.name, order.by, sample, n, groups, row.most)
				}
			}
		}
	}
}
