// SPDX-License-Identifier: Apache-2.0

package format

import "github.com/vecql/vecql/parquetscan/internal/thrift"

// The page index (parquet.thrift, ColumnIndex and OffsetIndex; PageIndex.md).

// A ColumnIndex has the minimum and maximum of each page of a column chunk.
type ColumnIndex struct {
	NullPages  []bool // the page has no values; its minimum and maximum are empty
	Min, Max   [][]byte
	Order      BoundaryOrder
	NullCounts []int64 // nil means that the file does not state them
}

// A PageLocation is the place of a page, header included.
type PageLocation struct {
	Offset   int64
	Size     int32
	FirstRow int64 // in the row group
}

// Append appends the index as a struct of its own.
func (x *ColumnIndex) Append(w *thrift.Writer) {
	w.Open(0)
	w.List(1, thrift.True, len(x.NullPages))
	for _, null := range x.NullPages {
		w.Flag(null)
	}
	w.List(2, thrift.Binary, len(x.Min))
	for _, v := range x.Min {
		w.Bytes(v)
	}
	w.List(3, thrift.Binary, len(x.Max))
	for _, v := range x.Max {
		w.Bytes(v)
	}
	w.I32(4, int32(x.Order))
	if x.NullCounts != nil {
		w.List(5, thrift.I64, len(x.NullCounts))
		for _, n := range x.NullCounts {
			w.Int(n)
		}
	}
	w.Close()
}

// AppendOffsetIndex appends an OffsetIndex as a struct of its own.
func AppendOffsetIndex(w *thrift.Writer, pages []PageLocation) {
	w.Open(0)
	w.List(1, thrift.Struct, len(pages))
	for _, p := range pages {
		w.Open(0)
		w.I64(1, p.Offset)
		w.I32(2, p.Size)
		w.I64(3, p.FirstRow)
		w.Close()
	}
	w.Close()
}
