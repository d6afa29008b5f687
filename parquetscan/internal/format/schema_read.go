// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"

	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Reading of schema elements.

// ReadSchemaElement reads an element. Without a required field r is bad.
func ReadSchemaElement(r *thrift.Reader) SchemaElement {
	e := SchemaElement{Type: NoType, Repetition: NoRepetition, Converted: NoConverted}
	named := false
	for id, typ := range r.Fields() {
		switch {
		case id == 1 && typ == thrift.I32:
			e.Type = PhysicalType(r.I32())
		case id == 2 && typ == thrift.I32:
			e.Length = r.I32()
		case id == 3 && typ == thrift.I32:
			e.Repetition = Repetition(r.I32())
		case id == 4 && typ == thrift.Binary:
			e.Name, named = string(r.Binary()), true
		case id == 5 && typ == thrift.I32:
			e.NumChildren = r.I32()
		case id == 6 && typ == thrift.I32:
			e.Converted = ConvertedType(r.I32())
		case id == 7 && typ == thrift.I32:
			e.Scale = r.I32()
		case id == 8 && typ == thrift.I32:
			e.Precision = r.I32()
		case id == 10 && typ == thrift.Struct:
			e.Logical = readLogicalType(r)
		default:
			r.Skip(typ, 2)
		}
	}
	r.Bad = r.Bad || !named
	return e
}

// readLogicalType reads a union. A member that this package does not know is no logical type: readers fall back to the
// physical type (LogicalTypes.md). A member that is not a struct makes r bad.
func readLogicalType(r *thrift.Reader) (t LogicalType) {
	members, unknown := 0, false
	for id, typ := range r.Fields() {
		kind := LogicalKind(id)
		known := kind >= LogicalString && kind <= LogicalGeography && kind != LogicalInteger-1
		unknown = unknown || members == 0 && !known
		if members++; !known || typ != thrift.Struct {
			r.Skip(typ, 3)
			continue
		}
		t = LogicalType{Kind: kind}
		t.read(r)
	}
	if unknown {
		return LogicalType{}
	}
	r.Bad = r.Bad || members > 0 && t.Kind == NoLogical
	return t
}

// read reads a member of the union.
func (t *LogicalType) read(r *thrift.Reader) {
	seen := 0
	for id, typ := range r.Fields() {
		if id != 1 && id != 2 || !t.readField(r, id, typ) {
			r.Skip(typ, 4)
			continue
		}
		seen |= int(id)
	}
	switch t.Kind {
	case LogicalDecimal, LogicalTime, LogicalTimestamp, LogicalInteger:
		r.Bad = r.Bad || seen != 1|2
	}
}

// readField reads field 1 or 2 of a member of the union. It returns false if the member has no such field.
func (t *LogicalType) readField(r *thrift.Reader, id int16, typ byte) bool {
	flag, isTime := typ == thrift.True || typ == thrift.False, t.Kind == LogicalTime || t.Kind == LogicalTimestamp
	switch {
	case t.Kind == LogicalDecimal && id == 1 && typ == thrift.I32:
		t.Scale = r.I32()
	case t.Kind == LogicalDecimal && id == 2 && typ == thrift.I32:
		t.Precision = r.I32()
	case t.Kind == LogicalInteger && id == 1 && typ == thrift.Byte:
		t.Bits = int8(r.Byte())
	case t.Kind == LogicalInteger && id == 2 && flag:
		t.Signed = typ == thrift.True
	case isTime && id == 1 && flag:
		t.UTC = typ == thrift.True
	case isTime && id == 2 && typ == thrift.Struct:
		t.Unit = readUnit(r)
	default:
		return false
	}
	return true
}

// readUnit reads a union.
func readUnit(r *thrift.Reader) (u TimeUnit) {
	for id, typ := range r.Fields() {
		if id >= int16(Millis) && id <= int16(Nanos) && typ == thrift.Struct {
			u = TimeUnit(id)
		}
		r.Skip(typ, 5)
	}
	r.Bad = r.Bad || u == 0
	return u
}

// Meaning returns the logical type of a column, which old writers state as a converted type only. It returns false if
// the type cannot annotate the physical one.
func (e *SchemaElement) Meaning() (t LogicalType, ok bool) {
	if e.Logical.Kind != NoLogical {
		return e.Logical, e.Logical.annotates(e.Type, e.Length) && (e.Logical.Kind != LogicalDecimal || e.hasDigits())
	}
	switch c := e.Converted; {
	case c == NoConverted:
		return t, true
	case c == ConvertedDecimal:
		t = LogicalType{Kind: LogicalDecimal, Scale: e.Scale, Precision: e.Precision}
		return t, t.annotates(e.Type, e.Length) && t.Precision > 0 && t.Scale >= 0 && t.Scale <= t.Precision
	case c == ConvertedInterval:
		return LogicalType{Kind: LogicalUnknown}, e.Type == FixedLenByteArray && e.Length == 12
	case c == convertedNull:
		return LogicalType{Kind: LogicalUnknown}, true
	default:
		t = c.asLogical()
		return t, t.Kind != NoLogical && t.annotates(e.Type, e.Length)
	}
}

// convertedNull is the converted type of some writers for a column of NULLs. The format does not define it.
const convertedNull ConvertedType = 24

// asLogical returns the logical type of a converted type without parameters, NoLogical if there is none.
func (t ConvertedType) asLogical() LogicalType {
	switch {
	case t == ConvertedUTF8:
		return LogicalType{Kind: LogicalString}
	case t == ConvertedEnum:
		return LogicalType{Kind: LogicalEnum}
	case t == ConvertedDate:
		return LogicalType{Kind: LogicalDate}
	case t == ConvertedTimeMillis || t == ConvertedTimeMicros:
		return LogicalType{Kind: LogicalTime, UTC: true, Unit: Millis + TimeUnit(t-ConvertedTimeMillis)}
	case t == ConvertedTimestampMillis || t == ConvertedTimestampMicros:
		return LogicalType{Kind: LogicalTimestamp, UTC: true, Unit: Millis + TimeUnit(t-ConvertedTimestampMillis)}
	case t >= ConvertedUint8 && t <= ConvertedUint64:
		return LogicalType{Kind: LogicalInteger, Bits: int8(8 << (t - ConvertedUint8))}
	case t >= ConvertedInt8 && t <= ConvertedInt64:
		return LogicalType{Kind: LogicalInteger, Bits: int8(8 << (t - ConvertedInt8)), Signed: true}
	case t == ConvertedJSON:
		return LogicalType{Kind: LogicalJSON}
	case t == ConvertedBSON:
		return LogicalType{Kind: LogicalBSON}
	}
	return LogicalType{}
}

// annotates reports whether a column of a physical type may have the logical type.
func (t LogicalType) annotates(physical PhysicalType, length int32) bool {
	switch t.Kind {
	case LogicalString, LogicalEnum, LogicalJSON, LogicalBSON, LogicalGeometry, LogicalGeography:
		return physical == ByteArray
	case LogicalDecimal:
		return physical == Int32 || physical == Int64 || physical == ByteArray || physical == FixedLenByteArray
	case LogicalDate:
		return physical == Int32
	case LogicalTime:
		return physical == Int32 && t.Unit == Millis || physical == Int64 && t.Unit != Millis
	case LogicalTimestamp:
		return physical == Int64
	case LogicalInteger:
		return physical == Int32 && t.Bits <= 32 || physical == Int64 && t.Bits == 64
	case LogicalUUID:
		return physical == FixedLenByteArray && length == 16
	case LogicalFloat16:
		return physical == FixedLenByteArray && length == 2
	}
	return t.Kind == NoLogical || t.Kind == LogicalUnknown
}

// hasDigits reports whether a column can have the digits of its decimals.
func (e *SchemaElement) hasDigits() bool {
	p := e.Logical.Precision
	switch e.Type {
	case Int32:
		return p >= 1 && p <= 9
	case Int64:
		return p >= 1 && p <= 18
	case FixedLenByteArray:
		return float64(p) <= math.Floor((8*float64(e.Length)-1)*math.Log10(2))
	}
	return true
}
