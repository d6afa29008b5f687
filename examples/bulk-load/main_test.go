// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/doctest"
	"github.com/vecql/vecql/parquetscan"
)

const data = "../../cmd/vecql/internal/tool/testdata/gostdlib.parquet"

func TestRun(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	var out strings.Builder
	require.NoError(t, run(t.Context(), append([]string{"-files", data}, cluster.Hosts()...), &out))
	require.Equal(t, doctest.Prints(t), out.String())

	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	files, err := parquetscan.Open(t.Context(), data)
	require.NoError(t, err)
	defer files.Close()
	compared := 0
	for want, err := range files.Batches(t.Context()) {
		require.NoError(t, err)
		lookup, err := session.Query("SELECT id, package, symbol, kind, synopsis, signature, lines, embedding FROM examples.symbols WHERE id = ?").
			PrepareRows(t.Context(), want.Schema())
		require.NoError(t, err)
		for i := 0; i < want.Rows; i += 100 {
			for got, err := range lookup.Query(want, i).Batches(t.Context()) {
				require.NoError(t, err)
				require.Empty(t, column.Diff(got, want.Slice(i, i+1)))
				compared++
			}
		}
	}
	require.Equal(t, 34, compared)
}

// TestNullsUnset loads a file over a row that has a signature: NULL in the file leaves the column unchanged.
func TestNullsUnset(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	args := append([]string{"-files", writeFile(t, 1)}, cluster.Hosts()...)
	require.NoError(t, run(t.Context(), args, &strings.Builder{}))
	require.NoError(t, cluster.Exec("INSERT INTO examples.symbols (id, signature) VALUES (0, 'kept')"))
	var out strings.Builder
	require.NoError(t, run(t.Context(), args, &out))
	require.Equal(t, "1 of 1 rows read\nwrote 1 rows, 0 were there before\nthe table has 1 rows, 0 of them without a signature\n", out.String())

	out.Reset()
	require.NoError(t, run(t.Context(), args[:2], &out)) // a cluster of its own
	require.Equal(t, "1 of 1 rows read\nwrote 1 rows, 0 were there before\nthe table has 1 rows, 1 of them without a signature\n", out.String())
}

// TestInFlight holds all answers back, and lets them go one by one: there are never more requests than allowed.
func TestInFlight(t *testing.T) {
	const rows, inFlight = 60, 4
	cluster := cqltest.New(t, cqltest.Config{})
	answers := make(chan struct{})
	inserts := cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: `INSERT INTO "examples"`, Until: answers})
	done := make(chan error, 1)
	go func() {
		done <- run(t.Context(), append([]string{"-files", writeFile(t, rows), "-in-flight", "4"}, cluster.Hosts()...), &strings.Builder{})
	}()
	require.Eventually(t, func() bool { return inserts.Hits() == inFlight }, 10*time.Second, time.Millisecond)
	for answered := range rows {
		require.LessOrEqual(t, inserts.Hits()-answered, inFlight)
		select {
		case answers <- struct{}{}: // waits for a request
		case err := <-done:
			t.Fatalf("the load ended after %d of %d rows: %v", answered, rows, err)
		}
	}
	require.NoError(t, <-done)
}

// TestCheckpoint resumes a load that failed: each row is written once.
func TestCheckpoint(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	inserts := cluster.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: `INSERT INTO "examples"`})
	failing := cluster.Inject(cqltest.Fault{
		Op: cqltest.OpExecute, Statement: `INSERT INTO "examples"`, Skip: 600, Error: &cqltest.Error{Code: cqltest.CodeInvalid},
	})
	args := append([]string{"-files", data, "-checkpoint", filepath.Join(t.TempDir(), "load.json")}, cluster.Hosts()...)
	var out strings.Builder
	err := run(t.Context(), args, &out)
	require.ErrorIs(t, err, cql.CodeInvalid)
	require.ErrorContains(t, err, "gostdlib.parquet")
	failing.Remove()
	failed := failing.Hits()
	out.Reset()
	require.NoError(t, run(t.Context(), args, &out))
	require.Contains(t, out.String(), "wrote 2311 rows, 600 were there before\nthe table has 2911 rows")
	require.Equal(t, 2911+failed, inserts.Hits())
}

func TestErrors(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	var out strings.Builder
	err := run(t.Context(), append([]string{"-files", "missing.parquet"}, cluster.Hosts()...), &out)
	require.ErrorContains(t, err, "missing.parquet")
	require.ErrorContains(t, run(t.Context(), []string{"-in-flight", "x"}, &out), "in-flight")
}

// writeFile writes a file with rows without signatures, and returns its path.
func writeFile(t *testing.T, rows int) string {
	ids, lines, texts, missing := make([]int64, rows), make([]int32, rows), make([]string, rows), make([]bool, rows)
	for i := range rows {
		ids[i], missing[i] = int64(i), true
	}
	path := filepath.Join(t.TempDir(), "rows.parquet")
	require.NoError(t, parquetscan.WriteFile(t.Context(), path, column.NewBatch(
		column.Of("id", ids), column.Strings("package", texts), column.Strings("symbol", texts), column.Strings("kind", texts),
		column.Strings("synopsis", texts), column.Strings("signature", texts).WithNulls(missing), column.Of("lines", lines),
		column.Matrix("embedding", make([]float32, 384*rows), 384),
	)))
	return path
}
