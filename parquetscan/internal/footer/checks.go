// SPDX-License-Identifier: Apache-2.0

package footer

import (
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Checks of a footer (parquet.thrift, FileMetaData) before arrow-go parses it. arrow-go's Thrift parser trusts the
// lengths of lists and the types of their elements. Its schema builder recurses for each level, and allocates as many
// fields as a group claims. These checks reject footers that would exhaust memory or the stack.

// The lists in a FileMetaData, and the structs that contain them.
var (
	plainStructs = thrift.Shape{Element: thrift.Struct}
	schemaList   = thrift.Shape{Element: thrift.Struct, Tree: true}
	texts        = thrift.Shape{Element: thrift.Binary}
	i32s         = thrift.Shape{Element: thrift.I32}
	i64s         = thrift.Shape{Element: thrift.I64}

	columnMetaData = thrift.Shape{Fields: []*thrift.Shape{
		2: &i32s, 3: &texts, 8: &plainStructs, 13: &plainStructs,
		16: {Fields: []*thrift.Shape{2: &i64s, 3: &i64s}}, // SizeStatistics
		17: {Fields: []*thrift.Shape{2: &i32s}},           // GeospatialStatistics
	}}
	columnCrypto = thrift.Shape{Fields: []*thrift.Shape{2: {Fields: []*thrift.Shape{1: &texts}}}}
	columnChunks = thrift.Shape{Element: thrift.Struct, Fields: []*thrift.Shape{3: &columnMetaData, 8: &columnCrypto}}
	rowGroups    = thrift.Shape{Element: thrift.Struct, Fields: []*thrift.Shape{1: &columnChunks, 4: &plainStructs}}
	fileMetaData = thrift.Shape{Fields: []*thrift.Shape{2: &schemaList, 4: &rowGroups, 5: &plainStructs, 7: &plainStructs}}
)

// Check returns an error unless b begins with a FileMetaData that can be parsed in memory proportional to its
// length.
func Check(b []byte) error {
	r := thrift.Reader{B: b}
	r.SkipAs(thrift.Struct, 0, &fileMetaData)
	if r.Failed() {
		return failure.Corrupt("footer is not a valid FileMetaData (at byte %d of %d)", r.Pos, len(b))
	}
	return nil
}
