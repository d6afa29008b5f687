// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/internal/doctest"
)

func TestRun(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	for _, hosts := range [][]string{nil, cluster.Hosts(), cluster.Hosts()} { // a second run finds the rows of the first
		all := cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token(id)"})
		var out strings.Builder
		require.NoError(t, run(t.Context(), hosts, &out))
		require.Equal(t, doctest.Prints(t), out.String())
		if hosts != nil {
			require.GreaterOrEqual(t, all.Hits(), ranges, "a request for each range")
		}
		all.Remove()
	}
}

// TestError fails one of the ranges.
func TestError(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	cluster.Inject(cqltest.Fault{
		Op: cqltest.OpExecute, Statement: "token(id)", Skip: 20, Times: 1, Error: &cqltest.Error{Code: cqltest.CodeReadFailure},
	})
	var out strings.Builder
	err := run(t.Context(), cluster.Hosts(), &out)
	require.ErrorIs(t, err, vecql.CodeReadFailure)
	require.ErrorContains(t, err, "tokens ")
	require.Empty(t, out.String(), "no result of a part")
}

// TestScanBounds scans ranges that begin and end at the token of a row.
func TestScanBounds(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	require.NoError(t, run(t.Context(), cluster.Hosts(), &strings.Builder{}))
	session, err := vecql.NewCluster(cluster.Hosts()...).CreateSession()
	require.NoError(t, err)
	defer session.Close()
	token, err := vecql.OneRow[int64](t.Context(), session.Query("SELECT token(id) FROM examples.events WHERE id = ?", 7))
	require.NoError(t, err)
	for _, bounds := range [][2]int64{{token, token}, {token - 1, token}, {token, token + 1}} {
		groups, err := groupby.New(nil, groupby.Count(), groupby.Sum("amount"))
		require.NoError(t, err)
		require.NoError(t, scan(t.Context(), session, bounds[0], bounds[1], groups))
		result, err := groups.Finish(t.Context())
		require.NoError(t, err)
		require.Empty(t, column.Diff(result, column.NewBatch(column.Of("count", []int64{1}), column.Of("sum(amount)", []float64{3.5}))))
	}
}

func TestTokens(t *testing.T) {
	for _, count := range []int{2, 3, 64, 1000} {
		next := int64(math.MinInt64)
		for n := range count {
			first, last := tokens(n, count)
			require.Equal(t, next, first, "range %d of %d", n, count)
			require.Less(t, first, last)
			next = last + 1 // wraps around after the last range
		}
		require.EqualValues(t, int64(math.MinInt64), next, "%d ranges end at the last token", count)
	}
}
