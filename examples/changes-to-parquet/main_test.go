// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cdc"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/doctest"
	"github.com/vecql/vecql/parquetscan"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, demo(t.Context(), nil, t.TempDir(), &out))
	require.Equal(t, doctest.Prints(t), out.String())
}

// leaving cancels a context after a number of files.
type leaving struct {
	files  int
	cancel context.CancelFunc
}

func (w *leaving) Write(p []byte) (int, error) {
	if w.files--; w.files == 0 {
		w.cancel()
	}
	return len(p), nil
}

// TestResume ends the program after each file. The files have each change once.
func TestResume(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{Scylla: &cqltest.Scylla{Tablets: 4}})
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	require.NoError(t, change(t.Context(), session))
	for i := range 30 {
		require.NoError(t, session.Query("INSERT INTO examples.orders (shop, id, total) VALUES (?, ?, 1)", 100+i%7, i).Exec(t.Context()))
	}
	folder := t.TempDir()
	until := time.Now().Add(5 * time.Millisecond)
	ends := 0
	for {
		ctx, cancel := context.WithCancel(t.Context())
		err := capture(ctx, session, cdc.Config{Until: until, Confidence: time.Millisecond, PageRows: 1}, folder, &leaving{1, cancel})
		cancel()
		if ends++; err == nil {
			break
		}
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Greater(t, ends, 3)
	files, err := parquetscan.Open(t.Context(), filepath.Join(folder, "*.parquet"))
	require.NoError(t, err)
	defer files.Close()
	scan, err := files.Scan(parquetscan.Options{Columns: []string{"shop", "id", "cdc$operation"}})
	require.NoError(t, err)
	changes := map[string]int{}
	for b, err := range scan.All(t.Context()) {
		require.NoError(t, err)
		for i := range b.Rows {
			operation := cdc.Operation(b.Column("cdc$operation").Value(i).(int8))
			changes[fmt.Sprint(operation, b.Column("shop").Value(i), b.Column("id").Value(i))]++
		}
	}
	require.Len(t, changes, 34)
	for c, n := range changes {
		require.Equal(t, 1, n, c)
	}
}

// TestError reads the changes of a table without a log.
func TestError(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	err := demo(t.Context(), cluster.Hosts(), t.TempDir(), io.Discard)
	require.ErrorContains(t, err, "cdc")
}
