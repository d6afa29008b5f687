// SPDX-License-Identifier: Apache-2.0

package apidiff

import (
	"go/constant"
	"go/token"
	"go/types"
)

// What a program sees of a type: its exported fields and methods.

const tokenEqual = token.EQL

// A field is an exported field of a struct, or of an unexported struct that is embedded in it.
type field struct {
	*types.Var
	tag string
}

func (f field) text() string {
	if f.Embedded() {
		return "embedded " + text(f.Type())
	}
	return text(f.Type())
}

// promoted returns the fields that a program can select.
func promoted(s *types.Struct) []field {
	var fields []field
	for i := range s.NumFields() {
		f := s.Field(i)
		if f.Exported() {
			fields = append(fields, field{f, s.Tag(i)})
			continue
		}
		if !f.Embedded() {
			continue
		}
		t := f.Type()
		if p, ok := types.Unalias(t).(*types.Pointer); ok {
			t = p.Elem()
		}
		if inner, ok := t.Underlying().(*types.Struct); ok {
			fields = append(fields, promoted(inner)...)
		}
	}
	return fields
}

// names returns the names of the fields in order.
func names(s *types.Struct) []string {
	all := make([]string, s.NumFields())
	for i := range all {
		all[i] = s.Field(i).Name()
	}
	return all
}

// exported reports whether the struct has exported fields only.
func exported(s *types.Struct) bool {
	for i := range s.NumFields() {
		if !s.Field(i).Exported() {
			return false
		}
	}
	return true
}

// A method is an exported method of a type.
type method struct {
	*types.Func
	pointer bool // values do not have it, only pointers
}

func (m method) text() string {
	if m.pointer {
		return text(m.Type()) + " of a pointer"
	}
	return text(m.Type())
}

// methodsOf returns the exported methods of values and pointers of the type, promoted ones too.
func methodsOf(t types.Type) map[string]method {
	values := types.NewMethodSet(t)
	all := values
	if !types.IsInterface(t) {
		all = types.NewMethodSet(types.NewPointer(t))
	}
	methods := map[string]method{}
	for i := range all.Len() {
		f, ok := all.At(i).Obj().(*types.Func)
		if ok && f.Exported() {
			methods[f.Name()] = method{f, values.Lookup(f.Pkg(), f.Name()) == nil}
		}
	}
	return methods
}

// open reports whether types of other packages can implement the interface.
func open(i *types.Interface) bool {
	for k := range i.NumMethods() {
		if !i.Method(k).Exported() {
			return false
		}
	}
	return true
}

// text returns the type as a program of another package writes it.
func text(t types.Type) string {
	return types.TypeString(t, (*types.Package).Name)
}

// describe returns the kind and the type of a declaration, and the value of a constant.
func describe(o types.Object) string {
	switch o := o.(type) {
	case *types.Const:
		value := o.Val().ExactString()
		if o.Val().Kind() == constant.String {
			value = o.Val().String()
		}
		return "const " + text(o.Type()) + " = " + value
	case *types.TypeName:
		if o.IsAlias() {
			return "type = " + text(types.Unalias(o.Type()))
		}
		switch o.Type().Underlying().(type) {
		case *types.Struct:
			return "type struct"
		case *types.Interface:
			return "type interface"
		}
		return "type " + text(o.Type().Underlying())
	case *types.Var:
		return "var " + text(o.Type())
	}
	return text(o.Type())
}
