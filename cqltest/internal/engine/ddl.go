// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Changes of the schema: how a statement changes it, names, keyspaces.

// changedName returns the table or keyspace that a schema statement changes.
func changedName(ks string, tree cql.Statement) Name {
	qualified := func(n cql.Name) Name {
		if n.Keyspace != "" {
			return Name{n.Keyspace, n.Name}
		}
		return Name{ks, n.Name}
	}
	switch s := tree.(type) {
	case *cql.CreateKeyspace:
		return Name{Keyspace: s.Name}
	case *cql.AlterKeyspace:
		return Name{Keyspace: s.Name}
	case *cql.DropKeyspace:
		return Name{Keyspace: s.Name}
	case *cql.CreateTable:
		return qualified(s.Name)
	case *cql.AlterTable:
		return qualified(s.Name)
	case *cql.DropTable:
		return qualified(s.Name)
	case *cql.CreateType:
		return qualified(s.Name)
	case *cql.AlterType:
		return qualified(s.Name)
	case *cql.DropType:
		return qualified(s.Name)
	case *cql.CreateIndex:
		return qualified(s.Table)
	case *cql.DropIndex:
		return Name{Keyspace: qualified(s.Name).Keyspace}
	}
	return Name{}
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
	if err := c.run(s.tree); err != nil {
		return nil, warned(asInvalid(err), c.warn)
	}
	if c.s == before || len(c.changes) == 0 {
		return &Result{Kind: ResultVoid, Warnings: c.warn}, nil
	}
	e.publish(c.s)
	return &Result{Kind: ResultSchemaChange, Change: &c.changes[0], Changes: c.changes, Warnings: c.warn}, nil
}

// run executes a schema statement: it replaces c.s by a schema with the change and appends the changes to announce.
func (c *changer) run(tree cql.Statement) error {
	switch s := tree.(type) {
	case *cql.CreateKeyspace:
		return c.createKeyspace(s)
	case *cql.AlterKeyspace:
		return c.alterKeyspace(s)
	case *cql.DropKeyspace:
		return c.dropKeyspace(s)
	case *cql.CreateTable:
		return c.createTable(s)
	case *cql.AlterTable:
		return c.alterTable(s)
	case *cql.DropTable:
		return c.dropTable(s)
	case *cql.CreateType:
		return c.createType(s)
	case *cql.AlterType:
		return c.alterType(s)
	case *cql.DropType:
		return c.dropType(s)
	case *cql.CreateIndex:
		return c.createIndex(s)
	case *cql.DropIndex:
		return c.dropIndex(s)
	}
	return invalid("%T is not supported", tree)
}

func (c *changer) done(change, target, ks, name string) {
	c.changes = append(c.changes, Change{change, target, ks, name})
}

// keyspace finds a keyspace and returns a copy to change.
func (c *changer) keyspace(qualifier string) (*keyspace, error) {
	name := qualifier
	if name == "" {
		name = c.ks
	}
	if name == "" {
		return nil, invalid("No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename")
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

// checkName returns an error unless name is a valid name of at most so many characters. what is its kind in the error.
func checkName(what, name string, most int) error {
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_') {
			return invalid("%s name must not be empty or not contain non-alphanumeric-underscore characters (got \"%s\")", what,
				name)
		}
	}
	if name == "" {
		return invalid("%s name must not be empty or not contain non-alphanumeric-underscore characters (got \"%s\")", what,
			name)
	}
	if len(name) > most {
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
		c.warn = nil
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
	}
	for _, name := range sortedKeys(k.types) {
		c.done("DROPPED", "TYPE", s.Name, name)
	}
	return nil
}

// missing returns the error of a statement about name if its keyspace does not exist: none with IF EXISTS, else format
// with both names. Otherwise it returns err.
func (c *changer) missing(name cql.Name, ifExists bool, err error, format string) error {
	switch {
	case name.Keyspace == "" || c.s.keyspaces[name.Keyspace] != nil || systemKeyspaces[name.Keyspace]:
		return err
	case ifExists:
		return nil
	}
	return invalid(format, name.Keyspace, name.Name)
}
