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

// String returns the statement as CQL.
func (s *ListRoles) String() string {
	return statementString(func(w *writer) {
		w.WriteString("LIST ROLES")
		w.opt(s.Of != "", " OF ", QuoteIdent(s.Of))
		w.opt(s.NoRecursive, " NORECURSIVE")
	})
}
