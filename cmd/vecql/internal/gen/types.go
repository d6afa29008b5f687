// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/vecql/vecql/cql"
)

// Types of Go for types of CQL.

// goTypes are the types of Go for the native types of CQL.
var goTypes = map[cql.Type]string{
	cql.TypeAscii: "string", cql.TypeText: "string", cql.TypeVarchar: "string", cql.TypeBlob: "[]byte",
	cql.TypeBoolean: "bool", cql.TypeTinyInt: "int8", cql.TypeSmallInt: "int16", cql.TypeInt: "int32",
	cql.TypeBigInt: "int64", cql.TypeCounter: "int64", cql.TypeVarint: "*big.Int", cql.TypeFloat: "float32",
	cql.TypeDouble: "float64", cql.TypeDecimal: "cql.Decimal", cql.TypeUUID: "cql.UUID", cql.TypeTimeUUID: "cql.UUID",
	cql.TypeInet: "netip.Addr", cql.TypeDate: "time.Time", cql.TypeTimestamp: "time.Time", cql.TypeTime: "time.Duration",
	cql.TypeDuration: "cql.Duration",
}

// keyTypes are the types of keys of maps that differ: Go compares them by value.
var keyTypes = map[cql.Type]string{cql.TypeBlob: "string", cql.TypeVarint: "string"}

// ErrKey means that Go has no type for the keys of a map.
var ErrKey = errors.New("no type of Go compares the keys of the map by value")

// ErrName means that no tag of a field can have the name of a column.
var ErrName = errors.New("no tag of a field has the name")

// A structType is the struct of a user-defined type or of a tuple.
type structType struct {
	Name   string
	Title  string // "a value of the type address", "a tuple<int, text>"
	Fields []field
	isKey  bool // a part of the key of a map
	info   cql.TypeInfo
}

// A typer maps types of CQL to types of Go.
type typer struct {
	options *Options
	structs map[string]*structType // by the text of the type
	used    map[string]bool        // keys of Options.Names
}

// named returns the name of the settings for a key.
func (g *typer) named(key string) (string, bool) {
	name, ok := g.options.Names[key]
	g.used[key] = true
	return name, ok
}

// collect adds the structs of a type. isKey means that the type is a part of the key of a map.
func (g *typer) collect(t cql.TypeInfo, isKey bool) {
	switch t := t.(type) {
	case cql.CollectionType:
		if t.Type() == cql.TypeMap {
			g.collect(t.Key, true)
		}
		g.collect(t.Elem, isKey)
	case cql.VectorType:
		g.collect(t.SubType, isKey)
	case cql.TupleTypeInfo:
		g.addStruct(t, isKey)
		for _, elem := range t.Elems {
			g.collect(elem, isKey)
		}
	case cql.UDTTypeInfo:
		g.addStruct(t, isKey)
		for _, e := range t.Elements {
			g.collect(e.Type, isKey)
		}
	}
}

func (g *typer) addStruct(t cql.TypeInfo, isKey bool) {
	s := g.structs[t.String()]
	if s == nil {
		s = &structType{info: t}
		g.structs[t.String()] = s
	}
	s.isKey = s.isKey || isKey
}

// nameStructs assigns the names of structs: first user-defined types by name, then tuples by text.
func (g *typer) nameStructs(names nameSet) {
	texts := slices.Sorted(maps.Keys(g.structs))
	for _, text := range texts {
		if udt, ok := g.structs[text].info.(cql.UDTTypeInfo); ok {
			g.structs[text].Title = "a value of the type " + title(udt.Name)
			g.structs[text].Name = g.nameUDT(udt.Name, names)
		}
	}
	for _, text := range texts {
		if s := g.structs[text]; s.Name == "" {
			s.Title = "a " + title(text)
			s.Name = names.add(g.word(s.info))
		}
	}
}

// nameUDT returns the name of a user-defined type: its own, with the ending Type where a table has it.
func (g *typer) nameUDT(udt string, names nameSet) string {
	for _, key := range []string{"type " + udt, udt} {
		if name, ok := g.named(key); ok && !names[name] {
			return names.add(name)
		}
	}
	name := exported(udt)
	if names[name] {
		name += "Type"
	}
	return names.add(name)
}

// word returns a type as a part of the name of a tuple: list<int> is ListInt.
func (g *typer) word(t cql.TypeInfo) string {
	switch t := t.(type) {
	case cql.CollectionType:
		if t.Type() == cql.TypeMap {
			return "Map" + g.word(t.Key) + g.word(t.Elem)
		}
		return exported(t.Type().String()) + g.word(t.Elem)
	case cql.VectorType:
		return "Vector" + g.word(t.SubType) + strconv.Itoa(t.Dimensions)
	case cql.UDTTypeInfo:
		return g.structs[t.String()].Name
	case cql.TupleTypeInfo:
		name := "Tuple"
		for _, elem := range t.Elems {
			name += g.word(elem)
		}
		return name
	}
	return exported(t.Type().String())
}

// fillStructs sets the fields of all structs, and returns the structs by name. A struct that has no type of Go is left
// out, as are the columns that have it.
func (g *typer) fillStructs() []*structType {
	var all []*structType
	for _, s := range g.structs {
		names := nameSet{}
		for i, f := range fieldsOf(s.info) {
			made, err := g.field(f, s.isKey)
			if err != nil {
				break
			}
			if _, ok := s.info.(cql.TupleTypeInfo); ok {
				made.Name, made.Tag = "F"+strconv.Itoa(i+1), ""
			} else {
				made.Name = g.fieldName(s.info.(cql.UDTTypeInfo).Name, f.Name, names)
			}
			s.Fields = append(s.Fields, made)
		}
		if len(s.Fields) == len(fieldsOf(s.info)) {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *structType) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// fieldsOf returns the fields of a user-defined type or a tuple.
func fieldsOf(t cql.TypeInfo) []cql.UDTField {
	switch t := t.(type) {
	case cql.UDTTypeInfo:
		return t.Elements
	case cql.TupleTypeInfo:
		fields := make([]cql.UDTField, len(t.Elems))
		for i, elem := range t.Elems {
			fields[i].Type = elem
		}
		return fields
	}
	return nil
}

// fieldName returns the name of the field for a column of a table, or for a field of a user-defined type.
func (g *typer) fieldName(owner, column string, names nameSet) string {
	if name, ok := g.named(owner + "." + column); ok {
		return names.add(name)
	}
	return names.add(exported(column))
}

// field returns a field that can be NULL.
func (g *typer) field(f cql.UDTField, isKey bool) (field, error) {
	if f.Name == "-" { // a field with this tag is left out of rows
		return field{}, fmt.Errorf("%w: %s", ErrName, f.Name)
	}
	plain, err := g.goType(f.Type, isKey)
	if err != nil {
		return field{}, err
	}
	made := field{Column: f.Name, Tag: g.tagOf(f.Name), Plain: plain, info: f.Type, isKey: isKey}
	made.Type = g.nullable(plain, isKey)
	return made, nil
}

// nullable returns the type of a value that can be NULL.
func (g *typer) nullable(plain string, isKey bool) string {
	switch {
	case strings.HasPrefix(plain, "[]"), strings.HasPrefix(plain, "map["), plain[0] == '*', g.options.Null == Plain:
		return plain // nil is NULL
	case isKey || g.options.Null == Null:
		return "cql.Null[" + plain + "]"
	}
	return "*" + plain
}

// goType returns the type of Go of a value that is not NULL. The error wraps ErrKey or ErrName.
func (g *typer) goType(t cql.TypeInfo, isKey bool) (string, error) {
	switch t := t.(type) {
	case cql.CollectionType:
		return g.collection(t, isKey)
	case cql.VectorType:
		elem, err := g.goType(t.SubType, isKey)
		return "[]" + elem, unlessKey(t, isKey, err)
	case cql.UDTTypeInfo, cql.TupleTypeInfo:
		for _, f := range fieldsOf(t) {
			if _, err := g.field(f, isKey || g.structs[t.String()].isKey); err != nil {
				return "", err
			}
		}
		return g.structs[t.String()].Name, nil
	case cql.CustomType:
		if isKey {
			return "string", nil
		}
		return "[]byte", nil
	}
	if key, ok := keyTypes[t.Type()]; ok && isKey {
		return key, nil
	}
	if isKey && t.Type() == cql.TypeDecimal {
		return "", unlessKey(t, true, nil)
	}
	return goTypes[t.Type()], nil
}

// collection is goType for lists, sets and maps.
func (g *typer) collection(t cql.CollectionType, isKey bool) (string, error) {
	elem, err := g.goType(t.Elem, isKey)
	if t.Type() != cql.TypeMap || err != nil {
		return "[]" + elem, unlessKey(t, isKey, err)
	}
	key, err := g.goType(t.Key, true)
	return "map[" + key + "]" + elem, unlessKey(t, isKey, err)
}

// unlessKey returns err, or ErrKey for the key of a map.
func unlessKey(t cql.TypeInfo, isKey bool, err error) error {
	if isKey && err == nil {
		return fmt.Errorf("%w: %s", ErrKey, title(t.String()))
	}
	return err
}

// title returns a name of CQL for a comment: on one line, without characters that source of Go cannot have.
func title(name string) string {
	name = strings.Join(strings.Fields(name), " ")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, name)
}

// tagOf returns the tag of the field of a column.
func (g *typer) tagOf(column string) string {
	tag := "cql:" + strconv.Quote(column)
	if g.options.JSON && isNameOfJSON(column) {
		tag += " json:" + strconv.Quote(column)
	}
	if strings.ContainsRune(tag, '`') {
		return strconv.Quote(tag)
	}
	return "`" + tag + "`"
}

// isNameOfJSON reports whether encoding/json accepts a name in a tag. It ignores a tag with another name.
func isNameOfJSON(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r)
	})
}
