// SPDX-License-Identifier: Apache-2.0

package cql

import "strconv"

// Parsing of types (the rule comparatorType).

// typeName parses a type.
func (p *parser) typeName() *TypeName {
	p.enter()
	defer p.leave()
	t := p.peek()
	if t.kind == tokenString {
		p.next()
		return &TypeName{Kind: CustomType, Name: p.value(t)}
	}
	if p.isAt(1, "<") {
		switch t.word {
		case "LIST":
			return p.typeOf(ListType, 1)
		case "SET":
			return p.typeOf(SetType, 1)
		case "MAP":
			return p.typeOf(MapType, 2)
		case "TUPLE":
			return p.typeOf(TupleType, 0)
		case "VECTOR":
			return p.typeOf(VectorType, 1)
		case "FROZEN":
			return p.typeOf(FrozenType, 1)
		}
	}
	if keywords[t.word].class == native && !p.isAt(1, ".") {
		p.next()
		return &TypeName{Kind: NativeType, Name: p.nameOf(t)}
	}
	n := p.userTypeName()
	return &TypeName{Kind: UserType, Keyspace: n.Keyspace, Name: n.Name}
}

// typeOf parses name<args> with the given number of args; 0 means any. The caller has recognized the first two tokens.
func (p *parser) typeOf(kind TypeKind, args int) *TypeName {
	p.at += 2
	t := &TypeName{Kind: kind, Args: []*TypeName{p.typeName()}}
	for (args == 0 || len(t.Args) < args) && p.accept(",") {
		t.Args = append(t.Args, p.typeName())
	}
	switch {
	case len(t.Args) < args:
		p.expect(",")
	case kind == VectorType:
		t.Dim = p.dimension()
	case kind == FrozenType && t.Args[0].Kind == NativeType:
		p.failf("frozen<> is only allowed on collections, tuples, and user-defined types (got %s)", t.Args[0].Name)
	}
	p.expect(">")
	return t
}

// dimension parses ", n" of a vector.
func (p *parser) dimension() int {
	p.expect(",")
	t := p.peek()
	if t.kind != tokenInteger {
		p.mismatched("INTEGER")
		return 0
	}
	n, err := strconv.ParseInt(p.source(t), 10, 32)
	if err != nil {
		p.noViable()
		return 0
	}
	p.next()
	return int(n)
}

// reservedTypeNames are not keywords, but reserved for future types, in lower case only.
var reservedTypeNames = map[string]bool{
	"byte": true, "complex": true, "enum": true, "interval": true, "macaddr": true,
	"bitstring": true,
}

// userTypeName parses the name of a user-defined type.
func (p *parser) userTypeName() Name {
	var n Name
	if p.isAt(1, ".") {
		n.Keyspace = p.name()
		p.expect(".")
	}
	t := p.peek()
	if class := keywords[t.word].class; class == native || class == special && t.word != "KEY" {
		p.noViable()
		return n
	}
	if t.kind == tokenIdent {
		if s := p.source(t); reservedTypeNames[s] {
			p.failf("Invalid (reserved) user type name %s", s)
			return n
		}
	}
	n.Name = p.name()
	return n
}
