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
	for _, hosts := range [][]string{nil, cluster.Hosts(), cluster.Hosts()} { // a second run finds the rows of the first
		var out strings.Builder
		require.NoError(t, run(t.Context(), hosts, &out))
		require.Equal(t, doctest.Prints(t), out.String())
	}
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	var tracks []Track
	for track, err := range vecql.Rows[Track](t.Context(), session.Query("SELECT * FROM examples.tracks")) {
		require.NoError(t, err)
		tracks = append(tracks, track)
	}
	require.Equal(t, []Track{
		{"Blue Hour", 1, "Overture", 252, cql.Null[float32]{}},
		{"Blue Hour", 2, "Interlude", 48, cql.NullOf[float32](4.5)},
		{"Blue Hour", 3, "Finale", 450, cql.NullOf[float32](5)},
	}, tracks)
}
