// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/pipe"
)

// Random statements on a small table, with DuckDB 2.0's answers. In DuckDB they ran with its own names: // for the
// quotient of integers, LIKE with ESCAPE '\', regexp_matches. Documented differences are left out.

// recorded is testdata/duckdb.json. A cell is NULL or a text.
type recorded struct {
	Rows  [][]*string `json:"rows"` // of the table
	Cases []struct {
		SQL  string      `json:"sql"`
		Rows [][]*string `json:"rows"`
	} `json:"cases"`
}

// table returns the table of the statements.
func (r *recorded) table(t testing.TB) *column.Batch {
	t.Helper()
	wide, small, days, micros, prices := cells[int64](r, 0), cells[int32](r, 1), cells[int32](r, 5), cells[int64](r, 6), cells[int64](r, 8)
	as := func(c column.Column, typ column.Type) column.Column {
		c, err := c.WithType(typ)
		require.NoError(t, err)
		return c
	}
	b := column.NewBatch(column.Of("a", wide), column.Of("b", small), column.Of("f", cells[float64](r, 2)),
		column.Of("g", cells[float64](r, 3)), column.Strings("s", cells[string](r, 4)), as(column.Of("d", days), column.Type{Kind: column.Date}),
		as(column.Of("t", micros), column.Type{Kind: column.Timestamp, Unit: column.Micros}), column.Of("k", cells[bool](r, 7)),
		as(column.Of("p", prices), column.Type{Kind: column.Decimal64, Precision: 9, Scale: 2}))
	for i := range b.Columns {
		null := make([]bool, len(r.Rows))
		for j, row := range r.Rows {
			null[j] = row[i] == nil
		}
		b.Columns[i] = b.Columns[i].WithNulls(null)
	}
	require.NoError(t, b.Check())
	return b
}

// cells returns the values of a column, zeros for NULL.
func cells[T any](r *recorded, i int) []T {
	values := make([]T, len(r.Rows))
	for j, row := range r.Rows {
		if row[i] == nil {
			continue
		}
		switch v := any(&values[j]).(type) {
		case *int64:
			*v, _ = strconv.ParseInt(*row[i], 10, 64)
		case *int32:
			n, _ := strconv.ParseInt(*row[i], 10, 32)
			*v = int32(n)
		case *float64:
			*v, _ = strconv.ParseFloat(*row[i], 64)
		case *bool:
			*v = *row[i] == "true"
		case *string:
			*v = *row[i]
		}
	}
	return values
}

// sameCell reports whether a value is the recorded one. Floats may differ in the last digits, as means and deviations
// do.
func sameCell(c *column.Column, row int, want *string) bool {
	if c.Null(row) || want == nil {
		return c.Null(row) && want == nil
	}
	switch v := c.Value(row).(type) {
	case float64:
		f, err := strconv.ParseFloat(*want, 64)
		return err == nil && (v == f || v != v && f != f || math.Abs(v-f) <= 1e-12*math.Abs(f))
	case time.Time:
		return v.Format("2006-01-02T15:04:05.000000") == *want || c.Type.Kind == column.Date && v.Format("2006-01-02") == *want
	case string:
		return v == *want
	}
	return c.Format(row, math.MaxInt) == *want
}

// readRecorded returns the recorded statements and their table.
func readRecorded(t testing.TB) (*recorded, *column.Batch) {
	t.Helper()
	text, err := os.ReadFile("testdata/duckdb.json")
	require.NoError(t, err)
	var r recorded
	require.NoError(t, json.Unmarshal(text, &r))
	return &r, r.table(t)
}

// FuzzPlan runs statements on the recorded table: they fail with an Error, or their normal texts have the same rows.
func FuzzPlan(f *testing.F) {
	r, b := readRecorded(f)
	for i, c := range r.Cases {
		if i%8 == 0 {
			f.Add(c.SQL)
		}
	}
	for _, text := range []string{
		"select a from t where b in (select b from t where f > 1) and not exists (select 1 from t where s is null)",
		"select s, (select max(a) from t) - a from t where p < (select avg(p) from t)", "select b not in (select null) from t",
		"select s, k, grouping(s, k), sum(a) from t group by rollup(s, k) having grouping(k) < 1 order by 1, 2",
		"select * exclude (a) replace (b + 1 as b), columns('^[fg]$') from t", "from t select mode(s), array_agg(b order by a), quantile_disc(d, 0.5)",
		"select count(*) from t group by grouping sets ((), cube(k, d % 2), (b, b))",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil || len(text) > 400 {
			return
		}
		rows, err := answer(s, b)
		if err != nil {
			require.ErrorAs(t, err, new(*Error), text)
			return
		}
		back, err := Parse(s.String())
		require.NoError(t, err, text)
		again, err := answer(back, b)
		require.NoError(t, err, text)
		if s.Limit < 0 && s.Offset == 0 {
			require.ElementsMatch(t, rows, again, text)
		}
	})
}

// answer returns the rows of a statement on a batch as texts.
func answer(s *Statement, b *column.Batch) (rows []string, err error) {
	p, err := planOn(context.Background(), s, pipe.Batches(b))
	if err != nil {
		return nil, err
	}
	got, err := p.Pipe.Batch(context.Background())
	if err != nil {
		return nil, p.Locate(err)
	}
	for i := range got.Rows {
		cells := make([]string, len(got.Columns))
		for k := range cells {
			cells[k] = got.Columns[k].Format(i, math.MaxInt)
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return rows, nil
}

func TestAnswersOfDuckDB(t *testing.T) {
	r, b := readRecorded(t)
	require.Greater(t, len(r.Cases), 300)
	for _, c := range r.Cases {
		s, err := Parse(c.SQL)
		require.NoError(t, err, c.SQL)
		p, err := planOn(t.Context(), s, pipe.Batches(b.Slice(0, 11), b.Slice(11, b.Rows)))
		require.NoError(t, err, c.SQL)
		got, err := p.Pipe.Batch(t.Context())
		if err != nil {
			t.Errorf("%s: %v", c.SQL, err)
			continue
		}
		if err := sameRows(got, c.Rows); err != nil {
			t.Errorf("%s: %v", c.SQL, err)
		}
	}
}

func sameRows(got *column.Batch, want [][]*string) error {
	if got.Rows != len(want) {
		return fmt.Errorf("%d rows, want %d", got.Rows, len(want))
	}
	for i, row := range want {
		for j := range row {
			if !sameCell(&got.Columns[j], i, row[j]) {
				cells := make([]string, len(row))
				for k, c := range row {
					if cells[k] = "NULL"; c != nil {
						cells[k] = *c
					}
				}
				return fmt.Errorf("row %d: %s in column %d, want %s", i, got.Columns[j].Format(i, math.MaxInt), j, strings.Join(cells, "|"))
			}
		}
	}
	return nil
}
