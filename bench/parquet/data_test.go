// SPDX-License-Identifier: Apache-2.0

package parquet_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"

	groups "github.com/vecql/vecql/bench/groupby/data"
	"github.com/vecql/vecql/bench/parquet/data"
	"github.com/vecql/vecql/bench/parquet/run"
)

// The same seed makes the same files, another seed makes other files.
func TestDataDeterministic(t *testing.T) {
	files := func(dir string, seed uint64) map[string][]byte {
		o := small
		o.Seed = seed
		write(t, dir, o)
		names, err := filepath.Glob(filepath.Join(dir, "*", "*.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{"manifest.json": nil}
		for name := range files {
			names = append(names, filepath.Join(dir, name))
		}
		for _, name := range names {
			short, err := filepath.Rel(dir, name)
			if err != nil {
				t.Fatal(err)
			}
			if files[short], err = os.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
		return files
	}
	first, again, other := files(folder, small.Seed), files(t.TempDir(), small.Seed), files(t.TempDir(), small.Seed+1)
	if len(first) != 1+10+100+3+10+1 || len(first) != len(again) {
		t.Fatalf("%d and %d files", len(first), len(again))
	}
	for name, b := range first {
		if !bytes.Equal(b, again[name]) {
			t.Errorf("%s differs", name)
		}
		if bytes.Equal(b, other[name]) {
			t.Errorf("%s does not depend on the seed", name)
		}
	}
}

// All layouts have the same row groups, and the rows of the manifest.
func TestDataLayouts(t *testing.T) {
	dir, set := folder, openSmall(t)
	for _, table := range set.Tables {
		names, err := filepath.Glob(filepath.Join(dir, table.Name, "*"))
		if err != nil || len(names) != table.Files {
			t.Fatalf("%s: %d files, %v", table.Name, len(names), err)
		}
		var rows, bytes int64
		var sizes []int64
		for _, name := range names {
			f, err := file.OpenParquetFile(name, false)
			if err != nil {
				t.Fatal(err)
			}
			if f.NumRowGroups() == 0 {
				t.Errorf("%s is empty", name)
			}
			for i := range f.NumRowGroups() {
				sizes = append(sizes, f.RowGroup(i).NumRows())
				rows += sizes[len(sizes)-1]
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			bytes += info.Size()
		}
		if len(sizes) != table.RowGroups || rows != int64(table.Rows) || bytes != table.Bytes {
			t.Errorf("%s: %d row groups, %d rows, %d bytes, want %+v", table.Name, len(sizes), rows, bytes, table)
		}
		for i, n := range sizes {
			if n != sizes[0] && (i < len(sizes)-1 || n > sizes[0]) {
				t.Errorf("%s: row group %d has %d rows, the first one %d", table.Name, i, n, sizes[0])
			}
		}
	}
}

// Write makes only missing tables of matching cases, and all tables if the Options changed.
func TestDataSkips(t *testing.T) {
	dir := t.TempDir()
	made := func(o data.Options, pattern string) (tables []string) {
		t.Helper()
		set, err := data.Write(dir, o, regexp.MustCompile(pattern), func(what string) {
			if what != "answers" {
				tables = append(tables, what)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		again, err := data.Open(dir)
		if err != nil || len(again.Cases) != len(set.Cases) {
			t.Fatalf("%d cases written, %d read: %v", len(set.Cases), len(again.Cases), err)
		}
		for _, c := range again.Cases {
			if c.Answer == nil == (c.Vectors == nil) {
				t.Errorf("%s has no single answer", c.Name)
			}
		}
		return tables
	}
	same := func(got []string, want ...string) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("made %q, want %q", got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("made %q, want %q", got, want)
			}
		}
	}
	same(made(small, "layout=ten"), "t-ten", "embeddings-none-ten")
	same(made(small, "layout=ten"))
	same(made(small, "codec=zstd|query=count/layout=one"), "t-one", "embeddings-zstd-one")
	if err := os.Remove(filepath.Join(dir, "t-ten", "part-003.parquet")); err != nil {
		t.Fatal(err)
	}
	same(made(small, ""), "t-ten", "t-hundred", "embeddings-none-one", "embeddings-snappy-one")
	other := small
	other.Rows++
	same(made(other, "codec=zstd"), "embeddings-zstd-one")
	if _, err := os.Stat(filepath.Join(dir, "t-one")); !os.IsNotExist(err) {
		t.Errorf("files of other data are still there: %v", err)
	}
	other.Rows = data.MaxRows + 1
	if _, err := data.Write(dir, other, nil, func(string) {}); err == nil {
		t.Error("no error for too many rows")
	}
}

// The data has the documented shape.
func TestDataShape(t *testing.T) {
	set := openSmall(t)
	got := map[string]int{}
	for _, c := range set.Cases {
		if c.Answer != nil {
			got[c.Name] = c.Answer.Groups
		}
	}
	for name, want := range map[string][2]int{
		"query=count/layout=one":                  {1, 1},
		"query=groupby/groups=10/layout=one":      {10, 10},
		"query=groupby/groups=1k/layout=ten":      {1000, 1000},
		"query=groupby/groups=100k/layout=one":    {17_500, 18_700},
		"query=groupby/groups=5m/layout=hundred":  {19_900, 20_000},
		"query=groupby/groups=near/layout=one":    {19_700, 19_900},
		"query=groupby/key=s/layout=hundred":      {1000, 1000},
		"query=sum/col=f/layout=ten":              {1, 1},
		"query=embeddings/codec=none/layout=five": {0, 0},
	} {
		if got[name] < want[0] || got[name] > want[1] {
			t.Errorf("%s: %d groups, want %v", name, got[name], want)
		}
	}
}

// Every engine returns the answers of the manifest.
func TestAnswers(t *testing.T) {
	set := openSmall(t)
	for _, e := range run.Engines() {
		for _, c := range set.Cases {
			for threads := 1; threads <= 3; threads++ {
				answer, err := e.Query(t.Context(), set.Path(c), c, threads)
				if err != nil {
					t.Fatalf("%s: %s: %v", e.Name, c.Name, err)
				}
				if err := answer.Check(c); err != nil {
					t.Errorf("%s: %v", e.Name, err)
				}
			}
		}
		if _, err := e.Query(t.Context(), filepath.Join(t.TempDir(), "*.parquet"), set.Cases[0], 2); err == nil {
			t.Errorf("%s: no error without files", e.Name)
		}
	}
}

// Check detects wrong answers.
func TestCheck(t *testing.T) {
	set := openSmall(t)
	peer := run.Engines()[1]
	for _, c := range set.Cases {
		ask := func() (*run.Answer, *groups.Answer) {
			answer, err := peer.Query(t.Context(), set.Path(c), c, 1)
			if err != nil {
				t.Fatal(err)
			}
			if c.Query == "embeddings" {
				return answer, nil
			}
			g, err := answer.Groups()
			if err != nil {
				t.Fatal(err)
			}
			answer.Groups = func() (*groups.Answer, error) { return g, nil }
			return answer, g
		}
		answer, _ := ask()
		if err := answer.Check(c); err != nil {
			t.Fatal(err)
		}
		if c.Query != "embeddings" {
			for i := range len(c.Keys) + len(c.Aggs) {
				answer, g := ask()
				switch column := append(g.Keys, g.Values...)[i]; column.Type {
				case groups.Int64:
					column.Ints[0]++
				case groups.Float64:
					column.Floats[0]++
				case groups.String:
					column.Text[0]++
				}
				if answer.Check(c) == nil {
					t.Errorf("%s: Check accepts a wrong column %d", c.Name, i)
				}
			}
			continue
		}
		for what, spoil := range map[string]func(m *data.Matrix){
			"an element":   func(m *data.Matrix) { m.Values[m.Dim] += 0.5 },
			"an id":        func(m *data.Matrix) { m.IDs[3]++ },
			"two rows":     func(m *data.Matrix) { m.IDs[1], m.IDs[2] = m.IDs[2], m.IDs[1] },
			"the last row": func(m *data.Matrix) { m.IDs = m.IDs[:len(m.IDs)-1] },
		} {
			answer, _ = ask()
			if spoil(answer.Vectors); answer.Check(c) == nil {
				t.Errorf("%s: Check accepts a wrong answer: %s", c.Name, what)
			}
		}
	}
}
