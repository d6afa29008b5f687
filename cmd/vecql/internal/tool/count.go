// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/tablescan"
)

// The verb count: the rows of a table.

// countOptions are the flags of count.
type countOptions struct {
	byRange, byNode bool
	by              []string
	largest         int
	where           string
	workers         int
}

// count is one run of count.
type count struct {
	countOptions
	*env
	session *vecql.Session
	table   clustertable.Table
}

// newCountCommand returns the verb count.
func newCountCommand(e *env) *cobra.Command {
	x := &count{env: e}
	c := &cobra.Command{
		Use:   "count TABLE",
		Short: "Count the rows of a table",
		Long: `Count reads the keys of all rows by token ranges, each range from a node that
stores it, and counts them. The result is exact for a table that does not change,
also while nodes restart or tablets move: a range that fails is read again.

--by-node counts the replicas: the sum is the number of rows times the
replication factor.`,
		Example: `  vecql count shop.items
  vecql count shop.items --by-node
  vecql count shop.events --by tenant,day
  vecql count shop.events --largest 10 --output json
  vecql count shop.items --where "price > 100 ALLOW FILTERING"`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: e.completeTables,
		RunE:              func(c *cobra.Command, args []string) error { return x.run(c.Context(), args[0]) },
	}
	e.addClusterFlags(c)
	e.addOutputFlag(c)
	e.addProgressFlag(c)
	c.Flags().BoolVar(&x.byRange, "by-range", false, "count each token range")
	c.Flags().BoolVar(&x.byNode, "by-node", false, "count the rows that each node stores")
	c.Flags().StringSliceVar(&x.by, "by", nil, "count by the first `columns` of the primary key")
	c.Flags().IntVar(&x.largest, "largest", 0, "count by partition, and print the `number` of largest ones")
	c.Flags().StringVar(&x.where, "where", "", "count the rows of a `condition`")
	c.Flags().IntVar(&x.workers, "workers", 8, "`ranges` that are read at a time")
	c.MarkFlagsMutuallyExclusive("by-range", "by-node", "by", "largest")
	return c
}

// run counts the rows of a table.
func (x *count) run(ctx context.Context, table string) (err error) {
	switch {
	case x.workers < 1:
		return usagef("--workers is %d, want at least 1", x.workers)
	case x.largest < 0:
		return usagef("--largest is %d, want at least 1", x.largest)
	}
	if x.session, err = x.connect(ctx); err != nil {
		return err
	}
	defer x.session.Close()
	if x.table, err = findTable(ctx, x.session, table); err != nil {
		return err
	}
	partition := clustertable.Names(x.table.Metadata.PartitionKey)
	primary := clustertable.Names(clustertable.PrimaryKey(x.table.Metadata))
	switch {
	case x.byRange || x.byNode:
		return x.countRanges(ctx, partition)
	case x.largest > 0:
		return x.countGroups(ctx, partition, groupby.Descending("rows"))
	case len(x.by) > len(primary), !slices.Equal(x.by, primary[:len(x.by)]):
		return usagef("--by is %s, want the first columns of the primary key (%s)", strings.Join(x.by, ","),
			strings.Join(primary, ", "))
	case len(x.by) > 0:
		return x.countGroups(ctx, x.by, groupby.ByKeys)
	}
	return x.countAll(ctx, partition)
}

// countAll counts all rows. In the form of a table the result is the number alone.
func (x *count) countAll(ctx context.Context, partition []string) error {
	rows, err := x.scan(ctx, tokenOf(partition), func(*column.Batch) error { return nil })
	if err == nil && x.output == outputs[0] {
		_, err = fmt.Fprintln(x.out, rows)
		return err
	}
	return x.print(column.NewBatch(column.Of("rows", []int64{rows})), err)
}

// print writes the result, unless there is an error.
func (x *count) print(b *column.Batch, err error) error {
	if err != nil {
		return err
	}
	return x.writeResult(func(yield func(*column.Batch, error) bool) { yield(b, nil) })
}

// tokenOf returns the selector of the token.
func tokenOf(partition []string) []string {
	return []string{"token(" + strings.Join(clustertable.Quoted(partition), ", ") + ")"}
}

// scan passes columns of all rows to f, on several goroutines, and returns the number of rows.
func (x *count) scan(ctx context.Context, columns []string, f func(*column.Batch) error) (rows int64, err error) {
	scan, err := tablescan.New(ctx, x.session, x.table.Select(columns, x.where), tablescan.Config{Workers: x.workers})
	if err != nil {
		return 0, err
	}
	stop, err := x.startProgress(func() state {
		p := scan.Progress()
		return state{p.Done, counted(p.Rows, "row"), scanCounts(p)}
	})
	if err != nil {
		return 0, err
	}
	defer stop()
	err = scan.Run(ctx, func(_ int, b *column.Batch) error { return f(b) })
	return scan.Progress().Rows, err
}

// scanCounts returns the counts of a scan.
func scanCounts(p tablescan.Progress) counts {
	return counts{rows: uint64(p.Rows), bytes: uint64(p.Bytes), retries: uint64(p.Failures)}
}

// countGroups counts the rows by columns of the key.
func (x *count) countGroups(ctx context.Context, keys []string, order groupby.Order) error {
	g, err := groupby.Config{
		Keys: keys, Aggregates: []groupby.Aggregate{groupby.Count().As("rows")}, Order: order, Limit: x.largest,
		MemoryLimit: 256 << 20, SpillDir: os.TempDir(),
	}.New()
	if err != nil {
		return err
	}
	defer g.Close()
	if _, err := x.scan(ctx, clustertable.Quoted(keys), func(b *column.Batch) error { return g.Add(ctx, b) }); err != nil {
		return err
	}
	return x.print(g.Finish(ctx))
}

// countRanges counts the rows by token range or by node.
func (x *count) countRanges(ctx context.Context, partition []string) error {
	ranges, err := x.session.TokenRanges(ctx, x.table.Metadata.Keyspace, x.table.Metadata.Name)
	if err != nil {
		return err
	}
	counts := make([]atomic.Int64, len(ranges))
	if _, err := x.scan(ctx, tokenOf(partition), func(b *column.Batch) error {
		return countTokens(b, ranges, counts)
	}); err != nil {
		return err
	}
	if x.byNode {
		return x.print(x.nodeCounts(ranges, counts), nil)
	}
	starts, ends, rows, nodes := make([]int64, len(ranges)), make([]int64, len(ranges)), make([]int64, len(ranges)),
		make([]string, len(ranges))
	for i, r := range ranges {
		starts[i], ends[i], rows[i] = r.Start, r.End, counts[i].Load()
		var replicas []string
		for _, replica := range r.Replicas {
			replicas = append(replicas, x.address(replica.HostID))
		}
		nodes[i] = strings.Join(replicas, " ")
	}
	return x.print(column.NewBatch(column.Of("above", starts), column.Of("up_to", ends), column.Of("rows", rows),
		column.Strings("nodes", nodes)), nil)
}

// countTokens adds the rows of a batch, whose tokens ascend, to the ranges.
func countTokens(b *column.Batch, ranges []vecql.TokenRange, counts []atomic.Int64) error {
	tokens, err := column.Slice[int64](&b.Columns[0])
	if err != nil {
		return err
	}
	for first := 0; first < len(tokens); {
		at := sort.Search(len(ranges), func(i int) bool { return ranges[i].End >= tokens[first] })
		next := first + sort.Search(len(tokens)-first, func(i int) bool { return tokens[first+i] > ranges[at].End })
		counts[at].Add(int64(next - first))
		first = next
	}
	return nil
}

// address returns the address of a node, or its host id if the node has left.
func (x *count) address(id cql.UUID) string {
	for _, h := range x.session.GetHosts() {
		if h.ID == id {
			return h.Address.String()
		}
	}
	return id.String()
}

// nodeCounts returns the rows that each node stores.
func (x *count) nodeCounts(ranges []vecql.TokenRange, counts []atomic.Int64) *column.Batch {
	byNode := map[cql.UUID]int64{}
	total := int64(0)
	for i, r := range ranges {
		for _, replica := range r.Replicas {
			byNode[replica.HostID] += counts[i].Load()
			total += counts[i].Load()
		}
	}
	hosts := x.session.GetHosts()
	slices.SortFunc(hosts, func(a, b *cql.Host) int {
		return strings.Compare(a.DataCenter+" "+a.Address.String(), b.DataCenter+" "+b.Address.String())
	})
	nodes, centers, rows, percent := make([]string, len(hosts)), make([]string, len(hosts)), make([]int64, len(hosts)),
		make([]float64, len(hosts))
	for i, h := range hosts {
		nodes[i], centers[i], rows[i] = h.Address.String(), h.DataCenter, byNode[h.ID]
		if total > 0 {
			percent[i] = float64(rows[i]*1000/total) / 10
		}
	}
	return column.NewBatch(column.Strings("node", nodes), column.Strings("data_center", centers), column.Of("rows", rows),
		column.Of("percent", percent))
}
