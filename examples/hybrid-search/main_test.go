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
	want := doctest.Prints(t)
	t.Chdir("../..")
	for _, hosts := range [][]string{nil, cqltest.New(t, cqltest.Config{}).Hosts()} {
		var out strings.Builder
		require.NoError(t, run(t.Context(), hosts, &out))
		require.Equal(t, want, out.String())
	}
}
