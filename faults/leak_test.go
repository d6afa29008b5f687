// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/leak"
)

// Test of the leak detector, which the other tests use.

func TestLeakIsSeen(t *testing.T) {
	c := newCluster(t, fakecql.V5, 2)
	require.Empty(t, leak.Driver(), "goroutines of the cluster are ignored")
	s, err := vecql.NewSession(t.Context(), *configOf(c))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(leak.Driver()), 3, "readers and the control loop")
	s.Close()
	leak.RequireNone(t, leak.Driver)
}
