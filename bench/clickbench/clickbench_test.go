// SPDX-License-Identifier: Apache-2.0

package clickbench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"testing"

	"github.com/vecql/vecql/bench/clickbench"
	"github.com/vecql/vecql/bench/clickbench/data"
)

// small is the data of testdata/reference.json, which DuckDB 2.0 answered:
//
//	go run ./cmd/cbdata -dir d -rows 20000 -scale 0.002
//	go run ./cmd/cbrun statements -dir d >d/statements.json
//	python3 peers.py --dir d --statements d/statements.json --reference testdata/reference.json
var small = data.Options{Rows: 20_000, Scale: 0.002, Seed: 1}

// folder is the data of small.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "clickbench"); err == nil {
		err = data.Write(context.Background(), folder, small, func(string) {})
	}
	status := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		status = m.Run()
	}
	if err := os.RemoveAll(folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}

// readReferences returns DuckDB's answers to the queries on small.
func readReferences(t *testing.T) map[string]*clickbench.Reference {
	t.Helper()
	references, err := clickbench.ReadReferences("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	return references
}

// Every chain returns DuckDB's answer, which has rows.
func TestAnswers(t *testing.T) {
	references, n := readReferences(t), clickbench.NewScale(small.Rows)
	if len(references) != 45 || len(clickbench.Queries) != 45 {
		t.Fatalf("%d references, %d queries", len(references), len(clickbench.Queries))
	}
	for i := range clickbench.Queries {
		q := &clickbench.Queries[i]
		t.Run(q.Name, func(t *testing.T) {
			b, err := q.Run(t.Context(), folder, n, 2)
			if err != nil {
				t.Fatal(err)
			}
			if b.Rows == 0 {
				t.Error("no rows")
			}
			if err := references[q.Name].Check(clickbench.NewAnswer(b)); err != nil {
				t.Error(err)
			}
		})
	}
}

// Each chain is at most ten lines of Go.
func TestChainsAreShort(t *testing.T) {
	chains := 0
	for _, name := range []string{"queries.go", "queries_more.go"} {
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if chain, ok := n.(*ast.FuncLit); ok {
				chains++
				if lines := files.Position(chain.Body.Rbrace).Line - files.Position(chain.Body.Lbrace).Line - 1; lines > 10 {
					t.Errorf("%v: %d lines", files.Position(chain.Pos()), lines)
				}
			}
			return true
		})
	}
	if chains != len(clickbench.Queries) {
		t.Errorf("%d chains of %d queries", chains, len(clickbench.Queries))
	}
}

func numbers(v ...any) []any {
	row := make([]any, len(v))
	for i := range v {
		row[i] = v[i]
		if s := fmt.Sprint(v[i]); v[i] != nil && s != v[i] {
			row[i] = json.Number(s)
		}
	}
	return row
}

// Check accepts rows of one place in any order, and refuses wrong ones.
func TestCheck(t *testing.T) {
	// The third place has three rows, and LIMIT takes two; the fourth is not fully known.
	r := &clickbench.Reference{Name: "q", Groups: []clickbench.Group{
		{Take: 1, All: 1, Keys: []int{1}, Rows: [][]any{numbers("a", 9)}},
		{Take: 2, All: 2, Keys: []int{1}, Rows: [][]any{numbers("b", 8), numbers("c", 8)}},
		{Take: 2, All: 3, Keys: []int{1}, Rows: [][]any{numbers("d", 7.5), numbers("e", 7.5), numbers("f", 7.5)}},
		{Take: 1, All: 99, Keys: []int{1}, Rows: [][]any{numbers("g", 1)}},
	}}
	right := func() clickbench.Answer {
		return clickbench.Answer{
			numbers("a", 9), numbers("c", 8), numbers("b", 8), numbers("f", 7.5000000001), numbers("d", 7.5), numbers("z", 1),
		}
	}
	if err := r.Check(right()); err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func(a clickbench.Answer) clickbench.Answer{
		"an integer":    func(a clickbench.Answer) clickbench.Answer { a[0] = numbers("a", 10); return a },
		"a float":       func(a clickbench.Answer) clickbench.Answer { a[3] = numbers("f", 7.6); return a },
		"a null":        func(a clickbench.Answer) clickbench.Answer { a[0] = numbers("a", nil); return a },
		"a row twice":   func(a clickbench.Answer) clickbench.Answer { a[1] = a[2]; return a },
		"an order":      func(a clickbench.Answer) clickbench.Answer { a[0], a[1] = a[1], a[0]; return a },
		"a key of many": func(a clickbench.Answer) clickbench.Answer { a[5] = numbers("z", 2); return a },
		"a column":      func(a clickbench.Answer) clickbench.Answer { a[5] = numbers("z", 1, 1); return a },
		"a row less":    func(a clickbench.Answer) clickbench.Answer { return a[:5] },
		"a row more":    func(a clickbench.Answer) clickbench.Answer { return append(a, a[0]) },
		"no rows":       func(clickbench.Answer) clickbench.Answer { return nil },
	} {
		if err := r.Check(spoil(right())); err == nil {
			t.Errorf("%s: Check accepts a wrong answer", what)
		}
	}
}
