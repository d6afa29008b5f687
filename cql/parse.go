// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
)

// Parsers of types: Cassandra's class names and CQL. Their input comes from a server. No input makes a parser panic,
// recurse without bound, or allocate more than a constant times its length.

// maxTypeDepth bounds how deep types may be nested. Servers have no limit; schemas in use stay below ten.
const maxTypeDepth = 64

var classTypes = map[string]Type{
	"AsciiType": TypeAscii, "LongType": TypeBigInt, "BytesType": TypeBlob, "BooleanType": TypeBoolean,
	"CounterColumnType": TypeCounter, "DecimalType": TypeDecimal, "DoubleType": TypeDouble, "FloatType": TypeFloat,
	"Int32Type": TypeInt, "UTF8Type": TypeVarchar, "TimestampType": TypeTimestamp, "DateType": TypeTimestamp,
	"UUIDType": TypeUUID, "LexicalUUIDType": TypeUUID, "IntegerType": TypeVarint, "TimeUUIDType": TypeTimeUUID,
	"InetAddressType": TypeInet, "SimpleDateType": TypeDate, "TimeType": TypeTime, "ShortType": TypeSmallInt,
	"ByteType": TypeTinyInt, "DurationType": TypeDuration,
}

var cqlTypes = func() map[string]Type {
	m := map[string]Type{"varchar": TypeVarchar, "text": TypeVarchar}
	for t, name := range typeNames {
		if t != TypeCustom && t != TypeText && t < TypeList {
			m[name] = t
		}
	}
	return m
}()

const classPackage = "org.apache.cassandra.db.marshal."

// typeParser parses one text from left to right.
type typeParser struct {
	text string
	at   int
	udt  func(keyspace, name string) (UDTTypeInfo, bool) // CQL names only
}

func (p *typeParser) fail(reason string) error {
	return &TypeError{Text: p.text, Offset: p.at, Reason: reason}
}

func (p *typeParser) space() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t' || p.text[p.at] == '\n') {
		p.at++
	}
}

// accept moves past c and the spaces around it, if c comes next.
func (p *typeParser) accept(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		p.space()
		return true
	}
	return false
}

func (p *typeParser) expect(c byte) error {
	if !p.accept(c) {
		return p.fail("expected " + strconv.QuoteRune(rune(c)))
	}
	return nil
}

func (p *typeParser) end() error {
	p.space()
	if p.at < len(p.text) {
		return p.fail("text after the type")
	}
	return nil
}

// word reads letters, digits and the punctuation of class names.
func (p *typeParser) word() string {
	p.space()
	start := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		if c != '_' && c != '.' && c != '$' && c != '-' && c != '+' && (c < '0' || c > '9') && (c < 'a' || c > 'z') &&
			(c < 'A' || c > 'Z') {
			break
		}
		p.at++
	}
	return p.text[start:p.at]
}

// dimension reads the dimension of a vector of elem. It rejects a dimension whose cells would exceed 2 GiB.
func (p *typeParser) dimension(elem TypeInfo) (int, error) {
	at := p.at
	n, err := strconv.ParseUint(p.word(), 10, 64) // ParseUint accepts no sign
	if err != nil {
		p.at = at
		return 0, p.fail("expected a dimension")
	}
	if n > math.MaxInt32 || uint64(max(fixedSize(elem), 1))*n > math.MaxInt32 {
		p.at = at
		return 0, p.fail("dimension is too large")
	}
	return int(n), nil
}

// fixedSize returns the number of bytes of each element of type elem in a vector, 0 for elements of variable length.
func fixedSize(elem TypeInfo) int {
	switch t := elem.(type) {
	case NativeType:
		switch Type(t) {
		case TypeBoolean:
			return 1
		case TypeInt, TypeFloat:
			return 4
		case TypeBigInt, TypeDouble, TypeTimestamp:
			return 8
		case TypeUUID, TypeTimeUUID:
			return 16
		}
	case VectorType: // the parsers limit the product
		return fixedSize(t.SubType) * t.Dimensions
	}
	return 0
}

// ParseClassName parses a type in Cassandra's class grammar, the protocol's form of types without an option id. An
// example is "org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 384)"; the package
// may be left out. An unknown class, including its parameters, is a CustomType. The error is a *TypeError.
func ParseClassName(class string) (TypeInfo, error) {
	p := &typeParser{text: class}
	t, err := p.class(0)
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// class parses the name of a Java class with its parameters, the form that [option] 0 has. FrozenType and ReversedType
// are the type in them. A class without a CQL type is a CustomType.
func (p *typeParser) class(depth int) (TypeInfo, error) {
	if depth > maxTypeDepth {
		return nil, p.fail("types are nested too deep")
	}
	p.space()
	start := p.at
	name := p.word()
	if name == "" {
		return nil, p.fail("expected a class name")
	}
	simple := strings.TrimPrefix(name, classPackage)
	if t, ok := classTypes[simple]; ok {
		return NativeType(t), nil
	}
	switch simple {
	case "ListType", "SetType", "FrozenType", "ReversedType":
		elems, err := p.classes(depth, 1, 1)
		if err != nil {
			return nil, err
		}
		switch simple {
		case "ListType":
			return NewListType(elems[0]), nil
		case "SetType":
			return NewSetType(elems[0]), nil
		}
		return elems[0], nil
	case "MapType":
		elems, err := p.classes(depth, 2, 2)
		if err != nil {
			return nil, err
		}
		return NewMapType(elems[0], elems[1]), nil
	case "TupleType":
		elems, err := p.classes(depth, 1, math.MaxInt)
		if err != nil {
			return nil, err
		}
		return TupleTypeInfo{Elems: elems}, nil
	case "VectorType":
		return p.classVector(depth)
	case "UserType":
		return p.classUDT(depth)
	}
	if err := p.skipParentheses(); err != nil {
		return nil, err
	}
	return CustomType{Class: strings.TrimSpace(p.text[start:p.at])}, nil
}

// classes reads "(class, class...)".
func (p *typeParser) classes(depth, atLeast, atMost int) ([]TypeInfo, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	var elems []TypeInfo
	for {
		t, err := p.class(depth + 1)
		if err != nil {
			return nil, err
		}
		if elems = append(elems, t); len(elems) > atMost {
			return nil, p.fail("too many parameters")
		}
		if p.accept(',') {
			continue
		}
		if err := p.expect(')'); err != nil {
			return nil, err
		}
		if len(elems) < atLeast {
			return nil, p.fail("too few parameters")
		}
		return elems, nil
	}
}

// classVector parses the parameters of VectorType: the element type and the dimension.
func (p *typeParser) classVector(depth int) (TypeInfo, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	elem, err := p.class(depth + 1)
	if err != nil {
		return nil, err
	}
	if err := p.expect(','); err != nil {
		return nil, err
	}
	n, err := p.dimension(elem)
	if err != nil {
		return nil, err
	}
	return VectorType{SubType: elem, Dimensions: n}, p.expect(')')
}

// classUDT reads "(keyspace,hexname,hexfield:class,...)".
func (p *typeParser) classUDT(depth int) (TypeInfo, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	udt := UDTTypeInfo{Keyspace: p.word()}
	if err := p.expect(','); err != nil {
		return nil, err
	}
	var err error
	if udt.Name, err = p.hexWord(); err != nil {
		return nil, err
	}
	for p.accept(',') {
		name, err := p.hexWord()
		if err != nil {
			return nil, err
		}
		if err := p.expect(':'); err != nil {
			return nil, err
		}
		t, err := p.class(depth + 1)
		if err != nil {
			return nil, err
		}
		udt.Elements = append(udt.Elements, UDTField{Name: name, Type: t})
	}
	return udt, p.expect(')')
}

func (p *typeParser) hexWord() (string, error) {
	at := p.at
	b, err := hex.DecodeString(p.word())
	if err != nil {
		p.at = at
		return "", p.fail("expected a name in hexadecimal digits")
	}
	return string(b), nil
}

// skipParentheses moves past "(...)" if it comes next.
func (p *typeParser) skipParentheses() error {
	if p.at >= len(p.text) || p.text[p.at] != '(' {
		return nil
	}
	for open := 0; p.at < len(p.text); {
		switch p.text[p.at] {
		case '(':
			open++
		case ')':
			open--
		}
		p.at++
		if open == 0 {
			return nil
		}
	}
	return p.fail("parenthesis is not closed")
}

// ParseType parses a type in CQL, e.g. "map<text, frozen<list<vector<float, 3>>>>", as in the system_schema tables. udt
// returns the user-defined type with that name; keyspace is empty for an unqualified name. A nil udt means that there
// are no user-defined types. The error is a *TypeError.
func ParseType(cql string, udt func(keyspace, name string) (UDTTypeInfo, bool)) (TypeInfo, error) {
	p := &typeParser{text: cql, udt: udt}
	t, err := p.cql(0)
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// cql parses a type as CQL writes it. A name that is neither a native type nor followed by parameters is looked up in
// udt.
func (p *typeParser) cql(depth int) (TypeInfo, error) {
	if depth > maxTypeDepth {
		return nil, p.fail("types are nested too deep")
	}
	p.space()
	at := p.at
	if p.at < len(p.text) && p.text[p.at] == '\'' { // a class name in quotes
		end := strings.IndexByte(p.text[p.at+1:], '\'')
		if end < 0 {
			return nil, p.fail("quote is not closed")
		}
		class := p.text[p.at+1 : p.at+1+end]
		p.at += end + 2
		t, err := ParseClassName(class)
		if err != nil {
			p.at = at
			return nil, p.fail("class name is malformed")
		}
		return t, nil
	}
	keyspace, name, err := p.identifier()
	if err != nil {
		return nil, err
	}
	if keyspace == "" && p.text[at] != '"' {
		if p.accept('<') {
			return p.cqlParameters(name, depth)
		}
		if t, ok := cqlTypes[name]; ok {
			return NativeType(t), nil
		}
		if name == "empty" { // the value column of a table WITH COMPACT STORAGE that has no value
			return CustomType{Class: classPackage + "EmptyType"}, nil
		}
	}
	if p.udt != nil {
		if t, ok := p.udt(keyspace, name); ok {
			return t, nil
		}
	}
	p.at = at
	return nil, p.fail("unknown type")
}

// cqlParameters reads the rest of "name<...>".
func (p *typeParser) cqlParameters(name string, depth int) (TypeInfo, error) {
	var elems []TypeInfo
	for {
		t, err := p.cql(depth + 1)
		if err != nil {
			return nil, err
		}
		elems = append(elems, t)
		if !p.accept(',') {
			break
		}
		if name == "vector" {
			n, err := p.dimension(t)
			if err != nil {
				return nil, err
			}
			return VectorType{SubType: t, Dimensions: n}, p.expect('>')
		}
	}
	if err := p.expect('>'); err != nil {
		return nil, err
	}
	switch {
	case name == "tuple":
		return TupleTypeInfo{Elems: elems}, nil
	case name == "map" && len(elems) == 2:
		return NewMapType(elems[0], elems[1]), nil
	case name == "list" && len(elems) == 1:
		return NewListType(elems[0]), nil
	case name == "set" && len(elems) == 1:
		return NewSetType(elems[0]), nil
	case name == "frozen" && len(elems) == 1:
		return elems[0], nil
	}
	return nil, p.fail("no type " + strconv.Quote(name) + " with these parameters")
}

// identifier reads a name, optionally qualified by a keyspace. It converts names to lower case unless they are in
// double quotes.
func (p *typeParser) identifier() (keyspace, name string, err error) {
	if name, err = p.identifierPart(); err != nil {
		return "", "", err
	}
	if p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		keyspace = name
		name, err = p.identifierPart()
	}
	return keyspace, name, err
}

// identifierPart returns the next identifier: in quotes as it is, without quotes in lower case.
func (p *typeParser) identifierPart() (string, error) {
	start := p.at
	if p.at < len(p.text) && p.text[p.at] == '"' {
		for i := p.at + 1; i < len(p.text); i++ {
			if p.text[i] != '"' {
				continue
			}
			if i+1 < len(p.text) && p.text[i+1] == '"' { // an escaped quote
				i++
				continue
			}
			p.at = i + 1
			return strings.ReplaceAll(p.text[start+1:i], `""`, `"`), nil
		}
		return "", p.fail("quote is not closed")
	}
	for p.at < len(p.text) {
		c := p.text[p.at]
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			break
		}
		p.at++
	}
	if p.at == start {
		return "", p.fail("expected a type")
	}
	return strings.ToLower(p.text[start:p.at]), nil
}
