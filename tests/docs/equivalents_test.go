// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The statements of Go in the tables of equivalents.md. The test of the command runs its commands.

// givenTable is a table below a comment with what its statements rely on.
var givenTable = regexp.MustCompile(`(?m)^<!-- given: (.+) -->\n\n((?:\|.*\n)+)`)

// declarations precede each statement.
const declarations = "type Item struct {\n\tID   int\n\tName string\n}\n\nvar items []Item\n"

// TestEquivalents type-checks each statement in the last column of a table of Go.
func TestEquivalents(t *testing.T) {
	tables := givenTable.FindAllStringSubmatch(readDocument(t, "equivalents.md"), -1)
	require.NotEmpty(t, tables)
	fset := token.NewFileSet()
	var blocks []*block
	for _, table := range tables {
		for _, row := range strings.Split(strings.TrimSpace(table[2]), "\n") {
			cells := strings.Split(row, " | ")
			require.Len(t, cells, 3, row)
			for _, statement := range spans(cells[2]) {
				b := &block{file: "docs/equivalents.md", line: 1, text: declarations + statement + "\n", given: table[1]}
				require.NoError(t, b.parse(fset), statement)
				blocks = append(blocks, b)
			}
		}
	}
	require.Greater(t, len(blocks), 25)
	imports := importerOf(t, fset, blocks)
	for _, b := range blocks {
		require.Empty(t, check(fset, b, imports), b.text)
	}
}
