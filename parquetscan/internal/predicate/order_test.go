// SPDX-License-Identifier: Apache-2.0

package predicate

import (
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// TestStoredOrder compares the orders of statistics with arrow-go's, for all logical and converted types.
func TestStoredOrder(t *testing.T) {
	elements := []format.SchemaElement{}
	for kind := format.NoLogical; kind <= format.LogicalGeography; kind++ {
		for _, signed := range []bool{false, true} {
			logical := format.LogicalType{Kind: kind, Precision: 5, Unit: format.Micros, Bits: 32, Signed: signed}
			elements = append(elements, format.SchemaElement{Logical: logical, Converted: format.NoConverted})
		}
	}
	for converted := format.ConvertedUTF8; converted < 25; converted++ {
		elements = append(elements, format.SchemaElement{Converted: converted, Precision: 5})
	}
	orders := map[int]schema.SortOrder{orderSigned: schema.SortSIGNED, orderUnsigned: schema.SortUNSIGNED, orderUnknown: schema.SortUNKNOWN}
	compared := map[schema.SortOrder]int{}
	for physical := format.Boolean; physical <= format.FixedLenByteArray; physical++ {
		for _, e := range elements {
			for _, e.Length = range []int32{2, 12, 16} {
				e.Type, e.Name = physical, "c"
				meaning, ok := e.Meaning()
				if !ok || e.Logical.Kind == format.LogicalInteger-1 {
					continue
				}
				want := arrowColumn(t, e)
				require.EqualValues(t, physical, want.PhysicalType())
				got := orders[storedOrder(&footer.Leaf{Physical: physical, Logical: meaning})]
				require.Equal(t, want.SortOrder(), got, "%+v", e)
				compared[got]++
			}
		}
	}
	for _, n := range compared {
		require.Greater(t, n, 10)
	}
}

// arrowColumn returns a column as arrow-go reads it.
func arrowColumn(t *testing.T, e format.SchemaElement) *schema.Column {
	t.Helper()
	var w thrift.Writer
	w.Open(0)
	w.I32(1, 2)
	w.List(2, thrift.Struct, 2)
	root := format.SchemaElement{Type: format.NoType, Name: "schema", NumChildren: 1, Converted: format.NoConverted}
	root.Append(&w)
	e.Append(&w)
	w.I64(3, 0)
	w.List(4, thrift.Struct, 0)
	w.Close()
	meta, err := metadata.NewFileMetaData(w.B, nil)
	require.NoError(t, err)
	require.Equal(t, parquet.Repetitions.Required, meta.Schema.Root().Field(0).RepetitionType())
	return meta.Schema.Column(0)
}
