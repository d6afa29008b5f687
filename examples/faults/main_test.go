// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/doctest"
)

// TestSell is the test that the program shows.
func TestSell(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.fault, func(t *testing.T) {
			got, err := s.run(t.Context())
			require.NoError(t, err)
			require.ErrorIs(t, got.err, s.want.err)
			require.Equal(t, s.want.sold, got.sold)
			require.Equal(t, s.want.requests, got.requests)
		})
	}
}

func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out))
	require.Equal(t, doctest.Prints(t), out.String())
}
