// SPDX-License-Identifier: Apache-2.0

// Package doctest holds what tests of programs read in the documentation of the programs.
package doctest

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Prints returns what the program in the working directory prints, according to its package comment: the preformatted
// lines that follow the first line ending in "prints:".
func Prints(t testing.TB) string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "main.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	require.NoError(t, err)
	text, ok := printed(f.Doc.Text())
	require.True(t, ok, `the package comment has no line that ends in "prints:"`)
	return text
}

func printed(doc string) (text string, ok bool) {
	_, rest, ok := strings.Cut(doc, "prints:\n")
	var lines strings.Builder
	for line := range strings.Lines(strings.TrimLeft(rest, "\n")) {
		code, indented := strings.CutPrefix(line, "\t")
		if !indented && line != "\n" {
			break
		}
		lines.WriteString(code)
	}
	return strings.TrimRight(lines.String(), "\n") + "\n", ok
}
