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
	var out strings.Builder
	require.NoError(t, run(t.Context(), cqltest.New(t, cqltest.Config{}).Hosts(), &out))
	require.Equal(t, want, out.String())
}
