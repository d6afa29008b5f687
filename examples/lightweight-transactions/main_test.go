// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/doctest"
)

func TestRun(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	for _, hosts := range [][]string{nil, cluster.Hosts(), cluster.Hosts()} { // a second run finds the account of the first
		var out strings.Builder
		require.NoError(t, run(t.Context(), hosts, &out))
		require.Equal(t, doctest.Prints(t), out.String())
	}
}

// TestWithdrawAfterChange changes the balance between the read and the compare and set of a withdrawal.
func TestWithdrawAfterChange(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	require.NoError(t, run(t.Context(), cluster.Hosts(), &strings.Builder{})) // 5 are left
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	change := func(to string) *cqltest.Rule {
		return cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "IF balance", Times: 1, Match: func(cqltest.Request) bool {
			return cluster.Exec("UPDATE examples.accounts SET balance = "+to+" WHERE id = 1") == nil
		}})
	}

	changed := change("4")
	require.NoError(t, withdraw(t.Context(), session, 2))
	left, err := balance(t.Context(), session)
	require.NoError(t, err)
	require.EqualValues(t, 2, left, "4 less 2: the second compare and set used the new balance")
	require.Equal(t, 1, changed.Hits())

	changed = change("1")
	require.ErrorIs(t, withdraw(t.Context(), session, 2), errBalance)
	require.Equal(t, 1, changed.Hits())

	cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeReadTimeout}})
	require.ErrorIs(t, withdraw(t.Context(), session, 1), cql.CodeReadTimeout)
}
