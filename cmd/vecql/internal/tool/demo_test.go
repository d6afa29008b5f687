// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	ptext "github.com/jedib0t/go-pretty/v6/text"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/vector"
)

// TestDemo runs the demo on cqltest. Exit code 0 means that all rows were verified and recall was high enough.
// TestOnServer runs it on a real server.
func TestDemo(t *testing.T) {
	x := &tester{t: t, ctx: t.Context()}
	x.requireDemo("2911 rows verified bit for bit, 970 NULLs among them")
	t.Run("cassandra", func(t *testing.T) {
		soak.Only(t)
		x.requireDemo("2911 rows verified bit for bit", "--server", "cassandra")
	})
}

// requireDemo runs the demo with further arguments, and requires a text in its output.
func (x *tester) requireDemo(want string, args ...string) {
	x.t.Helper()
	keyspace := fmt.Sprint("vecql_demo_test_", os.Getpid()) // another process may use the same server
	out := x.requireRun(append([]string{"demo", "--keyspace", keyspace}, args...)...)
	require.Contains(x.t, out, want)
	require.Contains(x.t, out, "Recall of the 60 answers")
	require.Contains(x.t, out, "Dropped keyspace "+keyspace+" with its tables: symbols.\n")
	for line := range strings.Lines(out) {
		require.LessOrEqual(x.t, ptext.StringWidth(strings.TrimSuffix(line, "\n")), demoWidth, line)
	}
}

// TestDemoKeepsExistingKeyspace requires that the demo drops an existing keyspace only with --drop.
func TestDemoKeepsExistingKeyspace(t *testing.T) {
	x := newTester(t, shop)
	demo := []string{"demo", "--keyspace", "shop", "--hosts", x.Hosts()[0]}
	const exists = "vecql demo: keyspace shop exists; choose another --keyspace, or lose its data with --drop"
	require.Equal(t, exists, x.requireFailure(exitFailed, demo...))
	require.Equal(t, exists, x.requireFailure(exitFailed, append(demo, "--keep")...))
	require.Equal(t, "id\n--\n 1\n 2\n2 rows\n", x.requireRun("query", "SELECT id FROM shop.items"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	x.ctx = ctx
	insert := x.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT INTO shop.symbols"})
	go func() {
		if insert.Wait(ctx, 1) == nil {
			cancel() // one run of the whole demo is enough
		}
	}()
	code, out, text := x.run(append(demo, "--drop", "--keep")...)
	require.Equal(t, exitInterrupted, code)
	require.Equal(t, "vecql demo: interrupted\n", text)
	require.Contains(t, out, "Dropped keyspace shop with its tables: items.\n")
	require.NotContains(t, out, "symbols.\n")
	x.ctx = t.Context()
	require.Contains(t, x.requireRun("describe", "shop"), "TABLE shop.symbols (")
}

func TestReadSymbols(t *testing.T) {
	rows, err := readSymbols(context.Background())
	require.NoError(t, err)
	require.Len(t, rows, 2911)
	ids, nulls := map[int64]bool{}, 0
	for _, r := range rows {
		ids[r.ID] = true
		if r.Signature == nil {
			nulls++
		}
		require.NotEmpty(t, r.Package)
		require.Len(t, r.Embedding, dimension)
		length := vector.Reference(vector.L2, r.Embedding, make([]float32, dimension))
		require.InDelta(t, 1, length, 1e-3, "%s.%s is of unit length", r.Package, r.Symbol)
	}
	require.Len(t, ids, len(rows), "ids are unique")
	require.Equal(t, 970, nulls)
}

func TestReadQuestions(t *testing.T) {
	questions, err := readQuestions(context.Background())
	require.NoError(t, err)
	require.Len(t, questions, 20)
	for _, q := range questions {
		require.NotEmpty(t, q.Text)
		require.Len(t, q.Embedding, dimension)
	}
}

func TestDifference(t *testing.T) {
	text, other := "func f()", "func g()"
	a := symbol{ID: 1, Package: "p", Symbol: "f", Kind: "func", Synopsis: "s", Signature: &text, Lines: 3, Embedding: []float32{1, float32(math.NaN())}}
	require.Empty(t, difference(&a, &a), "a NaN has bits like everything else")
	for want, change := range map[string]func(*symbol){
		"package":   func(s *symbol) { s.Package = "q" },
		"symbol":    func(s *symbol) { s.Symbol = "g" },
		"kind":      func(s *symbol) { s.Kind = "type" },
		"synopsis":  func(s *symbol) { s.Synopsis = "" },
		"signature": func(s *symbol) { s.Signature = &other },
		"lines":     func(s *symbol) { s.Lines++ },
		"embedding": func(s *symbol) { s.Embedding = []float32{1, 1} },
	} {
		b := a
		change(&b)
		require.Equal(t, want, difference(&a, &b))
	}
	b := a
	b.Signature = nil
	require.Equal(t, "signature", difference(&a, &b), "NULL is not a text")
	b = a
	b.Embedding = a.Embedding[:1]
	require.Equal(t, "embedding", difference(&a, &b))
}
