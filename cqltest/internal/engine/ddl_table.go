// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Changes of tables: CREATE, ALTER and DROP TABLE.

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
	if err := t.createExpiry(s.Columns); err != nil {
		return err
	}
	if err := c.setCapture(k, t); err != nil {
		return err
	}
	c.putTable("CREATED", k, t)
	c.putLog(k, t)
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
	for i, name := range s.PrimaryKeys[0].Partition {
		col, err := t.keyColumn(cols, name, PartitionKey, i)
		if err != nil {
			return err
		}
		t.pk = append(t.pk, col)
	}
	for i, name := range s.PrimaryKeys[0].Clustering {
		col, err := t.keyColumn(cols, name, Clustering, i)
		if err != nil {
			return err
		}
		t.ck = append(t.ck, col)
	}
	if err := t.setOrder(s.ClusteringOrder); err != nil {
		return err
	}
	for _, d := range s.Columns {
		if col := cols[d.Name]; !col.isKey() {
			t.rest = append(t.rest, col)
		}
	}
	return t.checkColumns()
}

// keyColumn makes a column of a new table part of its primary key.
func (t *table) keyColumn(cols map[string]*column, name string, kind ColumnKind, pos int) (*column, error) {
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

// setOrder sets the order of the clustering columns of a new table.
func (t *table) setOrder(orders []cql.Ordering) error {
	for i, o := range orders {
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
	return nil
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
	typ, err := c.s.resolveType(t.ks, d.Type, nil, 0)
	if err != nil {
		return nil, err
	}
	if c.e.options.Scylla && longestVector(typ) > maxScyllaDimension {
		return nil, invalid("Vectors must have a dimension less than or equal to %d", maxScyllaDimension)
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

// withTable returns the keyspace of a table, as existing does.
func (c *changer) withTable(name cql.Name, ifExists bool) (*keyspace, error) {
	return c.existing(name, ifExists, "Table '%s.%s' doesn't exist", func(k *keyspace) bool {
		return k.tables.get(name.Name) != nil
	})
}

// dropTable executes DROP TABLE. With IF EXISTS a missing table, or keyspace, is no error.
func (c *changer) dropTable(s *cql.DropTable) error {
	k, err := c.withTable(s.Name, s.IfExists)
	if k == nil {
		return err
	}
	if err := c.checkDropLog(k, s.Name.Name); err != nil {
		return err
	}
	k.tables = k.tables.without(s.Name.Name)
	c.s = c.s.with(k)
	c.done("DROPPED", "TABLE", k.name, s.Name.Name)
	c.dropLog(k, s.Name.Name)
	return nil
}

// alterTable executes ALTER TABLE on a copy of the table, which shares the rows.
func (c *changer) alterTable(s *cql.AlterTable) error {
	k, err := c.withTable(s.Name, s.IfExists)
	if k == nil {
		return err
	}
	old := k.tables.get(s.Name.Name)
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
	case cql.AlterTTL:
		err = t.alterExpiry(old, s.Column)
	default:
		err = invalid("Altering column types is no longer supported")
	}
	if err != nil || s.IfColumn && t.sameColumns(old) || s.Action == cql.AlterOptions && t.options.same(&old.options) {
		return err
	}
	if err := t.checkColumns(); err != nil {
		return err
	}
	if err := c.setCapture(k, t); err != nil {
		return err
	}
	c.putTable("UPDATED", k, t)
	c.putLog(k, t)
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
			if i.uses(name) {
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
		if name == t.expiry {
			t.expiry = ""
		}
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
			if i.uses(r.From) {
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
