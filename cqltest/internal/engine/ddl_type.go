// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Changes of user-defined types.

// createType executes CREATE TYPE. Fields may be of types that exist already.
func (c *changer) createType(s *cql.CreateType) error {
	k, err := c.keyspace(s.Name.Keyspace)
	if err != nil {
		return err
	}
	name := s.Name.Name
	if k.types[name] != nil {
		if s.IfNotExists {
			return nil
		}
		return invalid("A user type with name '%s' already exists", name)
	}
	t := &Type{Kind: KindUDT, Keyspace: k.name, Name: name}
	for _, f := range s.Fields {
		if slices.Contains(t.Fields, f.Name) {
			return invalid("Duplicate field name '%s' in type '%s'", f.Name, name)
		}
		if err := c.addField(t, f); err != nil {
			return err
		}
	}
	k.types[name] = t
	c.s = c.s.with(k)
	c.done("CREATED", "TYPE", k.name, name)
	return nil
}

// addField adds a field to a new or altered type. UDTs in it are frozen, and the depth of nesting is bounded.
func (c *changer) addField(t *Type, f cql.FieldDef) error {
	if f.Type.Kind == cql.UserType {
		return invalid("A user type cannot contain non-frozen UDTs")
	}
	typ, err := c.s.resolveType(t.Keyspace, f.Type, nil, 0)
	if err != nil {
		return err
	}
	if typ.Kind == KindCounter {
		return invalid("A user type cannot contain counters")
	}
	if typeDepth(typ) >= maxDepth {
		return invalid("Type is nested too deeply")
	}
	t.Fields, t.Elems = append(t.Fields, f.Name), append(t.Elems, typ)
	return nil
}

func typeDepth(t *Type) int {
	d := 0
	for _, e := range t.Elems {
		d = max(d, typeDepth(e))
	}
	return d + 1
}

// alterType executes ALTER TYPE. Types are immutable, so it replaces the type in all types and tables that contain it.
func (c *changer) alterType(s *cql.AlterType) error {
	k, err := c.existing(s.Name, s.IfExists, "Type %s.%s doesn't exist", func(k *keyspace) bool {
		return k.types[s.Name.Name] != nil
	})
	if k == nil {
		return err
	}
	old := k.types[s.Name.Name]
	t := *old
	t.Fields, t.Elems = slices.Clone(old.Fields), slices.Clone(old.Elems)
	if err := c.alterFields(&t, old, s); err != nil {
		return err
	}
	if s.IfField && slices.Equal(t.Fields, old.Fields) {
		return nil
	}
	c.installType(k, old, &t)
	return nil
}

// alterFields adds or renames the fields of t, a copy of old.
func (c *changer) alterFields(t, old *Type, s *cql.AlterType) error {
	switch s.Action {
	case cql.AlterAdd:
		for _, f := range s.Fields {
			if slices.Contains(t.Fields, f.Name) {
				if s.IfField {
					continue
				}
				return invalid("Cannot add field %s to type %s.%s: a field with name %s already exists", f.Name, t.Keyspace, t.Name,
					f.Name)
			}
			before := len(t.Elems)
			if err := c.addField(t, f); err != nil {
				return err
			}
			if mentions(t.Elems[before], old) {
				return invalid("Cannot add new field %s of type %s to user type %s.%s as it would create a circular reference",
					f.Name, t.Elems[before], t.Keyspace, t.Name)
			}
		}
	case cql.AlterRename:
		for _, r := range s.Renames {
			i := slices.Index(t.Fields, r.From)
			if i < 0 {
				if s.IfField {
					continue
				}
				return invalid("Unkown field %s in user type %s.%s", r.From, t.Keyspace, t.Name) //nolint:misspell // so does Cassandra
			}
			if slices.Contains(t.Fields, r.To) {
				return invalid("Duplicate field name %s in type %s", r.To, t.Name)
			}
			t.Fields[i] = r.To
		}
	default:
		return invalid("Altering field types is no longer supported")
	}
	return nil
}

// installType replaces the type old by t in the keyspace, and in the types and tables that contain it.
func (c *changer) installType(k *keyspace, old, t *Type) {
	k.types[t.Name] = t
	var users []string // types that contain it
	for _, name := range sortedKeys(k.types) {
		if other := k.types[name]; name != t.Name && mentions(other, old) {
			k.types[name] = replaceType(other, old, t)
			users = append(users, name)
		}
	}
	for tab := range k.tables.all() { // of the map before the changes
		if !slices.ContainsFunc(tab.all, func(col *column) bool { return mentions(col.typ, old) }) {
			continue
		}
		n := tab.clone()
		for _, col := range slices.Concat(n.pk, n.ck, n.rest) {
			col.typ = replaceType(col.typ, old, t)
		}
		n.finish()
		k.tables = k.tables.with(n)
	}
	c.s = c.s.with(k)
	c.done("UPDATED", "TYPE", k.name, t.Name)
	for _, name := range users {
		c.done("UPDATED", "TYPE", k.name, name)
	}
}

func isType(t, udt *Type) bool {
	return t.Kind == KindUDT && t.Name == udt.Name && t.Keyspace == udt.Keyspace
}

// mentions reports whether t is udt or contains it.
func mentions(t, udt *Type) bool {
	return isType(t, udt) || slices.ContainsFunc(t.Elems, func(e *Type) bool { return mentions(e, udt) })
}

// replaceType returns t with old replaced by changed.
func replaceType(t, old, changed *Type) *Type {
	if isType(t, old) {
		if t.Frozen {
			return freeze(changed)
		}
		return changed
	}
	if !mentions(t, old) {
		return t
	}
	n := *t
	n.Elems = make([]*Type, len(t.Elems))
	for i, e := range t.Elems {
		n.Elems[i] = replaceType(e, old, changed)
	}
	return &n
}

// dropType executes DROP TYPE. A type that a type or table uses cannot be dropped.
func (c *changer) dropType(s *cql.DropType) error {
	k, err := c.existing(s.Name, s.IfExists, "Type '%s.%s' doesn't exist", func(k *keyspace) bool {
		return k.types[s.Name.Name] != nil
	})
	if k == nil {
		return err
	}
	t := k.types[s.Name.Name]
	var users []string
	for _, name := range sortedKeys(k.types) {
		if name != t.Name && mentions(k.types[name], t) {
			users = append(users, name)
		}
	}
	if len(users) > 0 {
		return invalid("Cannot drop user type '%s.%s' as it is still used by user types %s", k.name, t.Name,
			strings.Join(users, ", "))
	}
	for _, tab := range k.tables.sorted() {
		if slices.ContainsFunc(tab.all, func(col *column) bool { return mentions(col.typ, t) }) {
			users = append(users, tab.name)
		}
	}
	if len(users) > 0 {
		return invalid("Cannot drop user type '%s.%s' as it is still used by tables %s", k.name, t.Name,
			strings.Join(users, ", "))
	}
	delete(k.types, t.Name)
	c.s = c.s.with(k)
	c.done("DROPPED", "TYPE", k.name, t.Name)
	return nil
}
