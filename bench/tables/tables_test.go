// SPDX-License-Identifier: Apache-2.0

package tables_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vecql/vecql/bench/tables"
)

func TestVersions(t *testing.T) {
	for text, want := range map[string][]string{
		"polars==2.1.0\n\nduckdb==2.0.0": {"polars 2.1.0", "duckdb 2.0.0"},
		"module m\n\ngo 1.25.0\n\nreplace a => ../\n\nrequire github.com/x/one v1.0.0\n\nrequire (\n\tgithub.com/x/two/v2 v2.3.4\n" +
			"\tgithub.com/vecql/vecql v0.0.0\n\tgolang.org/x/sync v0.22.0\n\tgithub.com/x/three v0.1.0 // indirect\n)\n": {
			"github.com/x/one v1.0.0", "github.com/x/two/v2 v2.3.4",
		},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := tables.Versions(path)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, want %q: %v", got, want, err)
		}
	}
}

func TestRatio(t *testing.T) {
	for _, c := range []struct {
		ours, theirs []float64
		name, want   string
	}{
		{[]float64{1, 2, 3}, []float64{8, 4, 6}, "duckdb", "**3.00×** (duckdb)"},
		{[]float64{1, 2, 5}, []float64{8, 4, 6}, "", "**3.00×** ~"},
		{[]float64{4}, []float64{1, 2}, "", "**0.38×**"},
		{nil, []float64{1}, "", ""},
	} {
		if got := tables.Ratio(c.ours, c.theirs, c.name); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
