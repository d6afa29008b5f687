// SPDX-License-Identifier: Apache-2.0

package format

import "github.com/vecql/vecql/parquetscan/internal/thrift"

// Schema elements and logical types (parquet.thrift, SchemaElement and LogicalType; LogicalTypes.md).

// A SchemaElement is a node of the tree of a schema. A footer lists the nodes in depth-first order.
type SchemaElement struct {
	Type             PhysicalType // NoType means a group
	Length           int32        // of FixedLenByteArray, in bytes
	Repetition       Repetition
	Name             string
	NumChildren      int32
	Converted        ConvertedType
	Scale, Precision int32 // of ConvertedDecimal
	Logical          LogicalType
}

// A LogicalKind is the number of a member of the union LogicalType.
type LogicalKind int16

// The logical types. NoLogical means none.
const (
	NoLogical        LogicalKind = 0
	LogicalString    LogicalKind = 1
	LogicalMap       LogicalKind = 2
	LogicalList      LogicalKind = 3
	LogicalEnum      LogicalKind = 4
	LogicalDecimal   LogicalKind = 5
	LogicalDate      LogicalKind = 6
	LogicalTime      LogicalKind = 7
	LogicalTimestamp LogicalKind = 8
	LogicalInteger   LogicalKind = 10
	LogicalUnknown   LogicalKind = 11
	LogicalJSON      LogicalKind = 12
	LogicalBSON      LogicalKind = 13
	LogicalUUID      LogicalKind = 14
	LogicalFloat16   LogicalKind = 15
	LogicalVariant   LogicalKind = 16
	LogicalGeometry  LogicalKind = 17
	LogicalGeography LogicalKind = 18
)

func (k LogicalKind) String() string {
	return name("logical type", int32(k), "", "STRING", "MAP", "LIST", "ENUM", "DECIMAL", "DATE", "TIME", "TIMESTAMP", "",
		"INTEGER", "UNKNOWN", "JSON", "BSON", "UUID", "FLOAT16", "VARIANT", "GEOMETRY", "GEOGRAPHY")
}

// A TimeUnit is the number of a member of the union TimeUnit.
type TimeUnit int16

// The units of times.
const (
	Millis TimeUnit = 1
	Micros TimeUnit = 2
	Nanos  TimeUnit = 3
)

func (u TimeUnit) String() string { return name("unit", int32(u), "", "MILLIS", "MICROS", "NANOS") }

// A LogicalType is the meaning of a field.
type LogicalType struct {
	Kind             LogicalKind
	Scale, Precision int32    // of LogicalDecimal
	Unit             TimeUnit // of LogicalTime and LogicalTimestamp
	UTC              bool     // of LogicalTime and LogicalTimestamp: isAdjustedToUTC
	Bits             int8     // of LogicalInteger
	Signed           bool     // of LogicalInteger
}

// AsConverted returns the converted type that older readers take for a logical type, NoConverted if there is none.
func (t LogicalType) AsConverted() ConvertedType {
	switch t.Kind {
	case LogicalString:
		return ConvertedUTF8
	case LogicalMap:
		return ConvertedMap
	case LogicalList:
		return ConvertedList
	case LogicalDecimal:
		return ConvertedDecimal
	case LogicalDate:
		return ConvertedDate
	case LogicalTime, LogicalTimestamp:
		if !t.UTC || t.Unit == Nanos {
			return NoConverted
		}
		first := ConvertedTimeMillis
		if t.Kind == LogicalTimestamp {
			first = ConvertedTimestampMillis
		}
		return first + ConvertedType(t.Unit-Millis)
	case LogicalInteger:
		first := ConvertedUint8
		if t.Signed {
			first = ConvertedInt8
		}
		return first + map[int8]ConvertedType{16: 1, 32: 2, 64: 3}[t.Bits]
	}
	return NoConverted
}

// Append appends the element, as a struct in a list.
func (e *SchemaElement) Append(w *thrift.Writer) {
	w.Open(0)
	if e.Type != NoType {
		w.I32(1, int32(e.Type))
	}
	if e.Type == FixedLenByteArray {
		w.I32(2, e.Length)
	}
	if e.Repetition != NoRepetition {
		w.I32(3, int32(e.Repetition))
	}
	w.Binary(4, []byte(e.Name))
	if e.Type == NoType {
		w.I32(5, e.NumChildren)
	}
	if e.Converted != NoConverted {
		w.I32(6, int32(e.Converted))
	}
	if e.Converted == ConvertedDecimal {
		w.I32(7, e.Scale)
		w.I32(8, e.Precision)
	}
	if e.Logical.Kind != NoLogical {
		w.Open(10)
		e.Logical.append(w)
		w.Close()
	}
	w.Close()
}

// append appends the member of the union.
func (t LogicalType) append(w *thrift.Writer) {
	w.Open(int16(t.Kind))
	switch t.Kind {
	case LogicalDecimal:
		w.I32(1, t.Scale)
		w.I32(2, t.Precision)
	case LogicalTime, LogicalTimestamp:
		w.Bool(1, t.UTC)
		w.Open(2)
		w.Open(int16(t.Unit))
		w.Close()
		w.Close()
	case LogicalInteger:
		w.Byte(1, byte(t.Bits))
		w.Bool(2, t.Signed)
	}
	w.Close()
}
