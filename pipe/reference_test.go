// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// The reference: each verb on rows, one by one.

// A table is a list of rows, each a batch of one row, and a batch without rows that has their columns.
type table struct {
	t       *testing.T
	rows    []*column.Batch
	empty   *column.Batch
	ordered bool     // the order of the rows is defined
	unique  []string // keys of groups
}

func tableOf(t *testing.T, b *column.Batch) *table {
	r := &table{t: t, empty: b.Slice(0, 0), ordered: true}
	for i := range b.Rows {
		r.rows = append(r.rows, b.Slice(i, i+1))
	}
	return r
}

func (r *table) schema() column.Schema { return r.empty.Schema() }

func (r *table) program(text string) *expr.Program {
	e, err := expr.Parse(text)
	require.NoError(r.t, err)
	p, err := expr.Compile(e, r.schema())
	require.NoError(r.t, err)
	return p
}

// where returns false if the condition has an error in a row.
func (r *table) where(text string) bool {
	p := r.program(text)
	var kept []*column.Batch
	for _, row := range r.rows {
		selected, err := p.Select(row, nil)
		if err != nil {
			return false
		}
		if len(selected) > 0 {
			kept = append(kept, row)
		}
	}
	r.rows = kept
	return true
}

// with returns false if the expression has an error in a row.
func (r *table) with(name, text string) bool {
	p := r.program(text)
	extend := func(b *column.Batch) (*column.Batch, bool) {
		c, err := p.Eval(b)
		if err != nil {
			return nil, false
		}
		out := &column.Batch{Rows: b.Rows, Columns: slices.Clone(b.Columns)}
		if i := out.Index(name); i >= 0 {
			out.Columns[i] = c.As(name)
		} else {
			out.Columns = append(out.Columns, c.As(name))
		}
		return out, true
	}
	for i := range r.rows {
		var ok bool
		if r.rows[i], ok = extend(r.rows[i]); !ok {
			return false
		}
	}
	r.empty, _ = extend(r.empty)
	if slices.Contains(r.unique, name) {
		r.unique = nil
	}
	return true
}

func (r *table) selects(names ...string) {
	for i := range r.rows {
		r.rows[i], _ = r.rows[i].Select(names...)
	}
	r.empty, _ = r.empty.Select(names...)
	for _, name := range r.unique {
		if !slices.Contains(names, name) {
			r.unique = nil
			break
		}
	}
}

// key returns the values of some columns as a text that is equal for equal values.
func key(b *column.Batch, names []string) string {
	var s strings.Builder
	for _, name := range names {
		text := b.Column(name).Format(0, math.MaxInt32)
		if text == "-0" {
			text = "0"
		}
		fmt.Fprintf(&s, "%v %d %s;", b.Column(name).Null(0), len(text), text)
	}
	return s.String()
}

// group groups the rows by a map, and aggregates the rows of each group alone.
func (r *table) group(keys []string, aggregates ...groupby.Aggregate) {
	aggregate := func(b *column.Batch) *column.Batch {
		out, err := groupby.Config{Aggregates: aggregates, Workers: 1}.Aggregate(context.Background(), b)
		require.NoError(r.t, err)
		if len(aggregates) == 0 {
			out = &column.Batch{}
		}
		return out
	}
	if len(keys) == 0 { // one row, also of no rows
		require.Len(r.t, aggregates, 1, "the reference counts rows only")
		r.rows = []*column.Batch{column.NewBatch(column.Of(aggregates[0].Name, []int64{int64(len(r.rows))}))}
		r.empty, r.ordered, r.unique = r.rows[0].Slice(0, 0), true, nil
		return
	}
	groups := map[string][]*column.Batch{}
	var names []string
	for _, row := range r.rows {
		k := key(row, keys)
		if groups[k] == nil {
			names = append(names, k)
		}
		groups[k] = append(groups[k], row)
	}
	join := func(first *column.Batch, aggregated *column.Batch, rows int) *column.Batch {
		out, err := first.Select(keys...)
		require.NoError(r.t, err)
		out.Columns, out.Rows = append(out.Columns, aggregated.Columns...), rows
		return out
	}
	r.rows = nil
	for _, name := range names {
		all, err := column.Concat(groups[name]...)
		require.NoError(r.t, err)
		r.rows = append(r.rows, join(groups[name][0], aggregate(all), 1))
	}
	r.empty = join(r.empty, aggregate(r.empty), 0)
	r.ordered, r.unique = false, keys
}

// compare compares two values of a kind with an order, NULL last unless nullsFirst.
func compare(a, b any, desc, nullsFirst bool) int {
	if a == nil || b == nil {
		c := cmp.Compare(b2i(a == nil), b2i(b == nil))
		if nullsFirst {
			return -c
		}
		return c
	}
	c := 0
	switch x := a.(type) {
	case bool:
		c = cmp.Compare(b2i(x), b2i(b.(bool)))
	case int8:
		c = cmp.Compare(x, b.(int8))
	case int16:
		c = cmp.Compare(x, b.(int16))
	case int32:
		c = cmp.Compare(x, b.(int32))
	case int64:
		c = cmp.Compare(x, b.(int64))
	case uint8:
		c = cmp.Compare(x, b.(uint8))
	case uint16:
		c = cmp.Compare(x, b.(uint16))
	case uint32:
		c = cmp.Compare(x, b.(uint32))
	case uint64:
		c = cmp.Compare(x, b.(uint64))
	case float32:
		c = compareFloats(float64(x), float64(b.(float32)))
	case float64:
		c = compareFloats(x, b.(float64))
	case string:
		c = cmp.Compare(x, b.(string))
	case []byte:
		c = bytes.Compare(x, b.([]byte))
	case net.IP:
		c = bytes.Compare(x, b.(net.IP))
	case time.Duration:
		c = cmp.Compare(x, b.(time.Duration))
	case time.Time:
		c = x.Compare(b.(time.Time))
	case cql.UUID:
		y := b.(cql.UUID)
		c = cmp.Compare(string(x[:]), string(y[:]))
	case cql.Decimal: // of one scale
		c = x.Unscaled.Cmp(b.(cql.Decimal).Unscaled)
	default:
		panic(fmt.Sprintf("%T", a))
	}
	if desc {
		return -c
	}
	return c
}

// compareFloats orders NaN after all numbers.
func compareFloats(x, y float64) int {
	if x != x || y != y { //nolint:gocritic // NaN
		return -cmp.Compare(b2i(x == x), b2i(y == y)) //nolint:gocritic // NaN
	}
	return cmp.Compare(x, y)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// An order is an argument of OrderBy.
type order struct {
	name             string
	desc, nullsFirst bool
}

func (o order) pipe() pipe.Order {
	p := pipe.Ascending(o.name)
	if o.desc {
		p = pipe.Descending(o.name)
	}
	if o.nullsFirst {
		p = p.NullsFirst()
	}
	return p
}

// orderBy sorts the rows. columns are those without the ones computed for the order.
func (r *table) orderBy(columns []string, orders ...order) {
	if !r.ordered {
		ties := r.unique
		if ties == nil {
			ties = columns
		}
		for _, name := range ties {
			if hasOrder(r.empty.Column(name).Type.Kind) {
				orders = append(orders, order{name: name})
			}
		}
	}
	slices.SortStableFunc(r.rows, func(a, b *column.Batch) int {
		for _, o := range orders {
			if c := compare(a.Column(o.name).Value(0), b.Column(o.name).Value(0), o.desc, o.nullsFirst); c != 0 {
				return c
			}
		}
		return 0
	})
	r.ordered, r.unique = true, nil
}

func (r *table) limit(n int)  { r.rows = r.rows[:min(n, len(r.rows))] }
func (r *table) offset(n int) { r.rows = r.rows[min(n, len(r.rows)):] }

// lines returns the rows as texts, sorted unless their order is defined.
func lines(b *column.Batch, ordered bool) []string {
	names := make([]string, len(b.Columns))
	for i := range b.Columns {
		names[i] = b.Columns[i].Name
	}
	out := []string{}
	for i := range b.Rows {
		out = append(out, key(b.Slice(i, i+1), names))
	}
	if !ordered {
		slices.Sort(out)
	}
	return out
}

// require fails unless the pipe has the rows of the reference.
func (r *table) require(p pipe.Pipe, note string) {
	r.t.Helper()
	got, err := p.Batch(context.Background())
	require.NoError(r.t, err, note)
	require.NoError(r.t, got.Check(), note)
	if plan, err := p.Explain(context.Background()); err == nil {
		note += "\n" + plan
	}
	require.Equal(r.t, r.schema().String(), got.Schema().String(), note)
	want := r.empty
	if len(r.rows) > 0 {
		want, err = column.Concat(r.rows...)
		require.NoError(r.t, err)
	}
	require.Equal(r.t, lines(want, r.ordered), lines(got, r.ordered), note)
}
