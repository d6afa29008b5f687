// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
	cluster.Close()
	require.Error(t, run(t.Context(), cluster.Hosts(), &strings.Builder{}))
}
