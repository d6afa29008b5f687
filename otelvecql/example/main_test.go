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
	var out strings.Builder
	require.NoError(t, run(t.Context(), nil, &out))
	require.Equal(t, doctest.Prints(t), out.String())

	cluster := cqltest.New(t, cqltest.Config{})
	out.Reset()
	require.NoError(t, run(t.Context(), cluster.Hosts(), &out)) // nothing is refused
	require.Equal(t, strings.NewReplacer("span INSERT examples.sales: overloaded\n", "", ", retry 1", "", "retries 1", "retries 0").
		Replace(doctest.Prints(t)), out.String())
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	item, err := vecql.OneRow[string](t.Context(), session.Query("SELECT item FROM examples.sales WHERE id = ?", 1))
	require.NoError(t, err)
	require.Equal(t, "lamp", item)
}
