// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestList checks that every mutation can be planted: its declaration and its nodes exist, the text parses, and its
// packages exist.
func TestList(t *testing.T) {
	root := filepath.Join("..", "..")
	all, err := parseList("mutations.txt", root)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 100)
	names, words := map[string]bool{}, map[string]map[string]bool{}
	for _, m := range all {
		if _, _, err := m.apply(); err != nil {
			t.Error(err)
		}
		require.False(t, names[m.String()], "two mutations have the name %v", m)
		names[m.String()] = true
		if words[m.dir] == nil {
			words[m.dir] = wordsOf(t, filepath.Join(root, m.dir))
		}
		for _, e := range m.edits {
			for _, name := range identifier.FindAllString(reference.ReplaceAllString(e.text, ""), -1) {
				if !known(words[m.dir], e.text, name) {
					t.Errorf("%v: the package has no name %s", m, name)
				}
			}
		}
		require.True(t, 1 <= m.promise && m.promise <= 14, "%v: docs/promises.md has 14 promises", m)
		for _, run := range m.tests {
			_, err := os.Stat(filepath.Join(root, run.pkg))
			require.NoError(t, err, "%v", m)
			_, err = regexp.Compile(run.pattern)
			require.NoError(t, err, "%v", m)
		}
	}
}

var identifier = regexp.MustCompile(`\b[A-Za-z_]\w*`)

// known reports whether a name of the text of an edit is a word of the sources of the package, of the language,
// declared by the text, or an exported field or method.
func known(words map[string]bool, text, name string) bool {
	return token.IsKeyword(name) || ast.IsExported(name) && strings.Contains(text, "."+name) || types.Universe.Lookup(name) != nil ||
		strings.Contains(text, name+" := ") || words[name]
}

// wordsOf returns the words in the Go files of a folder, without tests.
func wordsOf(t *testing.T, dir string) map[string]bool {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	words := map[string]bool{}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, word := range identifier.FindAll(text, -1) {
				words[string(word)] = true
			}
		}
	}
	return words
}
