// SPDX-License-Identifier: Apache-2.0

package groupby_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/vecql/vecql/bench/groupby/data"
	"github.com/vecql/vecql/bench/groupby/run"
	"github.com/vecql/vecql/groupby"
)

// Equal seeds produce equal files, other seeds other files.
func TestDataDeterministic(t *testing.T) {
	write := func(seed uint64) map[string][]byte {
		dir := t.TempDir()
		if err := data.Make(3000, seed, nil).Write(dir, func(string) {}); err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{}
		names, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if files[filepath.Base(name)], err = os.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
		return files
	}
	first, again, other := write(1), write(1), write(2)
	if len(first) < 30 || len(first) != len(again) {
		t.Fatalf("%d and %d files", len(first), len(again))
	}
	for name, b := range first {
		if !bytes.Equal(b, again[name]) {
			t.Errorf("%s differs", name)
		}
	}
	if name := "random-1000.int64"; bytes.Equal(first[name], other[name]) {
		t.Errorf("%s does not depend on the seed", name)
	}
}

// A written set is read back: its checksums equal the checksums of tables in memory.
func TestDataRoundTrip(t *testing.T) {
	dir := t.TempDir()
	if err := data.Make(3000, 7, nil).Write(dir, func(string) {}); err != nil {
		t.Fatal(err)
	}
	set, err := data.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	made := data.Make(3000, 7, nil)
	if len(set.Cases) != len(made.Cases) || len(set.Cases) < 48 {
		t.Fatalf("%d and %d cases", len(set.Cases), len(made.Cases))
	}
	src := &source{Set: made}
	for i, c := range set.Cases {
		columns, err := set.Table(c.Table)
		if err != nil {
			t.Fatal(err)
		}
		src.table(t, made.Cases[i])
		got := data.Sum(c, data.Group(columns, c.Keys, c.Values()).Answer(c.Aggs), false)
		if !got.Equal(c.Answer) || !got.Equal(made.Cases[i].Answer) {
			t.Errorf("%s: %s from files, %s in the manifest, %s in memory", c.Name, got, c.Answer, made.Cases[i].Answer)
		}
	}
}

// The data has the documented properties.
func TestDataShape(t *testing.T) {
	set := data.Make(50_000, 1, nil)
	src := &source{Set: set}
	groups := map[string]int{}
	for _, c := range set.Cases {
		table := src.table(t, c)
		groups[c.Name] = c.Answer.Groups
		switch c.Table {
		case "url":
			if mean := float64(len(table["url"].Text)) / 50_000; mean < 50 || mean > 60 {
				t.Errorf("URLs have %.1f bytes", mean)
			}
		case "user-phrase":
			empty, longest := 0, 0
			for i := range 50_000 {
				n := len(table["phrase"].Bytes(i))
				longest = max(longest, n)
				if n == 0 {
					empty++
				}
			}
			if empty < 42_000 || empty > 45_000 || longest < 20 || longest > 40 {
				t.Errorf("%d phrases are empty, the longest has %d bytes", empty, longest)
			}
		case "nulls":
			for name, col := range table {
				nulls := 0
				for i := range 50_000 {
					if col.Null(i) {
						nulls++
					}
				}
				if nulls < 4500 || nulls > 5500 {
					t.Errorf("%s: %d NULLs", name, nulls)
				}
			}
		}
	}
	for name, want := range map[string]int{
		"case=grid/keys=consecutive/groups=1000/agg=count":    1000,
		"case=grid/keys=consecutive/groups=5000000/agg=count": 50_000,
		"case=grid/keys=random/groups=10/agg=sum":             10,
		"case=grid/keys=sparse/groups=1000/agg=count+sum":     1000,
		"case=q1/rows=12000":                                  6,
		"case=q1/rows=50000":                                  6,
		"case=nan":                                            1000,
	} {
		if groups[name] != want {
			t.Errorf("%s: %d groups, want %d", name, groups[name], want)
		}
	}
	if n := groups["case=pair"]; n < 49_000 {
		t.Errorf("%d pairs", n)
	}
}

// Maps agree with the reference, which is other code.
func TestMapAnswers(t *testing.T) {
	src := &source{Set: data.Make(10_000, 3, nil)}
	for _, c := range src.Cases {
		table := src.table(t, c)
		q, err := run.Map(c, table)
		if err != nil {
			t.Fatal(err)
		}
		check(t, c, table, q.Answer(q.Run()))
	}
}

// vecql agrees with the reference.
func TestVecqlAnswers(t *testing.T) {
	src := &source{Set: data.Make(10_000, 3, nil)}
	for _, c := range src.Cases {
		table := src.table(t, c)
		for _, order := range []groupby.Order{groupby.Unordered, groupby.FirstAppearance} {
			for threads := range 3 {
				res, err := run.New(c, table, order, threads+1).Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if res == nil {
					t.Fatal("no answer")
				}
				answer, err := run.Answer(c, res)
				if err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
				check(t, c, table, answer)
			}
		}
	}
}

// A wrong answer is detected, by the checksum and group by group.
func TestDiff(t *testing.T) {
	src := &source{Set: data.Make(1000, 3, nil)}
	for _, c := range src.Cases {
		table := src.table(t, c)
		want := data.Group(table, c.Keys, c.Values()).Answer(c.Aggs)
		for _, spoil := range []func(col *data.Column){
			func(col *data.Column) {
				switch col.Type {
				case data.Int64:
					col.Ints[0]++
				case data.Float64:
					col.Floats[0]++
				case data.String:
					if len(col.Text) > 0 {
						col.Text[0]++
					}
				}
			},
			func(col *data.Column) {
				if col.Null(0) {
					col.Valid[0] |= 1
				} else {
					col.SetNull(0)
				}
			},
		} {
			for k := range len(want.Keys) + len(want.Values) {
				got := data.Group(table, c.Keys, c.Values()).Answer(c.Aggs)
				col := append(got.Keys, got.Values...)[k]
				null := col.Null(0)
				spoil(col)
				if null && col.Null(0) {
					continue // the value of a NULL is ignored
				}
				if data.Diff(c, want, got) == "" || data.Sum(c, got, false).Equal(c.Answer) {
					t.Errorf("%s: a change of column %d is not detected", c.Name, k)
				}
			}
		}
	}
}
