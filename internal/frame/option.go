// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// The [option] of a type (native_protocol_v5.spec, section 4.2.5.2).

// maxOptionDepth bounds the nesting of types. Servers have no limit; real schemas stay below ten.
const maxOptionDepth = 64

// parseOption reads an [option]. It stores an error in r.
func parseOption(r *wire.Reader) cql.TypeInfo { return parseOptionDepth(r, 0) }

// parseOptionDepth parses an [option] at the given nesting depth. Errors stay in r, whose caller checks r.Err.
func parseOptionDepth(r *wire.Reader, depth int) cql.TypeInfo {
	if depth > maxOptionDepth {
		r.Fail(&cql.TypeError{Text: "[option]", Offset: r.Offset(), Reason: "types are nested too deep"})
	}
	id := cql.Type(r.Short())
	if r.Err() != nil {
		return nil
	}
	switch id {
	case cql.TypeCustom:
		t, err := cql.ParseClassName(r.String())
		if err != nil {
			r.Fail(err)
		}
		return t
	case cql.TypeList:
		return cql.NewListType(parseOptionDepth(r, depth+1))
	case cql.TypeSet:
		return cql.NewSetType(parseOptionDepth(r, depth+1))
	case cql.TypeMap:
		key := parseOptionDepth(r, depth+1)
		return cql.NewMapType(key, parseOptionDepth(r, depth+1))
	case cql.TypeTuple:
		var t cql.TupleTypeInfo
		for n := r.ShortCount(2); n > 0 && r.Err() == nil; n-- {
			t.Elems = append(t.Elems, parseOptionDepth(r, depth+1))
		}
		return t
	case cql.TypeUDT:
		t := cql.UDTTypeInfo{Keyspace: r.String(), Name: r.String()}
		for n := r.ShortCount(4); n > 0 && r.Err() == nil; n-- {
			t.Elements = append(t.Elements, cql.UDTField{Name: r.String(), Type: parseOptionDepth(r, depth+1)})
		}
		return t
	case cql.TypeText:
		return cql.NativeType(cql.TypeVarchar)
	}
	if _, ok := nativeTypes[id]; !ok {
		r.Fail(&cql.TypeError{Text: "[option] " + id.String(), Offset: r.Offset(), Reason: "unknown type"})
	}
	return cql.NativeType(id)
}

// nativeTypes are the types whose [option] is only their id.
var nativeTypes = func() map[cql.Type]bool {
	m := map[cql.Type]bool{}
	for t := cql.TypeAscii; t <= cql.TypeDuration; t++ {
		m[t] = true
	}
	return m
}()
