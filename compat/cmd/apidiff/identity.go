// SPDX-License-Identifier: Apache-2.0

package apidiff

import (
	"go/types"
	"slices"
)

// An identity decides which type of the compat module stands for which type of the original. Both declare the same
// paths, so types with one path and name are the same; an alias makes a type of another package stand for its name.
type identity struct {
	realNames, compatNames map[*types.TypeName][]string
	realOf, compatOf       map[string]*types.TypeName
	assumed                map[[2]*types.TypeName]bool // pairs under comparison, because types may contain themselves
}

func newIdentity(original, compat edition) *identity {
	id := &identity{
		realNames:   original.publicNames(),
		compatNames: compat.publicNames(),
		assumed:     map[[2]*types.TypeName]bool{},
	}
	id.realOf, id.compatOf = byName(id.realNames), byName(id.compatNames)
	return id
}

func byName(names map[*types.TypeName][]string) map[string]*types.TypeName {
	of := map[string]*types.TypeName{}
	for t, all := range names {
		for _, name := range all {
			of[name] = t
		}
	}
	return of
}

// same reports whether two types are the same, but for the packages that declare them. Parameter names do not count.
func (id *identity) same(want, got types.Type) bool {
	want, got = types.Unalias(want), types.Unalias(got)
	switch want := want.(type) {
	case *types.Named:
		got, ok := got.(*types.Named)
		return ok && id.sameNamed(want, got)
	case *types.Basic:
		got, ok := got.(*types.Basic)
		return ok && want.Kind() == got.Kind()
	case *types.Pointer:
		got, ok := got.(*types.Pointer)
		return ok && id.same(want.Elem(), got.Elem())
	case *types.Slice:
		got, ok := got.(*types.Slice)
		return ok && id.same(want.Elem(), got.Elem())
	case *types.Array:
		got, ok := got.(*types.Array)
		return ok && want.Len() == got.Len() && id.same(want.Elem(), got.Elem())
	case *types.Map:
		got, ok := got.(*types.Map)
		return ok && id.same(want.Key(), got.Key()) && id.same(want.Elem(), got.Elem())
	case *types.Chan:
		got, ok := got.(*types.Chan)
		return ok && want.Dir() == got.Dir() && id.same(want.Elem(), got.Elem())
	case *types.Signature:
		got, ok := got.(*types.Signature)
		return ok && want.Variadic() == got.Variadic() && want.TypeParams().Len() == got.TypeParams().Len() &&
			id.sameTuple(want.Params(), got.Params()) && id.sameTuple(want.Results(), got.Results())
	case *types.Struct:
		got, ok := got.(*types.Struct)
		return ok && id.sameStruct(want, got)
	case *types.Interface:
		got, ok := got.(*types.Interface)
		return ok && open(want) == open(got) && id.sameMethods(want, got)
	case *types.TypeParam:
		got, ok := got.(*types.TypeParam)
		return ok && want.Index() == got.Index()
	}
	return false
}

func (id *identity) sameTuple(want, got *types.Tuple) bool {
	if want.Len() != got.Len() {
		return false
	}
	for i := range want.Len() {
		if !id.same(want.At(i).Type(), got.At(i).Type()) {
			return false
		}
	}
	return true
}

// sameNamed reports whether two declared types have a public name in common. Types without public names, which programs
// can use but not name, are the same if programs can do the same with them.
func (id *identity) sameNamed(want, got *types.Named) bool {
	w, g := want.Obj(), got.Obj()
	if !id.sameArgs(want.TypeArgs(), got.TypeArgs()) && want.TypeArgs().Len() > 0 {
		return false // an alias of an instance of a generic type stands for a type without arguments
	}
	if full(w) == full(g) && (w.Exported() || w.Pkg() == nil) {
		return true
	}
	for _, name := range id.realNames[w] {
		if full(g) == name || slices.Contains(id.compatNames[g], name) {
			return true
		}
	}
	if len(id.realNames[w]) > 0 || w.Pkg() == nil || g.Pkg() == nil {
		return false
	}
	pair := [2]*types.TypeName{w, g}
	if id.assumed[pair] {
		return true
	}
	id.assumed[pair] = true
	defer delete(id.assumed, pair)
	return id.sameMethods(want, got) && id.sameUse(want.Underlying(), got.Underlying())
}

func (id *identity) sameArgs(want, got *types.TypeList) bool {
	if want.Len() != got.Len() {
		return false
	}
	for i := range want.Len() {
		if !id.same(want.At(i), got.At(i)) {
			return false
		}
	}
	return true
}

// sameUse reports whether what two unnamed types are made of looks the same to a program.
func (id *identity) sameUse(want, got types.Type) bool {
	w, ok := want.(*types.Struct)
	if !ok {
		return id.same(want, got)
	}
	g, ok := got.(*types.Struct)
	return ok && id.sameFields(promoted(w), promoted(g))
}

// sameStruct reports whether two structs without a name are the same.
func (id *identity) sameStruct(want, got *types.Struct) bool {
	return want.NumFields() == got.NumFields() && id.sameFields(promoted(want), promoted(got))
}

func (id *identity) sameFields(want, got []field) bool {
	return slices.EqualFunc(want, got, func(w, g field) bool {
		return w.Name() == g.Name() && w.tag == g.tag && w.Embedded() == g.Embedded() && id.same(w.Type(), g.Type())
	})
}

func (id *identity) sameMethods(want, got types.Type) bool {
	wanted, methods := methodsOf(want), methodsOf(got)
	if len(wanted) != len(methods) {
		return false
	}
	for name, m := range wanted {
		other, ok := methods[name]
		if !ok || m.pointer != other.pointer || !id.same(m.Type(), other.Type()) {
			return false
		}
	}
	return true
}

// full returns the path and the name of the type.
func full(t *types.TypeName) string {
	if t.Pkg() == nil {
		return t.Name()
	}
	return t.Pkg().Path() + "." + t.Name()
}
