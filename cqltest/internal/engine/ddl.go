// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"maps"
	"regexp"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Changes of the schema: how a statement changes it, names, keyspaces.

// changeOf returns the table or keyspace that a schema statement changes, and the function that executes it: it
// replaces c.s by a schema with the change and appends the changes to announce. ks is the keyspace of the connection.
func changeOf(ks string, tree cql.Statement) (Name, func(c *changer) error) {
	name := func(n cql.Name) Name { return Name{cmp.Or(n.Keyspace, ks), n.Name} }
	switch s := tree.(type) {
	case *cql.CreateKeyspace:
		return Name{Keyspace: s.Name}, func(c *changer) error { return c.createKeyspace(s) }
	case *cql.AlterKeyspace:
		return Name{Keyspace: s.Name}, func(c *changer) error { return c.alterKeyspace(s) }
	case *cql.DropKeyspace:
		return Name{Keyspace: s.Name}, func(c *changer) error { return c.dropKeyspace(s) }
	case *cql.CreateTable:
		return name(s.Name), func(c *changer) error { return c.createTable(s) }
	case *cql.AlterTable:
		return name(s.Name), func(c *changer) error { return c.alterTable(s) }
	case *cql.DropTable:
		return name(s.Name), func(c *changer) error { return c.dropTable(s) }
	case *cql.CreateType:
		return name(s.Name), func(c *changer) error { return c.createType(s) }
	case *cql.AlterType:
		return name(s.Name), func(c *changer) error { return c.alterType(s) }
	case *cql.DropType:
		return name(s.Name), func(c *changer) error { return c.dropType(s) }
	case *cql.CreateIndex:
		return name(s.Table), func(c *changer) error { return c.createIndex(s) }
	case *cql.DropIndex:
		return Name{Keyspace: name(s.Name).Keyspace}, func(c *changer) error { return c.dropIndex(s) }
	}
	return Name{}, func(*changer) error { return invalid("%T is not supported", tree) }
}

// changer is one change of the schema.
type changer struct {
	e       *Engine
	s       *schema // the current schema, then the new one
	ks      string  // keyspace of the connection
	changes []Change
	warn    []string
}

// changeSchema executes CREATE, ALTER and DROP, one at a time.
func (e *Engine) changeSchema(s *Statement) (*Result, error) {
	e.change.Lock()
	defer e.change.Unlock()
	c := &changer{e: e, s: e.schema.Load(), ks: s.Keyspace}
	before := c.s
	_, run := changeOf(c.ks, s.tree)
	if err := run(c); err != nil {
		return nil, warned(asInvalid(err), c.warn)
	}
	if c.s == before || len(c.changes) == 0 {
		return &Result{Kind: ResultVoid, Warnings: c.warn}, nil
	}
	e.publish(c.s)
	return &Result{Kind: ResultSchemaChange, Change: &c.changes[0], Changes: c.changes, Warnings: c.warn}, nil
}

func (c *changer) done(change, target, ks, name string) {
	c.changes = append(c.changes, Change{change, target, ks, name})
}

// putTable adds or replaces a table of a keyspace, and announces it.
func (c *changer) putTable(change string, k *keyspace, t *table) {
	k.tables = k.tables.with(t)
	c.s = c.s.with(k)
	c.done(change, "TABLE", k.name, t.name)
}

// keyspace finds a keyspace and returns a copy to change.
func (c *changer) keyspace(qualifier string) (*keyspace, error) {
	name := cmp.Or(qualifier, c.ks)
	if name == "" {
		return nil, errNoKeyspace
	}
	k := c.s.keyspaces[name]
	if k == nil && !systemKeyspaces[name] {
		return nil, invalid("Keyspace '%s' doesn't exist", name)
	}
	if k == nil || k.system {
		return nil, &Error{Code: CodeUnauthorized, Message: name + " keyspace is not user-modifiable."}
	}
	return k.clone(), nil
}

// existing returns a copy of the keyspace of a name for which has holds. With ifExists a missing keyspace or object is
// no error, and there is nothing to change: it returns nil. format takes both names.
func (c *changer) existing(name cql.Name, ifExists bool, format string, has func(k *keyspace) bool) (*keyspace, error) {
	k, err := c.keyspace(name.Keyspace)
	unknown := name.Keyspace != "" && c.s.keyspaces[name.Keyspace] == nil && !systemKeyspaces[name.Keyspace]
	switch {
	case err != nil && !unknown:
		return nil, err
	case err == nil && has(k):
		return k, nil
	case ifExists:
		return nil, nil
	}
	return nil, invalid(format, cmp.Or(name.Keyspace, c.ks), name.Name)
}

const (
	localStrategy   = "org.apache.cassandra.locator.LocalStrategy"
	simpleStrategy  = "org.apache.cassandra.locator.SimpleStrategy"
	networkStrategy = "org.apache.cassandra.locator.NetworkTopologyStrategy"
)

// systemKeyspaces cannot be changed, even if they are empty.
var systemKeyspaces = map[string]bool{
	"system": true, "system_schema": true, "system_auth": true, "system_distributed": true, "system_traces": true,
	"system_views":          true,
	"system_virtual_schema": true,
}

// Bounds of names of keyspaces and tables, which are parts of names of files.
const (
	maxKeyspaceName = 48
	maxTableName    = 222
)

var plainName = regexp.MustCompile(`^\w+$`)

// checkName returns an error unless name is a valid name of at most so many characters. what is its kind in the error.
func checkName(what, name string, most int) error {
	switch {
	case !plainName.MatchString(name):
		return invalid("%s name must not be empty or not contain non-alphanumeric-underscore characters (got \"%s\")", what,
			name)
	case len(name) > most:
		return invalid("%s name must not be more than %d characters long (got %d characters for \"%s\")", what, most,
			len(name), name)
	}
	return nil
}

// createKeyspace executes CREATE KEYSPACE. With IF NOT EXISTS an existing keyspace is no change and no error.
func (c *changer) createKeyspace(s *cql.CreateKeyspace) error {
	if err := checkName("Keyspace", s.Name, maxKeyspaceName); err != nil {
		return err
	}
	switch s.Name {
	case "system", "system_schema", "system_views", "system_virtual_schema":
		return invalid("System keyspace '%s' is not user-modifiable", s.Name)
	}
	if err := c.checkKeyspaceOptions(s.Options, true); err != nil {
		return err
	}
	if c.s.keyspaces[s.Name] != nil || systemKeyspaces[s.Name] {
		if s.IfNotExists {
			return nil
		}
		return &Error{Code: CodeAlreadyExists, Message: "Cannot add existing keyspace \"" + s.Name + "\"", Keyspace: s.Name}
	}
	k := &keyspace{name: s.Name, durable: true, types: map[string]*Type{}}
	if err := c.keyspaceOptions(k, s.Options); err != nil {
		return err
	}
	c.s = c.s.with(k)
	c.done("CREATED", "KEYSPACE", s.Name, "")
	return nil
}

// alterKeyspace executes ALTER KEYSPACE, which replaces only the options that the statement has.
func (c *changer) alterKeyspace(s *cql.AlterKeyspace) error {
	if c.s.keyspaces[s.Name] == nil && s.IfExists {
		return nil
	}
	k, err := c.keyspace(s.Name)
	if err != nil {
		return err
	}
	if err := c.checkKeyspaceOptions(s.Options, false); err != nil {
		return err
	}
	if err := c.keyspaceOptions(k, s.Options); err != nil {
		return err
	}
	if old := c.s.keyspaces[s.Name]; k.durable == old.durable && maps.Equal(k.replication, old.replication) {
		return nil
	}
	c.s = c.s.with(k)
	c.done("UPDATED", "KEYSPACE", s.Name, "")
	return nil
}

// dropKeyspace executes DROP KEYSPACE. It announces the keyspace first, then tables and types.
func (c *changer) dropKeyspace(s *cql.DropKeyspace) error {
	if c.s.keyspaces[s.Name] == nil && s.IfExists {
		return nil
	}
	k, err := c.keyspace(s.Name)
	if err != nil {
		return err
	}
	c.s = c.s.without(s.Name)
	c.done("DROPPED", "KEYSPACE", s.Name, "")
	for _, t := range k.tables.sorted() {
		c.done("DROPPED", "TABLE", s.Name, t.name)
		if t.isLog {
			c.e.options.Streams.Drop(Name{s.Name, strings.TrimSuffix(t.name, logSuffix)})
		}
	}
	for _, name := range sortedKeys(k.types) {
		c.done("DROPPED", "TYPE", s.Name, name)
	}
	return nil
}
