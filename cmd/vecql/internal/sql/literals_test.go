// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/pipe"
)

// Random expressions on literals, with DuckDB's values. testdata/literals.py writes them.

// An evaluation is an expression with DuckDB's value: a text, or nil for NULL.
type evaluation struct {
	SQL   string  `json:"sql"`
	Value *string `json:"value"`
}

// readEvaluations reads more than least evaluations of a file.
func readEvaluations(t *testing.T, file string, least int) (cases []evaluation) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &cases))
	require.Greater(t, len(cases), least)
	return cases
}

func TestLiteralsOfDuckDB(t *testing.T) {
	one := column.NewBatch(column.Of("one", []int64{1}))
	for _, c := range readEvaluations(t, "testdata/literals.json", 300) {
		for _, form := range []string{"select @ as v from t", "select @ as v from t group by @", "select max(@) as v from t", "select distinct @ as v from t order by v"} {
			sql := strings.ReplaceAll(form, "@", c.SQL)
			s, err := Parse(sql)
			require.NoError(t, err, sql)
			p, err := planOn(t.Context(), s, pipe.Batches(one))
			require.NoError(t, err, sql)
			got, err := p.Pipe.Batch(t.Context())
			require.NoError(t, err, sql)
			require.Equal(t, 1, got.Rows, sql)
			v := &got.Columns[0]
			if c.Value == nil {
				require.True(t, v.Null(0), "%s: %s", sql, v.Format(0, math.MaxInt))
				continue
			}
			require.False(t, v.Null(0), sql)
			require.Equal(t, strings.TrimSuffix(*c.Value, " 00:00:00"), asDuckDB(v), sql)
		}
	}
}

// evaluate returns the row of an expression v in a statement without FROM.
func evaluate(t *testing.T, text string) (*column.Batch, error) {
	t.Helper()
	s, err := Parse("select " + text + " v")
	require.NoError(t, err, text)
	p, err := planOn(t.Context(), s, pipe.Batches(column.NewBatch(column.Of("", []int8{1}))))
	require.NoError(t, err, text)
	return p.Pipe.Batch(t.Context())
}

// TestFunctionsOfDuckDB evaluates calls of functions and other forms in statements without FROM.
func TestFunctionsOfDuckDB(t *testing.T) {
	failed := 0
	for _, c := range readEvaluations(t, "testdata/functions.json", 500) {
		got, err := evaluate(t, c.SQL)
		if c.Value != nil && *c.Value == "error" {
			require.Error(t, err, c.SQL)
			failed++
			continue
		}
		require.NoError(t, err, c.SQL)
		require.Equal(t, []string{"v"}, got.Schema().Names())
		require.True(t, sameCell(&got.Columns[0], 0, c.Value), "%s: %s", c.SQL, got.Columns[0].Format(0, math.MaxInt))
	}
	require.Positive(t, failed)
}

// asDuckDB returns the text of a value in row 0 as DuckDB has it. The midnight of a date is the date, because DuckDB's
// date_trunc returns timestamps.
func asDuckDB(c *column.Column) string {
	text := c.Format(0, math.MaxInt)
	switch v := c.Value(0).(type) {
	case time.Duration:
		text = time.Unix(0, int64(v)).UTC().Format("15:04:05.999999999")
	case time.Time:
		text = strings.Replace(strings.Replace(text, "T", " ", 1), "Z", "+00", 1)
	}
	return strings.TrimSuffix(text, " 00:00:00")
}
