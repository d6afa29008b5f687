// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// The tables of docs/sql.md: they have all functions, aggregates and types, and their examples are true.

func TestDocument(t *testing.T) {
	data, err := os.ReadFile("../docs/sql.md")
	require.NoError(t, err)
	text := string(data)
	for name := range functions {
		require.Contains(t, text, "| `"+name+"(", "the table of functions")
	}
	for name := range aggregates {
		if of, ok := strings.CutSuffix(name, " distinct"); ok {
			name = of + "(distinct x"
		}
		require.Contains(t, text, "`"+name, "the table of aggregates")
	}
	one := column.NewBatch(column.Of("one", []int64{1}))
	examples := regexp.MustCompile("(?m)\\| `([^`]+)` is `([^`]+)` \\|$").FindAllStringSubmatch(text, -1)
	require.Len(t, examples, strings.Count(text, "` is `"))
	require.Greater(t, len(examples), 30)
	for _, example := range examples {
		e, err := Parse(example[1])
		require.NoError(t, err, example[1])
		p, err := Compile(e, one.Schema())
		require.NoError(t, err, example[1])
		c, err := p.Eval(one)
		require.NoError(t, err, example[1])
		require.Equal(t, example[2], c.Format(0, math.MaxInt), example[1])
	}
}

// TestCastNames holds the table of docs/sql.md equal to castNames: each name of SQL, and the name of its type here.
func TestCastNames(t *testing.T) {
	data, err := os.ReadFile("../docs/sql.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(data), "| name of SQL | type |\n| --- | --- |\n")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n\n")
	found := 0
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		names := regexp.MustCompile("`([^`]+)`( or)?").FindAllStringSubmatch(cells[1], -1)
		types := regexp.MustCompile(`\w+(\([^)]*\))?`).FindAllString(cells[2], -1)
		for i := 0; len(names) > 0; i++ {
			for same := true; same; names = names[1:] {
				same = names[0][2] != ""
				want, err := Parse("cast(a as " + types[i] + ")")
				require.NoError(t, err, row)
				got, err := Parse("cast(a as " + names[0][1] + ")")
				require.NoError(t, err, row)
				require.True(t, sameExpr(want, got), "%v, want %v", got, want)
				found++
			}
		}
	}
	require.Equal(t, len(castNames), found)
}
