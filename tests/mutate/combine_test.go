// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// combinedSource has functions of all forms.
const combinedSource = `package p

const limit = 3

type box[V any] struct{ v V }

func (b *box[V]) get() V { return b.v }

func (box[V]) none(int, ...string) bool {
	return true
}

func pair[K comparable, V any](k K, _ V, rest ...K) (n int, err error) {
	n = len(rest)
	return n, nil
}

func guard() {
	if recover() != nil {
		println("guard")
	}
}

func deferred(f func()) {
	defer func() { _ = recover() }()
	f()
}

func one(a int) int { return a + limit }
`

// TestCombine combines mutations of functions of all forms. The result must compile, and the lines of the original must
// keep their numbers.
func TestCombine(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(combinedSource), 0o600))
	declarations := newPlaces(dir)
	all := []struct {
		function string
		edits    []edit
		combined bool
	}{
		{"box.get", []edit{{"statement", 1, 1, "var v V; return v"}}, true},
		{"box.none", []edit{{"value", 1, 1, "false"}}, true},
		{"pair", []edit{{"statement", 1, 2, ""}, {"value", 2, 3, "0"}}, true},
		{"pair", []edit{{"call", 1, 1, "$0 + 1"}}, true},
		{"deferred", []edit{{"statement", 3, 3, ""}}, true},
		{"one", []edit{{"binary", 1, 1, "$1 - $2"}}, true},
		{"one", []edit{{"binary", 1, 1, "$1 + unknown"}}, true},
		{"guard", []edit{{"condition", 1, 1, "$1 == nil"}}, false},
		{"limit", []edit{{"literal", 1, 1, "4"}}, false},
		{"one", []edit{{"binary", 2, 2, ""}}, false},
	}
	var f *combinedFile
	for i, c := range all {
		m := &mutation{dir: ".", function: c.function, edits: c.edits}
		var err error
		m.at, err = declarations.find(m)
		require.NoError(t, err)
		f = m.at.file
		require.Equal(t, c.combined, f.add(m, i+1), "%v", m)
	}
	text, lines := f.write()
	require.Contains(t, text, "func one(a int) int { if planted != 0 { switch planted { case 6: return planted6one(a); case 7: ")
	require.Contains(t, text, "\nfunc planted6one(a int) int { return a - limit }\n")
	require.Contains(t, text, "case 2: return (*new(box[V])).planted2none((*new(int))); ")
	require.Contains(t, text, "case 4: return planted4pair[K, V](k, (*new(V)), rest...); ")
	require.ErrorContains(t, checkTypes(text), "unknown")
	require.Equal(t, []int{7}, f.copiesAt(lines[6], lines[6]+1))
	require.Equal(t, []int{6}, f.copiesAt(3, lines[6]-1))
	require.Empty(t, f.copiesAt(3))

	f.remove(7)
	text, _ = f.write()
	require.NoError(t, checkTypes(text))
	syntax, err := parser.ParseFile(f.files, "combined.go", text, 0)
	require.NoError(t, err)
	for i, d := range f.syntax.Decls {
		require.Equal(t, f.files.Position(d.Pos()).Line, f.files.Position(syntax.Decls[i].Pos()).Line)
	}
}

// checkTypes type-checks a file without imports, and the variable that selects a mutation.
func checkTypes(text string) error {
	files := token.NewFileSet()
	syntax, err := parser.ParseFile(files, "p.go", text+"\nvar planted int\n", 0)
	if err != nil {
		return err
	}
	_, err = (&types.Config{}).Check("p", files, []*ast.File{syntax}, nil)
	return err
}
