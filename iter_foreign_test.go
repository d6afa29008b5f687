// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/frame"
)

// Rows that another API decodes.

// shouting is an API in which a text ends in a mark, and a number is refused.
type shouting struct {
	codec.ForeignDialect
	mark string
}

var errRefused = errors.New("refused")

func (a shouting) ScanPlan(info cql.TypeInfo, dest any) codec.ScanPlan {
	return codec.ScanPlan{Typ: codec.TypeWord(dest), Decode: func(_ cql.TypeInfo, cell []byte, dest any) error {
		text, ok := dest.(*string)
		if !ok {
			return errRefused
		}
		*text = string(cell) + a.mark
		return nil
	}}
}

// TestForeignRows reads rows of one statement as another API, and as the driver, by turns.
func TestForeignRows(t *testing.T) {
	api, other := &codec.Foreign{Dialect: shouting{mark: "!"}}, &codec.Foreign{Dialect: shouting{mark: "?"}}
	cols, cells := pageOf(t, 6, []cql.TypeInfo{cql.NativeType(cql.TypeVarchar), cql.NativeType(cql.TypeInt)}, []any{"a", 7})
	plan := newResultPlan(nil, frame.KnownColumns{Columns: cols})
	read := func(api *codec.Foreign) (rows []string) {
		it := iterOver(plan, 6, cells)
		if api != nil {
			require.False(t, it.Scan(api))
		}
		var text string
		for it.Scan(&text, nil) {
			rows = append(rows, text)
		}
		require.NoError(t, it.Close())
		return rows
	}
	own := []string{"a", "a", "a", "a", "a", "a"}
	for range 2 {
		require.Equal(t, own, read(nil))
		require.Equal(t, []string{"a!", "a!", "a!", "a!", "a!", "a!"}, read(api), "no row is lost")
		require.Equal(t, []string{"a?", "a?", "a?", "a?", "a?", "a?"}, read(other))
	}

	it := iterOver(plan, 6, cells)
	it.Scan(api)
	var text string
	var n int
	require.False(t, it.Scan(&text, &n))
	require.ErrorIs(t, it.Close(), errRefused)
	require.ErrorContains(t, it.Close(), fmt.Sprintf("column %q", cols[1].Name))
	require.False(t, new(Iter).Scan(api), "a result without columns")

	one, cells := pageOf(t, 2, []cql.TypeInfo{cql.NativeType(cql.TypeVarchar)}, []any{"a"})
	plan = newResultPlan(nil, frame.KnownColumns{Columns: one})
	it = iterOver(plan, 2, cells)
	require.True(t, it.Scan(&text), "the driver has a decoder")
	require.NoError(t, it.Close())
	it = iterOver(plan, 2, cells)
	it.Scan(api)
	require.True(t, it.Scan(&text))
	it.answer.res.Rows.Cells = cells
	it.start(nil, nil) // the next page
	require.True(t, it.Scan(&text))
	require.Equal(t, "a!", text)
	require.NoError(t, it.Close())
}
