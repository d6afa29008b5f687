// SPDX-License-Identifier: Apache-2.0

package sqlvecql

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math/big"
	"reflect"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// Arguments of statements.

// CheckNamedValue implements driver.NamedValueChecker. It accepts every Go type: the encoder of the bind marker
// decides. It calls Value of a driver.Valuer, except of types that have an encoder in vecql.
func (c *conn) CheckNamedValue(nv *driver.NamedValue) (err error) {
	switch v := nv.Value.(type) {
	case sql.Out:
		return fmt.Errorf("%w: argument %d is a sql.Out, and CQL has no output parameters", ErrArguments, nv.Ordinal)
	case cql.Named:
		nv.Name, nv.Value = v.Name, v.Value
	}
	nv.Value, err = valueOf(nv.Value)
	return err
}

var valuerType = reflect.TypeFor[driver.Valuer]()

// valueOf returns the value of a driver.Valuer, also behind pointers and in a Null type, and any other value as it is.
// A type that has an encoder in vecql, such as a Null type, is bound by that. A nil pointer is NULL, unless Value is a
// method of the pointer.
func valueOf(v any) (any, error) {
	for {
		switch v.(type) {
		case nil, cql.Marshaler, cql.UDTMarshaler:
			return v, nil
		}
		at := reflect.ValueOf(v)
		isPointer := at.Kind() == reflect.Pointer
		valuer, ok := v.(driver.Valuer)
		switch {
		case isPointer && at.IsNil() && (!ok || at.Type().Elem().Implements(valuerType)):
			return nil, nil
		case isPointer && leadsToValuer(at.Type().Elem(), ok):
			v = at.Elem().Interface()
		case codec.IsNull(at.Type()) && !at.Field(1).Bool():
			return nil, nil
		case codec.IsNull(at.Type()) && at.Field(0).Type().Implements(valuerType):
			v = at.Field(0).Interface()
		case ok && !codec.IsNull(at.Type()):
			return valuer.Value()
		default:
			return v, nil
		}
	}
}

// leadsToValuer reports whether the target of a pointer is to be bound in place of the pointer: a Null type, or a type
// that leads to a driver.Valuer where the pointer is none.
func leadsToValuer(target reflect.Type, isValuer bool) bool {
	for ; target.Kind() == reflect.Pointer; target = target.Elem() {
		if target.Implements(valuerType) {
			return !isValuer
		}
	}
	return codec.IsNull(target) || target.Implements(valuerType) && !isValuer
}

// valuesOf returns the arguments as values of a query: either all by name or all by position.
func valuesOf(text string, args []driver.NamedValue) ([]any, error) {
	values := make([]any, len(args))
	for i, arg := range args {
		if (arg.Name == "") != (args[0].Name == "") {
			return nil, fmt.Errorf("%w: %.100q: some have a name and some do not", ErrArguments, text)
		}
		values[i] = arg.Value
		if arg.Name != "" {
			values[i] = cql.NamedValue(arg.Name, arg.Value)
		}
	}
	return values, nil
}

// converted returns values, in the order of the markers, with the conversions that exact adds to vecql's. Values that
// do not match the markers, or that exact does not convert, remain as they are: binding them reports the error.
func converted(markers []cql.ColumnInfo, values []any) ([]any, error) {
	ordered := values
	if _, named := values[0].(cql.Named); named {
		ordered = byMarker(markers, values)
	}
	if len(ordered) != len(markers) {
		return values, nil
	}
	out := make([]any, len(markers))
	for i, v := range ordered {
		var err error
		if out[i], err = exact(markers[i].TypeInfo, v); err != nil {
			return nil, &cql.MarshalError{
				Column: markers[i].Name, Type: markers[i].TypeInfo, GoType: fmt.Sprintf("%T", v), Err: err,
			}
		}
	}
	return out, nil
}

// byMarker returns the value of each marker. Several markers may have one name.
func byMarker(markers []cql.ColumnInfo, values []any) (ordered []any) {
	for _, m := range markers {
		for _, v := range values {
			if n, ok := v.(cql.Named); ok && n.Name == m.Name {
				ordered = append(ordered, n.Value)
				break
			}
		}
	}
	return ordered
}

// exact returns v as a type that binds to info, for numbers and text as package database/sql has them: a float64 or
// an integer for a float or double, text or an integer for a decimal. A number that the CQL type does not represent
// exactly is ErrRange.
func exact(info cql.TypeInfo, v any) (any, error) {
	at := indirect(reflect.ValueOf(v))
	if !at.IsValid() {
		return nil, nil
	}
	switch info.Type() {
	case cql.TypeFloat, cql.TypeDouble:
		f, ok, err := number(at)
		if !ok || err != nil {
			return v, err
		}
		if info.Type() == cql.TypeDouble {
			return f, nil
		}
		if narrow := float32(f); float64(narrow) == f || f != f {
			return narrow, nil
		}
		return nil, fmt.Errorf("%w: %v has more digits than a float, bind a float32", cql.ErrRange, f)
	case cql.TypeDecimal:
		return decimal(at, v)
	}
	return v, nil
}

// indirect returns the value behind pointers and Null types, the zero Value for NULL.
func indirect(at reflect.Value) reflect.Value {
	for at.IsValid() {
		switch {
		case at.Kind() == reflect.Pointer && at.IsNil():
			return reflect.Value{}
		case at.Kind() == reflect.Pointer:
			at = at.Elem()
		case codec.IsNull(at.Type()) && !at.Field(1).Bool():
			return reflect.Value{}
		case codec.IsNull(at.Type()):
			at = at.Field(0)
		default:
			return at
		}
	}
	return at
}

// maxExact is the largest integer up to which a float64 represents every integer.
const maxExact = 1 << 53

// number returns a number as a float64. ok is false for what is not a number. An integer beyond maxExact is ErrRange.
func number(at reflect.Value) (f float64, ok bool, err error) {
	switch {
	case at.Type() == reflect.TypeFor[time.Duration]():
	case at.CanFloat():
		return at.Float(), true, nil
	case at.CanInt() && at.Int() >= -maxExact && at.Int() <= maxExact:
		return float64(at.Int()), true, nil
	case at.CanUint() && at.Uint() <= maxExact:
		return float64(at.Uint()), true, nil
	case at.CanInt(), at.CanUint():
		return 0, true, fmt.Errorf("%w: %v exceeds 2^53", cql.ErrRange, at)
	}
	return 0, false, nil
}

// decimal returns text or an integer as a decimal, and any other value as v.
func decimal(at reflect.Value, v any) (any, error) {
	switch {
	case at.Type() == reflect.TypeFor[time.Duration]():
	case at.CanInt():
		return cql.Decimal{Unscaled: big.NewInt(at.Int())}, nil
	case at.CanUint():
		return cql.Decimal{Unscaled: new(big.Int).SetUint64(at.Uint())}, nil
	case at.Kind() == reflect.String:
		d, err := cql.ParseDecimal(at.String())
		if err != nil {
			return nil, fmt.Errorf("%w: %.60q is not a decimal", cql.ErrConversion, at.String())
		}
		return d, nil
	case at.Type() == reflect.TypeFor[[]byte]():
		return decimal(reflect.ValueOf(string(at.Bytes())), v)
	}
	return v, nil
}
