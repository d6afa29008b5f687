// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/beamvecql/internal/beamtest"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/doctest"
)

func TestMain(m *testing.M) { beamtest.Main(m) }

func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), "", &out))
	require.Equal(t, doctest.Prints(t), out.String())
}

// TestError requires that nothing is printed if the centroids cannot be written.
func TestError(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	require.NoError(t, fill(t.Context(), cluster))
	require.NoError(t, cluster.Exec("DROP TABLE shop.centroids"))
	var out strings.Builder
	require.ErrorContains(t, run(t.Context(), strings.Join(cluster.Hosts(), ","), &out), "beamvecql: write to shop.centroids")
	require.Empty(t, out.String())
}
