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
	names, sources := map[string]bool{}, map[string]string{}
	for _, m := range all {
		if _, _, err := m.apply(); err != nil {
			t.Error(err)
		}
		require.False(t, names[m.String()], "two mutations have the name %v", m)
		names[m.String()] = true
		if sources[m.dir] == "" {
			sources[m.dir] = sourcesOf(t, filepath.Join(root, m.dir))
		}
		for _, e := range m.edits {
			for _, name := range identifier.FindAllString(reference.ReplaceAllString(e.text, ""), -1) {
				if !known(sources[m.dir], e.text, name) {
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

// known reports whether a name of the text of an edit is in the sources of the package, of the language, declared by
// the text, or an exported field or method.
func known(sources, text, name string) bool {
	return token.IsKeyword(name) || ast.IsExported(name) && strings.Contains(text, "."+name) || types.Universe.Lookup(name) != nil ||
		strings.Contains(text, name+" := ") || regexp.MustCompile(`\b`+name+`\b`).MatchString(sources)
}

// sourcesOf returns the texts of the Go files of a folder, without tests.
func sourcesOf(t *testing.T, dir string) string {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	var all strings.Builder
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			all.Write(text)
		}
	}
	return all.String()
}
