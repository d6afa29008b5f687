// SPDX-License-Identifier: Apache-2.0

package tables_test

import (
	"errors"
	"io"
	"io/fs"
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

func TestWrite(t *testing.T) {
	folder := t.TempDir()
	path, versions := filepath.Join(folder, "a.b.txt"), filepath.Join(folder, "requirements.txt")
	for name, text := range map[string]string{path: "results", versions: "polars==2.1.0\nduckdb==2.0.0\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	svg := ""
	report := func(in io.Reader, name string) (string, string, error) {
		b, err := io.ReadAll(in)
		return "# " + name + "\n" + string(b) + "\n", svg, err
	}
	requireFile := func(name, want string) {
		t.Helper()
		if got, _ := os.ReadFile(filepath.Join(folder, name)); string(got) != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if err := tables.Write(path, nil, report); err != nil {
		t.Fatal(err)
	}
	requireFile("a.b.md", "# a.b\nresults\n")
	requireFile("a.b.svg", "")
	svg = "<svg/>"
	if err := tables.Write(path, []string{versions, versions}, report); err != nil {
		t.Fatal(err)
	}
	requireFile("a.b.md", "# a.b\nresults\n\nVersions: polars 2.1.0, duckdb 2.0.0, polars 2.1.0, duckdb 2.0.0.\n")
	requireFile("a.b.svg", "<svg/>")
	wrong := errors.New("wrong")
	err := tables.Write(path, nil, func(io.Reader, string) (string, string, error) { return "", "", wrong })
	if !errors.Is(err, wrong) {
		t.Error(err)
	}
	requireFile("a.b.svg", "<svg/>")
	for _, paths := range [][]string{{filepath.Join(folder, "none")}, {path, filepath.Join(folder, "none")}} {
		if err := tables.Write(paths[0], paths[1:], report); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}
