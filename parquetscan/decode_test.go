// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/stretchr/testify/require"
)

// The encodings of values.

// TestEncodings compares rarely used encodings with the reference.
func TestEncodings(t *testing.T) {
	for i, c := range []struct {
		dt       arrow.DataType
		encoding parquet.Encoding
	}{
		{arrow.PrimitiveTypes.Int32, parquet.Encodings.DeltaBinaryPacked},
		{arrow.PrimitiveTypes.Int64, parquet.Encodings.DeltaBinaryPacked},
		{arrow.PrimitiveTypes.Int8, parquet.Encodings.DeltaBinaryPacked},
		{arrow.BinaryTypes.String, parquet.Encodings.DeltaLengthByteArray},
		{arrow.BinaryTypes.String, parquet.Encodings.DeltaByteArray},
		{arrow.PrimitiveTypes.Float32, parquet.Encodings.ByteStreamSplit},
		{arrow.PrimitiveTypes.Float64, parquet.Encodings.ByteStreamSplit},
		{arrow.PrimitiveTypes.Int32, parquet.Encodings.ByteStreamSplit},
		{arrow.PrimitiveTypes.Int64, parquet.Encodings.ByteStreamSplit},
		{&arrow.FixedSizeBinaryType{ByteWidth: 5}, parquet.Encodings.ByteStreamSplit},
		{arrow.FixedWidthTypes.Boolean, parquet.Encodings.RLE},
		{arrow.ListOf(arrow.BinaryTypes.String), parquet.Encodings.DeltaByteArray},
		{arrow.ListOf(arrow.PrimitiveTypes.Float32), parquet.Encodings.ByteStreamSplit},
	} {
		for _, nullable := range []bool{false, true} {
			for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
				t.Run(fmt.Sprintf("%v/%v/%v/%d", c.dt, c.encoding, nullable, version), func(t *testing.T) {
					fields := []arrow.Field{{Name: "a", Type: c.dt, Nullable: nullable}}
					b := writeArrow(t, rand.New(rand.NewPCG(12, uint64(i))), fields, 700, 0.2, 500*(i%2), 400, parquet.WithDictionaryDefault(false),
						parquet.WithEncoding(c.encoding), parquet.WithDataPageVersion(version), parquet.WithDataPageSize(400), parquet.WithBatchSize(130))
					d := openBytes(t, b)
					chunk, err := d.files[0].arrow(t, nil).MetaData().RowGroup(0).ColumnChunk(0)
					require.NoError(t, err)
					require.Contains(t, chunk.Encodings(), c.encoding)
					requireEqual(t, d, Options{BatchRows: 50})
					requireEqual(t, d, Options{})
				})
			}
		}
	}
}
