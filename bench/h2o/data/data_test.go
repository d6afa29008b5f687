// SPDX-License-Identifier: Apache-2.0

package data_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/vecql/vecql/bench/h2o/data"
	"github.com/vecql/vecql/column"
)

func TestCases(t *testing.T) {
	for _, name := range append([]string{"k3-nulls5-sorted"}, data.Cases...) {
		o, err := data.ParseCase(name, 1000, 7)
		if err != nil || o.Case() != name || o.Rows != 1000 || o.Seed != 7 {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
	for _, name := range []string{"", "k", "k0", "k1001", "k10-nulls", "k10-nulls100", "k10-sorted-nulls5", "k10sorted"} {
		if o, err := data.ParseCase(name, 1000, 1); err == nil {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// The same options make the same file on any number of processors, another seed makes another file.
func TestWriteIsDeterministic(t *testing.T) {
	file := func(o data.Options, processors int) []byte {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		dir := t.TempDir()
		if err := data.Write(t.Context(), dir, o); err != nil {
			t.Fatal(err)
		}
		if got, err := data.Open(dir); err != nil || got != o {
			t.Fatalf("%+v, %v", got, err)
		}
		b, err := os.ReadFile(filepath.Join(dir, data.File))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, name := range []string{"k100", "k2-nulls5-sorted"} {
		o, err := data.ParseCase(name, 150_000, 1)
		if err != nil {
			t.Fatal(err)
		}
		first := file(o, 1)
		if !bytes.Equal(first, file(o, 3)) {
			t.Errorf("%s: the file depends on the number of processors", name)
		}
		o.Seed = 2
		if bytes.Equal(first, file(o, 3)) {
			t.Errorf("%s: the file does not depend on the seed", name)
		}
	}
}

// A shape is the rules of a column: the number of distinct values, the least, the greatest, and the share of NULLs.
type shape struct {
	distinct    int
	least, most any
	nulls       float64
}

func shapeOf(c *column.Column) shape {
	seen, s := map[any]bool{}, shape{}
	for i := range c.Len {
		v := c.Value(i)
		if v == nil {
			s.nulls++
			continue
		}
		seen[v] = true
		if s.least == nil || less(v, s.least) {
			s.least = v
		}
		if s.most == nil || less(s.most, v) {
			s.most = v
		}
	}
	s.distinct, s.nulls = len(seen), s.nulls/float64(c.Len)
	return s
}

func less(a, b any) bool {
	switch a := a.(type) {
	case string:
		return a < b.(string)
	case int32:
		return a < b.(int32)
	}
	return a.(float64) < b.(float64)
}

// table returns all rows of a case.
func table(t *testing.T, name string, rows int) *column.Batch {
	t.Helper()
	o, err := data.ParseCase(name, rows, 1)
	if err != nil {
		t.Fatal(err)
	}
	batches, err := data.Batches(o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := column.Concat(batches...)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Check(); err != nil || b.Rows != rows {
		t.Fatalf("%d rows, %v", b.Rows, err)
	}
	return b
}

// The columns of a table follow the rules of the package.
func TestRules(t *testing.T) {
	b := table(t, "k100", 50_000)
	small, large := shape{100, "id001", "id100", 0}, shape{500, int32(1), int32(500), 0}
	for name, want := range map[string]shape{
		"id1": small, "id2": small, "id3": {500, "id0000000001", "id0000000500", 0}, "id4": {100, int32(1), int32(100), 0},
		"id5": {100, int32(1), int32(100), 0}, "id6": large, "v1": {5, int32(1), int32(5), 0}, "v2": {15, int32(1), int32(15), 0},
	} {
		if got := shapeOf(b.Column(name)); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	v3 := shapeOf(b.Column("v3"))
	if least, most := v3.least.(float64), v3.most.(float64); v3.distinct < 49_900 || least < 0 || least > 0.01 || most > 100 || most < 99.99 {
		t.Errorf("v3: %+v", v3)
	}
	for i := range 1000 {
		if x := b.Column("v3").Value(i).(float64) * 1e6; math.Abs(x-math.Round(x)) > 1e-6 {
			t.Errorf("v3 has %v millionths", x)
		}
	}
	if got := shapeOf(table(t, "k2", 10_000).Column("id3")); got.distinct < 4000 || got.distinct > 5000 {
		t.Errorf("id3 of two groups: %+v", got)
	}
}

// Some percent of the values of an id are NULL in all of their rows, and of the rows of a value.
func TestNulls(t *testing.T) {
	b := table(t, "k100-nulls5", 50_000)
	for i := range b.Columns {
		c := &b.Columns[i]
		s := shapeOf(c)
		if want := []int{95, 95, 475, 95, 95, 475, 5, 15, s.distinct}[i]; s.nulls < 0.045 || s.nulls > 0.055 || s.distinct != want {
			t.Errorf("%s: %+v, want %d values", c.Name, s, want)
		}
	}
}

// A sorted table has the rows of the other one, in the order of its ids.
func TestSorted(t *testing.T) {
	for _, name := range []string{"k10", "k10-nulls5"} {
		b, sorted := table(t, name, 70_000), table(t, name+"-sorted", 70_000)
		for i := range b.Columns {
			if x, y := shapeOf(&b.Columns[i]), shapeOf(&sorted.Columns[i]); x != y {
				t.Errorf("%s: %+v, sorted %+v", b.Columns[i].Name, x, y)
			}
		}
		for i := 1; i < sorted.Rows; i++ {
			if !inOrder(sorted, i) {
				t.Fatalf("rows %d and %d are not in order", i-1, i)
			}
		}
	}
}

// inOrder reports whether the ids of a row are not less than the ids of the row before.
func inOrder(b *column.Batch, i int) bool {
	for k := range 6 {
		x, y := b.Columns[k].Value(i-1), b.Columns[k].Value(i)
		switch {
		case x == y:
			continue
		case x == nil || y == nil:
			return x == nil
		}
		return less(x, y)
	}
	return true
}
