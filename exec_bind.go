// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/vecql/vecql/internal/token"
	"github.com/vecql/vecql/internal/wire"
)

// This file holds the values of a statement on their way into a request's body, and the token that they route it by.

// bindings are the values of one execution of a statement, in one of three forms.
type bindings struct {
	stmt    *statement
	values  []any          // one for each marker; or
	record  unsafe.Pointer // a struct,
	fields  []markerField  // with a field for each marker; or
	encoded []byte         // the cells themselves

	n     int   // markers
	ends  []int // ends[i] is where the cell of marker i ends in the body; cell i begins where cell i-1 ends
	begin int
}

// markerField is the field of a struct that a bind marker takes its value from.
type markerField struct {
	offset uintptr
	goType reflect.Type
	encode encodeAt // nil: the reference does it
}

// bind sets the values of stmt: their number must be right, named ones are put into the order of the markers.
func (b *bindings) bind(stmt *statement, values []any) error {
	if len(values) > 0 {
		if _, named := values[0].(namedValue); named {
			var err error
			if values, err = orderNamed(stmt, values); err != nil {
				return err
			}
		}
	}
	if len(values) != len(stmt.bind) {
		return fmt.Errorf("%w: %d values for %d bind markers of %q", ErrValueCount, len(values), len(stmt.bind), stmt.text)
	}
	b.stmt, b.values, b.n = stmt, values, len(values)
	return nil
}

func orderNamed(stmt *statement, values []any) ([]any, error) {
	ordered := make([]any, len(stmt.bind))
	bound := make([]bool, len(stmt.bind))
	for _, v := range values {
		nv, ok := v.(namedValue)
		if !ok {
			return nil, fmt.Errorf("%w: named and positional values are mixed", ErrValueCount)
		}
		found := false
		for i, col := range stmt.bind { // a name may stand at several markers
			if col.Name == nv.name {
				ordered[i], bound[i], found = nv.value, true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("%w: no bind marker %q in %q", ErrValueCount, nv.name, stmt.text)
		}
	}
	for i, ok := range bound {
		if !ok {
			return nil, fmt.Errorf("%w: no value for bind marker %q of %q", ErrValueCount, stmt.bind[i].Name, stmt.text)
		}
	}
	return ordered, nil
}

// count implements binder. Values are sent by position, also where the caller named them.
func (b *bindings) count() (int, bool) { return b.n, false }

// appendBound implements binder.
func (b *bindings) appendBound(dst []byte) ([]byte, error) {
	if b.encoded != nil {
		return append(dst, b.encoded...), nil
	}
	b.begin = len(dst)
	for i := range b.stmt.bind {
		var err error
		if b.fields != nil {
			dst, err = b.appendField(dst, i)
		} else {
			dst, err = b.appendValue(dst, i)
		}
		if err != nil {
			return dst, err
		}
		b.ends = append(b.ends, len(dst))
	}
	return dst, nil
}

func (b *bindings) appendValue(dst []byte, i int) ([]byte, error) {
	col, v := &b.stmt.bind[i], b.values[i]
	var err error
	switch v.(type) {
	case nil:
		dst = wire.AppendInt(dst, wire.Null)
	case unsetColumn:
		dst = wire.AppendInt(dst, wire.Unset)
	default:
		dst, err = b.stmt.encoder(i, reflect.TypeOf(v))(dst, col.TypeInfo, v)
	}
	if err != nil {
		err = &MarshalError{Column: col.Name, Type: col.TypeInfo, GoType: goTypeName(v), Err: err}
	}
	return dst, err
}

func (b *bindings) appendField(dst []byte, i int) ([]byte, error) {
	col, f := &b.stmt.bind[i], &b.fields[i]
	p := unsafe.Add(b.record, f.offset)
	var err error
	if f.encode != nil {
		dst, err = f.encode(dst, p)
	} else {
		dst, err = reflectEncode(dst, col.TypeInfo, reflect.NewAt(f.goType, p).Elem().Interface())
	}
	if err != nil {
		err = &MarshalError{Column: col.Name, Type: col.TypeInfo, GoType: f.goType.String(), Err: err}
	}
	return dst, err
}

// cell returns the content of cell i in body; ok is false when it is NULL or unset.
func (b *bindings) cell(body []byte, i int) (cell []byte, ok bool) {
	begin := b.begin
	if i > 0 {
		begin = b.ends[i-1]
	}
	r := wire.NewReader(body[begin:b.ends[i]])
	cell, null := r.Value()
	return cell, !null
}

// cells returns all cells in body.
func (b *bindings) cells(body []byte) []byte {
	if len(b.ends) == 0 {
		return nil
	}
	return body[b.begin:b.ends[len(b.ends)-1]]
}

// token returns the token of the partition that the values in body belong to; ok is false when the statement does not bind the whole
// partition key. A column of it that is longer than servers take is an error.
func (b *bindings) token(body []byte) (tok int64, ok bool, err error) {
	switch pk := b.stmt.pkIndexes; len(pk) {
	case 0:
		return 0, false, nil
	case 1:
		cell, ok := b.cell(body, pk[0])
		if len(cell) > math.MaxUint16 {
			return 0, false, b.keyError(pk[0], token.ErrPartTooLong)
		}
		return b.stmt.tokenOf(cell), ok, nil
	default:
		var stack [256]byte
		key := stack[:0]
		for _, i := range pk {
			cell, ok := b.cell(body, i)
			if !ok {
				return 0, false, nil
			}
			if key, err = token.AppendComposite(key, cell); err != nil {
				return 0, false, b.keyError(i, err)
			}
		}
		return token.Murmur3(key), true, nil
	}
}

func (b *bindings) keyError(i int, err error) error {
	return fmt.Errorf("vecql: bind marker %q: %w", b.stmt.bind[i].Name, err)
}
