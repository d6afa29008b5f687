// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Fuzzing of statements and values: the engine returns a result or an Error and never panics.

// fuzzed executes a script of statements, one per line, on existing tables, with value for all markers.
func fuzzed(t testing.TB, script string, value []byte) {
	e, _ := newEngine(t)
	for _, text := range []string{
		"CREATE TYPE u (a int, b text)",
		"CREATE TABLE t (p int, c int, s text static, v int, w text, l list<int>, m map<text, int>, st set<int>, " +
			"u u, ve vector<float, 2>, PRIMARY KEY (p, c))",
		"CREATE TABLE n (k int PRIMARY KEY, a counter)",
		"CREATE CUSTOM INDEX ON t (ve) USING 'StorageAttachedIndex'",
		"INSERT INTO t (p, c, s, v, w, l, m, st, u, ve) VALUES (1, 1, 's', 1, 'w', [1, 2], {'a': 1}, {1, 2}, {a: 1}, [1, 2])",
		"UPDATE n SET a = a + 1 WHERE k = 1",
	} {
		mustRun(t, e, text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, line := range strings.Split(script, "\n") {
		s, err := e.Prepare("ks", line)
		if err != nil {
			requireKnown(t, err, line)
			continue
		}
		for _, state := range []ValueState{ValueSet, ValueNull, ValueUnset} {
			values := make([]Value, len(s.Bind))
			for i := range values {
				values[i] = Value{Bytes: value, State: state}
			}
			e.Token(s, values, false)
			var paging []byte
			for range 3 {
				r, err := e.Execute(ctx, s, &Request{Values: values, PageSize: 2, PagingState: paging})
				if err != nil {
					requireKnown(t, err, line)
					break
				}
				if r.Kind == ResultRows {
					for _, row := range r.Rows {
						require.Len(t, row, len(r.Columns))
						for i, cell := range row {
							if cell != nil && r.Columns[i].Type.Kind != KindCounter {
								require.NoError(t, r.Columns[i].Type.check(cell), "%s: column %s", line, r.Columns[i].Name)
							}
						}
					}
				}
				if paging = r.PagingState; paging == nil {
					break
				}
			}
			if len(values) == 0 {
				break
			}
		}
		e.Valid(s)
	}
}

func requireKnown(t testing.TB, err error, line string) {
	t.Helper()
	var e *Error
	require.True(t, errors.As(err, &e), "%s: %v", line, err)
}

func FuzzExecute(f *testing.F) {
	files, err := filepath.Glob("testdata/cassandra/*.cql")
	require.NoError(f, err)
	for _, file := range files {
		if strings.Contains(file, "random") {
			continue // more statements of the same kinds
		}
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		for _, line := range strings.Split(string(text), "\n") {
			f.Add(strings.TrimPrefix(line, "PREPARE "), []byte{0, 0, 0, 1})
		}
	}
	f.Add("SELECT * FROM t WHERE p = ? AND (c) > ?", []byte{})
	f.Add("INSERT INTO t (p, c, l, m, u) VALUES (?, ?, ?, ?, ?)", []byte{0, 0, 0, 1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, script string, value []byte) {
		if len(script) > 2000 || len(value) > 1<<16 {
			t.Skip("larger inputs find nothing new; no seed is larger")
		}
		fuzzed(t, script, value)
	})
}

func FuzzPagingState(f *testing.F) {
	e, _ := newEngine(f)
	mustRun(f, e, "CREATE TABLE t (p int, c text, d int, PRIMARY KEY (p, c, d))")
	for _, c := range []string{"a", "b", "c"} {
		mustRun(f, e, "INSERT INTO t (p, c, d) VALUES (1, '"+c+"', 1)")
	}
	s, err := e.Prepare("ks", "SELECT * FROM t LIMIT 3")
	require.NoError(f, err)
	r, err := e.Execute(f.Context(), s, &Request{PageSize: 1})
	require.NoError(f, err)
	f.Add(r.PagingState)
	f.Add([]byte{pagingVersion, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, state []byte) {
		if r, err := e.Execute(t.Context(), s, &Request{PageSize: 1, PagingState: state}); err != nil {
			requireKnown(t, err, "paging state")
		} else if r.PagingState != nil {
			_, err := parsePagingState(r.PagingState, s.read.t)
			require.NoError(t, err)
		}
	})
}
