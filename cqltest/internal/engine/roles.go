// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// roles returns the names of the roles, sorted; an error if clients are anonymous.
func (e *Engine) roles() ([]string, error) {
	var roles []string
	if e.options.Roles != nil {
		roles = slices.Sorted(slices.Values(e.options.Roles()))
	}
	if len(roles) == 0 {
		return nil, &Error{
			Code: CodeUnauthorized, Message: "You have to be logged in and not anonymous to perform this request",
		}
	}
	return roles, nil
}

// listRoles executes LIST ROLES. Every role may log in and is a superuser: there are no permissions.
func (e *Engine) listRoles(s *cql.ListRoles) (*Result, error) {
	roles, err := e.roles()
	switch {
	case err != nil:
		return nil, err
	case s.Of != "" && !slices.Contains(roles, s.Of):
		return nil, invalid("<role %s> doesn't exist", s.Of)
	case s.Of != "":
		roles = []string{s.Of}
	}
	text := Native("text")
	options := MapOf(text, text)
	res := &Result{Kind: ResultRows}
	for _, c := range []Column{
		{Name: "role", Type: text},
		{Name: "super", Type: Native("boolean")},
		{Name: "login", Type: Native("boolean")},
		{Name: "options", Type: options},
		{Name: "datacenters", Type: text},
	} {
		c.Keyspace, c.Table = "system_auth", "roles"
		res.Columns = append(res.Columns, c)
	}
	for _, role := range roles {
		res.Rows = append(res.Rows, [][]byte{
			[]byte(role), boolBytes(true), boolBytes(true), joinCollection(options, nil), []byte("ALL"),
		})
	}
	return res, nil
}
