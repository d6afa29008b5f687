// SPDX-License-Identifier: Apache-2.0

package parquet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// TestVectorsWithinColumnsBecomeLists too.
func TestVectorsWithinColumnsBecomeLists(t *testing.T) {
	vector, list := column.VectorOf(column.Float32, 2), column.Type{Kind: column.List}
	within := func(types ...column.Type) (f column.Field) {
		f.Type.Kind = column.Struct
		for _, t := range types {
			f.Fields = append(f.Fields, column.Field{Type: t})
		}
		return f
	}
	require.True(t, becameList(column.Field{Type: vector}, column.Field{Type: list}))
	require.False(t, becameList(column.Field{Type: vector}, column.Field{Type: vector}))
	require.False(t, becameList(column.Field{Type: list}, column.Field{Type: list}))
	require.True(t, becameList(within(vector, vector), within(vector, list)))
	require.True(t, becameList(within(vector, vector), within(list, vector)))
	require.False(t, becameList(within(vector, list), within(vector, list)))
}
