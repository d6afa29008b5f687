// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/vecql/vecql/column"
)

// Counters of the transforms, in the namespace "beamvecql".

const namespace = "beamvecql"

var (
	rowsRead     = beam.NewCounter(namespace, "rows_read")
	bytesRead    = beam.NewCounter(namespace, "bytes_read") // of batches in memory
	rangesRead   = beam.NewCounter(namespace, "ranges_read")
	bucketsRead  = beam.NewCounter(namespace, "buckets_read")
	rowsWritten  = beam.NewCounter(namespace, "rows_written")
	bytesWritten = beam.NewCounter(namespace, "bytes_written") // of encoded rows
	rowsRejected = beam.NewCounter(namespace, "rows_rejected")
)

// sizeOf returns the bytes of columns, without dictionaries, which batches share.
func sizeOf(columns []column.Column) int64 {
	size := int64(0)
	for i := range columns {
		c := &columns[i]
		size += int64(len(c.Values) + 4*len(c.Offsets) + len(c.Validity))
		size += sizeOf(c.Children)
	}
	return size
}
