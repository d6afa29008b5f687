// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
)

// This file makes metadata of rows of the system_schema tables. The rows are not trusted: any column may be missing, NULL or of another
// type, rows may belong to nothing, types may name themselves. What can't be understood becomes a fault of its object.

// keyspaceRows gathers the rows of one keyspace; build makes its metadata of them.
type keyspaceRows struct {
	name        string
	keyspace    systemRow // nil: no row
	types       []typeRow
	tables      []*TableMetadata
	views       []*MaterializedViewMetadata
	columns     map[string][]*ColumnMetadata // by table or view
	columnPrint map[string]uint64
	indexes     []*IndexMetadata
	scylla      map[string]systemRow // by table
	functions   []functionRow
	aggregates  []aggregateRow
	faults      []error
}

type typeRow struct {
	meta  *UserTypeMetadata
	types []string
}

type functionRow struct {
	meta      *FunctionMetadata
	arguments []string
	returns   string
}

type aggregateRow struct {
	meta                 *AggregateMetadata
	arguments            []string
	returns, state       string
	stateFunc, finalFunc string
}

var errNoName = errors.New("a row without a name")

func (k *keyspaceRows) fault(object, column string, err error) {
	k.faults = append(k.faults, &SchemaError{Keyspace: k.name, Object: object, Column: column, Err: err})
}

// fingerprint returns a number that tells rows apart.
func fingerprint(row systemRow) uint64 {
	h := fnv.New64a()
	for _, column := range slices.Sorted(maps.Keys(row)) {
		_, _ = fmt.Fprintf(h, "%s=%v\x00", column, row[column]) // maps are printed in the order of their keys
	}
	return h.Sum64()
}

// named returns the row's name in a column; without one the row is a fault.
func (k *keyspaceRows) named(row systemRow, column string) (string, bool) {
	name, ok := row[column].(string)
	if !ok {
		k.fault("", "", fmt.Errorf("%w in %s", errNoName, column))
	}
	return name, ok
}

func (k *keyspaceRows) addKeyspace(row systemRow) { k.keyspace = row }

func (k *keyspaceRows) addType(row systemRow) {
	name, ok := k.named(row, "type_name")
	if !ok {
		return
	}
	t := &UserTypeMetadata{Keyspace: k.name, Name: name, FieldNames: get[[]string](row, "field_names"), print: fingerprint(row)}
	types := get[[]string](row, "field_types")
	if len(types) != len(t.FieldNames) {
		k.fault(name, "", fmt.Errorf("%d names for %d fields", len(t.FieldNames), len(types)))
		return
	}
	k.types = append(k.types, typeRow{t, types})
}

func (k *keyspaceRows) addTable(row systemRow) {
	if name, ok := k.named(row, "table_name"); ok {
		k.tables = append(k.tables, &TableMetadata{
			Keyspace: k.name, Name: name, Id: get[UUID](row, "id"), Flags: get[[]string](row, "flags"),
			Options: tableOptions(row), print: fingerprint(row),
		})
	}
}

func tableOptions(row systemRow) TableMetadataOptions {
	o := TableMetadataOptions{
		AdditionalWritePolicy: get[string](row, "additional_write_policy"), BloomFilterFpChance: get[float64](row, "bloom_filter_fp_chance"),
		Caching: get[map[string]string](row, "caching"), Comment: get[string](row, "comment"),
		Compaction: get[map[string]string](row, "compaction"), Compression: get[map[string]string](row, "compression"),
		CrcCheckChance: get[float64](row, "crc_check_chance"), DcLocalReadRepairChance: get[float64](row, "dclocal_read_repair_chance"),
		DefaultTimeToLive: get[int](row, "default_time_to_live"), Extensions: get[map[string][]byte](row, "extensions"),
		GcGraceSeconds: get[int](row, "gc_grace_seconds"), MaxIndexInterval: get[int](row, "max_index_interval"),
		MemtableFlushPeriodInMs: get[int](row, "memtable_flush_period_in_ms"), MinIndexInterval: get[int](row, "min_index_interval"),
		ReadRepair: get[string](row, "read_repair"), ReadRepairChance: get[float64](row, "read_repair_chance"),
		SpeculativeRetry: get[string](row, "speculative_retry"),
	}
	if get[bool](row, "cdc") {
		o.CDC = map[string]string{"enabled": "true"}
	}
	return o
}

func (k *keyspaceRows) addScyllaTable(row systemRow) {
	if name, ok := k.named(row, "table_name"); ok {
		if k.scylla == nil {
			k.scylla = map[string]systemRow{}
		}
		k.scylla[name] = row
	}
}

// addScylla adds what ScyllaDB keeps of tables in a table of its own.
func (k *keyspaceRows) addScylla(table string, o *TableMetadataOptions) {
	row := k.scylla[table]
	if cdc := get[map[string]string](row, "cdc"); len(cdc) > 0 {
		o.CDC = cdc
	}
	o.Partitioner = get[string](row, "partitioner")
}

func (k *keyspaceRows) addColumn(row systemRow) {
	table, ok := k.named(row, "table_name")
	if !ok {
		return
	}
	name, ok := row["column_name"].(string)
	if !ok {
		k.fault(table, "", fmt.Errorf("%w in column_name", errNoName))
		return
	}
	c := &ColumnMetadata{
		Keyspace: k.name, Table: table, Name: name, ComponentIndex: -1, Kind: columnKinds[get[string](row, "kind")],
		Validator: get[string](row, "type"), ClusteringOrder: strings.ToLower(get[string](row, "clustering_order")),
	}
	if p, ok := row["position"].(int); ok && (c.Kind == ColumnPartitionKey || c.Kind == ColumnClusteringKey) {
		c.ComponentIndex = p
	}
	c.Order = c.ClusteringOrder == "desc"
	if k.columns == nil {
		k.columns, k.columnPrint = map[string][]*ColumnMetadata{}, map[string]uint64{}
	}
	k.columns[table] = append(k.columns[table], c)
	k.columnPrint[table] += fingerprint(row) // the order of the rows is no difference
}

func (k *keyspaceRows) addView(row systemRow) {
	if name, ok := k.named(row, "view_name"); ok {
		k.views = append(k.views, &MaterializedViewMetadata{
			Keyspace: k.name, Name: name, Id: get[UUID](row, "id"), BaseTableId: get[UUID](row, "base_table_id"),
			IncludeAllColumns: get[bool](row, "include_all_columns"), WhereClause: get[string](row, "where_clause"),
			TableMetadataOptions: tableOptions(row), baseName: get[string](row, "base_table_name"), print: fingerprint(row),
		})
	}
}

func (k *keyspaceRows) addIndex(row systemRow) {
	if name, ok := k.named(row, "index_name"); ok {
		k.indexes = append(k.indexes, &IndexMetadata{
			Keyspace: k.name, Table: get[string](row, "table_name"), Name: name, Kind: get[string](row, "kind"),
			Options: get[map[string]string](row, "options"), print: fingerprint(row),
		})
	}
}

func (k *keyspaceRows) addFunction(row systemRow) {
	name, ok := k.named(row, "function_name")
	if !ok {
		return
	}
	f := functionRow{
		meta: &FunctionMetadata{
			Keyspace: k.name, Name: name, ArgumentNames: get[[]string](row, "argument_names"), Body: get[string](row, "body"),
			CalledOnNullInput: get[bool](row, "called_on_null_input"), Language: get[string](row, "language"), print: fingerprint(row),
		},
		arguments: get[[]string](row, "argument_types"), returns: get[string](row, "return_type"),
	}
	if len(f.arguments) != len(f.meta.ArgumentNames) {
		k.fault(name, "", fmt.Errorf("%d names for %d arguments", len(f.meta.ArgumentNames), len(f.arguments)))
		return
	}
	f.meta.signature = signature(name, f.arguments)
	k.functions = append(k.functions, f)
}

func (k *keyspaceRows) addAggregate(row systemRow) {
	if name, ok := k.named(row, "aggregate_name"); ok {
		a := aggregateRow{
			meta:      &AggregateMetadata{Keyspace: k.name, Name: name, InitCond: get[string](row, "initcond"), print: fingerprint(row)},
			arguments: get[[]string](row, "argument_types"), returns: get[string](row, "return_type"), state: get[string](row, "state_type"),
			stateFunc: get[string](row, "state_func"), finalFunc: get[string](row, "final_func"),
		}
		a.meta.signature = signature(name, a.arguments)
		k.aggregates = append(k.aggregates, a)
	}
}

func signature(name string, arguments []string) string {
	return name + "(" + strings.Join(arguments, ", ") + ")"
}

// build returns the keyspace, nil when it has no row.
func (k *keyspaceRows) build(keyspacesOnly bool) *KeyspaceMetadata {
	if k.keyspace == nil {
		return nil
	}
	replication := get[map[string]string](k.keyspace, "replication")
	ks := &KeyspaceMetadata{
		Name: k.name, DurableWrites: get[bool](k.keyspace, "durable_writes"), StrategyClass: replication["class"],
		StrategyOptions: map[string]any{}, print: fingerprint(k.keyspace),
	}
	for name, v := range replication {
		if name != "class" {
			ks.StrategyOptions[name] = v
		}
	}
	if !keyspacesOnly {
		ks.Tables, ks.MaterializedViews = map[string]*TableMetadata{}, map[string]*MaterializedViewMetadata{}
		ks.UserTypes, ks.Indexes = map[string]*UserTypeMetadata{}, map[string]*IndexMetadata{}
		ks.Functions, ks.Aggregates = map[string]*FunctionMetadata{}, map[string]*AggregateMetadata{}
		k.buildTypes(ks)
		k.buildFunctions(ks)
		k.buildTables(ks)
	}
	ks.Faults = k.faults
	return ks
}

// buildTables adds tables, views and indexes to ks, whose types are there.
func (k *keyspaceRows) buildTables(ks *KeyspaceMetadata) {
	for _, t := range k.tables {
		k.addScylla(t.Name, &t.Options)
		t.print += k.columnPrint[t.Name] + fingerprint(k.scylla[t.Name])
		t.Columns, t.OrderedColumns, t.PartitionKey, t.ClusteringColumns = k.buildColumns(ks, t.Name)
		if len(t.PartitionKey) == 0 {
			k.fault(t.Name, "", errors.New("no partition key"))
		}
		ks.Tables[t.Name] = t
	}
	for _, v := range k.views {
		k.addScylla(v.Name, &v.TableMetadataOptions)
		v.print += k.columnPrint[v.Name] + fingerprint(k.scylla[v.Name])
		v.Columns, v.OrderedColumns, v.PartitionKey, v.ClusteringColumns = k.buildColumns(ks, v.Name)
		ks.MaterializedViews[v.Name] = v
	}
	for _, v := range ks.MaterializedViews {
		if base := ks.Tables[v.baseName]; v.BaseTable != base { // else it may be shared
			v.BaseTable = base
		}
	}
	for _, i := range k.indexes {
		ks.Indexes[i.Name] = i
		if t := ks.Tables[i.Table]; t != nil {
			t.print += i.print
			if c := t.Columns[indexedColumn(i.Options["target"])]; c != nil {
				c.Index = ColumnIndexMetadata{Name: i.Name, Type: i.Kind, Options: map[string]any{}}
				for name, v := range i.Options {
					c.Index.Options[name] = v
				}
			}
		}
	}
}

// buildColumns orders the columns of a table as SELECT * does and reads their types.
func (k *keyspaceRows) buildColumns(ks *KeyspaceMetadata, table string) (
	columns map[string]*ColumnMetadata, names []string, partition, clustering []*ColumnMetadata,
) {
	rank := map[ColumnKind]int{ColumnPartitionKey: 0, ColumnClusteringKey: 1, ColumnStatic: 2}
	of := func(c *ColumnMetadata) int {
		if r, ok := rank[c.Kind]; ok {
			return r
		}
		return 3
	}
	all := k.columns[table]
	slices.SortStableFunc(all, func(a, b *ColumnMetadata) int {
		return cmp.Or(cmp.Compare(of(a), of(b)), cmp.Compare(a.ComponentIndex, b.ComponentIndex), cmp.Compare(a.Name, b.Name))
	})
	columns = make(map[string]*ColumnMetadata, len(all))
	for _, c := range all {
		if columns[c.Name] != nil {
			k.fault(table, c.Name, errors.New("the column is there twice"))
			continue
		}
		c.Type = k.resolve(ks, table, c.Name, c.Validator)
		columns[c.Name] = c
		names = append(names, c.Name)
		switch c.Kind {
		case ColumnPartitionKey:
			c.ComponentIndex = len(partition)
			partition = append(partition, c)
		case ColumnClusteringKey:
			c.ComponentIndex = len(clustering)
			clustering = append(clustering, c)
		case ColumnUnkownKind:
			k.fault(table, c.Name, errors.New("the column is of an unknown kind"))
		}
	}
	return columns, names, partition, clustering
}

// indexedColumn returns the column of an index's target: a name, quoted where it must be, or a function of one, e.g. values("Tags").
func indexedColumn(target string) string {
	if _, rest, ok := strings.Cut(target, "("); ok && !strings.HasPrefix(target, `"`) {
		target = strings.TrimSuffix(rest, ")")
	}
	if len(target) >= 2 && target[0] == '"' && target[len(target)-1] == '"' {
		return strings.ReplaceAll(target[1:len(target)-1], `""`, `"`)
	}
	return target
}

// resolve reads a type. What it can't read is a CustomType with the text, and a fault.
func (k *keyspaceRows) resolve(ks *KeyspaceMetadata, object, column, text string) TypeInfo {
	t, err := ParseType(text, func(keyspace, name string) (UDTTypeInfo, bool) {
		if keyspace != "" && keyspace != ks.Name {
			return UDTTypeInfo{}, false
		}
		t, ok := ks.types[name]
		return t, ok
	})
	if err != nil {
		k.fault(object, column, err)
		return CustomType{Class: text}
	}
	return t
}

// resolveAll is resolve for a list of types.
func (k *keyspaceRows) resolveAll(ks *KeyspaceMetadata, object string, texts []string) []TypeInfo {
	types := make([]TypeInfo, len(texts))
	for i, text := range texts {
		types[i] = k.resolve(ks, object, "", text)
	}
	return types
}

// buildTypes resolves the user-defined types, which may use each other in any order.
func (k *keyspaceRows) buildTypes(ks *KeyspaceMetadata) {
	r := typeResolver{rows: k, byName: make(map[string]*typeRow, len(k.types)), open: map[string]bool{}}
	ks.types = make(map[string]UDTTypeInfo, len(k.types))
	r.done = ks.types
	for i := range k.types {
		r.byName[k.types[i].meta.Name] = &k.types[i]
	}
	for _, name := range slices.Sorted(maps.Keys(r.byName)) {
		r.lookup(name)
		ks.UserTypes[name] = r.byName[name].meta
	}
}

// typeResolver resolves each type once.
type typeResolver struct {
	rows   *keyspaceRows
	byName map[string]*typeRow
	done   map[string]UDTTypeInfo
	open   map[string]bool // being resolved
}

// lookup returns the type of that name; ok is false when there is none, or when it is a part of itself.
func (r *typeResolver) lookup(name string) (t UDTTypeInfo, ok bool) {
	if t, ok := r.done[name]; ok {
		return t, true
	}
	row := r.byName[name]
	if row == nil || r.open[name] || len(r.open) > maxTypeDepth {
		return UDTTypeInfo{}, false
	}
	r.open[name] = true
	defer delete(r.open, name)
	row.meta.FieldTypes = make([]TypeInfo, len(row.types))
	for i, text := range row.types {
		t, err := ParseType(text, func(keyspace, name string) (UDTTypeInfo, bool) {
			if keyspace != "" && keyspace != r.rows.name {
				return UDTTypeInfo{}, false
			}
			return r.lookup(name)
		})
		if err != nil {
			r.rows.fault(name, row.meta.FieldNames[i], err)
			t = CustomType{Class: text}
		}
		row.meta.FieldTypes[i] = t
	}
	t = row.meta.TypeInfo()
	r.done[name] = t
	return t, true
}

// buildFunctions adds functions and aggregates to ks, whose types are there.
func (k *keyspaceRows) buildFunctions(ks *KeyspaceMetadata) {
	bySignature := map[string]*FunctionMetadata{}
	for _, f := range k.functions {
		f.meta.ArgumentTypes = k.resolveAll(ks, f.meta.Name, f.arguments)
		f.meta.ReturnType = k.resolve(ks, f.meta.Name, "", f.returns)
		bySignature[f.meta.signature] = f.meta
		addOverloaded(ks.Functions, f.meta.Name, f.meta.signature, f.meta)
	}
	function := func(name string, arguments ...string) FunctionMetadata {
		if f := bySignature[signature(name, arguments)]; f != nil {
			return *f
		}
		return FunctionMetadata{Keyspace: k.name, Name: name}
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
		addOverloaded(ks.Aggregates, m.Name, m.signature, m)
	}
}

// addOverloaded adds v under its name, or its signature where the name is taken.
func addOverloaded[T any](m map[string]T, name, signature string, v T) {
	if _, taken := m[name]; taken {
		name = signature
	}
	m[name] = v
}

// keepOnly forgets rows that were not asked for: what the others make is shared by now.
func (k *keyspaceRows) keepOnly(names []string) {
	k.tables = slices.DeleteFunc(k.tables, func(t *TableMetadata) bool { return !slices.Contains(names, t.Name) })
	k.views = slices.DeleteFunc(k.views, func(v *MaterializedViewMetadata) bool { return !slices.Contains(names, v.Name) })
	k.indexes = slices.DeleteFunc(k.indexes, func(i *IndexMetadata) bool { return !slices.Contains(names, i.Table) })
}

// merge returns old with the tables and views of those names as k has them now: changed, new, or gone when k has no row of them.
func (k *keyspaceRows) merge(old *KeyspaceMetadata, names []string) *KeyspaceMetadata {
	k.keepOnly(names)
	ks := *old
	ks.Tables, ks.MaterializedViews, ks.Indexes = maps.Clone(old.Tables), maps.Clone(old.MaterializedViews), maps.Clone(old.Indexes)
	for _, name := range names {
		delete(ks.Tables, name)
		delete(ks.MaterializedViews, name)
	}
	maps.DeleteFunc(ks.Indexes, func(_ string, i *IndexMetadata) bool { return slices.Contains(names, i.Table) })
	for name, v := range ks.MaterializedViews {
		if slices.Contains(names, v.baseName) { // its base table is another now
			c := *v
			ks.MaterializedViews[name] = &c
		}
	}
	k.buildTables(&ks)
	ks.Faults = slices.DeleteFunc(slices.Clone(old.Faults), func(err error) bool {
		var f *SchemaError
		return errors.As(err, &f) && f.Object != "" && slices.Contains(names, f.Object)
	})
	ks.Faults = append(ks.Faults, k.faults...)
	return &ks
}
