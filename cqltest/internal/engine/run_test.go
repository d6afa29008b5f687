// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Helpers that run statements and format their results.

// fixedClock is a clock that tests set.
type fixedClock struct{ at time.Time }

func (c *fixedClock) now() time.Time { return c.at }

// newEngine returns an engine with a keyspace ks, and its clock.
func newEngine(t testing.TB) (*Engine, *fixedClock) {
	t.Helper()
	clock := &fixedClock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	e := New(Options{Now: clock.now, DataCenters: func() map[string]int { return map[string]int{"datacenter1": 1} }})
	mustRun(t, e, "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	return e, clock
}

// run prepares and executes a statement without values.
func run(t testing.TB, e *Engine, text string) (*Result, error) {
	t.Helper()
	s, err := e.Prepare("ks", text)
	if err != nil {
		return nil, err
	}
	return e.Execute(t.Context(), s, &Request{PageSize: 5000})
}

func mustRun(t testing.TB, e *Engine, text string) *Result {
	t.Helper()
	r, err := run(t, e, text)
	require.NoError(t, err, text)
	return r
}

// show returns a result as text: one line per row, cells separated by " | ".
func show(r *Result, err error) string {
	if err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return fmt.Sprintf("error without a code: %v", err)
		}
		return fmt.Sprintf("%04x %s", e.Code, e.Message)
	}
	if r.Kind == ResultSchemaChange {
		return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Change.Change, r.Change.Target, r.Change.Keyspace, r.Change.Name))
	}
	var lines []string
	for _, row := range r.Rows {
		cells := make([]string, len(row))
		for i, b := range row {
			cells[i] = r.Columns[i].Type.literal(b)
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	return strings.Join(lines, "\n")
}
