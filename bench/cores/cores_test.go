// SPDX-License-Identifier: Apache-2.0

package cores_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vecql/vecql/bench/clickbench"
	"github.com/vecql/vecql/bench/cores"
	"github.com/vecql/vecql/bench/workload"
)

func TestMain(m *testing.M) { workload.Main(m) }

func open(t *testing.T) *cores.Data {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	s := cores.Sizes{Rows: 20_000, Hits: 5_000, Vectors: 500, Dim: 64, Requests: 500}
	if err := cores.Write(t.Context(), dir, s, func(string) {}); err != nil {
		t.Fatal(err)
	}
	d, err := cores.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d.Server = workload.Addr(t)
	return d
}

// Every case has one answer at all numbers of threads, and the report has a row of each.
func TestMeasure(t *testing.T) {
	d := open(t)
	var out bytes.Buffer
	cores.Describe(&out)
	m := cores.Measurement{Threads: []int{1, 2}, Until: time.Now().Add(time.Hour), Once: true, Out: &out}
	answers, err := m.Run(t.Context(), d.Cases())
	if err != nil {
		t.Fatal(err)
	}
	text, _, err := cores.Report(&out, "cores")
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Cases()) != len(answers) {
		t.Errorf("%d answers to %d cases", len(answers), len(d.Cases()))
	}
	for _, c := range d.Cases() {
		if a := answers[c.Name]; a == nil || len(a.Rows) == 0 {
			t.Errorf("%s: answer %v", c.Name, a)
		}
		if strings.Count(text, "| "+c.Name+" | vecql | ") != 1 {
			t.Errorf("%s: no row in the report", c.Name)
		}
	}
}

// The scans and groupings have the rows that the columns of t have.
func TestAnswers(t *testing.T) {
	d := open(t)
	m := cores.Measurement{Threads: []int{2}, Until: time.Now().Add(time.Hour), Once: true, Out: &bytes.Buffer{}}
	answers, err := m.Run(t.Context(), slices.DeleteFunc(d.Cases(), func(c cores.Case) bool {
		return !strings.HasPrefix(c.Name, "groupby/") && !strings.HasPrefix(c.Name, "parquetscan/")
	}))
	if err != nil {
		t.Fatal(err)
	}
	number := func(name string, i int) json.Number { return answers[name].Rows[0][i].(json.Number) }
	for name, groups := range map[string]json.Number{"groupby/groups=1000/key=int": "1000", "groupby/groups=1000/key=text": "1000"} {
		if number(name, 0) != groups {
			t.Errorf("%s: %s groups", name, number(name, 0))
		}
	}
	const near, one, many = "groupby/groups=near/key=int", "parquetscan/files=1", "parquetscan/files=100"
	if n, err := number(near, 0).Int64(); err != nil || n < 19_000 || n >= 20_000 {
		t.Errorf("%s: %d groups, %v", near, n, err)
	}
	for _, name := range []string{near, "groupby/groups=1000/key=text"} {
		if number(name, 2) != "20000" || number(name, 3) != number(one, 1) {
			t.Errorf("%s: %v, the scan has %v", name, answers[name].Rows, answers[one].Rows)
		}
	}
	if number(one, 0) != "20000" || !slices.Equal(answers[one].Rows[0], answers[many].Rows[0]) {
		t.Errorf("one file has %v, a hundred have %v", answers[one].Rows, answers[many].Rows)
	}
}

// A measurement that does not begin in time is left out, and reported.
func TestBudget(t *testing.T) {
	d := open(t)
	var out bytes.Buffer
	cores.Describe(&out)
	m := cores.Measurement{Threads: []int{1, 2}, Until: time.Now(), Once: true, Out: &out}
	answers, err := m.Run(t.Context(), d.Cases())
	if err != nil || len(answers) > 0 {
		t.Fatal(answers, err)
	}
	text, _, err := cores.Report(&out, "cores")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(text, ", vecql, threads: "); got != 2*len(d.Cases()) {
		t.Errorf("%d measurements left out, want %d", got, 2*len(d.Cases()))
	}
}

// Rows of one place may come in any order, and others are wrong.
func TestCheck(t *testing.T) {
	row := func(name string, n string) []any { return []any{name, json.Number(n)} }
	a := cores.Answer{Keys: []int{1}, Rows: clickbench.Answer{row("a", "3"), row("b", "2"), row("c", "2")}}
	if err := a.Check("q", clickbench.Answer{row("a", "3"), row("d", "2"), row("b", "2")}); err != nil {
		t.Error(err)
	}
	for _, wrong := range []clickbench.Answer{
		{row("b", "2"), row("a", "3"), row("c", "2")}, {row("a", "3"), row("b", "2")}, {row("a", "3"), row("b", "2"), row("c", "1")},
	} {
		if a.Check("q", wrong) == nil {
			t.Errorf("Check accepts %v", wrong)
		}
	}
	all := cores.Answer{Rows: a.Rows}
	if err := all.Check("q", clickbench.Answer{a.Rows[2], a.Rows[0], a.Rows[1]}); err != nil {
		t.Error(err)
	}
	if all.Check("q", clickbench.Answer{row("d", "3"), row("b", "2"), row("c", "2")}) == nil {
		t.Error("Check accepts another row")
	}
}

// The profiles of a case exist, and the report names places.
func TestProfile(t *testing.T) {
	d := open(t)
	dir := t.TempDir()
	var out bytes.Buffer
	cores.Describe(&out)
	for _, c := range d.Cases() {
		if c.Name != "bulk/row=small" {
			continue
		}
		if err := cores.Profile(t.Context(), &c, 2, dir, &out); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []string{"mutex", "block"} {
		if info, err := os.Stat(filepath.Join(dir, "cores-bulk-row-small-"+kind+".prof")); err != nil || info.Size() == 0 {
			t.Error(kind, err)
		}
	}
	text, _, err := cores.Report(&out, "cores")
	if err != nil || !strings.Contains(text, "| bulk/row=small | block | `") {
		t.Errorf("%v\n%s", err, text)
	}
}

// Aims are reached, not reached, or not measured.
func TestAims(t *testing.T) {
	text := "machine: 16 processors, X, linux/amd64\n" +
		"BenchmarkCores/case=groupby/groups=1000/key=int/impl=vecql/threads=1\t3\t800 ns/op\t800 cpu-ns/op\n" +
		"BenchmarkCores/case=groupby/groups=1000/key=int/impl=vecql/threads=8\t3\t120 ns/op\t900 cpu-ns/op\n" +
		"BenchmarkCores/case=groupby/groups=1000/key=int/impl=vecql/threads=16\t3\t80 ns/op\t1200 cpu-ns/op\n" +
		"BenchmarkCores/case=groupby/groups=1000/key=int/impl=duckdb/threads=16\t3\t70 ns/op\n" +
		"BenchmarkCores/case=parquetscan/files=1/impl=vecql/threads=16\t3\t100 ns/op\t1 cpu-ns/op\n" +
		"BenchmarkCores/case=parquetscan/files=100/impl=vecql/threads=16\t3\t90 ns/op\t1 cpu-ns/op\n"
	got, _, err := cores.Report(strings.NewReader(text), "cores")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| groupby/groups=1000/key=int | 8 of 16 | 0.80 | 0.83 | reached |",
		"| groupby/groups=1000/key=int | 16 of 16 | 0.65 | 0.62 | **not reached** |",
		"| groupby/groups=1000/key=text | 8 of 16 | 0.80 |  | not measured |",
		"| one file as fast as a hundred: time of a hundred / of one | 16 | 0.95 | 0.90 | **not reached** |",
		"| groupby/groups=1000/key=int | vecql | 0.00 | 0.00 (0.83) | 0.00 (0.62) | 1.50 |",
		"| groupby/groups=1000/key=int | duckdb |  |  | 0.00 |  |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if _, _, err := cores.Report(strings.NewReader("x\n"), "cores"); err == nil {
		t.Error("a report without a machine")
	}
}
