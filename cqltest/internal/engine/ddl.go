// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Changes of the schema.

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

// createTable executes CREATE TABLE: the table gets a random id and an empty store.
func (c *changer) createTable(s *cql.CreateTable) error {
	k, err := c.keyspace(s.Name.Keyspace)
	if err != nil {
		return err
	}
	name := s.Name.Name
	if err := checkName("Table", name, maxTableName); err != nil {
		return configError("%s.%s: %s", k.name, name, err)
	}
	if k.tables.get(name) != nil {
		if s.IfNotExists {
			return nil
		}
		return &Error{
			Code: CodeAlreadyExists, Message: "Cannot add already existing table \"" + name + "\" to keyspace \"" + k.name +
				"\"", Keyspace: k.name, Table: name,
		}
	}
	if s.CompactStorage {
		return invalid("COMPACT STORAGE is not supported")
	}
	t := &table{ks: k.name, name: name, id: newID(), options: defaultOptions(), store: newStore()}
	if err := c.tableColumns(t, s); err != nil {
		return err
	}
	if err := t.options.set(s.Options, t, c.e.options.Scylla); err != nil {
		return err
	}
	k.tables = k.tables.with(t)
	c.s = c.s.with(k)
	c.done("CREATED", "TABLE", k.name, name)
	return nil
}

// tableColumns sets the columns of a new table, with the checks of Cassandra's CreateTableStatement. The order of the
// checks decides which error a statement with several faults gets.
func (c *changer) tableColumns(t *table, s *cql.CreateTable) error {
	cols := map[string]*column{}
	for _, d := range s.Columns {
		if cols[d.Name] != nil {
			return invalid("Duplicate column '%s' declaration for table '%s'", d.Name, t.name)
		}
		col, err := c.newColumn(t, &d)
		if err != nil {
			return err
		}
		cols[d.Name] = col
	}
	switch len(s.PrimaryKeys) {
	case 0:
		//nolint:misspell // Cassandra's spelling
		return invalid("No PRIMARY KEY specifed for table '%s' (exactly one required)", t.name)
	case 1:
	default:
		return invalid("Multiple PRIMARY KEY specified for table '%s' (exactly one required)", t.name)
	}
	key := func(name string, kind ColumnKind, pos int) (*column, error) {
		col := cols[name]
		if col == nil {
			return nil, invalid("Unknown column '%s' referenced in PRIMARY KEY for table '%s'", name, t.name)
		}
		if col.isKey() {
			return nil, invalid("Duplicate column '%s' in PRIMARY KEY clause for table '%s'", name, t.name)
		}
		switch {
		case col.kind == Static:
			return nil, invalid("Static column '%s' cannot be part of the PRIMARY KEY", name)
		case col.typ.Kind == KindCounter:
			return nil, invalid("counter type is not supported for PRIMARY KEY column '%s'", name)
		case col.typ.Kind == KindDuration:
			return nil, invalid("duration type is not supported for PRIMARY KEY column '%s'", name)
		case col.typ.multiCell() && col.typ.Kind == KindUDT:
			return nil, invalid("Invalid non-frozen user-defined type \"%s.%s\" for PRIMARY KEY column '%s'", col.typ.Keyspace,
				col.typ, name)
		case col.typ.multiCell():
			return nil, invalid("Invalid non-frozen collection type %s for PRIMARY KEY column '%s'", col.typ, name)
		}
		col.kind, col.pos = kind, pos
		return col, nil
	}
	for i, name := range s.PrimaryKeys[0].Partition {
		col, err := key(name, PartitionKey, i)
		if err != nil {
			return err
		}
		t.pk = append(t.pk, col)
	}
	for i, name := range s.PrimaryKeys[0].Clustering {
		col, err := key(name, Clustering, i)
		if err != nil {
			return err
		}
		t.ck = append(t.ck, col)
	}
	for i, o := range s.ClusteringOrder {
		if i >= len(t.ck) {
			return invalid("Only clustering key columns can be defined in CLUSTERING ORDER directive: [%s] are not clustering columns", o.Column)
		}
		if t.ck[i].name != o.Column {
			if !slices.ContainsFunc(t.ck, func(c *column) bool { return c.name == o.Column }) {
				return invalid("Only clustering key columns can be defined in CLUSTERING ORDER directive: [%s] are not clustering columns", o.Column)
			}
			return invalid("Missing CLUSTERING ORDER for column %s", t.ck[i].name)
		}
		t.ck[i].desc = o.Desc
	}
	for _, d := range s.Columns {
		if col := cols[d.Name]; !col.isKey() {
			t.rest = append(t.rest, col)
		}
	}
	return t.checkColumns()
}

// checkColumns checks the columns of a new or altered table as a whole and derives the other fields from them.
func (t *table) checkColumns() error {
	counters := 0
	for _, col := range t.rest {
		if col.typ.Kind == KindCounter {
			counters++
		}
		if col.kind == Static && len(t.ck) == 0 {
			return invalid("Static columns are only useful (and thus allowed) if the table has at least one clustering column")
		}
	}
	if counters > 0 && counters < len(t.rest) {
		return invalid("Cannot mix counter and non counter columns in the same table")
	}
	t.finish()
	return nil
}

// newColumn returns a column with a new id: rows store values by id, so a column that is dropped and added again does
// not have the old values.
func (c *changer) newColumn(t *table, d *cql.ColumnDef) (*column, error) {
	if d.Mask != nil {
		return nil, invalid("Cannot mask column %s because dynamic data masking is not enabled. "+
			"You can enable it with the dynamic_data_masking_enabled property on cassandra.yaml", d.Name)
	}
	typ, err := c.s.resolveType(t.ks, d.Type, nil, 0)
	if err != nil {
		return nil, err
	}
	if typ.Kind == KindUDT && !typ.Frozen {
		for _, e := range typ.Elems {
			if e.multiCell() {
				return nil, invalid("Non-frozen UDTs with nested non-frozen collections are not supported")
			}
		}
	}
	col := &column{name: d.Name, typ: typ, kind: Regular, id: t.nextID}
	t.nextID++
	if d.Static {
		col.kind = Static
	}
	return col, nil
}

// dropTable executes DROP TABLE. With IF EXISTS a missing table, or keyspace, is no error.
func (c *changer) dropTable(s *cql.DropTable) error {
	k, err := c.keyspace(s.Name.Keyspace)
	if err != nil {
		return c.missing(s.Name, s.IfExists, err, "Table '%s.%s' doesn't exist")
	}
	if k.tables.get(s.Name.Name) == nil {
		if s.IfExists {
			return nil
		}
		return invalid("Table '%s.%s' doesn't exist", k.name, s.Name.Name)
	}
	k.tables = k.tables.without(s.Name.Name)
	c.s = c.s.with(k)
	c.done("DROPPED", "TABLE", k.name, s.Name.Name)
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

// alterTable executes ALTER TABLE on a copy of the table, which shares the rows.
func (c *changer) alterTable(s *cql.AlterTable) error {
	k, err := c.keyspace(s.Name.Keyspace)
	if err != nil {
		return c.missing(s.Name, s.IfExists, err, "Table '%s.%s' doesn't exist")
	}
	old := k.tables.get(s.Name.Name)
	if old == nil {
		if s.IfExists {
			return nil
		}
		return invalid("Table '%s.%s' doesn't exist", k.name, s.Name.Name)
	}
	t := old.clone()
	switch s.Action {
	case cql.AlterAdd:
		if err = c.addColumns(t, old, s); err == nil {
			err = c.checkIndexes(old, nil, nil)
		}
	case cql.AlterDrop:
		err = c.dropColumns(t, old, s)
	case cql.AlterRename:
		err = renameColumns(t, old, s)
	case cql.AlterOptions:
		err = t.options.set(s.Options, t, c.e.options.Scylla)
	case cql.AlterColumnType:
		err = invalid("Altering column types is no longer supported")
	default:
		err = invalid("This form of ALTER TABLE is not supported: %s", s)
	}
	if err != nil || s.IfColumn && t.sameColumns(old) || s.Action == cql.AlterOptions && t.options.same(&old.options) {
		return err
	}
	if err := t.checkColumns(); err != nil {
		return err
	}
	k.tables = k.tables.with(t)
	c.s = c.s.with(k)
	c.done("UPDATED", "TABLE", k.name, t.name)
	return nil
}

// sameColumns reports whether t has the columns of old: IF [NOT] EXISTS may leave a table as it is.
func (t *table) sameColumns(old *table) bool {
	same := func(a, b *column) bool { return a.name == b.name }
	return slices.EqualFunc(slices.Concat(t.pk, t.ck, t.rest), slices.Concat(old.pk, old.ck, old.rest), same)
}

// addColumns executes ALTER TABLE ADD on t, a copy of old. A name that was dropped needs a compatible type.
func (c *changer) addColumns(t, old *table, s *cql.AlterTable) error {
	for _, d := range s.Columns {
		if slices.ContainsFunc(slices.Concat(t.pk, t.ck, t.rest), func(o *column) bool { return o.name == d.Name }) {
			if s.IfColumn {
				continue
			}
			return invalid("Column with name '%s' already exists", d.Name)
		}
		col, err := c.newColumn(t, &d)
		if err != nil {
			return err
		}
		if d.Static && len(t.ck) == 0 {
			return invalid("Static columns are only useful (and thus allowed) if the table has at least one clustering column")
		}
		if old.counter != (col.typ.Kind == KindCounter) {
			if old.counter {
				return configError("%s.%s: Cannot have a non counter column (\"%s\") in a counter table", t.ks, t.name, d.Name)
			}
			return configError("%s.%s: Cannot have a counter column (\"%s\") in a non counter table", t.ks, t.name, d.Name)
		}
		for _, gone := range t.dropped {
			if gone.name != d.Name {
				continue
			}
			if !sameType(gone.typ, col.typ) || gone.typ.multiCell() != col.typ.multiCell() {
				return invalid("Cannot add a column '%s' of type %s, incompatible with previously dropped column '%s' of type %s",
					d.Name, col.typ, d.Name, gone.typ)
			}
			if gone.kind != col.kind {
				return invalid("Cannot re-add previously dropped column '%s' of kind %s, incompatible with previous kind %s",
					d.Name,
					strings.ToUpper(col.kind.String()), strings.ToUpper(gone.kind.String()))
			}
		}
		t.rest = append(t.rest, col)
	}
	return nil
}

// dropColumns executes ALTER TABLE DROP on t, a copy of old. t.dropped lists dropped columns with the timestamp of
// the drop.
func (c *changer) dropColumns(t, old *table, s *cql.AlterTable) error {
	for _, name := range s.Drop {
		col := old.byName[name]
		if col == nil {
			if s.IfColumn {
				continue
			}
			return invalid("Column %s was not found in table '%s.%s'", name, t.ks, t.name)
		}
		if col.isKey() {
			return invalid("Cannot drop PRIMARY KEY column %s", name)
		}
		for _, i := range t.indexes {
			if i.column == name {
				return invalid("Cannot drop column %s because it has dependent secondary indexes (%s)", name, i.name)
			}
		}
		at := c.e.micros()
		if s.Timestamp != nil {
			n, err := (&compiler{e: c.e, s: c.s}).term(s.Timestamp, Column{Name: "[timestamp]", Type: Native("bigint")})
			if err != nil {
				return err
			}
			b, err := n.eval(&env{e: c.e})
			if err != nil {
				return err
			}
			at = readInt(b)
		}
		t.rest = slices.DeleteFunc(t.rest, func(o *column) bool { return o.name == name })
		t.dropped = append(slices.DeleteFunc(t.dropped, func(d droppedColumn) bool {
			return d.name == name
		}), droppedColumn{*col, at})
	}
	return nil
}

// renameColumns executes ALTER TABLE RENAME on t, a copy of old. Only columns of the primary key have names that may
// change.
func renameColumns(t, old *table, s *cql.AlterTable) error {
	for _, r := range s.Renames {
		col := old.byName[r.From]
		if col == nil {
			return invalid("Undefined column name %s in table %s.%s", quoteName(r.From), quoteName(t.ks), quoteName(t.name))
		}
		if !col.isKey() {
			return invalid("Cannot rename non PRIMARY KEY column %s", r.From)
		}
		if old.byName[r.To] != nil {
			return invalid("Cannot rename column %s to %s in table '%s.%s'; another column with that name already exists",
				r.From, r.To, t.ks, t.name)
		}
		for _, i := range t.indexes {
			if i.column == r.From {
				return invalid("Can't rename column %s because it has dependent secondary indexes (%s)", r.From, i.name)
			}
		}
		for _, o := range slices.Concat(t.pk, t.ck) {
			if o.name == r.From {
				o.name = r.To
			}
		}
	}
	return nil
}
