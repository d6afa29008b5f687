// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// TestPictures holds the pictures of the results to the tables of their reports: "go run ./cmd/report results/NAME.md"
// draws them again.
func TestPictures(t *testing.T) {
	for _, name := range []string{"requests", "values", "compat", "bulk", "adbc"} {
		base := "../../results/" + name
		f, err := os.Open(base + ".md")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		tables, err := reread(f)
		if err != nil {
			t.Fatal(name, err)
		}
		all := pictures(tables, base)
		if len(all) == 0 {
			t.Error(name, "has no pictures")
		}
		for path, want := range all {
			got, err := os.ReadFile(path)
			if err != nil || string(got) != want {
				t.Errorf("%s is not the picture of its table (%v)", path, err)
			}
			requireWords(t, path, want)
		}
	}
}

// requireWords requires well-formed XML whose texts have no name=value.
func requireWords(t *testing.T, path, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(path, err)
		}
		if text, ok := token.(xml.CharData); ok && strings.Contains(string(text), "=") {
			t.Errorf("%s: %q", path, text)
		}
	}
}

// TestReread requires the times of a report that write wrote, with the digits of the report.
func TestReread(t *testing.T) {
	all, err := parse(strings.NewReader(productionSample + `
BenchmarkCollection/driver=vecql/case=list<float>1000/op=marshal-2 9 1234.5 ns/op 2 allocs/op
BenchmarkCollection/driver=apache2/case=list<float>1000/op=marshal-2 9 2500000 ns/op 2 allocs/op
`))
	if err != nil || len(all) != 2 {
		t.Fatal(len(all), err)
	}
	var md strings.Builder
	md.WriteString("# title\n\n## Production\n\n")
	all[0].production(&md)
	md.WriteString("\n## Collection\n\n")
	all[1].markdown(&md)
	again, err := reread(strings.NewReader(md.String()))
	if err != nil || len(again) != 2 {
		t.Fatal(len(again), err)
	}
	for _, m := range []struct {
		table        int
		name, driver string
		want         float64
	}{
		{0, "insert-small plain none 1 none v5 256", "vecql", 2000},
		{0, "insert-small plain none 1 none v5 256", "vecql-typed", 1e6 / 750},
		{0, "insert-small tls lz4 4 each v4 256", "rust (v4)", 4000},
		{1, "case=list<float>1000 op=marshal", "vecql", 1230},
		{1, "case=list<float>1000 op=marshal", "apache2", 2.5e6},
	} {
		if got := again[m.table].cells[[2]string{m.name, m.driver}][nsOp]; len(got) != 1 || got[0] != m.want {
			t.Errorf("%s of %s: %v, want %v", m.name, m.driver, got, m.want)
		}
	}
	if _, err := reread(strings.NewReader("## Insert\n\n| case | vecql |\n| --- | --- |\n| a | 3 years |\n")); err == nil {
		t.Error("a unit that does not exist")
	}
}
