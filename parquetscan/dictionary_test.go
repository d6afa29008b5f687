// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// The two forms of strings: codes and a dictionary, or text.

func TestDictionaries(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "few", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "many", Type: arrow.BinaryTypes.String}, // its dictionary exceeds the limit: codes first, then text
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	var few, many []string
	for i := range 6000 {
		if rng.IntN(5) == 0 {
			b.Field(0).AppendNull()
			few = append(few, "NULL")
		} else {
			few = append(few, fmt.Sprint("label ", rng.IntN(9)))
			b.Field(0).(*array.StringBuilder).Append(few[i])
		}
		distinct := 6000
		if i%3000 < 1500 {
			distinct = 50
		}
		many = append(many, fmt.Sprint("number ", rng.IntN(distinct)))
		b.Field(1).(*array.StringBuilder).Append(many[i])
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	table := array.NewTableFromRecords(schema, []arrow.RecordBatch{rec})
	defer table.Release()
	for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
		var buf bytes.Buffer
		props := parquet.NewWriterProperties(parquet.WithDataPageVersion(version), parquet.WithDictionaryPageSizeLimit(8<<10),
			parquet.WithDataPageSize(2<<10), parquet.WithBatchSize(100))
		require.NoError(t, pqarrow.WriteTable(table, &buf, 3000, props, pqarrow.DefaultWriterProps()))
		d := openBytes(t, buf.Bytes())
		s, err := d.Scan(Options{Workers: 1, BatchRows: 700})
		require.NoError(t, err)
		row := 0
		dictionaries := map[*column.Dictionary]bool{}
		forms := map[bool]int{} // of the second column
		for batch, err := range s.All(t.Context()) {
			require.NoError(t, err)
			codes, dict := batch.Columns[0].Codes()
			require.NotNil(t, dict, "row %d", row)
			require.Len(t, codes, batch.Rows)
			dictionaries[dict] = true
			_, other := batch.Columns[1].Codes()
			forms[other != nil]++
			text := stringsOf(&batch.Columns[1])
			for i := range batch.Rows {
				if few[row] == "NULL" {
					require.True(t, batch.Columns[0].Null(i))
				} else {
					require.Equal(t, few[row], string(dict.Bytes(codes[i])))
					require.Equal(t, few[row], string(bytesAt(&batch.Columns[0], i)))
				}
				require.Equal(t, many[row], text[i])
				row++
			}
		}
		require.Equal(t, 6000, row)
		require.Len(t, dictionaries, 2, "one dictionary per row group")
		require.GreaterOrEqual(t, forms[true], 2)
		require.GreaterOrEqual(t, forms[false], 2)

		s, err = d.Scan(Options{Text: true})
		require.NoError(t, err)
		for batch, err := range s.All(t.Context()) {
			require.NoError(t, err)
			for i := range batch.Columns {
				_, dict := batch.Columns[i].Codes()
				require.Nil(t, dict)
			}
		}
	}
}
