// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/doctest"
	"github.com/vecql/vecql/parquetscan"
)

func TestRun(t *testing.T) {
	want := doctest.Prints(t)
	t.Chdir("../..")
	var out strings.Builder
	require.NoError(t, run(t.Context(), nil, &out))
	require.Equal(t, want, out.String())
	require.ErrorContains(t, run(t.Context(), []string{"missing.parquet"}, &out), "missing.parquet")
}

// TestFiles finds a pair whose rows are in two files.
func TestFiles(t *testing.T) {
	var files []string
	for i, embedding := range [][]float32{{1, 0, 0, 1}, {1, 1e-3, 1, 1}} {
		files = append(files, filepath.Join(t.TempDir(), "part.parquet"))
		id := int64(2 * i)
		require.NoError(t, parquetscan.WriteFile(t.Context(), files[i], column.NewBatch(column.Of("id", []int64{id, id + 1}),
			column.Strings("package", []string{"a", "b"}), column.Strings("symbol", []string{"X", "Y"}), column.Matrix("embedding", embedding, 2))))
	}
	var out strings.Builder
	require.NoError(t, run(t.Context(), files, &out))
	require.Equal(t, "1.0000  a.X  a.X\n", out.String())
}
