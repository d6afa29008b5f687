// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/doctest"
	"github.com/vecql/vecql/parquetscan"
)

func TestRun(t *testing.T) {
	want := doctest.Prints(t)
	t.Chdir("../..")
	cluster := cqltest.New(t, cqltest.Config{})
	for range 2 { // a second run finds the rows of the first
		var out strings.Builder
		require.NoError(t, run(t.Context(), cluster.Hosts(), &out))
		require.Equal(t, want, out.String())
	}
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	count, err := vecql.OneRow[int64](t.Context(), session.Query("SELECT count(*) FROM examples.docs"))
	require.NoError(t, err)
	require.EqualValues(t, 2911, count)
}

// TestOwnData asks a question about two texts, in a cluster that the program starts.
func TestOwnData(t *testing.T) {
	t.Chdir(t.TempDir())
	var out strings.Builder
	require.ErrorContains(t, run(t.Context(), nil, &out), data+"/gostdlib.parquet")

	require.NoError(t, os.MkdirAll(data, 0o700))
	axis := func(i int) []float32 { v := make([]float32, 384); v[i] = 1; return v }
	write := func(name string, columns ...column.Column) {
		require.NoError(t, parquetscan.WriteFile(t.Context(), filepath.Join(data, name), column.NewBatch(columns...)))
	}
	write("gostdlib.parquet", column.Strings("package", []string{"a", "b"}), column.Strings("symbol", []string{"A", "B"}),
		column.Strings("kind", []string{"func", "func"}), column.Strings("synopsis", []string{"A is a.", "B is b."}),
		column.Matrix("embedding", append(axis(0), axis(1)...), 384))
	write("gostdlib-queries.parquet", column.Strings("query", []string{"what is b"}), column.Matrix("embedding", axis(1), 384))
	require.NoError(t, run(t.Context(), nil, &out))
	require.Equal(t, "what is b\n  1.00  b.B: B is b.\n  0.50  a.A: A is a.\n", out.String())
}
