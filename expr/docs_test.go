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
		if name == opCountDistinct {
			name = "count(distinct x"
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
