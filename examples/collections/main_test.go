// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/doctest"
)

func TestRun(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	for _, hosts := range [][]string{nil, cluster.Hosts(), cluster.Hosts()} { // a second run finds the row of the first
		var out strings.Builder
		require.NoError(t, run(t.Context(), hosts, &out))
		require.Equal(t, doctest.Prints(t), out.String())
	}
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	row, err := vecql.OneRow[map[string]any](t.Context(), session.Query("SELECT emails, scores, home FROM examples.people"))
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"emails": []string{"ada@example.com", "ada@work.example"},
		"scores": []int{3, 1, 2},
		"home":   map[string]any{"street": "12 Rue Cler", "city": "Paris", "zip": nil},
	}, row)
}
