// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Columns that grow row by row: their buffers, and what a rejected row leaves in them.

// TestFixedColumnsHaveNoOffsets has the buffers that package column lists for each kind.
func TestFixedColumnsHaveNoOffsets(t *testing.T) {
	for _, c := range []struct {
		field   column.Field
		text    string
		offsets int
	}{
		{fieldOf("c", kindOf(column.Int32)), `{"c":1}`, 0},
		{fieldOf("c", column.VectorOf(column.Float32, 2)), `{"c":[1,2]}`, 0},
		{fieldOf("c", kindOf(column.Struct), fieldOf("x", kindOf(column.Int8))), `{"c":{}}`, 0},
		{fieldOf("c", kindOf(column.String)), `{"c":"a"}`, 2},
		{fieldOf("c", kindOf(column.List), fieldOf("element", kindOf(column.Int8))), `{"c":[]}`, 2},
	} {
		in, err := Open(Options{Format: JSON, Fields: column.Schema{c.field}, Stdin: strings.NewReader(c.text)}, Stdin)
		require.NoError(t, err)
		for b, err := range in.Batches(t.Context()) {
			require.NoError(t, err)
			require.Len(t, b.Columns[0].Offsets, c.offsets, c.text)
		}
	}
}

// TestNullsAreZeros has NULL before, between and after values.
func TestNullsAreZeros(t *testing.T) {
	fields := column.Schema{fieldOf("n", kindOf(column.Int32)), fieldOf("v", column.VectorOf(column.Int32, 0))}
	b := rowsOfText(t, Options{Format: JSON, Fields: fields}, `{"n":null,"v":null}`+"\n"+`{"n":null,"v":null}`+"\n"+`{"n":7,"v":[8,9]}`+"\n"+`{"n":null,"v":null}`)
	numbers, err := column.Slice[int32](&b.Columns[0])
	require.NoError(t, err)
	require.Equal(t, []int32{0, 0, 7, 0}, numbers)
	vectors, err := column.MatrixOf[int32](&b.Columns[1])
	require.NoError(t, err)
	require.Equal(t, "[0 0] [0 0] [8 9] [0 0]", fmt.Sprint(vectors.Row(0), " ", vectors.Row(1), " ", vectors.Row(2), " ", vectors.Row(3)))
}

// TestRejectedRowsLeaveEveryKindAsItWas rejects a row whose columns of all kinds have been appended already. Each
// position in a byte of validity belongs to the row once.
func TestRejectedRowsLeaveEveryKindAsItWas(t *testing.T) {
	fields := column.Schema{
		fieldOf("i", kindOf(column.Int32)), fieldOf("s", kindOf(column.String)), fieldOf("v", column.VectorOf(column.Int32, 2)),
		fieldOf("l", kindOf(column.List), fieldOf("element", kindOf(column.String))),
		fieldOf("m", kindOf(column.Map), fieldOf("key", kindOf(column.String)), fieldOf("value", kindOf(column.Int32))),
		fieldOf("t", kindOf(column.Tuple), fieldOf("0", kindOf(column.Int32)), fieldOf("1", kindOf(column.String))),
		fieldOf("last", kindOf(column.Int32)),
	}
	const good, null = `{"i":%d,"s":"a%[1]d","v":[%[1]d,2],"l":["b%[1]d",null],"m":{"k%[1]d":%[1]d},"t":[%[1]d,"c%[1]d"],"last":`, `{"i":null,"s":null,"v":null,"l":null,"m":null,"t":null,"last":`
	for rejectedRow := range 10 {
		for _, rejected := range []string{fmt.Sprintf(good, 99), null} {
			var text, want []string
			for i := range 10 {
				row := fmt.Sprintf(good, i)
				if i%4 == 1 {
					row = null
				}
				if i == rejectedRow {
					text = append(text, rejected+`"x"}`)
					continue
				}
				text = append(text, row+"1}")
				want = append(want, row+"1}")
			}
			o := Options{Format: JSON, Fields: fields, Rejected: func(*RecordError) error { return nil }}
			got := rowsOfText(t, o, strings.Join(text, "\n"))
			require.Empty(t, column.Diff(got, rowsOfText(t, o, strings.Join(want, "\n"))), "%d", rejectedRow)
		}
	}
}

// TestFaultWithinATextLeavesOtherRowsAsTheyWere reads nested values from a column of text in a Parquet and an Arrow
// file. The fault of a row is behind parts of it that have been appended.
func TestFaultWithinATextLeavesOtherRowsAsTheyWere(t *testing.T) {
	word, number := fieldOf("word", kindOf(column.String)), fieldOf("number", kindOf(column.Int32))
	for _, c := range []struct {
		field           column.Field
		good, bad, want string
	}{
		{fieldOf("c", kindOf(column.List), word), `["a","bc"]`, `["def",[1]]`, "[a bc]"},
		{fieldOf("c", kindOf(column.List), fieldOf("l", kindOf(column.List), word)), `[["a"],["bc"]]`, `[["def"],["g",[1]]]`, "[[a] [bc]]"},
		{fieldOf("c", kindOf(column.Map), word, number), `{"a":1,"bc":2}`, `{"def":3,"g":"x"}`, "map[a:1 bc:2]"},
		{fieldOf("c", kindOf(column.Tuple), word, number), `["a",1]`, `["def","x"]`, "[a 1]"},
		{fieldOf("c", kindOf(column.Struct), word, number), `{"word":"a","number":1}`, `{"word":"def","number":"x"}`, "map[number:1 word:a]"},
		{fieldOf("c", column.VectorOf(column.Int32, 2)), `[1,2]`, `[3,"x"]`, "[1 2]"},
	} {
		b := column.NewBatch(column.Strings("c", []string{c.good, c.bad, c.good, c.bad, c.bad, c.good}))
		for _, format := range []Format{Parquet, Arrow} {
			faults := 0
			o := Options{Format: format, Fields: column.Schema{c.field}, Rejected: func(*RecordError) error { faults++; return nil }}
			got := rowsOfText(t, o, textOfBatch(t, b, WriterOptions{Format: format}))
			require.Equal(t, 3, got.Rows, c.bad)
			for i := range 3 {
				require.Equal(t, c.want, fmt.Sprint(got.Columns[0].Value(i)))
			}
			require.Equal(t, 3, faults, c.bad)
		}
	}
}
