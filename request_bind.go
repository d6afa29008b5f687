// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/token"
	"github.com/vecql/vecql/internal/wire"
)

// Binding: encoding the values of a statement into the body of a request, and computing the token of their partition.

// bindings are the values of one execution of a statement, in one of four forms.
type bindings struct {
	stmt    *statement
	values  []any          // form 1: one value for each marker
	foreign *codec.Foreign // encodes values; nil means the driver
	record  unsafe.Pointer // form 2: a struct,
	fields  []markerField  // with a field for each marker
	rows    *rowSource     // form 3: a row of a batch,
	plan    *codec.RowPlan // with a column for each marker
	batch   *column.Batch
	row     int
	encoded []byte // form 4: encoded cells

	n       int   // number of markers
	offsets []int // cell i is body[offsets[i]:offsets[i+1]]
}

// markerField is the field of a struct that a bind marker takes its value from.
type markerField struct {
	offset uintptr
	goType reflect.Type
	encode codec.EncodeAt // nil means the reference
}

// bind sets the values of stmt. It checks their number and orders named values as the markers are.
func (b *bindings) bind(stmt *statement, values []any) error {
	values, b.foreign = codec.ValuesOf(values)
	if len(values) > 0 {
		if _, named := values[0].(cql.Named); named {
			var err error
			if values, err = orderNamed(stmt, values); err != nil {
				return err
			}
		}
	}
	if len(values) != len(stmt.bind) {
		return &valueCountError{len(values), len(stmt.bind), stmt.text}
	}
	b.stmt, b.values, b.n = stmt, values, len(values)
	return nil
}

// valueCountError means that the number of values differs from the number of bind markers of a statement. The compat
// modules ask for the numbers: the text of gocql has them.
type valueCountError struct {
	values, markers int
	stmt            string
}

func (e *valueCountError) Error() string {
	return fmt.Sprintf("%v: %d values for %d bind markers of %q", ErrValueCount, e.values, e.markers, e.stmt)
}

func (e *valueCountError) Unwrap() error { return ErrValueCount }

// ValueCount returns the numbers of values and of bind markers.
func (e *valueCountError) ValueCount() (values, markers int) { return e.values, e.markers }

// orderNamed returns the values of Named arguments in the order of the bind markers. Every marker needs a value, and
// every name a marker.
func orderNamed(stmt *statement, values []any) ([]any, error) {
	ordered := make([]any, len(stmt.bind))
	bound := make([]bool, len(stmt.bind))
	for _, v := range values {
		nv, ok := v.(cql.Named)
		if !ok {
			return nil, errtext.Errorf("%w: named and positional values are mixed", ErrValueCount)
		}
		found := false
		for i, col := range stmt.bind { // several markers may have one name
			if col.Name == nv.Name {
				ordered[i], bound[i], found = nv.Value, true, true
			}
		}
		if !found {
			return nil, errtext.Errorf("%w: no bind marker %q in %q", ErrValueCount, nv.Name, stmt.text)
		}
	}
	for i, ok := range bound {
		if !ok {
			return nil, errtext.Errorf("%w: no value for bind marker %q of %q", ErrValueCount, stmt.bind[i].Name, stmt.text)
		}
	}
	return ordered, nil
}

// Count implements frame.Binder. Values are sent by position, even if the caller named them.
func (b *bindings) Count() (int, bool) { return b.n, false }

// AppendBound implements frame.Binder.
func (b *bindings) AppendBound(dst []byte) ([]byte, error) {
	if b.encoded != nil {
		return append(dst, b.encoded...), nil
	}
	b.offsets = append(b.offsets, len(dst))
	for i := range b.stmt.bind {
		var err error
		at := len(dst)
		switch {
		case b.plan != nil:
			dst, err = b.plan.Append(dst, b.batch, b.row, i, b.rows.null)
		case b.fields != nil:
			dst, err = b.appendField(dst, i)
		default:
			dst, err = b.appendValue(dst, i)
		}
		if err != nil {
			return dst, err
		}
		if b.stmt.sorters != nil {
			dst = b.stmt.sorters[i].SortCell(dst, at)
		}
		b.offsets = append(b.offsets, len(dst))
	}
	return dst, nil
}

// appendValue appends value i of a query as a [value] and converts it with the encoder of its Go type.
func (b *bindings) appendValue(dst []byte, i int) ([]byte, error) {
	col, v := &b.stmt.bind[i], b.values[i]
	var err error
	switch v.(type) {
	case nil:
		dst = wire.AppendInt(dst, wire.Null)
	case cql.Unset:
		dst = wire.AppendInt(dst, wire.Unset)
	default:
		if b.foreign != nil && !b.foreign.Dialect.Same(col.TypeInfo, v) {
			var content []byte
			if content, err = b.foreign.Dialect.Marshal(col.TypeInfo, v); err == nil {
				dst, err = codec.AppendContent(dst, content)
			}
			break
		}
		dst, err = b.stmt.encoder(i, reflect.TypeOf(v))(dst, col.TypeInfo, v)
	}
	if err != nil {
		err = &cql.MarshalError{Column: col.Name, Type: col.TypeInfo, GoType: codec.GoTypeName(v), Err: err}
	}
	return dst, err
}

// appendField appends the field of the bound struct for bind marker i as a [value].
func (b *bindings) appendField(dst []byte, i int) ([]byte, error) {
	col, f := &b.stmt.bind[i], &b.fields[i]
	p := unsafe.Add(b.record, f.offset)
	var err error
	if f.encode != nil {
		dst, err = f.encode(dst, p)
	} else {
		dst, err = codec.ReferenceEncode(dst, col.TypeInfo, reflect.NewAt(f.goType, p).Elem().Interface())
	}
	if err != nil {
		err = &cql.MarshalError{Column: col.Name, Type: col.TypeInfo, GoType: f.goType.String(), Err: err}
	}
	return dst, err
}

// cell returns the content of cell i in body. ok is false if the cell is NULL or unset.
func (b *bindings) cell(body []byte, i int) (cell []byte, ok bool) {
	r := wire.NewReader(body[b.offsets[i]:b.offsets[i+1]])
	cell, null := r.Value()
	return cell, !null
}

// cells returns all cells in body.
func (b *bindings) cells(body []byte) []byte {
	if len(b.offsets) == 0 {
		return nil
	}
	return body[b.offsets[0]:b.offsets[len(b.offsets)-1]]
}

// appendExecute appends an EXECUTE message with the values and parameters of c. withID means that v4 connections have
// result metadata ids.
func (c *call) appendExecute(dst []byte, version byte, id, metadataID []byte, withID bool) ([]byte, error) {
	c.encoding.message, c.encoding.hasID = len(dst), withID
	if version < frame.V5 {
		if !withID {
			metadataID = nil
		} else if metadataID == nil {
			metadataID = unknownMetadata
		}
	}
	return frame.AppendExecute(dst, version, id, metadataID, &c.params)
}

// token returns the token of the partition key in body. ok is false if the statement does not bind the whole partition
// key. A part of the key longer than servers accept is an error.
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
		key, ok, err := b.appendKey(stack[:0], body)
		if !ok {
			return 0, false, err
		}
		return token.Murmur3(key), true, nil
	}
}

// appendKey appends the serialized partition key, whose values are in body; nothing if the statement does not bind the
// whole key. ok is false if a part of it is NULL or unset.
func (b *bindings) appendKey(dst, body []byte) (key []byte, ok bool, err error) {
	if len(b.stmt.pkIndexes) == 1 {
		cell, ok := b.cell(body, b.stmt.pkIndexes[0])
		return append(dst, cell...), ok, nil
	}
	for _, i := range b.stmt.pkIndexes {
		cell, ok := b.cell(body, i)
		if !ok {
			return nil, false, nil
		}
		if dst, err = token.AppendComposite(dst, cell); err != nil {
			return nil, false, b.keyError(i, err)
		}
	}
	return dst, true, nil
}

func (b *bindings) keyError(i int, err error) error {
	return errtext.Errorf("bind marker %q: %w", b.stmt.bind[i].Name, err)
}
