// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/frame"
)

// TestStatementIsSame compares a statement with what another PREPARE returned.
func TestStatementIsSame(t *testing.T) {
	response := func(change func(p *frame.PreparedResult)) *frame.PreparedResult {
		p := &frame.PreparedResult{ID: []byte("id"), PKIndexes: []int{0}}
		for _, name := range []string{"a", "b"} {
			p.Bind.Columns = append(p.Bind.Columns, cql.ColumnInfo{Keyspace: "ks", Table: "t", Name: name, TypeInfo: cql.NativeType(cql.TypeInt)})
		}
		change(p)
		return p
	}
	s := newStatement("INSERT", "", response(func(*frame.PreparedResult) {}))
	for name, m := range map[string]struct {
		change      func(p *frame.PreparedResult)
		same, types bool
	}{
		"nothing":       {func(*frame.PreparedResult) {}, true, true},
		"id":            {func(p *frame.PreparedResult) { p.ID = []byte("other") }, false, true},
		"partition key": {func(p *frame.PreparedResult) { p.PKIndexes = []int{1} }, false, true},
		"name":          {func(p *frame.PreparedResult) { p.Bind.Columns[1].Name = "c" }, false, true},
		"type":          {func(p *frame.PreparedResult) { p.Bind.Columns[1].TypeInfo = cql.NativeType(cql.TypeFloat) }, false, false},
		"number":        {func(p *frame.PreparedResult) { p.Bind.Columns = p.Bind.Columns[:1] }, false, false},
	} {
		p := response(m.change)
		require.Equal(t, m.same, s.isSame(p), name)
		require.Equal(t, m.types, s.hasTypes(p.Bind.Columns), name)
	}
}

// TestExpectedAnswerFollowsTheAnswers requires that the memory of answers to expect rises at once and falls by an
// eighth of the difference.
func TestExpectedAnswerFollowsTheAnswers(t *testing.T) {
	var s statement
	for _, m := range []struct{ size, want int64 }{{0, 1}, {8000, 8000}, {0, 7000}, {7000, 7000}, {6200, 6900}, {9000, 9000}} {
		s.noteAnswer(m.size)
		require.Equal(t, m.want, s.answerSize.Load())
	}
	for range 1000 {
		s.noteAnswer(80)
	}
	require.InDelta(t, 80, s.answerSize.Load(), 8)
}
