// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"maps"
	"slices"
	"sort"
)

// This file holds the schema: a tree that is never changed. A change makes a new tree, and new tables where they or their types differ, so
// that a statement knows by the table's address whether it still stands. The rows of a table (its store) go on to the new one.

// ColumnKind is the role of a column in its table.
type ColumnKind uint8

// The roles of columns.
const (
	PartitionKey ColumnKind = iota
	Clustering
	Static
	Regular
)

// String returns the name in system_schema.columns: "partition_key", "clustering", "static", "regular".
func (k ColumnKind) String() string {
	return [...]string{"partition_key", "clustering", "static", "regular"}[k&3]
}

type column struct {
	name string
	typ  *Type
	kind ColumnKind
	pos  int  // place among the partition key or clustering columns
	id   int  // unlike that of all other columns that the table ever had
	desc bool // clustering order
}

func (c *column) isKey() bool { return c.kind == PartitionKey || c.kind == Clustering }

type index struct {
	name    string
	column  string
	target  string // as system_schema.indexes has it: "v", "values(v)"
	kind    string // "COMPOSITES" or "CUSTOM"
	options map[string]string
	sai     bool
}

type droppedColumn struct {
	column
	at int64 // microseconds
}

type table struct {
	ks, name string
	id       [16]byte
	pk, ck   []*column
	rest     []*column // static, then regular, each by name
	all      []*column // in the order of SELECT *
	byName   map[string]*column
	nextID   int
	counter  bool
	options  tableOptions
	indexes  []*index // by name
	dropped  []droppedColumn
	store    *store   // nil for a virtual table
	virtual  *Virtual // nil for one with a store
}

// finish computes what follows from the columns.
func (t *table) finish() {
	slices.SortStableFunc(t.rest, func(a, b *column) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
	t.all = slices.Concat(t.pk, t.ck, t.rest)
	t.byName = make(map[string]*column, len(t.all))
	for _, c := range t.all {
		t.byName[c.name] = c
		t.counter = t.counter || c.typ.Kind == KindCounter
	}
}

// clone returns a copy whose own slices and columns may be changed before finish.
func (t *table) clone() *table {
	c := *t
	copyColumns := func(in []*column) []*column {
		out := make([]*column, len(in))
		for i, col := range in {
			dup := *col
			out[i] = &dup
		}
		return out
	}
	c.pk, c.ck, c.rest = copyColumns(t.pk), copyColumns(t.ck), copyColumns(t.rest)
	c.indexes, c.dropped = slices.Clone(t.indexes), slices.Clone(t.dropped)
	return &c
}

// lookup returns the column, or Cassandra's error.
func (t *table) lookup(name string) (*column, error) {
	if c := t.byName[name]; c != nil {
		return c, nil
	}
	return nil, invalid("Undefined column name %s in table %s.%s", quoteName(name), quoteName(t.ks), quoteName(t.name))
}

func (t *table) column(c *column) Column { return Column{t.ks, t.name, c.name, c.typ} }

func (t *table) spec(name string, typ *Type) Column { return Column{t.ks, t.name, name, typ} }

// compareClustering orders two clustering keys; either may be a prefix, which then counts as equal to what it begins.
func (t *table) compareClustering(a, b [][]byte) int {
	for i := range min(len(a), len(b)) {
		if c := t.ck[i].typ.compare(a[i], b[i]); c != 0 {
			if t.ck[i].desc {
				return -c
			}
			return c
		}
	}
	return 0
}

type keyspace struct {
	name        string
	replication map[string]string
	durable     bool
	system      bool // clients can't change it
	tables      map[string]*table
	types       map[string]*Type
}

func (k *keyspace) clone() *keyspace {
	c := *k
	c.tables, c.types = maps.Clone(k.tables), maps.Clone(k.types)
	return &c
}

type schema struct {
	version   [16]byte
	keyspaces map[string]*keyspace
}

// with returns the schema with the keyspace put in its place.
func (s *schema) with(k *keyspace) *schema {
	m := maps.Clone(s.keyspaces)
	m[k.name] = k
	return &schema{keyspaces: m}
}

func (s *schema) without(name string) *schema {
	m := maps.Clone(s.keyspaces)
	delete(m, name)
	return &schema{keyspaces: m}
}

// table finds a table; ks is that of the statement's own connection.
func (s *schema) table(ks, qualifier, name string) (*table, error) {
	if qualifier != "" {
		ks = qualifier
	}
	if ks == "" {
		return nil, invalid("No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename")
	}
	k := s.keyspaces[ks]
	if k == nil {
		return nil, invalid("keyspace %s does not exist", ks)
	}
	t := k.tables[name]
	if t == nil {
		return nil, invalid("table %s does not exist", name)
	}
	return t, nil
}

// index finds the table of an index.
func (k *keyspace) index(name string) (*table, *index) {
	for _, t := range k.tables {
		for _, i := range t.indexes {
			if i.name == name {
				return t, i
			}
		}
	}
	return nil, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// Replication returns the options of a keyspace's replication ("class" and what follows); false when there is no such keyspace.
func (e *Engine) Replication(keyspace string) (map[string]string, bool) {
	k := e.schema.Load().keyspaces[keyspace]
	if k == nil {
		return nil, false
	}
	return maps.Clone(k.replication), true
}

// Keyspaces returns the names of all keyspaces, sorted.
func (e *Engine) Keyspaces() []string { return sortedKeys(e.schema.Load().keyspaces) }

// SchemaVersion changes with every change of the schema.
func (e *Engine) SchemaVersion() [16]byte { return e.schema.Load().version }

// TableID returns the id of a table: another one after DROP and CREATE, the same after ALTER.
func (e *Engine) TableID(keyspace, table string) ([16]byte, bool) {
	if k := e.schema.Load().keyspaces[keyspace]; k != nil && k.tables[table] != nil {
		return k.tables[table].id, true
	}
	return [16]byte{}, false
}
