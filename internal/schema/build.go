// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/vecql/vecql/cql"
)

// Metadata from the rows of a keyspace.

// build returns the keyspace. The keyspace must have its own row.
func (k *keyspaceRows) build(keyspacesOnly bool) *Keyspace {
	replication := get[map[string]string](k.keyspace, "replication")
	m := &cql.KeyspaceMetadata{
		Name: k.name, DurableWrites: get[bool](k.keyspace, "durable_writes"), StrategyClass: replication["class"],
		StrategyOptions: map[string]any{},
	}
	for name, v := range replication {
		if name != "class" {
			m.StrategyOptions[name] = v
		}
	}
	ks := &Keyspace{Metadata: m, fingerprint: fingerprintOf(k.keyspace)}
	if !keyspacesOnly {
		m.Tables, ks.tables = map[string]*cql.TableMetadata{}, map[string]object[*cql.TableMetadata]{}
		m.MaterializedViews, m.Indexes = map[string]*cql.MaterializedViewMetadata{}, map[string]*cql.IndexMetadata{}
		k.buildTypes(ks)
		k.buildFunctions(ks)
		k.buildAggregates(ks)
		k.buildTables(ks)
	}
	m.Faults = k.faults
	return ks
}

// buildTables adds tables, views and indexes to ks, whose types must be complete.
func (k *keyspaceRows) buildTables(ks *Keyspace) {
	m := ks.Metadata
	for _, t := range k.tables {
		if len(k.columns[t.Name]) == 0 { // it was dropped after the tables were read
			continue
		}
		k.addScylla(t.Name, &t.Options)
		t.Columns, t.OrderedColumns, t.PartitionKey, t.ClusteringColumns = k.buildColumns(ks, t.Name)
		if len(t.PartitionKey) == 0 {
			k.fault(t.Name, "", errors.New("no partition key"))
		}
		m.Tables[t.Name] = t
		ks.tables[t.Name] = object[*cql.TableMetadata]{t, k.tableFingerprints[t.Name]}
	}
	for _, v := range k.views {
		if len(k.columns[v.Name]) == 0 { // likewise
			continue
		}
		k.addScylla(v.Name, &v.TableMetadataOptions)
		v.Columns, v.OrderedColumns, v.PartitionKey, v.ClusteringColumns = k.buildColumns(ks, v.Name)
		m.MaterializedViews[v.Name] = v
	}
	for _, v := range m.MaterializedViews {
		// a view with the same base may be shared with the version before
		if base := m.Tables[v.BaseTableName]; v.BaseTable != base {
			v.BaseTable = base
		}
	}
	for _, i := range k.indexes {
		m.Indexes[i.Name] = i
		if t := m.Tables[i.Table]; t != nil {
			if c := t.Columns[indexedColumn(i.Options["target"])]; c != nil {
				c.Index = cql.ColumnIndexMetadata{Name: i.Name, Type: i.Kind, Options: map[string]any{}}
				for name, v := range i.Options {
					c.Index.Options[name] = v
				}
			}
		}
	}
}

// addScylla adds the options of ScyllaDB's system_schema.scylla_tables.
func (k *keyspaceRows) addScylla(table string, o *cql.TableMetadataOptions) {
	row := k.scylla[table]
	if cdc := get[map[string]string](row, "cdc"); len(cdc) > 0 {
		o.CDC = cdc
	}
	o.Partitioner = get[string](row, "partitioner")
}

// buildColumns parses the types of a table's columns. names is in the order of SELECT *.
func (k *keyspaceRows) buildColumns(ks *Keyspace, table string) (
	columns map[string]*cql.ColumnMetadata, names []string, partition, clustering []*cql.ColumnMetadata,
) {
	rank := map[cql.ColumnKind]int{cql.ColumnPartitionKey: 0, cql.ColumnClusteringKey: 1, cql.ColumnStatic: 2}
	of := func(c *cql.ColumnMetadata) int {
		if r, ok := rank[c.Kind]; ok {
			return r
		}
		return 3
	}
	all := k.columns[table]
	slices.SortStableFunc(all, func(a, b *cql.ColumnMetadata) int {
		return cmp.Or(cmp.Compare(of(a), of(b)), cmp.Compare(a.ComponentIndex, b.ComponentIndex), cmp.Compare(a.Name, b.Name))
	})
	columns = make(map[string]*cql.ColumnMetadata, len(all))
	for _, c := range all {
		if columns[c.Name] != nil {
			k.fault(table, c.Name, errors.New("column is listed twice"))
			continue
		}
		c.Type = k.resolve(ks, table, c.Name, c.Validator)
		columns[c.Name] = c
		names = append(names, c.Name)
		switch c.Kind {
		case cql.ColumnPartitionKey:
			c.ComponentIndex = len(partition)
			partition = append(partition, c)
		case cql.ColumnClusteringKey:
			c.ComponentIndex = len(clustering)
			clustering = append(clustering, c)
		case cql.ColumnUnkownKind:
			k.fault(table, c.Name, errors.New("column is of an unknown kind"))
		}
	}
	return columns, names, partition, clustering
}

// indexedColumn returns the column in an index's target. The target is a name in CQL or a function of one, e.g.
// values("Tags"); of a local index or a vector index of ScyllaDB an object of JSON (index/target_parser.cc), such as
// {"pk": ["a"], "ck": ["b"]} or {"tc": "v", "fc": ["a"]}.
func indexedColumn(target string) string {
	var parts struct {
		Vector  string   `json:"tc"`
		Columns []string `json:"ck"`
	}
	if strings.HasPrefix(target, "{") && json.Unmarshal([]byte(target), &parts) == nil {
		switch {
		case parts.Vector != "":
			return parts.Vector
		case len(parts.Columns) > 0:
			target = parts.Columns[0]
		}
	}
	if _, rest, ok := strings.Cut(target, "("); ok && !strings.HasPrefix(target, `"`) {
		target = strings.TrimSuffix(rest, ")")
	}
	if len(target) >= 2 && target[0] == '"' && target[len(target)-1] == '"' {
		return strings.ReplaceAll(target[1:len(target)-1], `""`, `"`)
	}
	return target
}

// buildFunctions adds functions to ks, whose types must be complete.
func (k *keyspaceRows) buildFunctions(ks *Keyspace) {
	ks.functions = make(map[string]object[*cql.FunctionMetadata], len(k.functions))
	ks.Metadata.Functions = make(map[string]*cql.FunctionMetadata, len(k.functions))
	for _, f := range k.functions {
		f.meta.ArgumentTypes = k.resolveAll(ks, f.meta.Name, f.arguments)
		f.meta.ReturnType = k.resolve(ks, f.meta.Name, "", f.returns)
		s := signature(f.meta.Name, f.arguments)
		ks.functions[s] = object[*cql.FunctionMetadata]{f.meta, f.fingerprint}
		addOverloaded(ks.Metadata.Functions, f.meta.Name, s, f.meta)
	}
}

// buildAggregates adds aggregates to ks, whose types and functions must be complete.
func (k *keyspaceRows) buildAggregates(ks *Keyspace) {
	ks.aggregates = make(map[string]object[*cql.AggregateMetadata], len(k.aggregates))
	ks.Metadata.Aggregates = make(map[string]*cql.AggregateMetadata, len(k.aggregates))
	function := func(name string, arguments ...string) cql.FunctionMetadata {
		if f, ok := ks.functions[signature(name, arguments)]; ok {
			return *f.meta
		}
		return cql.FunctionMetadata{Keyspace: k.name, Name: name}
	}
	for _, a := range k.aggregates {
		m := a.meta
		m.ArgumentTypes = k.resolveAll(ks, m.Name, a.arguments)
		m.ReturnType = k.resolve(ks, m.Name, "", a.returns)
		m.StateType = k.resolve(ks, m.Name, "", a.state)
		m.StateFunc = function(a.stateFunc, append([]string{a.state}, a.arguments...)...)
		if a.finalFunc != "" {
			m.FinalFunc = function(a.finalFunc, a.state)
		}
		s := signature(m.Name, a.arguments)
		ks.aggregates[s] = object[*cql.AggregateMetadata]{m, a.fingerprint}
		addOverloaded(ks.Metadata.Aggregates, m.Name, s, m)
	}
}

// signature returns the text that identifies a function or aggregate among others of its name, e.g. "f(int, text)".
func signature(name string, arguments []string) string {
	return name + "(" + strings.Join(arguments, ", ") + ")"
}

// addOverloaded adds v under its name, or under its signature if the name is taken.
func addOverloaded[T any](m map[string]T, name, signature string, v T) {
	if _, taken := m[name]; taken {
		name = signature
	}
	m[name] = v
}

// keepOnly removes rows of other tables and views, which a shared version already describes.
func (k *keyspaceRows) keepOnly(names []string) {
	k.tables = slices.DeleteFunc(k.tables, func(t *cql.TableMetadata) bool { return !slices.Contains(names, t.Name) })
	k.views = slices.DeleteFunc(k.views, func(v *cql.MaterializedViewMetadata) bool {
		return !slices.Contains(names, v.Name)
	})
	k.indexes = slices.DeleteFunc(k.indexes, func(i *cql.IndexMetadata) bool { return !slices.Contains(names, i.Table) })
}

// merge returns old with the tables and views of the given names replaced by k's. A table or view without a row in k
// is removed.
func (k *keyspaceRows) merge(old *Keyspace, names []string) *Keyspace {
	k.keepOnly(names)
	ks, m := *old, *old.Metadata
	ks.Metadata, ks.tables = &m, maps.Clone(old.tables)
	m.Tables, m.MaterializedViews, m.Indexes = maps.Clone(m.Tables), maps.Clone(m.MaterializedViews), maps.Clone(m.Indexes)
	for _, name := range names {
		delete(ks.tables, name)
		delete(m.Tables, name)
		delete(m.MaterializedViews, name)
	}
	maps.DeleteFunc(m.Indexes, func(_ string, i *cql.IndexMetadata) bool { return slices.Contains(names, i.Table) })
	for name, v := range m.MaterializedViews {
		if slices.Contains(names, v.BaseTableName) { // buildTables sets another base table
			c := *v
			m.MaterializedViews[name] = &c
		}
	}
	k.buildTables(&ks)
	m.Faults = slices.DeleteFunc(slices.Clone(m.Faults), func(err error) bool {
		var f *cql.SchemaError
		return errors.As(err, &f) && f.Object != "" && slices.Contains(names, f.Object)
	})
	m.Faults = append(m.Faults, k.faults...)
	return &ks
}
