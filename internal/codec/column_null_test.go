// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/internal/wire"
)

// TestNullsAreBoundedByThePage decodes small pages whose NULLs would take much memory of columns: it is limited, and
// the error names the page size.
func TestNullsAreBoundedByThePage(t *testing.T) {
	soak.NoRace(t)
	wide := func(element string, n int) string {
		return "tuple<" + strings.TrimSuffix(strings.Repeat(element+", ", n), ", ") + ">"
	}
	empty := wire.AppendInt(nil, 0)
	null := wire.AppendInt(nil, wire.Null)
	listOf := func(cell []byte, n int) []byte {
		content := wire.AppendInt(nil, int32(n))
		for range n {
			content = append(content, cell...)
		}
		return append(wire.AppendInt(nil, int32(len(content))), content...)
	}
	for _, c := range []struct {
		typ  string
		cell []byte
		rows int
	}{
		{wide("vector<float, 1500>", 10), null, 11_000},
		{wide("double", 6500), null, 11_000},
		{wide("double", 6500), empty, 11_000}, // all fields are missing
		{wide("text", 10_000), null, 11_000},
		{wide("duration", 5000), empty, 11_000},
		{wide(wide("int", 100), 100), null, 11_000},
		{"list<frozen<" + wide("double", 6500) + ">>", listOf(empty, 11_000), 1},
		{"map<int, frozen<" + wide("uuid", 3000) + ">>", mapOf(empty, 11_000), 1},
		{"vector<frozen<" + wide("double", 6500) + ">, 11000>", append(wire.AppendInt(nil, 11_000), make([]byte, 11_000)...), 1},
	} {
		info := columnType(t, c.typ)
		plan := NewColumnPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: info}})
		var page []byte
		for range c.rows {
			page = append(page, c.cell...)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := plan.Decode(page, c.rows, new(column.Batch))
		runtime.ReadMemStats(&after)
		what := fmt.Sprintf("%.40s, %d bytes", c.typ, len(page))
		require.ErrorIs(t, err, cql.ErrRange, what)
		require.ErrorContains(t, err, "reduce the page size", what)
		require.Less(t, int(after.TotalAlloc-before.TotalAlloc), 4*maxNulls, what) // columns grow by doubling
	}
	// what fits is read as before
	info := columnType(t, wide("int", 100))
	b := new(column.Batch)
	require.NoError(t, NewColumnPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: info}}).Decode([]byte(strings.Repeat(string(null), 5000)), 5000, b))
	require.Equal(t, 5000, b.Columns[0].Nulls)
}

// mapOf returns a cell with n entries of the value cell.
func mapOf(value []byte, n int) []byte {
	content := wire.AppendInt(nil, int32(n))
	for i := range n {
		content = append(wire.AppendInt(wire.AppendInt(content, 4), int32(i)), value...)
	}
	return append(wire.AppendInt(nil, int32(len(content))), content...)
}
