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
	f, err := parseCombined(token.NewFileSet(), dir, "p.go")
	require.NoError(t, err)
	for i, m := range []struct {
		old, new string
		combined bool
	}{
		{"return b.v", "var v V; return v", true},
		{"\treturn true\n", "\treturn false\n", true},
		{"n = len(rest)\n\treturn n, nil", "return 0, nil", true},
		{"n = len(rest)", "n = len(rest) + 1", true},
		{"\tf()\n", "", true},
		{"func one(a int) int { return a + limit }", "func one(a int) int { return a - limit }", true},
		{"return a + limit", "return a + unknown", true},
		{"recover() != nil", "recover() == nil", false},
		{"limit = 3", "limit = 4", false},
		{"(a int)", "(a int32)", false},
		{"not in the file", "", false},
	} {
		require.Equal(t, m.combined, f.add(&mutation{old: m.old, new: m.new}, i+1), m.old)
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
