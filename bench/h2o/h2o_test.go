// SPDX-License-Identifier: Apache-2.0

package h2o_test

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/vecql/vecql/bench/h2o"
	"github.com/vecql/vecql/bench/h2o/data"
	"github.com/vecql/vecql/bench/sqltest"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/pipe"
)

// variants are small tables: few and many groups in an id, NULLs, sorted rows.
var variants = []string{"k100", "k10", "k2", "k40-nulls5", "k2-nulls30", "k20-sorted", "k20-nulls20-sorted"}

const smallRows = 3000

func options(t *testing.T, name string) data.Options {
	t.Helper()
	o, err := data.ParseCase(name, smallRows, 1)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Every chain returns the answer of the reference in every variant, from memory and from the file.
func TestAnswers(t *testing.T) {
	if len(h2o.Questions) != 10 {
		t.Fatalf("%d questions", len(h2o.Questions))
	}
	for _, name := range variants {
		t.Run(name, func(t *testing.T) {
			batches, err := data.Batches(options(t, name))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := data.Write(t.Context(), dir, options(t, name)); err != nil {
				t.Fatal(err)
			}
			for i := range h2o.Questions {
				q := &h2o.Questions[i]
				want := referenceAnswer(t, q, batches)
				for _, table := range []pipe.Pipe{pipe.Batches(batches...), pipe.Parquet(filepath.Join(dir, data.File))} {
					b, err := q.Answer(t.Context(), table.Configure(pipe.Config{Workers: 2}))
					if err != nil {
						t.Fatal(err)
					}
					checkAnswer(t, q, want, b)
				}
			}
		})
	}
}

// The statements of the command vecql sql return the answer of the reference. SQL has no largest two values.
func TestStatements(t *testing.T) {
	o := options(t, "k40-nulls5")
	batches, err := data.Batches(o)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := data.Write(t.Context(), dir, o); err != nil {
		t.Fatal(err)
	}
	vecql := sqltest.Build(t)
	for i := range h2o.Questions {
		q := &h2o.Questions[i]
		s := q.SQL("vecql", sqltest.Files(filepath.Join(dir, data.File)))
		if (s == "") != (q.Name == "q08") {
			t.Errorf("%s: %q", q.Name, s)
		}
		if s != "" {
			checkAnswer(t, q, referenceAnswer(t, q, batches), sqltest.Run(t, vecql, s))
		}
	}
}

// checkAnswer fails unless an answer has the rows of the reference in any order.
func checkAnswer(t *testing.T, q *h2o.Question, want map[string][][]float64, b *column.Batch) {
	t.Helper()
	got, rows := map[string][][]float64{}, 0
	for i := range b.Rows {
		key, values := "", []float64(nil)
		for j := range b.Columns {
			if v := b.Columns[j].Value(i); j < len(keyNames[q.Name]) {
				key += fmt.Sprint(v, "|")
			} else {
				values = append(values, float(v))
			}
		}
		got[key] = append(got[key], values)
	}
	for key, lists := range want {
		rows += len(lists)
		if len(got[key]) != len(lists) {
			t.Fatalf("%s: group %s has %v, want %v", q.Name, key, got[key], lists)
		}
		for i := range lists {
			for k, w := range lists[i] {
				if g := got[key][i][k]; !(g == w || g != g && w != w || math.Abs(g-w) <= 1e-9*max(1, math.Abs(w))) {
					t.Fatalf("%s: group %s has %v, want %v", q.Name, key, got[key], lists)
				}
			}
		}
	}
	if b.Rows != rows {
		t.Errorf("%s: %d rows, want %d", q.Name, b.Rows, rows)
	}
}

// A summary is independent of the order of rows, and notices a wrong value, a wrong row and a wrong key.
func TestSummary(t *testing.T) {
	batches, err := data.Batches(options(t, "k40-nulls5"))
	if err != nil {
		t.Fatal(err)
	}
	q := h2o.Find("q03")
	b, err := q.Answer(t.Context(), pipe.Batches(batches...))
	if err != nil {
		t.Fatal(err)
	}
	summary := func(b *column.Batch) *h2o.Summary {
		s, err := q.Summarize(b)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want, order := summary(b), make([]int32, b.Rows)
	for i := range order {
		order[i] = int32(b.Rows - 1 - i)
	}
	turned, err := b.Take(order)
	if err != nil {
		t.Fatal(err)
	}
	if err := summary(turned).Check(want); err != nil {
		t.Error(err)
	}
	moved := *b
	moved.Columns = []column.Column{b.Columns[0], b.Columns[1], turned.Columns[2]}
	keys := *b
	keys.Columns = []column.Column{turned.Columns[0], b.Columns[1], b.Columns[2]}
	for what, wrong := range map[string]*column.Batch{
		"values of other rows": &moved, "keys of other rows": &keys, "a row less": b.Slice(1, b.Rows),
	} {
		if err := summary(wrong).Check(want); err == nil {
			t.Errorf("%s: no difference", what)
		}
	}
}

// Deviations of one value are NULL or NaN, and sums of none are NULL or zero; other values differ.
func TestSummaryOfNothing(t *testing.T) {
	ids := column.Of("id4", []int32{1, 2})
	q := h2o.Find("q05")
	var summaries []*h2o.Summary
	for _, c := range []column.Column{
		column.Of("sum_v1", []int64{0, 5}), column.Of("sum_v1", []float64{7, 5}).WithNulls([]bool{true, false}),
		column.Of("sum_v1", []float64{math.NaN(), 5}), column.Of("mean_v1", []float64{0, 5}),
	} {
		s, err := q.Summarize(column.NewBatch(ids, c))
		if err != nil {
			t.Fatal(err)
		}
		summaries = append(summaries, s)
	}
	for i, s := range summaries[1:] {
		if err := s.Check(summaries[0]); (err == nil) != (i < 2) {
			t.Errorf("summary %d: %v", i+1, err)
		}
	}
}
