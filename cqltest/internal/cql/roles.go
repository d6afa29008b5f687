// SPDX-License-Identifier: Apache-2.0

package cql

// A ListRoles is LIST ROLES. Other statements about roles are Unsupported.
type ListRoles struct {
	bound
	Of          string // "" means all roles
	NoRecursive bool
}

// listRoles parses LIST ROLES.
func (p *parser) listRoles() Statement {
	p.expect("LIST", "ROLES")
	st := &ListRoles{}
	if p.accept("OF") {
		if t := p.peek(); t.kind == tokenString {
			st.Of = p.value(p.next())
		} else {
			st.Of = p.name()
		}
	}
	st.NoRecursive = p.accept("NORECURSIVE")
	return st
}
