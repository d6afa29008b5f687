// SPDX-License-Identifier: Apache-2.0

// Package apidiff compares the exported names of the compat modules with the names of the APIs that they stand for:
// constants and their values, variables, functions, types, fields and their order, methods of values and of pointers.
// Its tests list each difference with its reason, and hold what docs/gocql states.
package apidiff

import (
	"fmt"
	"go/constant"
	"go/types"
	"slices"
	"strings"
)

// A comparison collects the differences between two editions of an API.
type comparison struct {
	*identity
	real, compat edition
	lines        []string
}

// compare returns one line for each difference, in order. A line begins with missing, extra or differs.
func compare(original, compat edition) []string {
	c := &comparison{identity: newIdentity(original, compat), real: original, compat: compat}
	for _, path := range original.paths() {
		if compat[path] == nil {
			c.report("missing", "package "+path, "")
			continue
		}
		c.packages(original[path], compat[path])
	}
	for _, path := range compat.paths() {
		if original[path] == nil {
			c.report("extra", "package "+path, "")
		}
	}
	c.aliases()
	slices.Sort(c.lines)
	return slices.Compact(c.lines)
}

func (c *comparison) report(kind, name, detail string) {
	line := kind + " " + name
	if detail != "" {
		line += ": " + detail
	}
	c.lines = append(c.lines, line)
}

// differs reports a difference between the descriptions of the compat module's item and of the original's.
func (c *comparison) differs(name, got, want string) {
	c.report("differs", name, fmt.Sprintf("%s, want %s", got, want))
}

// packages compares the exported names of a package.
func (c *comparison) packages(original, compat *types.Package) {
	for _, name := range original.Scope().Names() {
		want := original.Scope().Lookup(name)
		if !want.Exported() {
			continue
		}
		full := original.Name() + "." + name
		if got := compat.Scope().Lookup(name); got == nil {
			c.report("missing", full, describe(want))
		} else {
			c.objects(full, want, got)
		}
	}
	for _, name := range compat.Scope().Names() {
		got := compat.Scope().Lookup(name)
		if got.Exported() && original.Scope().Lookup(name) == nil {
			c.report("extra", compat.Name()+"."+name, describe(got))
		}
	}
}

// objects compares two declarations of one name.
func (c *comparison) objects(name string, want, got types.Object) {
	switch want := want.(type) {
	case *types.Const:
		other, ok := got.(*types.Const)
		if !ok || !c.same(want.Type(), other.Type()) || !constant.Compare(want.Val(), tokenEqual, other.Val()) {
			c.differs(name, describe(got), describe(want))
		}
	case *types.TypeName:
		other, ok := got.(*types.TypeName)
		if !ok {
			c.differs(name, describe(got), describe(want))
			return
		}
		c.types(name, want.Type(), other.Type())
	case *types.Var:
		if _, ok := got.(*types.Var); !ok || !c.same(want.Type(), got.Type()) {
			c.differs(name, describe(got), describe(want))
		}
	case *types.Func:
		// A variable of a function type is called alike, but may be assigned.
		if _, ok := got.(*types.Func); !ok || !c.same(want.Type(), got.Type()) {
			c.differs(name, describe(got), describe(want))
		}
	}
}

// types compares two declared types: what they are made of, their methods, and whether == applies.
func (c *comparison) types(name string, want, got types.Type) {
	want, got = types.Unalias(want), types.Unalias(got)
	if _, ok := want.(*types.Named); !ok {
		if !c.same(want, got) {
			c.differs(name, text(got), text(want))
		}
		return
	}
	if _, ok := got.(*types.Named); !ok {
		c.differs(name, "alias of "+text(got), "a defined type")
		return
	}
	switch underlying := want.Underlying().(type) {
	case *types.Struct:
		other, ok := got.Underlying().(*types.Struct)
		if !ok {
			c.differs(name, text(got.Underlying()), "struct")
			break
		}
		c.fields(name, underlying, other)
	case *types.Interface:
		other, ok := got.Underlying().(*types.Interface)
		if !ok {
			c.differs(name, text(got.Underlying()), "interface")
			break
		}
		if open(underlying) && !open(other) {
			c.differs(name, "sealed", "an interface that programs can implement")
		}
	default:
		if !c.same(underlying, got.Underlying()) {
			c.differs(name, text(got.Underlying()), text(underlying))
		}
	}
	c.methods(name, want, got)
	if types.Comparable(want) != types.Comparable(got) {
		c.differs(name, comparability(got), comparability(want))
	}
}

// fields compares the exported fields of two structs, and their order where a literal without keys is possible.
func (c *comparison) fields(name string, want, got *types.Struct) {
	fields := promoted(got)
	for _, f := range promoted(want) {
		i := slices.IndexFunc(fields, func(g field) bool { return g.Name() == f.Name() })
		switch full := name + "." + f.Name(); {
		case i < 0:
			c.report("missing", full, text(f.Type()))
		case !c.same(f.Type(), fields[i].Type()) || f.Embedded() != fields[i].Embedded():
			c.differs(full, fields[i].text(), f.text())
		case f.tag != fields[i].tag:
			c.differs(full, "tag "+fields[i].tag, "tag "+f.tag)
		}
	}
	for _, f := range fields {
		if !slices.ContainsFunc(promoted(want), func(w field) bool { return f.Name() == w.Name() }) {
			c.report("extra", name+"."+f.Name(), text(f.Type()))
		}
	}
	if order := names(want); want.NumFields() > 0 && exported(want) && !slices.Equal(order, names(got)) {
		c.differs(name, "fields in order "+strings.Join(names(got), ", "), strings.Join(order, ", "))
	}
}

// methods compares the exported methods of two types, and which of them need a pointer.
func (c *comparison) methods(name string, want, got types.Type) {
	wanted, methods := methodsOf(want), methodsOf(got)
	for id, m := range wanted {
		switch other, ok := methods[id]; {
		case !ok:
			c.report("missing", name+"."+id, m.text())
		case !c.same(m.Type(), other.Type()) || m.pointer != other.pointer:
			c.differs(name+"."+id, other.text(), m.text())
		}
	}
	for id, m := range methods {
		if _, ok := wanted[id]; !ok {
			c.report("extra", name+"."+id, m.text())
		}
	}
}

// aliases compares which names are one type: a type switch over two names of one type does not compile.
func (c *comparison) aliases() {
	for name, own := range c.compatOf {
		want := c.realOf[name]
		for other, o := range c.compatOf {
			if name < other && want != nil && c.realOf[other] != nil {
				if one, wanted := own == o, want == c.realOf[other]; one != wanted {
					c.differs(short(name), sameness(one)+" "+short(other), sameness(wanted)+" it")
				}
			}
		}
	}
}

func sameness(one bool) string {
	if one {
		return "one type with"
	}
	return "another type than"
}

func comparability(t types.Type) string {
	if types.Comparable(t) {
		return "comparable"
	}
	return "not comparable"
}

// short returns the name of a package without its folders, and the item.
func short(name string) string { return name[strings.LastIndex(name, "/")+1:] }
