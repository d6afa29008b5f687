// SPDX-License-Identifier: Apache-2.0

package cores

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vecql/vecql/bench/clickbench"
	hits "github.com/vecql/vecql/bench/clickbench/data"
	groups "github.com/vecql/vecql/bench/groupby/data"
	grouprun "github.com/vecql/vecql/bench/groupby/run"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
)

// The cases on tables: groups in memory, Parquet files, and ClickBench's queries.

// groupings are the groupings of t. Each has the number of rows and the sum of the values by key.
var groupings = []struct{ name, key string }{
	{"groupby/groups=1000/key=int", "key"},
	{"groupby/groups=1000/key=text", "text"},
	{"groupby/groups=near/key=int", "near"},
}

func (d *Data) grouping() (cases []Case) {
	for _, g := range groupings {
		c := &groups.Case{Keys: []string{g.key}, Aggs: []groups.Agg{{Func: "count"}, {Func: "sum", Column: "value"}}}
		open := func(context.Context) (Work, func(), error) {
			t := newTable(d.Rows)
			return func(ctx context.Context, n int) (func() (*Answer, error), error) {
				res, err := grouprun.New(c, t, groupby.Unordered, n).Run(ctx)
				return func() (*Answer, error) { return digest(res) }, err
			}, func() {}, nil
		}
		cases = append(cases, Case{g.name, open})
	}
	return cases
}

// digest returns the number of groups, and sums: of the keys, or of the lengths of texts, of the numbers of rows, of
// the sums, and of the squares of the numbers of rows.
func digest(result []*column.Batch) (*Answer, error) {
	var n int
	var keys, counts, sums, squares int64
	for _, b := range result {
		n += b.Rows
		if b.Columns[0].Type.Kind == column.String {
			text, err := b.Columns[0].Text()
			if err != nil {
				return nil, err
			}
			for i := range text.Len() {
				keys += int64(len(text.Bytes(i)))
			}
		} else if err := each(&b.Columns[0], func(v int64) { keys += v }); err != nil {
			return nil, err
		}
		err1 := each(&b.Columns[1], func(v int64) { counts, squares = counts+v, squares+v*v })
		err2 := each(&b.Columns[2], func(v int64) { sums += v })
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
	}
	return one(n, keys, counts, sums, squares), nil
}

func each(c *column.Column, f func(v int64)) error {
	values, err := column.Slice[int64](c)
	for _, v := range values {
		f(v)
	}
	return err
}

// scanning returns scans of all columns of t. The work beside reading is a sum.
func (d *Data) scanning() (cases []Case) {
	for _, l := range []struct{ name, path string }{
		{oneFile, "t.parquet"}, {manyFiles, "hundred/*.parquet"},
	} {
		open := func(context.Context) (Work, func(), error) {
			return func(ctx context.Context, n int) (func() (*Answer, error), error) {
				return d.scan(ctx, filepath.Join(d.Dir, l.path), n)
			}, func() {}, nil
		}
		cases = append(cases, Case{l.name, open})
	}
	return cases
}

// Names of the cases that are compared.
const (
	oneFile   = "parquetscan/files=1"
	manyFiles = "parquetscan/files=100"
)

// total is the sum of a worker. The rest keeps it on cache lines of its own.
type total struct {
	rows, value int64
	_           [112]byte
}

func (d *Data) scan(ctx context.Context, path string, n int) (_ func() (*Answer, error), err error) {
	set, err := parquetscan.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	s, err := set.Scan(parquetscan.Options{Workers: n})
	if err != nil {
		return nil, err
	}
	totals := make([]total, n)
	value := slices.IndexFunc(s.Schema(), func(f column.Field) bool { return f.Name == "value" })
	err = s.Borrow(ctx, nil, func(worker int, b *column.Batch) error {
		t := &totals[worker]
		t.rows += int64(b.Rows)
		sum := int64(0)
		err := each(&b.Columns[value], func(v int64) { sum += v })
		t.value += sum
		return err
	})
	return func() (*Answer, error) {
		var all total
		for _, t := range totals {
			all.rows, all.value = all.rows+t.rows, all.value+t.value
		}
		return one(all.rows, all.value), nil
	}, err
}

// Slowest are the ten queries of ClickBench that take package pipe the most time in results/clickbench.md.
var Slowest = []string{"q35", "q34", "q19", "q29", "q17", "q33", "q23", "q24", "q06", "q14"}

func (d *Data) clickbench() (cases []Case) {
	names := d.Queries
	if names == nil {
		names = Slowest
	}
	for _, name := range names {
		open := func(context.Context) (Work, func(), error) {
			o, err := hits.Open(d.hitsDir())
			if err != nil {
				return nil, nil, err
			}
			q := clickbench.Find(name)
			return func(ctx context.Context, n int) (func() (*Answer, error), error) {
				b, err := q.Run(ctx, d.hitsDir(), clickbench.NewScale(o.Rows), n)
				return func() (*Answer, error) { return answerOf(q, b), nil }, err
			}, func() {}, nil
		}
		cases = append(cases, Case{clickbenchPrefix + name, open})
	}
	return cases
}

// clickbenchPrefix begins the names of the cases of ClickBench.
const clickbenchPrefix = "clickbench/"

// answerOf returns the answer to a query, whose keys are the columns of ORDER BY.
func answerOf(q *clickbench.Query, b *column.Batch) *Answer {
	a := &Answer{Rows: clickbench.NewAnswer(b)}
	for _, part := range strings.Split(q.Order, ", ") {
		name, _, _ := strings.Cut(part, " ")
		if i := b.Index(name); i >= 0 {
			a.Keys = append(a.Keys, i)
		}
	}
	return a
}
