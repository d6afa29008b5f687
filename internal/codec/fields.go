// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
)

// The fields of structs that hold columns of a row or fields of a user-defined type.

// A RowField is a field of a struct that holds a column. Index is as in reflect.Value.FieldByIndex.
type RowField struct {
	reflect.StructField
	Tag string // the tag `cql:"name"`, "" for none
}

// Column returns the name of the column: the tag, else the name of the field in lower case.
func (f RowField) Column() string {
	if f.Tag != "" {
		return f.Tag
	}
	return strings.ToLower(f.Name)
}

// rowFields is the result of RowFields for one type.
type rowFields struct {
	fields     []RowField
	unreached  error // a struct is embedded by a pointer
	duplicated error // two fields have one column name
}

var rowFieldsOf sync.Map // reflect.Type -> rowFields

// RowFields returns the exported fields of struct t in their order, without those with the tag `cql:"-"`. Fields of an
// embedded struct count as fields of t, unless it has a tag or is a value of one column, such as a time.Time. The error
// means that a field would be left out in silence: two fields have one column name, or a struct is embedded by a
// pointer. As in Go, a field hides a field of the same name in an embedded struct.
func RowFields(t reflect.Type) ([]RowField, error) {
	found := findRowFields(t)
	if found.unreached != nil {
		return found.fields, found.unreached
	}
	return found.fields, found.duplicated
}

func findRowFields(t reflect.Type) rowFields {
	if found, ok := rowFieldsOf.Load(t); ok {
		return found.(rowFields)
	}
	var found rowFields
	found.fields, found.unreached = appendRowFields(nil, t, nil)
	found.fields, found.duplicated = visibleFields(t, found.fields)
	rowFieldsOf.Store(t, found)
	return found
}

// appendRowFields appends the fields of t, which lies at index.
func appendRowFields(fields []RowField, t reflect.Type, index []int) ([]RowField, error) {
	var failed error
	for i := range t.NumField() {
		f := t.Field(i)
		f.Index = append(slices.Clone(index), i)
		tag := f.Tag.Get("cql")
		target := f.Type
		if target.Kind() == reflect.Pointer {
			target = target.Elem()
		}
		switch {
		case tag == "-":
		case f.Anonymous && tag == "" && IsRowStruct(target) && target == f.Type:
			var err error
			if fields, err = appendRowFields(fields, f.Type, f.Index); err != nil {
				failed = err
			}
		case f.Anonymous && tag == "" && IsRowStruct(target):
			if hasColumns(target) {
				failed = fmt.Errorf("%w: the fields of the embedded pointer %v of %v cannot be reached: embed %v, "+
					"or leave it out by the tag `cql:\"-\"`", cql.ErrConversion, f.Type, t, target)
			}
		case f.IsExported():
			fields = append(fields, RowField{f, tag})
		}
	}
	return fields, failed
}

// hasColumns reports whether a struct that is embedded by a pointer, perhaps in itself, has fields to reach.
func hasColumns(t reflect.Type) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("cql") == "-" {
			continue
		}
		if f.IsExported() || f.Anonymous && (f.Type.Kind() == reflect.Pointer || IsRowStruct(f.Type) && hasColumns(f.Type)) {
			return true
		}
	}
	return false
}

// visibleFields returns fields without those that a field of the same name hides. The error means that two of them have
// one column name.
func visibleFields(t reflect.Type, fields []RowField) (visible []RowField, err error) {
	byColumn := map[string]RowField{}
	for _, f := range fields {
		if slices.ContainsFunc(fields, func(other RowField) bool { return hides(other, f) }) {
			continue
		}
		if first, ok := byColumn[f.Column()]; ok && err == nil {
			err = fmt.Errorf("%w: the fields %s and %s of %v have one column, %q: give one another name by a tag, "+
				"or leave it out by the tag `cql:\"-\"`", cql.ErrConversion, first.Name, f.Name, t, f.Column())
		}
		byColumn[f.Column()] = f
		visible = append(visible, f)
	}
	return visible, err
}

// hides reports whether a field hides another one, which has the same names and lies deeper in embedded structs.
func hides(f, other RowField) bool {
	return f.Name == other.Name && f.Column() == other.Column() && len(f.Index) < len(other.Index)
}

// FieldFor returns the field of struct t for a UDT's field or a column, among the fields of [RowFields]. It compares
// first the tag `cql:"name"`, then the name, then the name in any case.
func FieldFor(t reflect.Type, name string) (found reflect.StructField, ok bool) {
	const byCase, byName, byTag = 1, 2, 3
	rank := 0
	fields, _ := RowFields(t)
	for _, f := range fields {
		r := 0
		switch {
		case f.Tag != "":
			if f.Tag == name {
				r = byTag
			}
		case f.Name == name:
			r = byName
		case strings.EqualFold(f.Name, name):
			r = byCase
		}
		if r > rank {
			found, rank = f.StructField, r
		}
	}
	return found, rank > 0
}

// IsRowStruct reports whether t is a struct that holds a row rather than the value of one column.
func IsRowStruct(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[cql.Duration]() ||
		t == reflect.TypeFor[cql.Decimal]() || t == reflect.TypeFor[big.Int]() || t == reflect.TypeFor[inf.Dec]() ||
		IsNull(t) || t.PkgPath() == "database/sql" {
		return false
	}
	p := reflect.PointerTo(t)
	for _, i := range []reflect.Type{
		reflect.TypeFor[cql.Unmarshaler](), reflect.TypeFor[cql.UDTUnmarshaler](),
		reflect.TypeFor[encoding.TextUnmarshaler](),
	} {
		if p.Implements(i) {
			return false
		}
	}
	return true
}
