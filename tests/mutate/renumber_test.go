// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFollow finds nodes again after changes before and behind them.
func TestFollow(t *testing.T) {
	at := func(source string) *place {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600))
		p, err := newPlaces(dir).find(&mutation{dir: ".", function: "list.find"})
		require.NoError(t, err)
		return p
	}
	old := at(placeSource)
	more := at(strings.NewReplacer("\tfor i, y", "\tx++\n\tf(x)\n\tfor i, y", "f(x)\n\treturn", "f(x)\n\t_ = f(x-1)\n\treturn").Replace(placeSource))
	for before, want := range map[string]edit{
		"statement 5/7: return": {"statement", 7, 10, "return"},
		"condition 1/1: false":  {"condition", 1, 1, "false"},
		"call 1/2: true":        {"call", 2, 4, "true"},
	} {
		e, err := parseEdit(before)
		require.NoError(t, err)
		got, err := e.follow(old, more)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := edit{"call", 2, 2, ""}.follow(old, more)
	require.EqualError(t, err, "call 2/2: 2 nodes are now f(x), 1 were")
	_, err = edit{"call", 2, 3, ""}.follow(old, more)
	require.ErrorContains(t, err, "there are 2")
}
