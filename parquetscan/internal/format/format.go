// SPDX-License-Identifier: Apache-2.0

// Package format defines the vocabulary of parquet.thrift that reading and writing share.
package format

import "fmt"

// The enumerations of parquet.thrift.

// Magic begins and ends a file.
const Magic = "PAR1"

// A PhysicalType is the type of stored values (Type).
type PhysicalType int32

// The physical types. NoType means a group.
const (
	NoType            PhysicalType = -1
	Boolean           PhysicalType = 0
	Int32             PhysicalType = 1
	Int64             PhysicalType = 2
	Int96             PhysicalType = 3
	Float             PhysicalType = 4
	Double            PhysicalType = 5
	ByteArray         PhysicalType = 6
	FixedLenByteArray PhysicalType = 7
)

func (t PhysicalType) String() string {
	return name("type", int32(t), "BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY",
		"FIXED_LEN_BYTE_ARRAY")
}

// A Repetition states whether a field may be missing or repeated (FieldRepetitionType).
type Repetition int32

// The repetitions. NoRepetition is the root's.
const (
	NoRepetition Repetition = -1
	Required     Repetition = 0
	Optional     Repetition = 1
	Repeated     Repetition = 2
)

func (r Repetition) String() string {
	return name("repetition", int32(r), "REQUIRED", "OPTIONAL", "REPEATED")
}

// A ConvertedType is the deprecated form of a LogicalType.
type ConvertedType int32

// The converted types.
const (
	NoConverted              ConvertedType = -1
	ConvertedUTF8            ConvertedType = 0
	ConvertedMap             ConvertedType = 1
	ConvertedMapKeyValue     ConvertedType = 2
	ConvertedList            ConvertedType = 3
	ConvertedEnum            ConvertedType = 4
	ConvertedDecimal         ConvertedType = 5
	ConvertedDate            ConvertedType = 6
	ConvertedTimeMillis      ConvertedType = 7
	ConvertedTimeMicros      ConvertedType = 8
	ConvertedTimestampMillis ConvertedType = 9
	ConvertedTimestampMicros ConvertedType = 10
	ConvertedUint8           ConvertedType = 11
	ConvertedUint16          ConvertedType = 12
	ConvertedUint32          ConvertedType = 13
	ConvertedUint64          ConvertedType = 14
	ConvertedInt8            ConvertedType = 15
	ConvertedInt16           ConvertedType = 16
	ConvertedInt32           ConvertedType = 17
	ConvertedInt64           ConvertedType = 18
	ConvertedJSON            ConvertedType = 19
	ConvertedBSON            ConvertedType = 20
	ConvertedInterval        ConvertedType = 21
)

func (t ConvertedType) String() string {
	return name("converted type", int32(t), "UTF8", "MAP", "MAP_KEY_VALUE", "LIST", "ENUM", "DECIMAL", "DATE",
		"TIME_MILLIS", "TIME_MICROS", "TIMESTAMP_MILLIS", "TIMESTAMP_MICROS", "UINT_8", "UINT_16", "UINT_32", "UINT_64",
		"INT_8", "INT_16", "INT_32", "INT_64", "JSON", "BSON", "INTERVAL")
}

// An Encoding is an encoding of values or levels.
type Encoding int32

// The encodings. PlainDictionary is the deprecated name of RLEDictionary in data pages, and of Plain in dictionary
// pages.
const (
	Plain           Encoding = 0
	PlainDictionary Encoding = 2
	RLE             Encoding = 3
	BitPacked       Encoding = 4
	DeltaPacked     Encoding = 5
	DeltaLength     Encoding = 6
	DeltaBytes      Encoding = 7
	RLEDictionary   Encoding = 8
	ByteStreamSplit Encoding = 9
)

func (e Encoding) String() string {
	return name("encoding", int32(e), "PLAIN", "", "PLAIN_DICTIONARY", "RLE", "BIT_PACKED", "DELTA_BINARY_PACKED",
		"DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "RLE_DICTIONARY", "BYTE_STREAM_SPLIT")
}

// A Codec is a compression codec (CompressionCodec).
type Codec int32

// The codecs. LZ4 is deprecated: see LZ4Raw.
const (
	Uncompressed Codec = 0
	Snappy       Codec = 1
	Gzip         Codec = 2
	LZO          Codec = 3
	Brotli       Codec = 4
	LZ4          Codec = 5
	Zstd         Codec = 6
	LZ4Raw       Codec = 7
)

func (c Codec) String() string {
	return name("codec", int32(c), "UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW")
}

// A PageType is the type of a page.
type PageType int32

// The page types.
const (
	DataPage       PageType = 0
	IndexPage      PageType = 1
	DictionaryPage PageType = 2
	DataPageV2     PageType = 3
)

func (t PageType) String() string {
	return name("page type", int32(t), "DATA_PAGE", "INDEX_PAGE", "DICTIONARY_PAGE", "DATA_PAGE_V2")
}

// A BoundaryOrder is the order of the minima and maxima of pages.
type BoundaryOrder int32

// The orders of pages.
const (
	Unordered  BoundaryOrder = 0
	Ascending  BoundaryOrder = 1
	Descending BoundaryOrder = 2
)

func (o BoundaryOrder) String() string {
	return name("boundary order", int32(o), "UNORDERED", "ASCENDING", "DESCENDING")
}

// name returns the name of a value, which the format may not define.
func name(of string, v int32, names ...string) string {
	if v >= 0 && int(v) < len(names) && names[v] != "" {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", of, v)
}

// BloomWords is the number of 32-bit words of a block of a Bloom filter (BloomFilter.md). A value sets a bit in each
// word.
const BloomWords = 8

// BloomSalts select the bit of a value in each word of a block.
var BloomSalts = [BloomWords]uint32{
	0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
}
