// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// placeSource has nodes of each kind.
const placeSource = `package p

var table = map[string]int{"a": 1, "b": 2}

type list []int

func (l *list) find(x int, f func(int) bool) (int, bool) {
	for i, y := range (*l)[1:] {
		if y == x && !f(y) || y < 0 {
			continue
		}
		switch z := y - x; {
		case z > 2, z < -2:
			return i, true
		}
	}
	f(x)
	return -1, false
}
`

// TestPlaces changes a node of each kind.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(placeSource), 0o600))
	declarations := newPlaces(dir)
	for _, test := range []struct{ function, edit, old, new, err string }{
		{"table", "field 2/2: $1: 3", `"b": 2`, `"b": 3`, ""},
		{"table", `literal 1/4: "c"`, `"a"`, `"c"`, ""},
		{"table", "composite 1/1: nil", `map[string]int{"a": 1, "b": 2}`, "nil", ""},
		{"list.find", "condition 1/1: $1", "y == x && !f(y) || y < 0", "y == x && !f(y)", ""},
		{"list.find", "condition 1/1: $1.1 || $2", "y == x && !f(y) || y < 0", "(y == x) || (y < 0)", ""},
		{"list.find", "condition 1/1: false", "y == x && !f(y) || y < 0", "false && (y == x && !f(y) || y < 0)", ""},
		{"list.find", "unary 1/3: $1", "!f(y)", "f(y)", ""},
		{"list.find", "case 2/2: true", "z < -2", "true || (z < -2)", ""},
		{"list.find", "clause 1/1:", "case z > 2, z < -2:\n\t\t\treturn i, true", "", ""},
		{"list.find", "statement 6/7:", "\tf(x)\n", "\tif false { f(x) }\n", ""},
		{"list.find", "statement 5/7:", "return i, true", "", ""},
		{"list.find", "statement 5/7: $1 = 0; $0", "return i, true", "i = 0; return i, true", ""},
		{"list.find", "call 2/2: $1(0)", "f(x)", "f(0)", ""},
		{"list.find", "slice 1/1: $1", "(*l)[1:]", "(*l)", ""},
		{"list.find", "value 2/6: $2 - $1", "y - x", "x - y", ""},
		{"list.find", "value 2/5: $2", "", "", "value 2/5: there are 6"},
		{"list.find", "value 7/6: $2", "", "", "value 7/6: there are 6"},
		{"list.find", "binary 1/7: $3", "", "", "binary 1/7: $3 does not exist"},
		{"list.find", "binary 1/7: $1 )", "", "", "expected"},
	} {
		e, err := parseEdit(test.edit)
		require.NoError(t, err)
		m := &mutation{dir: ".", function: test.function, edits: []edit{e}}
		m.at, err = declarations.find(m)
		require.NoError(t, err)
		text, _, err := m.apply()
		if test.err != "" {
			require.ErrorContains(t, err, test.err)
			continue
		}
		require.NoError(t, err, test.edit)
		require.Equal(t, 1, strings.Count(placeSource, test.old))
		require.Equal(t, strings.Replace(placeSource, test.old, test.new, 1), text, test.edit)
	}
	_, err := declarations.find(&mutation{dir: ".", function: "list.gone"})
	require.ErrorIs(t, err, errNoDeclaration)
}

// TestPlacesOfTwoEdits changes two nodes, which must not overlap.
func TestPlacesOfTwoEdits(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(placeSource), 0o600))
	m := &mutation{dir: ".", function: "list.find", edits: []edit{{"statement", 6, 7, ""}, {"condition", 1, 1, "false"}}}
	var err error
	m.at, err = newPlaces(dir).find(m)
	require.NoError(t, err)
	text, line, err := m.apply()
	require.NoError(t, err)
	require.Equal(t, 9, line)
	require.Contains(t, text, "if false { f(x) }")
	require.Contains(t, text, "false && (")
	m.edits[0] = edit{"statement", 1, 7, ""}
	_, _, err = m.apply()
	require.ErrorContains(t, err, "two edits overlap")
}

func TestParseEdit(t *testing.T) {
	e, err := parseEdit("statement 3/9:")
	require.NoError(t, err)
	require.Equal(t, edit{"statement", 3, 9, ""}, e)
	for _, bad := range []string{"", "statement 3:", "statement 3/x: a", "unknown 1/2: a", "case 1/2 a"} {
		_, err := parseEdit(bad)
		require.ErrorContains(t, err, "KIND N/TOTAL: TEXT", bad)
	}
}
