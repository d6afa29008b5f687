// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"maps"
	"slices"
	"sort"
)

// The schema, an immutable tree. A change makes a new tree, with new tables where they or their types differ, so that a
// statement is valid as long as the addresses of its tables are current. The new table takes over the rows (the store)
// of the old one.

// A ColumnKind is the role of a column in its table.
type ColumnKind uint8

// Roles of columns.
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

// column is a column of a table.
type column struct {
	name string
	typ  *Type
	kind ColumnKind
	pos  int   // position in the partition key or the clustering columns
	id   int32 // unique among all columns that the table ever had
	desc bool  // descending clustering order
}

func (c *column) isKey() bool { return c.kind == PartitionKey || c.kind == Clustering }

// index is a secondary index of one column.
type index struct {
	name    string
	column  string
	target  string // as in system_schema.indexes: "v", "values(v)"
	kind    string // "COMPOSITES" or "CUSTOM"
	options map[string]string
	sai     bool         // storage-attached, or a vector index of ScyllaDB
	vector  *vectorIndex // nil means an index of another column than one of vectors
}

// droppedColumn is a column that ALTER TABLE has dropped.
type droppedColumn struct {
	column
	at int64 // timestamp of the drop in microseconds
}

// table is a table of the schema. It is immutable once it is in a schema; a change makes a copy that shares the store.
type table struct {
	ks, name string
	id       [16]byte
	pk, ck   []*column // partition key, clustering columns
	rest     []*column // static, then regular, each by name
	all      []*column // in the order of SELECT *
	byName   map[string]*column
	nextID   int32 // column.id of the next new column
	counter  bool
	capture  *capture // ScyllaDB: nil means that changes are not logged
	isLog    bool     // of change data capture
	expiry   string   // ScyllaDB: the column with the expiration times of rows; empty means none
	options  tableOptions
	indexes  []*index // by name
	dropped  []droppedColumn
	store    *store   // nil means a virtual table
	virtual  *Virtual // nil means a table with a store
}

// finish derives the fields that depend on the columns.
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

// clone returns a copy whose slices and columns may be changed until finish.
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

// compareClustering compares two clustering keys. A prefix is equal to every key that starts with it.
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

// keyspace is a keyspace of the schema. It is immutable once it is in a schema.
type keyspace struct {
	name        string
	replication map[string]string // options, with the class
	durable     bool              // durable_writes
	system      bool              // clients cannot change it
	vnodes      bool              // ScyllaDB: the option tablets switches tablets off
	initial     int               // ScyllaDB: the first number of tablets in the option; 0 means that it was not given
	consistency string            // ScyllaDB: the option consistency; empty means that it was not given
	tables      tableMap
	types       map[string]*Type
}

func (k *keyspace) clone() *keyspace {
	c := *k
	c.types = maps.Clone(k.types)
	return &c
}

// usesTablets reports whether the tables of a keyspace of ScyllaDB have tablets, if the cluster has them.
func (k *keyspace) usesTablets() bool { return k.replication["class"] == networkStrategy && !k.vnodes }

// schema is the schema of a cluster at one time. It is immutable; its version identifies it.
type schema struct {
	version   [16]byte
	keyspaces map[string]*keyspace
}

// with returns the schema with the keyspace added or replaced.
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

// table finds a table. ks is the keyspace of the connection.
func (s *schema) table(ks, qualifier, name string) (*table, error) {
	if ks = cmp.Or(qualifier, ks); ks == "" {
		return nil, errNoKeyspace
	}
	k := s.keyspaces[ks]
	if k == nil {
		return nil, invalid("keyspace %s does not exist", ks)
	}
	t := k.tables.get(name)
	if t == nil {
		return nil, invalid("table %s does not exist", name)
	}
	return t, nil
}

// index finds the table of an index.
func (k *keyspace) index(name string) (*table, *index) {
	for t := range k.tables.all() {
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

// Consistency returns the option consistency of a keyspace of ScyllaDB, empty if the keyspace has none.
func (e *Engine) Consistency(keyspace string) string {
	if k := e.schema.Load().keyspaces[keyspace]; k != nil {
		return k.consistency
	}
	return ""
}

// Replication returns the options of a keyspace's replication ("class" and its options); false means that the keyspace
// does not exist.
func (e *Engine) Replication(keyspace string) (map[string]string, bool) {
	k := e.schema.Load().keyspaces[keyspace]
	if k == nil {
		return nil, false
	}
	return maps.Clone(k.replication), true
}

// UsesTablets reports whether the tables of a keyspace of ScyllaDB have tablets, if the cluster has them.
func (e *Engine) UsesTablets(keyspace string) bool {
	k := e.schema.Load().keyspaces[keyspace]
	return k != nil && k.usesTablets()
}

// Keyspaces returns the names of all keyspaces, sorted.
func (e *Engine) Keyspaces() []string { return sortedKeys(e.schema.Load().keyspaces) }

// SchemaVersion returns the version of the schema, which differs after every change.
func (e *Engine) SchemaVersion() [16]byte { return e.schema.Load().version }
