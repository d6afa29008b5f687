// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Plans: functions for all values of one Go type in one column. A plan takes the address of the value, so pointers,
// struct fields and slice elements need no interface, no allocation and no code of their own. A pair of types without a
// plan takes the reference (reference.go). Every plan must produce the same bytes as the reference.

// An EncodeAt appends the value at p as a whole cell. p points to a value of the plan's Go type and is not retained.
// After an error the bytes after dst are unspecified.
type EncodeAt func(dst []byte, p unsafe.Pointer) ([]byte, error)

// A DecodeAt decodes a cell that is not NULL into the value at p, of the plan's Go type. Small values take memory of s.
// The stored value shares no memory with cell or with the old value at p. After an error the value at p is unchanged,
// unless it is an array, a struct of fields or a Null of one: those are decoded in place, so elements before the faulty
// one may be new.
type DecodeAt func(cell []byte, p unsafe.Pointer, s *Shared) error

// planEncoder returns the plan for values of type t in a column of type info as an Encoder. nil means none.
func planEncoder(info cql.TypeInfo, t reflect.Type) Encoder {
	if t == nil {
		return nil
	}
	if t.Kind() == reflect.Pointer {
		elem := PlanEncode(info, t.Elem())
		if elem == nil {
			return nil
		}
		return func(dst []byte, info cql.TypeInfo, v any) ([]byte, error) {
			if reflect.TypeOf(v) != t {
				return ReferenceEncode(dst, info, v)
			}
			p := DataWord(v)
			if p == nil {
				return appendNull(dst), nil
			}
			return elem(dst, p)
		}
	}
	plan := PlanEncode(info, t)
	if plan == nil {
		return nil
	}
	boxed := isBoxed(t)
	return func(dst []byte, info cql.TypeInfo, v any) ([]byte, error) {
		if reflect.TypeOf(v) != t {
			return ReferenceEncode(dst, info, v)
		}
		if boxed {
			return plan(dst, DataWord(v))
		}
		c := reflect.New(t)
		c.Elem().Set(reflect.ValueOf(v))
		return plan(dst, c.UnsafePointer())
	}
}

// planDecoder returns the plan for destinations of type t, a pointer type, in a column of type info as a Decoder. nil
// means none.
func planDecoder(info cql.TypeInfo, t reflect.Type) Decoder {
	if t == nil || t.Kind() != reflect.Pointer {
		return nil
	}
	if t.Implements(reflect.TypeFor[inPlace]()) {
		return func(info cql.TypeInfo, cell []byte, dst any) error {
			if DataWord(dst) == nil {
				return ReferenceDecode(info, cell, dst)
			}
			return dst.(cql.Unmarshaler).UnmarshalCQL(info, cell)
		}
	}
	plan := planCell(info, t.Elem())
	if plan == nil {
		return nil
	}
	return func(info cql.TypeInfo, cell []byte, dst any) error {
		p := DataWord(dst)
		if reflect.TypeOf(dst) != t || p == nil {
			return ReferenceDecode(info, cell, dst)
		}
		return plan(cell, p, nil)
	}
}

// PlanEncode returns the plan for values of type t in a column of type info. nil means none; such values take the
// reference.
func PlanEncode(info cql.TypeInfo, t reflect.Type) EncodeAt {
	if HasOwnCodec(t) {
		return nil
	}
	if IsNull(t) {
		return planNullableEncode(info, t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return planPointerEncode(info, t)
	case reflect.Interface:
		return planInterfaceEncode(info, t)
	}
	switch info := info.(type) {
	case cql.NativeType:
		return planNativeEncode(cql.Type(info), t)
	case cql.CustomType:
		return planTextEncode(t)
	case cql.CollectionType:
		if info.Type() == cql.TypeMap {
			return planMapEncode(info, t)
		}
		return planListEncode(info, t)
	case cql.TupleTypeInfo:
		return planTupleEncode(info, t)
	case cql.UDTTypeInfo:
		return planUDTEncode(info, t)
	case cql.VectorType:
		return planVectorEncode(info, t)
	}
	return nil
}

// EmptyIsNull reports whether a cell of 0 bytes of type info holds no value, and is decoded like NULL: numbers, times,
// UUIDs and addresses. Cassandra stores such cells for most of these types, and gocql writes one for a zero time.Time.
func EmptyIsNull(info cql.TypeInfo) bool {
	typ, ok := info.(cql.NativeType)
	return ok && cql.Type(typ) >= cql.TypeAscii && cql.Type(typ) <= cql.TypeDuration && !isText(cql.Type(typ))
}

// planCell returns a plan for cells that may be NULL or empty. The plan stores NULL as the zero value.
func planCell(info cql.TypeInfo, t reflect.Type) DecodeAt {
	plan := PlanDecode(info, t)
	if plan == nil {
		return nil
	}
	emptyIsNull := EmptyIsNull(info)
	return func(cell []byte, p unsafe.Pointer, s *Shared) error {
		if len(cell) == 0 && (cell == nil || emptyIsNull) {
			DecodeNull(t, p)
			return nil
		}
		return plan(cell, p, s)
	}
}

// DecodeNull stores NULL in the value of type t at p: the zero value of every type, e.g. 0, "", nil or Null[T]{}.
func DecodeNull(t reflect.Type, p unsafe.Pointer) { reflect.NewAt(t, p).Elem().SetZero() }

// A ScanPlan stores the cells of one column in destinations of one type.
type ScanPlan struct {
	Typ    unsafe.Pointer // TypeWord of the destinations
	Elem   reflect.Type   // the pointed-to type; nil without Value
	Value  DecodeAt       // for a cell with bytes; nil means that Decode decodes all cells
	Decode Decoder        // for the cells and destinations that Value is not for
	Empty  Empty
}

// Empty is how a plan with Value decodes a cell without bytes that is not NULL.
type Empty byte

// The ways to decode a cell without bytes.
const (
	EmptyByValue  Empty = iota // by Value
	EmptyAsNull                // as NULL
	EmptyByDecode              // by Decode
	NullByDecode               // by Decode, which also decodes NULL
)

// EmptyOf returns how the driver decodes a cell without bytes of type info.
func EmptyOf(info cql.TypeInfo) Empty {
	if EmptyIsNull(info) {
		return EmptyAsNull
	}
	return EmptyByValue
}

// NewScanPlan returns the driver's plan for destinations of the type of dest, which is not nil.
func NewScanPlan(info cql.TypeInfo, dest any) ScanPlan {
	p := ScanPlan{Typ: TypeWord(dest), Decode: ReferenceDecode}
	if t := reflect.TypeOf(dest); t.Kind() == reflect.Pointer {
		p.Elem, p.Decode = t.Elem(), DecoderOf(info, t)
		p.Value, p.Empty = PlanDecode(info, p.Elem), EmptyOf(info)
	}
	return p
}

// Store stores a cell in dest, which has the type of the plan, with memory of s for small values.
func (p *ScanPlan) Store(info cql.TypeInfo, cell []byte, dest any, s *Shared) error {
	at := DataWord(dest)
	switch {
	case p.Value == nil || at == nil:
	case len(cell) > 0, cell != nil && p.Empty == EmptyByValue:
		return p.Value(cell, at, s)
	case cell == nil && p.Empty != NullByDecode, p.Empty == EmptyAsNull:
		DecodeNull(p.Elem, at)
		return nil
	}
	return p.Decode(info, cell, dest)
}

// PlanDecode returns the plan for destinations of type t (not *t) in a column of type info, for cells that are neither
// NULL nor empty (EmptyIsNull). nil means none; such destinations take the reference.
func PlanDecode(info cql.TypeInfo, t reflect.Type) DecodeAt {
	if HasOwnCodec(t) {
		return nil
	}
	if IsNull(t) {
		return planNullableDecode(info, t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return planPointerDecode(info, t)
	case reflect.Interface:
		return planInterfaceDecode(info, t)
	}
	switch info := info.(type) {
	case cql.NativeType:
		return planNativeDecode(cql.Type(info), t)
	case cql.CustomType:
		return planTextDecode(t)
	case cql.CollectionType:
		if info.Type() == cql.TypeMap {
			return planMapDecode(info, t)
		}
		return planListDecode(info, t)
	case cql.TupleTypeInfo:
		return planTupleDecode(info, t)
	case cql.UDTTypeInfo:
		return planUDTDecode(info, t)
	case cql.VectorType:
		return planVectorDecode(info, t)
	}
	return nil
}

// planNativeEncode returns the plan of a native type in a value of type t. nil means none.
func planNativeEncode(typ cql.Type, t reflect.Type) EncodeAt {
	switch typ {
	case cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeCounter, cql.TypeVarint:
		return planIntEncode(typ, t)
	case cql.TypeAscii, cql.TypeText, cql.TypeVarchar, cql.TypeBlob, cql.TypeCustom:
		return planTextEncode(t)
	case cql.TypeBoolean, cql.TypeFloat, cql.TypeDouble, cql.TypeDecimal:
		return planNumberEncode(typ, t)
	case cql.TypeUUID, cql.TypeTimeUUID, cql.TypeInet:
		return planNetEncode(typ, t)
	case cql.TypeDate, cql.TypeTime, cql.TypeTimestamp, cql.TypeDuration:
		return planTimeEncode(typ, t)
	}
	return nil
}

// planNativeDecode returns the plan of a native type for a destination of type t. nil means none.
func planNativeDecode(typ cql.Type, t reflect.Type) DecodeAt {
	switch typ {
	case cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeCounter, cql.TypeVarint:
		return planIntDecode(typ, t)
	case cql.TypeAscii, cql.TypeText, cql.TypeVarchar, cql.TypeBlob, cql.TypeCustom:
		return planTextDecode(t)
	case cql.TypeBoolean, cql.TypeFloat, cql.TypeDouble, cql.TypeDecimal:
		return planNumberDecode(typ, t)
	case cql.TypeUUID, cql.TypeTimeUUID, cql.TypeInet:
		return planNetDecode(typ, t)
	case cql.TypeDate, cql.TypeTime, cql.TypeTimestamp, cql.TypeDuration:
		return planTimeDecode(typ, t)
	}
	return nil
}

func appendNull(dst []byte) []byte { return wire.AppendInt(dst, wire.Null) }

// beginCell appends room for a cell's length, which endCell fills in. at is the start of the cell.
func beginCell(dst []byte) (out []byte, at int) { return wire.AppendInt(dst, 0), len(dst) }

func endCell(dst []byte, at int) ([]byte, error) {
	n := len(dst) - at - 4
	if n > math.MaxInt32 {
		return dst[:at], errTooLong
	}
	binary.BigEndian.PutUint32(dst[at:], uint32(n))
	return dst, nil
}

// cellSize returns an error unless a cell has exactly n bytes.
func cellSize(cell []byte, n int) error {
	switch {
	case len(cell) < n:
		return fmt.Errorf("%w: %d bytes, want %d", cql.ErrMissing, len(cell), n)
	case len(cell) > n:
		return fmt.Errorf("%w: %d bytes, want %d", cql.ErrTrailing, len(cell), n)
	}
	return nil
}

// TypeWord returns the first word of an interface. It is equal for values of equal type.
func TypeWord(v any) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&v))[0] }

// DataWord returns the second word of an interface: the pointer itself if v is a pointer, otherwise the address of v's
// value, which is read-only.
func DataWord(v any) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&v))[1] }

// withDataWord returns template with the value at p. The result takes ownership of that memory. Pointer-shaped types
// are not allowed.
func withDataWord(template any, p unsafe.Pointer) any {
	(*[2]unsafe.Pointer)(unsafe.Pointer(&template))[1] = p
	return template
}

// isBoxed reports whether an interface holds the address of a value of type t. It is false for pointer-shaped types,
// whose values are stored in the interface directly. The compiler chooses whether a struct or array of one pointer is
// pointer-shaped; false is safe and costs a copy.
func isBoxed(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return false
	case reflect.Array:
		return t.Size() != unsafe.Sizeof(uintptr(0)) || isBoxed(t.Elem())
	case reflect.Struct:
		if t.Size() != unsafe.Sizeof(uintptr(0)) {
			return true
		}
		for i := range t.NumField() {
			if f := t.Field(i).Type; f.Size() > 0 && isBoxed(f) {
				return true
			}
		}
		return false
	}
	return true
}
