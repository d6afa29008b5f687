// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
)

// This file compares the engine with Cassandra: testdata/cassandra/*.cql are statements, *.txt what Cassandra answered to them. The answers
// are written by
//
//	go test -run TestCassandra -record 127.0.0.1 ./cqltest/internal/engine

var record = flag.String("record", "", "address of a Cassandra node: write its answers to testdata/cassandra/*.txt")

// raw keeps the bytes of a cell.
type raw struct{ b []byte }

// UnmarshalCQL implements vecql.Unmarshaler.
func (r *raw) UnmarshalCQL(_ vecql.TypeInfo, data []byte) error {
	r.b = data
	return nil
}

// answer is what a statement brings: names and types of the columns, and rows; or the error.
func answer(r *Result, err error) string {
	if err == nil && r.Kind != ResultRows {
		return ""
	}
	s := show(r, err)
	if err != nil {
		return s
	}
	names := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		names[i] = c.Name + " " + strings.ReplaceAll(strings.ReplaceAll(c.Type.String(), "frozen<", ""), ">", "")
	}
	return strings.TrimSpace("[" + strings.Join(names, ", ") + "]\n" + s)
}

// ask has Cassandra execute a statement. Cells are written as values of the types that the engine gives the columns, where it gives as
// many.
func ask(s *vecql.Session, text string, like *Result) string {
	it := s.Query(text).SetKeyspace("ks").PageSize(5000).Consistency(vecql.One).Iter()
	cols := it.Columns()
	var lines []string
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = c.Name + " " + strings.NewReplacer("frozen<", "", ">", "", "ks.", "").Replace(c.TypeInfo.String())
	}
	if len(cols) > 0 {
		lines = append(lines, "["+strings.Join(names, ", ")+"]")
	}
	row := make([]any, len(cols))
	for i := range row {
		row[i] = new(raw)
	}
	for it.Scan(row...) {
		cells := make([]string, len(row))
		for i, c := range row {
			b := c.(*raw).b
			if like != nil && len(like.Columns) == len(row) {
				cells[i] = like.Columns[i].Type.literal(b)
			} else if cells[i] = fmt.Sprintf("0x%x", b); b == nil {
				cells[i] = "null"
			}
			c.(*raw).b = nil
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	if err := it.Close(); err != nil {
		var e vecql.RequestError
		if errors.As(err, &e) {
			return fmt.Sprintf("%04x %s", e.Code(), e.Message())
		}
		return "error: " + err.Error()
	}
	return strings.Join(lines, "\n")
}

// TestCassandra executes statements whose answers Cassandra gave. A line that begins with "#" in the statements is a comment.
func TestCassandra(t *testing.T) {
	files, err := filepath.Glob("testdata/cassandra/*.cql")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".cql"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			golden := strings.TrimSuffix(file, ".cql") + ".txt"
			if *record != "" {
				recordAnswers(t, string(text), golden)
				return
			}
			want := readAnswers(t, golden)
			e, _ := newEngine(t)
			for _, line := range strings.Split(string(text), "\n") {
				if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
					continue
				}
				expected, ok := want[line]
				require.True(t, ok && len(expected) > 0, "no answer recorded: %s", line)
				want[line] = expected[1:]
				var got string
				if text, ok := strings.CutPrefix(line, "PREPARE "); ok {
					got = prepared(e, text)
				} else {
					got = answer(run(t, e, line))
				}
				if !sameAnswer(expected[0], got) {
					t.Errorf("%s\nCassandra: %s\nengine:    %s", line, expected[0], got)
				}
			}
		})
	}
}

// prepared writes down what PREPARE tells of a statement.
func prepared(e *Engine, text string) string {
	s, err := e.Prepare("ks", text)
	if err != nil {
		return show(nil, err)
	}
	spell := func(cols []Column) string {
		out := make([]string, len(cols))
		for i, c := range cols {
			out[i] = c.Keyspace + "." + c.Table + " " + c.Name + " " + plainType(c.Type.String())
		}
		return strings.Join(out, ", ")
	}
	return fmt.Sprintf("bind [%s] key %v result [%s]", spell(s.Bind), s.PKIndexes, spell(s.Result))
}

func plainType(s string) string {
	return strings.NewReplacer("frozen<", "", ">", "", "ks.", "").Replace(s)
}

func askPrepared(t *testing.T, s *vecql.Session, text string) string {
	m, err := s.StatementMetadata(t.Context(), text, "ks")
	var e vecql.RequestError
	if errors.As(err, &e) {
		return fmt.Sprintf("%04x %s", e.Code(), e.Message())
	}
	require.NoError(t, err)
	spell := func(cols []vecql.ColumnInfo) string {
		out := make([]string, len(cols))
		for i, c := range cols {
			out[i] = c.Keyspace + "." + c.Table + " " + c.Name + " " + plainType(c.TypeInfo.String())
		}
		return strings.Join(out, ", ")
	}
	return fmt.Sprintf("bind [%s] key %v result [%s]", spell(m.BindColumns), m.PKBindColumnIndexes, spell(m.ResultColumns))
}

// sameAnswer compares; of syntax errors the code alone, the parser has tests of its own.
func sameAnswer(want, got string) bool {
	if strings.HasPrefix(want, "2000 line") {
		return strings.HasPrefix(got, "2000 ")
	}
	cut := func(s string) string { // the list of all forms of a function
		before, _, _ := strings.Cut(s, " (known type signatures")
		before, _, _ = strings.Cut(before, " (can be matched by")
		return before
	}
	return cut(want) == strings.TrimSpace(cut(got))
}

func recordAnswers(t *testing.T, text, golden string) {
	cfg := vecql.NewCluster(*record)
	cfg.Timeout = 30 * time.Second
	s, err := cfg.CreateSession()
	require.NoError(t, err)
	defer s.Close()
	for _, ks := range []string{"ks", "ks2", "bad"} {
		require.NoError(t, s.Query("DROP KEYSPACE IF EXISTS "+ks).Exec())
	}
	require.NoError(t, s.Query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}").Exec())
	e, _ := newEngine(t)
	var out strings.Builder
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if text, ok := strings.CutPrefix(line, "PREPARE "); ok {
			fmt.Fprintf(&out, "> %s\n%s\n", line, askPrepared(t, s, text))
			continue
		}
		like, _ := run(t, e, line)
		fmt.Fprintf(&out, "> %s\n", line)
		a := ask(s, line, like)
		for i := 0; i < 100 && strings.Contains(a, "INDEX_NOT_AVAILABLE"); i++ { // for a moment after it was made
			time.Sleep(100 * time.Millisecond)
			a = ask(s, line, like)
		}
		if a != "" {
			out.WriteString(a + "\n")
		}
	}
	require.NoError(t, os.WriteFile(golden, []byte(out.String()), 0o644))
}

func readAnswers(t *testing.T, golden string) map[string][]string {
	b, err := os.ReadFile(golden)
	require.NoError(t, err)
	out := map[string][]string{}
	for _, part := range strings.Split("\n"+string(b), "\n> ")[1:] {
		line, rest, _ := strings.Cut(part, "\n")
		out[line] = append(out[line], strings.TrimSpace(rest))
	}
	return out
}
