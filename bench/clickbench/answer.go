// SPDX-License-Identifier: Apache-2.0

package clickbench

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql/bench/answers"
	"github.com/vecql/vecql/column"
)

// Answers of engines, and their comparison with DuckDB's.

// An Answer is the rows of one engine. A value is nil, a json.Number, or a string: dates are 2013-07-01, timestamps
// 2013-07-01 12:00:00.
type Answer [][]any

// NewAnswer returns the rows of a batch.
func NewAnswer(b *column.Batch) Answer {
	rows := make(Answer, b.Rows)
	for i := range rows {
		for j := range b.Columns {
			rows[i] = append(rows[i], valueOf(&b.Columns[j], i))
		}
	}
	return rows
}

func valueOf(c *column.Column, i int) any {
	switch v := c.Value(i).(type) {
	case nil, string:
		return v
	case time.Time:
		if c.Type.Kind == column.Date {
			return v.Format(time.DateOnly)
		}
		return v.Format(time.DateTime)
	case float32, float64:
		return json.Number(fmt.Sprintf("%.17g", v))
	default:
		return json.Number(fmt.Sprint(v))
	}
}

// A Reference is all right answers to a query. Rows that are equal in the columns of ORDER BY are one group, because
// they may come in any order.
type Reference struct {
	Name   string  `json:"name"`
	Groups []Group `json:"groups"`
}

// A Group has the rows that share a place in the order. The answer has some of them: LIMIT and OFFSET divide the
// first and the last group.
type Group struct {
	Take int     `json:"take"` // rows of the answer
	All  int     `json:"all"`  // rows that share the place
	Keys []int   `json:"keys"` // the positions of the columns of ORDER BY in a row, as far as the answer has them
	Rows [][]any `json:"rows"` // all rows, or the first ones of many
}

// ReadReferences returns the references in a file, by the names of the queries.
func ReadReferences(path string) (map[string]*Reference, error) {
	list, err := answers.Read[[]*Reference](path)
	if err != nil {
		return nil, err
	}
	byName := map[string]*Reference{}
	for _, r := range list {
		byName[r.Name] = r
	}
	return byName, nil
}

// Check returns an error unless the answer is right. The rows of each group must be in the answer at its place, in any
// order. If LIMIT or OFFSET divides a group, the answer may have any of its rows. If the reference has only some rows
// of a group, the answer's rows must equal them in the columns of ORDER BY. Floats may differ by a relative error of
// 1e-9, because they are summed in any order.
func (r *Reference) Check(a Answer) error {
	at := 0
	for g := range r.Groups {
		group := &r.Groups[g]
		if at+group.Take > len(a) {
			return fmt.Errorf("%s: %d rows, want at least %d", r.Name, len(a), at+group.Take)
		}
		if err := group.check(a[at : at+group.Take]); err != nil {
			return fmt.Errorf("%s: rows from %d: %w", r.Name, at, err)
		}
		at += group.Take
	}
	if at != len(a) {
		return fmt.Errorf("%s: %d rows, want %d", r.Name, len(a), at)
	}
	return nil
}

func (g *Group) check(rows Answer) error {
	used := make([]bool, len(g.Rows))
	for _, row := range rows {
		found := false
		for i, want := range g.Rows {
			if found = !used[i] && equalRows(row, want); found {
				used[i] = true
				break
			}
		}
		like := g.Rows[0]
		known := g.All == len(g.Rows) || len(row) != len(like)
		if !found && (known || !equalRows(pick(row, g.Keys), pick(like, g.Keys))) {
			return fmt.Errorf("got %v, want %d of %d rows like %v", row, g.Take, g.All, like)
		}
	}
	return nil
}

func pick(row []any, positions []int) (picked []any) {
	for _, i := range positions {
		picked = append(picked, row[i])
	}
	return picked
}

func equalRows(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equalValues(a[i], b[i]) {
			return false
		}
	}
	return true
}

// tolerance is the relative error of floats.
const tolerance = 1e-9

func equalValues(a, b any) bool {
	if a == b {
		return true
	}
	x, ok1 := a.(json.Number)
	y, ok2 := b.(json.Number)
	if !ok1 || !ok2 || isInteger(x) && isInteger(y) {
		return false
	}
	f, err1 := strconv.ParseFloat(string(x), 64)
	g, err2 := strconv.ParseFloat(string(y), 64)
	return err1 == nil && err2 == nil && math.Abs(f-g) <= tolerance*max(math.Abs(f), math.Abs(g))
}

func isInteger(n json.Number) bool { return !strings.ContainsAny(string(n), ".eEnN") }
