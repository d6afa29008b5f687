// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/vecql/vecql/cql"
)

// Types that a program registers for classes of the server.

// A CQLType makes the TypeInfo of a registered type.
type CQLType interface {
	// Params is not called.
	Params(proto int) []any
	// TypeInfoFromParams is not called.
	TypeInfoFromParams(proto int, params []any) (TypeInfo, error)
	// TypeInfoFromString returns the TypeInfo for the parameters of a class, the text in its parentheses.
	TypeInfoFromString(proto int, name string) (TypeInfo, error)
}

// SimpleCQLType is the CQLType of a TypeInfo without parameters.
type SimpleCQLType struct {
	TypeInfo
}

// Params implements CQLType.
func (SimpleCQLType) Params(int) []any { return nil }

// TypeInfoFromParams implements CQLType.
func (s SimpleCQLType) TypeInfoFromParams(int, []any) (TypeInfo, error) { return s.TypeInfo, nil }

// TypeInfoFromString implements CQLType.
func (s SimpleCQLType) TypeInfoFromString(int, string) (TypeInfo, error) { return s.TypeInfo, nil }

// RegisteredTypes are the CQL types that sessions use. The zero value has none beyond the protocol's, which vecql
// decodes itself. Types of the program serve the columns of their class, not elements of collections.
type RegisteredTypes struct {
	mu     sync.Mutex
	ids    map[Type]CQLType   // registered by RegisterType
	custom map[string]CQLType // registered by RegisterCustom, by class name
	names  map[string]string  // all names that are taken; an alias has the name that it stands for
}

// GlobalTypes are the types of sessions without ClusterConfig.RegisteredTypes.
var GlobalTypes = &RegisteredTypes{names: maps.Clone(builtIn)}

// classPrefix begins the class names of the server's own types.
const classPrefix = "org.apache.cassandra.db.marshal."

// builtIn are the names of the types of the protocol.
var builtIn = func() map[string]string {
	names := map[string]string{"varchar": "", "vector": "", "frozen": ""}
	for t := cql.TypeAscii; t <= cql.TypeTuple; t++ {
		if name := t.String(); !strings.HasPrefix(name, "unknown") {
			names[name] = ""
		}
	}
	for _, class := range []string{
		"AsciiType", "LongType", "BytesType", "BooleanType", "CounterColumnType", "SimpleDateType", "DecimalType",
		"DoubleType", "DurationType", "FloatType", "InetAddressType", "Int32Type", "ShortType", "TimeType",
		"TimestampType", "DateType", "TimeUUIDType", "ByteType", "UUIDType", "LexicalUUIDType", "UTF8Type", "IntegerType",
		"ListType", "SetType", "MapType", "TupleType", "UserType", "VectorType",
	} {
		names[class] = ""
	}
	return names
}()

// take reserves a name. Callers hold r.mu.
func (r *RegisteredTypes) take(name, as string) error {
	if _, ok := r.names[name]; ok {
		return fmt.Errorf("gocql: the type %s is registered already", name)
	}
	if r.names == nil {
		r.names = map[string]string{}
	}
	r.names[name] = as
	return nil
}

// RegisterType registers the type of an option id. The ids of the protocol keep their own types.
func (r *RegisteredTypes) RegisterType(typ Type, name string, t CQLType) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if typ == TypeCustom {
		return errors.New("gocql: register a custom type with RegisterCustom")
	}
	if _, ok := r.ids[typ]; ok || r == GlobalTypes && 0 < typ && typ <= TypeTuple {
		return fmt.Errorf("gocql: the type %d is registered already", typ)
	}
	if err := r.take(name, ""); err != nil {
		return err
	}
	if r.ids == nil {
		r.ids = map[Type]CQLType{}
	}
	r.ids[typ] = t
	return nil
}

// RegisterCustom registers the type of a class of the server.
func (r *RegisteredTypes) RegisterCustom(name string, t CQLType) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.take(name, ""); err != nil {
		return err
	}
	if r.custom == nil {
		r.custom = map[string]CQLType{}
	}
	r.custom[name] = t
	return nil
}

// AddAlias registers a further name of a registered type.
func (r *RegisteredTypes) AddAlias(name, as string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	name, as = strings.TrimPrefix(name, classPrefix), strings.TrimPrefix(as, classPrefix)
	if _, ok := r.names[as]; !ok {
		return fmt.Errorf("gocql: the type %s is not registered", as)
	}
	if err := r.take(name, as); err != nil {
		return err
	}
	if t, ok := r.custom[as]; ok {
		r.custom[name] = t
	}
	return nil
}

// Copy returns a copy.
func (r *RegisteredTypes) Copy() *RegisteredTypes {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &RegisteredTypes{ids: maps.Clone(r.ids), custom: maps.Clone(r.custom), names: maps.Clone(r.names)}
}

// userTypes returns the types of a session; nil means that the program registered none.
func userTypes(r *RegisteredTypes) *RegisteredTypes {
	if r == nil {
		r = GlobalTypes
	}
	if r = r.Copy(); len(r.custom) == 0 {
		return nil
	}
	return r
}

// class returns the registered TypeInfo of a class of the server, nil if there is none. r may be nil.
func (r *RegisteredTypes) class(class string) TypeInfo {
	if r == nil {
		return nil
	}
	name, params, _ := strings.Cut(strings.TrimSuffix(class, ")"), "(")
	t, ok := r.custom[name]
	if !ok {
		t, ok = r.custom[strings.TrimPrefix(name, classPrefix)]
	}
	if !ok {
		return nil
	}
	info, err := t.TypeInfoFromString(4, params)
	if err != nil {
		return nil
	}
	return info
}

// fromText returns the type of a text, in CQL's or the server's syntax.
func (r *RegisteredTypes) fromText(text string) (TypeInfo, error) {
	if info := r.class(text); info != nil {
		return info, nil
	}
	name, rest := text, ""
	if i := strings.IndexAny(text, "(<"); i >= 0 {
		name, rest = text[:i], text[i:]
	}
	for as := r.names[name]; as != ""; as = r.names[name] {
		name = as
	}
	text = name + rest
	parsed, err := cql.ParseType(text, nil)
	inCQL := err == nil && !strings.Contains(text, "(") && !strings.HasPrefix(text, classPrefix)
	if !inCQL {
		parsed, err = cql.ParseClassName(text)
	}
	_, unknown := parsed.(cql.CustomType)
	switch {
	case err != nil:
		return nil, fmt.Errorf("gocql: unknown type %s: %w", text, err)
	case unknown:
		return nil, fmt.Errorf("gocql: unknown type %s", text)
	case inCQL && !strings.Contains(text, "varchar"):
		return asText(fromCQL(parsed)), nil
	}
	return fromCQL(parsed), nil
}

// NewNativeType returns the TypeInfo of an option id. For TypeCustom, text is the class; for a collection or a tuple,
// its parameters. It panics if the type is unknown.
func NewNativeType(proto byte, typ Type, custom string) TypeInfo {
	text := custom
	switch typ {
	case TypeCustom:
	case TypeList, TypeSet, TypeMap, TypeTuple:
		text = cql.Type(typ).String() + "<" + custom + ">"
	default:
		if t, ok := GlobalTypes.ids[typ]; ok {
			if info, err := t.TypeInfoFromString(int(proto), custom); err == nil {
				return info
			}
		}
		return fromCQL(cql.NativeType(typ))
	}
	info, err := GlobalTypes.fromText(text)
	if err != nil {
		panic(err)
	}
	return info
}
