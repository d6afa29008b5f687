// SPDX-License-Identifier: Apache-2.0

package vecql

import "github.com/vecql/vecql/internal/wire"

// The [option] of a type (native_protocol_v5.spec, section 4.2.5.2).

// maxOptionDepth bounds the nesting of types. Servers have no limit; real schemas stay below ten.
const maxOptionDepth = 64

// parseOption reads an [option]. It stores an error in r.
func parseOption(r *wire.Reader) TypeInfo { return parseOptionDepth(r, 0) }

// parseOptionDepth parses an [option] at the given nesting depth. Errors stay in r, whose caller checks r.Err.
func parseOptionDepth(r *wire.Reader, depth int) TypeInfo {
	if depth > maxOptionDepth {
		r.Fail(&TypeError{Text: "[option]", Offset: r.Offset(), Reason: "types are nested too deep"})
	}
	id := Type(r.Short())
	if r.Err() != nil {
		return nil
	}
	switch id {
	case TypeCustom:
		t, err := ParseClassName(r.String())
		if err != nil {
			r.Fail(err)
		}
		return t
	case TypeList:
		return NewListType(parseOptionDepth(r, depth+1))
	case TypeSet:
		return NewSetType(parseOptionDepth(r, depth+1))
	case TypeMap:
		key := parseOptionDepth(r, depth+1)
		return NewMapType(key, parseOptionDepth(r, depth+1))
	case TypeTuple:
		var t TupleTypeInfo
		for n := r.ShortCount(2); n > 0 && r.Err() == nil; n-- {
			t.Elems = append(t.Elems, parseOptionDepth(r, depth+1))
		}
		return t
	case TypeUDT:
		t := UDTTypeInfo{Keyspace: r.String(), Name: r.String()}
		for n := r.ShortCount(4); n > 0 && r.Err() == nil; n-- {
			t.Elements = append(t.Elements, UDTField{Name: r.String(), Type: parseOptionDepth(r, depth+1)})
		}
		return t
	case TypeText:
		return NativeType(TypeVarchar)
	}
	if _, ok := nativeTypes[id]; !ok {
		r.Fail(&TypeError{Text: "[option] " + id.String(), Offset: r.Offset(), Reason: "unknown type"})
	}
	return NativeType(id)
}

// nativeTypes are the types whose [option] is only their id.
var nativeTypes = func() map[Type]bool {
	m := map[Type]bool{}
	for t := TypeAscii; t <= TypeDuration; t++ {
		m[t] = true
	}
	return m
}()
