// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestList checks that every mutation can be planted: its old text occurs exactly once, and its packages exist.
func TestList(t *testing.T) {
	root := filepath.Join("..", "..")
	all, err := parseList("mutations.txt")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 100)
	names := map[string]bool{}
	for _, m := range all {
		_, _, err := m.apply(root)
		require.NoError(t, err)
		require.False(t, names[m.String()], "two mutations have the name %v", m)
		names[m.String()] = true
		require.True(t, 1 <= m.promise && m.promise <= 13, "%v: docs/promises.md has 13 promises", m)
		for _, run := range m.tests {
			_, err := os.Stat(filepath.Join(root, run.pkg))
			require.NoError(t, err, "%v", m)
			_, err = regexp.Compile(run.pattern)
			require.NoError(t, err, "%v", m)
		}
	}
}
