// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
)

// Groups, by package groupby.

// A groupOp groups and aggregates.
type groupOp struct {
	verb       string
	keys       []string
	aggregates []groupby.Aggregate
	input      column.Schema
	order      groupby.Order // of a limited result
	limit      int           // 0 means all
	few        int           // of the groups, any of them; 0 means all
	source     narrower
	narrows    []string // keys that narrow source
}

func (op *groupOp) config(c Config) groupby.Config {
	g := groupby.Config{
		Keys: op.keys, Aggregates: op.aggregates, Order: groupby.Unordered, Workers: c.Workers,
		MemoryLimit: c.MemoryLimit, SpillDir: c.SpillDir, SpillCodec: c.SpillCodec,
	}
	if op.limit > 0 {
		g.Order, g.Limit = op.order, op.limit
	}
	return g
}

func (op *groupOp) needs(columns map[string]bool) bool {
	clear(columns)
	for _, name := range op.keys {
		columns[name] = true
	}
	for _, a := range op.aggregates {
		for _, name := range a.Args {
			columns[name] = true
		}
	}
	return true
}

// results returns the names of the columns of the groups.
func (op *groupOp) results() []string {
	names := slices.Clone(op.keys)
	for _, a := range op.aggregates {
		names = append(names, a.Name)
	}
	return names
}

// schema returns the columns of the groups, which have the types of a result without rows.
func (op *groupOp) schema(empty *column.Batch) column.Schema {
	schema := empty.Schema()
	for i, name := range op.keys {
		schema[i].Nullable = op.isNullable(name)
	}
	for i, a := range op.aggregates {
		schema[len(op.keys)+i].Nullable = op.mayBeNull(a)
	}
	return schema
}

func (op *groupOp) isNullable(name string) bool { return op.input[op.input.Index(name)].Nullable }

// mayBeNull reports whether an aggregate may be NULL. Counts are not. The aggregates of one value of a group are NULL
// only if all values are, and a group has a row, unless it is the one of all rows.
func (op *groupOp) mayBeNull(a groupby.Aggregate) bool {
	switch a.Function() {
	case "count", "count_distinct", "approx_count_distinct":
		return false
	case "sum", "mean", "min", "max", "any", "first", "last":
		return len(op.keys) == 0 || op.isNullable(a.Args[0])
	}
	return true
}

// node checks the aggregates.
func (op *groupOp) node(p *plan, in node) (node, error) {
	g, err := op.config(p.config).New()
	if err != nil {
		return nil, failed(op.verb, quoted(op.keys), err)
	}
	_ = g.Close()
	names := make([]string, len(op.aggregates))
	for i, a := range op.aggregates {
		names[i] = strings.TrimSuffix(a.Name, "\x00")
	}
	line := "aggregate"
	if len(op.keys) > 0 {
		line = "group by " + strings.Join(op.keys, ", ")
	}
	if len(names) > 0 {
		line += ": " + strings.Join(names, ", ")
	}
	switch {
	case op.limit > 0:
		line += fmt.Sprintf(" (the first %s)", counted(op.limit, "group"))
	case op.few > 0:
		line += fmt.Sprintf(" (any %s)", counted(op.few, "group"))
	}
	return &groupNode{op: op, in: in, config: op.config(p.config), meter: p.describe("%s", line)}, nil
}

// A groupNode produces groups.
type groupNode struct {
	op     *groupOp
	in     node
	config groupby.Config
	meter  *meter
}

func (n *groupNode) workers() int { return 1 }

// run adds all rows to a Grouper, and passes the groups on.
func (n *groupNode) run(ctx context.Context, f emit) error {
	config, arg := n.config, distinctArg(n.config, n.op.input)
	if arg != "" {
		config = pairsOf(config, arg)
	}
	g, err := config.New()
	if err != nil {
		return err
	}
	defer g.Close()
	workers := make([]*groupby.Worker, n.in.workers())
	for i := range workers {
		workers[i] = g.Worker()
	}
	picker, states := n.op.picker(), make([]pickState, len(workers))
	err = n.in.run(ctx, func(worker int, p part) (err error) {
		start := time.Now()
		if n.op.few > 0 {
			if p, err = picker.pick(&states[worker], p); err != nil {
				return failed(n.op.verb, quoted(n.op.keys), err)
			}
		}
		// ctx is the caller's: a Limit before the groups ends the scan, and the rows under way still count.
		err = p.addTo(ctx, workers[worker])
		n.meter.add(0, start)
		return failed(n.op.verb, quoted(n.op.keys), err)
	})
	if err != nil {
		return err
	}
	start := time.Now()
	result, err := n.finish(ctx, g, arg)
	if err != nil {
		return failed(n.op.verb, quoted(n.op.keys), err)
	}
	rows := 0
	for _, b := range result {
		rows += b.Rows
	}
	n.meter.add(rows, start)
	return (&memoryNode{batches: result}).run(ctx, f)
}

// picker returns a picker of any few groups.
func (op *groupOp) picker() *groupPicker {
	return &groupPicker{
		keys: op.keys, narrows: op.narrows, source: op.source, most: op.few,
		groups: map[string]struct{}{}, values: map[string][]any{},
	}
}

// finish returns the groups of a Grouper, or, if arg is not empty, counts its pairs of keys and arg.
func (n *groupNode) finish(ctx context.Context, g *groupby.Grouper, arg string) ([]*column.Batch, error) {
	if arg != "" {
		counts, err := countPairs(ctx, n.config, g, arg)
		if err != nil {
			return nil, err
		}
		defer counts.Close()
		g = counts
	}
	if n.config.Limit > 0 || len(n.config.Keys) == 0 {
		b, err := g.Finish(ctx)
		if err == nil && b.Rows == 0 && len(n.config.Keys) == 0 {
			b, err = n.op.ofNothing()
		}
		return []*column.Batch{b}, err
	}
	var batches []*column.Batch
	for b, err := range g.FinishBatches(ctx) {
		if err != nil {
			return nil, err
		}
		batches = append(batches, b)
	}
	return batches, nil
}

// ofNothing returns the one row of the aggregates of no rows: the aggregates of a row of NULLs, which only count(*)
// counts. A list has none.
func (op *groupOp) ofNothing() (*column.Batch, error) {
	b := op.input.Empty()
	const null = "null of " // no column of the input is needed by this name
	b.Columns = append(b.Columns, column.Column{Name: null, Type: column.Type{Kind: column.Bool}})
	for i := range b.Columns {
		b.Columns[i] = nullColumn(b.Columns[i])
	}
	b.Rows = 1
	config := groupby.Config{Aggregates: slices.Clone(op.aggregates)}
	for i, a := range config.Aggregates {
		if a.Function() == "count" && len(a.Args) == 0 {
			config.Aggregates[i] = groupby.CountOf(null).As(a.Name)
		}
	}
	b, err := config.Aggregate(context.Background(), b)
	for i, a := range config.Aggregates {
		if err == nil && a.Function() == "array_agg" { // which has NULLs
			b.Columns[i] = nullColumn(b.Columns[i])
		}
	}
	return b, err
}

// nullColumn returns a column of one NULL.
func nullColumn(c column.Column) column.Column {
	c.Len, c.Nulls, c.Validity = 1, 1, []byte{0}
	switch kind := c.Type.Kind; {
	case kind.IsText(), kind.IsList():
		c.Offsets = []int32{0, 0}
	case kind == column.Struct, kind == column.Tuple:
		for i := range c.Children {
			c.Children[i] = nullColumn(c.Children[i])
		}
	default:
		c.Values = make([]byte, (c.Type.ValueWidth()+7)&^7)
	}
	return c
}
