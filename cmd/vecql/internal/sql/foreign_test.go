// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/pipe"
)

// Statements of SQL suites, with DuckDB's answers from the same Parquet files. testdata/foreign.py records them; the
// ones in testdata/foreign are its random statements.

var foreign = flag.String("foreign", ownStatements, "folder that testdata/foreign.py wrote")

// ownStatements is the folder of the random statements, none of them refused.
const ownStatements = "testdata/foreign"

// A foreignCase is a statement with its tables, which are Parquet files, and DuckDB's rows.
type foreignCase struct {
	Suite  string            `json:"suite"`
	SQL    string            `json:"sql"`
	Tables map[string]string `json:"tables"`
	Rows   [][]*string       `json:"rows"`
}

// TestForeign requires the rows of DuckDB of every statement that is not refused. It prints the differences, and writes
// all verdicts to results.jsonl in the folder of -foreign.
func TestForeign(t *testing.T) {
	file, err := os.Open(filepath.Join(*foreign, "cases.jsonl"))
	require.NoError(t, err)
	defer file.Close()
	verdicts := map[string]map[string]int{} // by suite
	var results []byte
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var c foreignCase
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		verdict, reason := c.verdict(t.Context())
		if verdicts[c.Suite] == nil {
			verdicts[c.Suite] = map[string]int{}
		}
		verdicts[c.Suite][verdict]++
		if verdict != "same" && (verdict != "refused" || *foreign == ownStatements) {
			t.Errorf("%s: %s\n%s", verdict, c.SQL, reason)
		}
		line, err := json.Marshal(map[string]any{"suite": c.Suite, "sql": c.SQL, "tables": c.Tables, "verdict": verdict, "reason": reason})
		require.NoError(t, err)
		results = append(append(results, line...), '\n')
	}
	require.NoError(t, lines.Err())
	for suite, counts := range verdicts {
		t.Logf("%s: %v", suite, counts)
		require.Positive(t, counts["same"], suite)
	}
	if *foreign != ownStatements {
		require.NoError(t, os.WriteFile(filepath.Join(*foreign, "results.jsonl"), results, 0o600))
	}
}

// verdict runs the statement: same, refused, different, order for the same rows in another order, or panic.
func (c *foreignCase) verdict(ctx context.Context) (verdict, reason string) {
	defer func() {
		if r := recover(); r != nil {
			verdict, reason = "panic", fmt.Sprint(r)
		}
	}()
	s, err := Parse(c.SQL)
	if err != nil {
		return "refused", err.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	p, err := s.PlanOn(ctx, Options{Open: c.open})
	if err != nil {
		return "refused", err.Error()
	}
	got, err := p.Pipe.Batch(ctx)
	if err != nil {
		return "refused", "in a row: " + p.Locate(err).Error()
	}
	return c.compare(s, got)
}

// open opens a table of the statement.
func (c *foreignCase) open(ctx context.Context, from Source) (pipe.Pipe, column.Schema, error) {
	if from.None() {
		b := column.NewBatch(column.Of("\x00", []int8{0}))
		return pipe.Batches(b), b.Schema(), nil
	}
	for name, file := range c.Tables {
		if from.Keyspace == "" && strings.EqualFold(name, from.Table) {
			p := pipe.Parquet(filepath.Join(*foreign, file))
			schema, err := p.Schema(ctx)
			return p, schema, err
		}
	}
	return pipe.Pipe{}, nil, errors.New("no table " + from.Name())
}

// compare compares the rows with DuckDB's. Without an order, and beside equal values of it, rows are in any order.
func (c *foreignCase) compare(s *Statement, got *column.Batch) (verdict, reason string) {
	ours := make([]foreignRow, got.Rows)
	for i := range ours {
		for k := range got.Columns {
			ours[i] = append(ours[i], textOf(&got.Columns[k], i))
		}
	}
	theirs := make([]foreignRow, len(c.Rows))
	for i, row := range c.Rows {
		for k, text := range row {
			if text != nil && k < len(got.Columns) {
				*text = normal(*text, got.Columns[k].Type.Kind)
			}
			theirs[i] = append(theirs[i], foreignText{text: text})
		}
	}
	if sameForeign(ours, theirs) {
		return "same", ""
	}
	reason = fmt.Sprintf("  %s\n  want %s", printed(ours), printed(theirs))
	sortedOurs, sortedTheirs := slices.SortedFunc(slices.Values(ours), foreignRow.compare), slices.SortedFunc(slices.Values(theirs), foreignRow.compare)
	switch {
	case !sameForeign(sortedOurs, sortedTheirs):
		return "different", reason
	case !sameForeign(keysOf(s, got, ours), keysOf(s, got, theirs)):
		return "order", reason
	}
	return "same", ""
}

// keysOf returns the columns of the rows that ORDER BY names. Expressions are left out.
func keysOf(s *Statement, got *column.Batch, rows []foreignRow) []foreignRow {
	keys := make([]foreignRow, len(rows))
	for _, o := range s.OrderBy {
		n := o.Expr.Node()
		k := got.Schema().Index(n.Column)
		if position, ok := n.Value.(int64); ok {
			k = int(position) - 1
		}
		for i := range rows {
			if k >= 0 {
				keys[i] = append(keys[i], rows[i][k])
			}
		}
	}
	return keys
}

// A foreignText is the text of a value, nil for NULL. A number of ours is compared as one.
type foreignText struct {
	text     *string
	isNumber bool
}

type foreignRow []foreignText

func (r foreignRow) String() string {
	texts := make([]string, len(r))
	for i, v := range r {
		if texts[i] = "NULL"; v.text != nil {
			texts[i] = strconv.Quote(*v.text)
		}
	}
	return strings.Join(texts, "|")
}

// compare orders rows by their values, numbers by their first digits.
func (r foreignRow) compare(other foreignRow) int {
	key := func(r foreignRow) string {
		var b strings.Builder
		for _, v := range r {
			switch f, err := strconv.ParseFloat(v.String(), 64); {
			case v.text == nil:
				b.WriteByte(0)
			case err == nil:
				fmt.Fprintf(&b, "1%.6g", f+0)
			default:
				b.WriteString("2" + strings.TrimSuffix(*v.text, "T00:00:00"))
			}
			b.WriteByte(0)
		}
		return b.String()
	}
	return strings.Compare(key(r), key(other))
}

func (v foreignText) String() string {
	if v.text == nil {
		return ""
	}
	return *v.text
}

// is reports whether a value of ours is DuckDB's. Floats may differ in the last digits; a date is its midnight.
func (v foreignText) is(want foreignText) bool {
	if v.text == nil || want.text == nil {
		return v.text == nil && want.text == nil
	}
	if *v.text == *want.text || *v.text == strings.TrimSuffix(*want.text, "T00:00:00") {
		return true
	}
	a, err1 := strconv.ParseFloat(*v.text, 64)
	b, err2 := strconv.ParseFloat(*want.text, 64)
	whole := !strings.ContainsAny(*v.text+*want.text, ".eEnN")
	return v.isNumber && !whole && err1 == nil && err2 == nil && (a == b || a != a && b != b || math.Abs(a-b) <= 1e-9*math.Abs(a))
}

func sameForeign(ours, theirs []foreignRow) bool {
	return slices.EqualFunc(ours, theirs, func(a, b foreignRow) bool { return slices.EqualFunc(a, b, foreignText.is) })
}

func printed(rows []foreignRow) string {
	return fmt.Sprintf("%d rows: %v", len(rows), rows[:min(len(rows), 6)])
}

// words are the parts of a nested value that are not punctuation.
var words = regexp.MustCompile(`[^\pL\pN.+-]+`)

// normal returns the text of a value of DuckDB as textOf has it: times without zeros at the end, and the words of
// nested values.
func normal(text string, kind column.Kind) string {
	switch {
	case kind.IsNested() || kind == column.Vector:
		return words.ReplaceAllString(strings.ReplaceAll(text, "None", "NULL"), " ")
	case (kind == column.Timestamp || kind == column.Time) && strings.Contains(text, "."):
		return strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// textOf returns a value as foreign.py writes it.
func textOf(c *column.Column, row int) foreignText {
	if c.Null(row) {
		return foreignText{}
	}
	text, number := c.Format(row, math.MaxInt), false
	switch v := c.Value(row).(type) {
	case time.Time:
		if text = v.Format("2006-01-02T15:04:05.999999"); c.Type.Kind == column.Date {
			text = v.Format(time.DateOnly)
		}
	case time.Duration:
		text = time.Unix(0, int64(v)).UTC().Format("15:04:05.999999")
	case float32:
		text, number = strconv.FormatFloat(float64(v), 'g', -1, 64), true
	case string:
		text = v
	case []byte:
		text = hex.EncodeToString(v)
	default:
		text = normal(text, c.Type.Kind)
		number = c.Type.Kind >= column.Int8 && c.Type.Kind <= column.Float64 || c.Type.Kind == column.Decimal64 || c.Type.Kind == column.Decimal128
	}
	return foreignText{&text, number}
}
