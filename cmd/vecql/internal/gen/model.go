// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// What the templates print, made from the metadata of a keyspace.

// A model is the package of a keyspace.
type model struct {
	Package, Keyspace string
	Unqualified       bool
	Structs           []*structType
	Tables            []*table
	Schema            []string // statements that create what the tests use
}

// A field is a field of a struct.
type field struct {
	Column string // in CQL, not quoted
	Name   string // in Go
	Type   string // in Go
	Plain  string // the type of a value that is not NULL
	Tag    string
	Param  string // the name as a parameter

	info  cql.TypeInfo
	isKey bool
}

// A table is a table or a view.
type table struct {
	Kind  string // "table" or "view"
	Title string // for comments: shop.items
	CQL   string // in statements, quoted where it needs quotes

	Row, Type, Open, Select string // the names of the declarations
	Fields                  []field
	Partition, Key          []field    // of Fields
	Static                  *static    // nil means none
	Increment               *increment // nil means none, as below
	StaticIncrement         *increment
	IfNotExists             *statement
	Statements              []statement
	Lookups                 []lookup
	Searches                []lookup
	IsTested                bool

	meta *tableMeta
}

// HasViews reports whether the tests write into tables in the place of views.
func (m *model) HasViews() bool {
	return slices.ContainsFunc(m.Tables, func(t *table) bool { return t.IsView() && t.IsTested })
}

// HasIfNotExists reports whether the tests call InsertIfNotExists.
func (m *model) HasIfNotExists() bool {
	return slices.ContainsFunc(m.Tables, func(t *table) bool { return t.IfNotExists != nil && t.IsTested })
}

// Values returns the fields beside the primary key.
func (t *table) Values() []field { return t.Fields[len(t.Key):] }

// Prepared returns the statements that the function Open prepares.
func (t *table) Prepared() []statement {
	if t.IfNotExists == nil {
		return t.Statements
	}
	return append(slices.Clone(t.Statements), *t.IfNotExists)
}

// Increments returns the increments that the table has.
func (t *table) Increments() []*increment {
	return slices.DeleteFunc([]*increment{t.Increment, t.StaticIncrement}, func(i *increment) bool { return i == nil })
}

// IsView reports whether the table is a view.
func (t *table) IsView() bool { return t.meta.isView }

// HasRows reports whether the generated code can write rows, or reads rows of a view. A table whose counters are all
// static has none.
func (t *table) HasRows() bool { return !t.meta.isCounter || t.Increment != nil }

// HasPartition reports whether a partition may have several rows.
func (t *table) HasPartition() bool { return len(t.Key) > len(t.Partition) }

// A static is the static columns of a table.
type static struct {
	Row    string
	Fields []field
}

// An increment is what is added to the counters of a row, or to the static counters of a partition.
type increment struct {
	Row    string
	Of     string // "row" or "partition"
	Fields []field
}

// A tableMeta is what a table and a view have in common.
type tableMeta struct {
	name                  string
	isView                bool
	partition, clustering []*cql.ColumnMetadata
	columns               map[string]*cql.ColumnMetadata
	ordered               []string
	indexes               []*cql.IndexMetadata
	isCounter             bool
}

// A maker makes the model of a keyspace.
type maker struct {
	typer
	ks    *cql.KeyspaceMetadata
	names nameSet // of the package
	notes []string
}

func (m *maker) note(format string, args ...any) {
	m.notes = append(m.notes, fmt.Sprintf(format, args...))
}

// newModel returns the model of a keyspace and its maker. check has accepted the options.
func newModel(ks *cql.KeyspaceMetadata, o *Options) (*maker, *model, error) {
	m := &maker{ks: ks, names: nameSet{"Tables": true, "Open": true, "TestTables": true}}
	m.typer = typer{options: o, structs: map[string]*structType{}, used: map[string]bool{}}
	for _, err := range ks.Faults {
		m.note("%s", strings.TrimPrefix(err.Error(), "vecql: "))
	}
	out := &model{Package: o.packageName(ks.Name), Keyspace: title(ks.Name), Unqualified: o.NoKeyspace}
	var metas []*tableMeta
	for _, meta := range m.tables() {
		if o.has(meta.name) {
			metas = append(metas, meta)
			for _, c := range meta.columns {
				m.collect(c.Type, false)
			}
		}
	}
	if len(metas) == 0 {
		return nil, nil, fmt.Errorf("%w: keyspace %s has no such table; it has: %s", ErrOptions, ks.Name,
			strings.Join(slices.Sorted(maps.Keys(ks.Tables)), ", "))
	}
	out.Tables = m.nameRows(metas)
	m.nameStructs(m.names)
	out.Structs = m.fillStructs()
	out.Tables = slices.DeleteFunc(out.Tables, func(t *table) bool { return !m.fill(t) })
	if len(out.Tables) == 0 {
		return nil, nil, fmt.Errorf("%w: %s", ErrSchema, strings.Join(m.notes, "; "))
	}
	out.Schema = m.schema(out)
	m.noteUnused(metas)
	return m, out, nil
}

// noteUnused adds a note for each name of the settings that the schema does not have.
func (m *maker) noteUnused(metas []*tableMeta) {
	var tables, columns []string
	for _, meta := range m.tables() {
		tables = append(tables, meta.name)
	}
	for _, meta := range metas {
		for _, column := range meta.ordered {
			columns = append(columns, meta.name+"."+column)
		}
	}
	unmatched := func(setting string, patterns, names []string) {
		for _, pattern := range patterns {
			if !slices.ContainsFunc(names, func(name string) bool { return matches([]string{pattern}, name) }) {
				m.note("%s has %q, which matches nothing", setting, pattern)
			}
		}
	}
	unmatched("tables", m.options.Tables, tables)
	unmatched("exclude", m.options.Exclude, tables)
	unmatched("not-null", m.options.NotNull, columns)
	unmatched("if-not-exists", m.options.IfNotExists, tables)
	for _, key := range slices.Sorted(maps.Keys(m.options.Names)) {
		if !m.used[key] {
			m.note("names has %q, which matches nothing", key)
		}
	}
}

// isServers reports whether ScyllaDB has made a table or a view: the log of changes of a table, the view of an index.
func (m *maker) isServers(name string) bool {
	table, isLog := strings.CutSuffix(name, "_scylla_cdc_log")
	index, isView := strings.CutSuffix(name, "_index")
	return isLog && m.ks.Tables[table] != nil ||
		isView && m.ks.MaterializedViews[name] != nil && m.ks.Indexes[index] != nil
}

// tables returns the tables and views of the keyspace by name.
func (m *maker) tables() (all []*tableMeta) {
	for _, t := range m.ks.Tables {
		meta := &tableMeta{
			name: t.Name, partition: t.PartitionKey, clustering: t.ClusteringColumns, columns: t.Columns,
			ordered: t.OrderedColumns,
		}
		for _, i := range m.ks.Indexes {
			if i.Table == t.Name {
				meta.indexes = append(meta.indexes, i)
			}
		}
		slices.SortFunc(meta.indexes, func(a, b *cql.IndexMetadata) int { return strings.Compare(a.Name, b.Name) })
		all = append(all, meta)
	}
	for _, v := range m.ks.MaterializedViews {
		all = append(all, &tableMeta{
			name: v.Name, isView: true, partition: v.PartitionKey, clustering: v.ClusteringColumns, columns: v.Columns,
			ordered: v.OrderedColumns,
		})
	}
	slices.SortFunc(all, func(a, b *tableMeta) int { return strings.Compare(a.name, b.name) })
	return slices.DeleteFunc(all, func(t *tableMeta) bool { return m.isServers(t.name) })
}

// nameRows returns a table for each metadata, with the name of its row.
func (m *maker) nameRows(metas []*tableMeta) []*table {
	tables := make([]*table, len(metas))
	for i, meta := range metas {
		tables[i] = &table{meta: meta, Kind: "table"}
		if meta.isView {
			tables[i].Kind = "view"
		}
		if name, ok := m.named(meta.name); ok { // names of the settings come first
			tables[i].Row = m.names.add(name)
		}
	}
	for _, t := range tables {
		if t.Row == "" {
			t.Row = m.names.add(exported(singular(t.meta.name)))
		}
	}
	return tables
}

// fill completes a table, and reports whether it has a type of Go for each column of its key.
func (m *maker) fill(t *table) bool {
	meta := t.meta
	t.Title = title(m.ks.Name + "." + meta.name)
	t.CQL = cqltext.Identifier(meta.name)
	if !m.options.NoKeyspace {
		t.CQL = cqltext.Identifier(m.ks.Name) + "." + t.CQL
	}
	var statics []field
	names := nameSet{}
	for _, column := range meta.ordered {
		c := meta.columns[column]
		f, err := m.column(meta.name, c, names)
		switch {
		case err != nil && isKeyColumn(c):
			m.note("table %s is left out: column %s of its key: %v", t.Title, title(column), err)
			return false
		case err != nil:
			m.note("column %s of table %s is left out: %v", title(column), t.Title, err)
		case c.Kind == cql.ColumnStatic:
			statics = append(statics, f)
		default:
			t.Fields = append(t.Fields, f)
		}
		meta.isCounter = meta.isCounter || c.Type.Type() == cql.TypeCounter
	}
	t.Partition, t.Key = t.Fields[:len(meta.partition)], t.Fields[:len(meta.partition)+len(meta.clustering)]
	number := m.names.addAll(t.Row+"Table", "Open"+t.Row+"Table")
	t.Type, t.Open = t.Row+"Table"+number, "Open"+t.Row+"Table"+number
	t.Select = m.names.add("select" + t.Row)
	parameters := nameSet{t.Select: true} // methods use both
	for i := range t.Fields {
		t.Fields[i].Param = parameters.add(parameter(t.Fields[i].Name))
	}
	if len(statics) > 0 {
		t.Static = &static{Row: m.names.add(t.Row + "Static"), Fields: slices.Concat(t.Partition, statics)}
	}
	m.addStatements(t)
	m.addLookups(t)
	t.IsTested = m.isTested(t)
	return true
}

// column returns the field of a column.
func (m *maker) column(owner string, c *cql.ColumnMetadata, names nameSet) (field, error) {
	if c.Name == "" {
		return field{}, fmt.Errorf("%w: %q", ErrName, c.Name)
	}
	f, err := m.field(cql.UDTField{Name: c.Name, Type: c.Type}, false)
	if err != nil {
		return f, err
	}
	if isKeyColumn(c) || matches(m.options.NotNull, owner+"."+c.Name) {
		f.Type = f.Plain
	}
	f.Name = m.fieldName(owner, c.Name, names)
	return f, nil
}

// isKeyColumn reports whether a column belongs to the primary key.
func isKeyColumn(c *cql.ColumnMetadata) bool {
	return c.Kind == cql.ColumnPartitionKey || c.Kind == cql.ColumnClusteringKey
}
