// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/doctest"
)

func TestRun(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	for _, hosts := range [][]string{nil, cluster.Hosts(), cluster.Hosts()} { // a second run finds the rows of the first
		var out strings.Builder
		require.NoError(t, run(t.Context(), hosts, &out))
		require.Equal(t, doctest.Prints(t), out.String())
	}
}

// TestError drops the permission to read one of the ranges.
func TestError(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	cluster.Inject(cqltest.Fault{
		Op: cqltest.OpExecute, Statement: "token(", Skip: 20, Times: 1, Error: &cqltest.Error{Code: cqltest.CodeUnauthorized},
	})
	var out strings.Builder
	err := run(t.Context(), cluster.Hosts(), &out)
	require.ErrorIs(t, err, cql.CodeUnauthorized)
	require.Empty(t, out.String(), "no result of a part")
}
