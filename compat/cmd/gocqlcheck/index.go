// SPDX-License-Identifier: Apache-2.0

package main

import "go/types"

// An index has the names of the fields and methods of packages, with the type before a dot.
type index map[*types.Package]map[types.Object]string

// of returns the name of a package's object, as rules have it.
func (i index) of(o types.Object) string {
	members, ok := i[o.Pkg()]
	if !ok {
		members = membersOf(o.Pkg())
		i[o.Pkg()] = members
	}
	if name, ok := members[o]; ok {
		return name
	}
	return o.Name()
}

// membersOf returns the names of the fields and methods that the package declares.
func membersOf(p *types.Package) map[types.Object]string {
	members := map[types.Object]string{}
	for _, name := range p.Scope().Names() {
		declared, ok := p.Scope().Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		if named, ok := declared.Type().(*types.Named); ok {
			for i := range named.NumMethods() {
				members[named.Method(i)] = name + "." + named.Method(i).Name()
			}
		}
		switch t := declared.Type().Underlying().(type) {
		case *types.Struct:
			for i := range t.NumFields() {
				members[t.Field(i)] = name + "." + t.Field(i).Name()
			}
		case *types.Interface:
			for i := range t.NumExplicitMethods() {
				members[t.ExplicitMethod(i)] = name + "." + t.ExplicitMethod(i).Name()
			}
		}
	}
	return members
}
