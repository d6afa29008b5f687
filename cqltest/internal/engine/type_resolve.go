// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Resolution of type names in CQL to types.

// typeName resolves a type name.
func (c *compiler) typeName(n *cql.TypeName) (*Type, error) {
	return c.s.resolveType(c.typeKeyspace(), n, nil, 0)
}

func (c *compiler) typeKeyspace() string {
	if c.t != nil {
		return c.t.ks
	}
	return c.ks
}

// resolveType resolves a type name. ks is the keyspace of user-defined types, outer the type that contains n.
func (s *schema) resolveType(ks string, n, outer *cql.TypeName, depth int) (*Type, error) {
	if depth > maxDepth {
		return nil, invalid("Type is nested too deeply")
	}
	elems := make([]*Type, len(n.Args))
	for i, a := range n.Args {
		t, err := s.resolveType(ks, a, n, depth+1)
		if err != nil {
			return nil, err
		}
		elems[i] = t
	}
	switch n.Kind {
	case cql.NativeType:
		t := nativeByName[n.Name]
		if t == nil {
			return nil, invalid("Unknown type %s", n.Name)
		}
		switch {
		case t.Kind != KindCounter || depth == 0 || outer.Kind == cql.VectorType:
		case outer.Kind == cql.TupleType:
			return nil, invalid("Counters are not allowed inside tuples")
		default:
			return nil, invalid("Counters are not allowed inside collections: %s", outer)
		}
		return t, nil
	case cql.ListType:
		return &Type{Kind: KindList, Elems: elems}, nested(n, elems)
	case cql.SetType:
		if err := noDuration(elems[0], "inside sets", n); err != nil {
			return nil, err
		}
		return &Type{Kind: KindSet, Elems: elems}, nested(n, elems)
	case cql.MapType:
		if err := noDuration(elems[0], "as map keys", n); err != nil {
			return nil, err
		}
		return &Type{Kind: KindMap, Elems: elems}, nested(n, elems)
	case cql.TupleType:
		return &Type{Kind: KindTuple, Elems: freezeAll(elems), Frozen: true}, nil
	case cql.VectorType:
		if n.Dim <= 0 {
			return nil, invalid("vectors may only have positive dimensions; given %d", n.Dim)
		}
		if n.Dim > 1<<16 {
			return nil, invalid("vectors may have at most %d dimensions; given %d", 1<<16, n.Dim)
		}
		return &Type{Kind: KindVector, Elems: elems, Dim: n.Dim, Frozen: true}, nil
	case cql.FrozenType:
		if t := elems[0]; !t.isCollection() && t.Kind != KindUDT && t.Kind != KindTuple && t.Kind != KindVector {
			return nil, invalid("frozen<> is only allowed on collections, tuples, and user-defined types (got %s)", n.Args[0])
		}
		return freeze(elems[0]), nil
	case cql.UserType:
		name := ks
		if n.Keyspace != "" {
			if name = n.Keyspace; ks != "" && n.Keyspace != ks {
				return nil, invalid("Statement on keyspace %s cannot refer to a user type in keyspace %s; user types can only be used in the keyspace "+
					"they are defined in", ks, n.Keyspace)
			}
		}
		if k := s.keyspaces[name]; k != nil && k.types[n.Name] != nil {
			return k.types[n.Name], nil
		}
		return nil, invalid("Unknown type %s.%s", name, n.Name)
	}
	return nil, invalid("Custom types are not supported: %s", n)
}

// nested refuses non-frozen collections inside others.
func nested(n *cql.TypeName, elems []*Type) error {
	for _, t := range elems {
		if t.multiCell() {
			if t.Kind == KindUDT {
				return invalid("Non-frozen UDTs are not allowed inside collections: %s", n)
			}
			return invalid("Non-frozen collections are not allowed inside collections: %s", n)
		}
	}
	return nil
}

func noDuration(t *Type, where string, n *cql.TypeName) error {
	if t.Kind == KindDuration {
		return invalid("Durations are not allowed %s: %s", where, n)
	}
	return nil
}

// freeze returns the type with frozen set, also inside.
func freeze(t *Type) *Type {
	switch t.Kind {
	case KindList, KindSet, KindMap, KindUDT:
		f := *t
		f.Frozen, f.Elems = true, freezeAll(t.Elems)
		return &f
	}
	return t
}

func freezeAll(types []*Type) []*Type {
	out := make([]*Type, len(types))
	for i, t := range types {
		out[i] = freeze(t)
	}
	return out
}
