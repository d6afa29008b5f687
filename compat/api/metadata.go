// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"maps"
	"slices"
	"sync"

	"github.com/vecql/vecql/cql"
)

// Schema metadata. The modules of v1.7 and v2 define their types by the ones below, so that these have their package.
// T is a module's TypeInfo. Metadata of vecql that is nil becomes nil.

// ColumnOrder is the order of rows by a clustering column; true means descending.
type ColumnOrder bool

// Table is TableMetadata, C a module's ColumnMetadata. Only servers before Cassandra 3 have the fields from
// KeyValidator to ValueAlias; they are always empty.
type Table[C any] struct {
	Keyspace          string
	Name              string
	KeyValidator      string
	Comparator        string
	DefaultValidator  string
	KeyAliases        []string
	ColumnAliases     []string
	ValueAlias        string
	PartitionKey      []*C
	ClusteringColumns []*C
	Columns           map[string]*C
	OrderedColumns    []string
}

// NewTable converts a table. The columns have the order of system_schema.columns: by name.
func NewTable[C any](t *cql.TableMetadata, column func(*cql.ColumnMetadata) *C) *Table[C] {
	if t == nil {
		return nil
	}
	out := &Table[C]{
		Keyspace: t.Keyspace, Name: t.Name, Columns: ConvertAll(t.Columns, column),
		OrderedColumns: slices.Sorted(maps.Keys(t.Columns)),
	}
	out.PartitionKey = NamedColumns(out.Columns, t.PartitionKey)
	out.ClusteringColumns = NamedColumns(out.Columns, t.ClusteringColumns)
	return out
}

// AddViews adds the materialized views of a keyspace to its tables, where the API has them too.
func AddViews[T any](tables map[string]*T, k *cql.KeyspaceMetadata, table func(*cql.TableMetadata) *T) {
	for name, v := range k.MaterializedViews {
		tables[name] = table(&cql.TableMetadata{
			Keyspace: v.Keyspace, Name: v.Name, Columns: v.Columns, PartitionKey: v.PartitionKey,
			ClusteringColumns: v.ClusteringColumns,
		})
	}
}

// Column is ColumnMetadata, K a module's ColumnKind, I its ColumnIndexMetadata.
type Column[T any, K ~int, I any] struct {
	Keyspace        string
	Table           string
	Name            string
	ComponentIndex  int
	Kind            K
	Validator       string
	Type            T
	ClusteringOrder string
	Order           ColumnOrder
	Index           I
}

// NewColumn converts a column of a type with an index.
func NewColumn[T any, K ~int, I any](c *cql.ColumnMetadata, typ T, index I) *Column[T, K, I] {
	return &Column[T, K, I]{
		Keyspace: c.Keyspace, Table: c.Table, Name: c.Name, ComponentIndex: c.ComponentIndex, Kind: K(c.Kind),
		Validator: c.Validator, Type: typ, ClusteringOrder: c.ClusteringOrder, Order: ColumnOrder(c.Order), Index: index,
	}
}

// Function is FunctionMetadata.
type Function[T any] struct {
	Keyspace          string
	Name              string
	ArgumentTypes     []T
	ArgumentNames     []string
	Body              string
	CalledOnNullInput bool
	Language          string
	ReturnType        T
}

// NewFunction converts a function.
func NewFunction[T any](f *cql.FunctionMetadata, typ func(cql.TypeInfo) T) *Function[T] {
	if f == nil {
		return nil
	}
	return &Function[T]{
		Keyspace: f.Keyspace, Name: f.Name, ArgumentTypes: Each(f.ArgumentTypes, typ),
		ArgumentNames: slices.Clone(f.ArgumentNames), Body: f.Body, CalledOnNullInput: f.CalledOnNullInput,
		Language: f.Language, ReturnType: typ(f.ReturnType),
	}
}

// Aggregate is AggregateMetadata, F a module's FunctionMetadata.
type Aggregate[T, F any] struct {
	Keyspace      string
	Name          string
	ArgumentTypes []T
	FinalFunc     F
	InitCond      string
	ReturnType    T
	StateFunc     F
	StateType     T
}

// NewAggregate converts an aggregate.
func NewAggregate[T, F any](
	a *cql.AggregateMetadata, typ func(cql.TypeInfo) T, function func(*cql.FunctionMetadata) *F,
) *Aggregate[T, F] {
	if a == nil {
		return nil
	}
	return &Aggregate[T, F]{
		Keyspace: a.Keyspace, Name: a.Name, ArgumentTypes: Each(a.ArgumentTypes, typ), FinalFunc: *function(&a.FinalFunc),
		InitCond: a.InitCond, ReturnType: typ(a.ReturnType), StateFunc: *function(&a.StateFunc), StateType: typ(a.StateType),
	}
}

// UserType is UserTypeMetadata.
type UserType[T any] struct {
	Keyspace   string
	Name       string
	FieldNames []string
	FieldTypes []T
}

// NewUserType converts a user-defined type.
func NewUserType[T any](u *cql.UserTypeMetadata, typ func(cql.TypeInfo) T) *UserType[T] {
	if u == nil {
		return nil
	}
	return &UserType[T]{u.Keyspace, u.Name, slices.Clone(u.FieldNames), Each(u.FieldTypes, typ)}
}

// ExtensionTexts returns the extensions of a table as texts.
func ExtensionTexts(extensions map[string][]byte) map[string]string {
	return ConvertAll(extensions, func(value []byte) string { return string(value) })
}

// ConvertAll applies convert to the values of a map.
func ConvertAll[F, T any](from map[string]F, convert func(F) T) map[string]T {
	out := make(map[string]T, len(from))
	for name, f := range from {
		out[name] = convert(f)
	}
	return out
}

// NamedColumns returns the columns with the names of other columns.
func NamedColumns[C any](columns map[string]*C, others []*cql.ColumnMetadata) []*C {
	out := make([]*C, len(others))
	for i, c := range others {
		out[i] = columns[c.Name]
	}
	return out
}

// Keyspaces are the metadata of keyspaces, K, by name. The zero value is empty.
type Keyspaces[K any] struct {
	mu     sync.Mutex
	byName map[string]keyspace[K]
}

// keyspace is the metadata of a keyspace in both shapes.
type keyspace[K any] struct {
	of        *cql.KeyspaceMetadata
	converted *K
}

// Of returns the metadata of a keyspace, the same value until the schema changes.
func (ks *Keyspaces[K]) Of(k *cql.KeyspaceMetadata, convert func(*cql.KeyspaceMetadata) (*K, error)) (*K, error) {
	if known := ks.known(k, nil); known != nil {
		return known, nil
	}
	converted, err := convert(k) // it may send requests
	if err != nil {
		return nil, err
	}
	return ks.known(k, converted), nil
}

// known returns what is known of a keyspace, else stores the metadata unless it is nil.
func (ks *Keyspaces[K]) known(k *cql.KeyspaceMetadata, converted *K) *K {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	if known := ks.byName[k.Name]; known.of == k {
		return known.converted
	}
	if converted != nil {
		if ks.byName == nil {
			ks.byName = make(map[string]keyspace[K])
		}
		ks.byName[k.Name] = keyspace[K]{k, converted}
	}
	return converted
}
