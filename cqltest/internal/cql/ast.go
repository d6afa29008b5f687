// SPDX-License-Identifier: Apache-2.0

// Package cql parses CQL 3 of Cassandra 5 with the extensions of ScyllaDB: Parse turns text into a tree of statements
// and expressions. The package uses no schema: it does not check that tables, columns and functions exist, nor the
// types of terms.
package cql

import "fmt"

// The tree of a statement (doc/cql3 of Cassandra 5.0). Names are as they are stored: in lower case unless they were
// quoted. A nil slice and an empty one are equivalent; the parser makes nil ones. A tree does not refer to the text or
// to positions in it.

// A Statement is one of the pointers *Select, *Insert, *Update, *Delete, *Batch, *Truncate, *Use, *CreateKeyspace,
// *AlterKeyspace, *DropKeyspace, *CreateTable, *AlterTable, *DropTable, *CreateType, *AlterType, *DropType,
// *CreateIndex, *DropIndex, *Describe, *ListRoles and *Unsupported.
type Statement interface {
	// Markers returns the bind markers of the statement by their Index, which is their order in the text:
	// Markers()[i].Index == i. Two uses of a name are two markers, as in Cassandra. A statement inside a Batch uses the
	// indexes of the batch and returns only its own markers. The slice is shared.
	Markers() []*Marker
	statement()
}

// bound stores the markers of a Statement.
type bound struct{ markers []*Marker }

func (b *bound) Markers() []*Marker { return b.markers }
func (*bound) statement()           {}

// A Name is the name of a table, type, index or function; Keyspace is "" if it was not given.
type Name struct{ Keyspace, Name string }

// A Select is a SELECT statement.
type Select struct {
	bound
	JSON, Distinct    bool
	Selectors         []Selector // empty means *
	From              Name
	NoFrom            bool // ScyllaDB: no FROM, which means From is system.one_row
	Where             []Relation
	GroupBy           []Expr
	OrderBy           []Ordering
	PerPartitionLimit Expr // integer *Literal or *Marker; nil means none
	Limit             Expr // the same
	AllowFiltering    bool
	BypassCache       bool // ScyllaDB
	Timeout           Expr // USING TIMEOUT of ScyllaDB: duration *Literal or *Marker; nil means none
}

// A Selector is one item of a SELECT clause.
type Selector struct {
	Expr  Expr
	Alias string // "" if not given
}

// An Ordering is one item of ORDER BY, or of CLUSTERING ORDER BY, whose ANN is nil.
type Ordering struct {
	Column string
	ANN    Expr // ORDER BY column ANN OF term, otherwise nil
	Desc   bool
}

// An Insert is INSERT ... VALUES, or INSERT ... JSON if JSON is not nil.
type Insert struct {
	bound
	Table        Name
	Columns      []string // as written, even if Values has another number
	Values       []Expr
	JSON         Expr // string *Literal or *Marker
	DefaultUnset bool // JSON ... DEFAULT UNSET
	IfNotExists  bool
	Using        Using
}

// A Using is a USING clause. Each value is a *Literal or *Marker; nil means that it was not given.
type Using struct {
	Timestamp Expr // microseconds
	TTL       Expr // seconds
	Timeout   Expr // ScyllaDB: a duration
}

// An Update is an UPDATE statement.
type Update struct {
	bound
	Table    Name
	Using    Using
	Set      []Assignment
	Where    []Relation
	IfExists bool
	If       []Condition
}

// An AssignOp is the effect of an Assignment on its column.
type AssignOp int

const (
	Assign        AssignOp = iota // c = value
	AssignAdd                     // c = c + value, c += value; "c = c -1" is AssignAdd of -1
	AssignSub                     // c = c - value, c -= value
	AssignPrepend                 // c = value + c
	AssignElement                 // c[Key] = value
	AssignField                   // c.Field = value
)

// An Assignment is one item of UPDATE ... SET.
type Assignment struct {
	Column string
	Op     AssignOp
	Key    Expr   // AssignElement
	Field  string // AssignField
	Value  Expr
}

// A Delete is a DELETE statement.
type Delete struct {
	bound
	Targets  []Target // empty means whole rows
	Table    Name
	Using    Using // never has a TTL
	Where    []Relation
	IfExists bool
	If       []Condition
}

// A Target is what a DELETE removes: a column, one of its elements if Key is not nil, or one of its fields if Field is
// not "".
type Target struct {
	Column string
	Key    Expr
	Field  string
}

// An Operator is the operator of a Relation or Condition.
type Operator int

const (
	Eq          Operator = iota // =
	Lt                          // <
	Lte                         // <=
	Gt                          // >
	Gte                         // >=
	Neq                         // !=
	In                          // IN
	Contains                    // CONTAINS
	ContainsKey                 // CONTAINS KEY
	Like                        // LIKE, only in relations
	IsNotNull                   // IS NOT NULL, only in relations: no value
	IsNull                      // IS NULL of ScyllaDB, the same
)

// A Relation is one part of a WHERE clause.
type Relation struct {
	Columns []string // a single one, unless Token or Tuple
	Token   bool     // token(a, b) < value
	Tuple   bool     // (a, b) < value, also for a single column in parentheses
	Element Expr     // c[Element] = value, otherwise nil
	Op      Operator
	Value   Expr   // right side; with In: the *Marker of IN ?, or nil
	Values  []Expr // with In and a nil Value: the list, which may be empty
}

// A Condition is one part of the IF clause of an UPDATE or DELETE.
type Condition struct {
	Column  string
	Element Expr   // c[Element], otherwise nil
	Field   string // c.Field, otherwise ""
	Op      Operator
	Value   Expr   // as in Relation
	Values  []Expr // as in Relation
}

// A BatchKind is the kind of a Batch.
type BatchKind int

const (
	LoggedBatch BatchKind = iota
	UnloggedBatch
	CounterBatch
)

// A Batch is BEGIN ... APPLY BATCH. Its statements are *Insert, *Update and *Delete.
type Batch struct {
	bound
	Kind       BatchKind
	Using      Using
	Statements []Statement
}

// A Truncate is TRUNCATE [TABLE].
type Truncate struct {
	bound
	Table   Name
	Timeout Expr // USING TIMEOUT of ScyllaDB, otherwise nil
}

// A Use is USE.
type Use struct {
	bound
	Keyspace string
}

// A CreateKeyspace is CREATE KEYSPACE.
type CreateKeyspace struct {
	bound
	Name        string
	IfNotExists bool
	Options     Options
}

// An AlterKeyspace is ALTER KEYSPACE.
type AlterKeyspace struct {
	bound
	Name     string
	IfExists bool
	Options  Options
}

// A DropKeyspace is DROP KEYSPACE.
type DropKeyspace struct {
	bound
	Name     string
	IfExists bool
}

// Options are the properties of a WITH clause in the order of the text. Names are unique: a repeated name is a syntax
// error.
type Options []Option

// An Option is name = value. The value is the text of the literal, of any kind: 10, '10' and 1e1 are "10", "10" and
// "1e1".
type Option struct {
	Name  string
	Value string
	Map   map[string]string // not nil if the value is a map; Value is then ""
}

// Get returns the option of the name; false means that there is none.
func (o Options) Get(name string) (Option, bool) {
	for _, opt := range o {
		if opt.Name == name {
			return opt, true
		}
	}
	return Option{}, false
}

// A CreateTable is CREATE TABLE. A table has exactly one primary key, but the text may contain none or several.
type CreateTable struct {
	bound
	Name            Name
	IfNotExists     bool
	Columns         []ColumnDef
	PrimaryKeys     []PrimaryKey // including "c int PRIMARY KEY"
	ClusteringOrder []Ordering
	CompactStorage  bool
	Options         Options
}

// A ColumnDef is a column of CREATE TABLE or ALTER TABLE ... ADD.
type ColumnDef struct {
	Name   string
	Type   *TypeName
	Static bool
	TTL    bool // ScyllaDB: the column has the expiration time of its row
}

// A PrimaryKey is PRIMARY KEY ((partition, key), clustering, ...).
type PrimaryKey struct{ Partition, Clustering []string }

// An AlterAction is the kind of change of an AlterTable or AlterType.
type AlterAction int

const (
	AlterAdd        AlterAction = iota // Columns, or Fields
	AlterDrop                          // Drop, Timestamp; tables only
	AlterRename                        // Renames
	AlterColumnType                    // Column, Type: servers refuse it since Cassandra 3.10
	AlterOptions                       // Options; tables only
	AlterTTL                           // ScyllaDB: Column, "" for NULL; tables only
)

// An AlterTable is ALTER TABLE.
type AlterTable struct {
	bound
	Name      Name
	IfExists  bool
	Action    AlterAction
	IfColumn  bool // ADD IF NOT EXISTS, DROP IF EXISTS, RENAME IF EXISTS
	Columns   []ColumnDef
	Drop      []string
	Timestamp Expr // DROP ... USING TIMESTAMP: integer *Literal, otherwise nil
	Renames   []Rename
	Column    string
	Type      *TypeName
	Options   Options
}

// A Rename is "from TO to".
type Rename struct{ From, To string }

// A DropTable is DROP TABLE.
type DropTable struct {
	bound
	Name     Name
	IfExists bool
}

// A CreateType is CREATE TYPE.
type CreateType struct {
	bound
	Name        Name
	IfNotExists bool
	Fields      []FieldDef
}

// A FieldDef is a field of a user-defined type.
type FieldDef struct {
	Name string
	Type *TypeName
}

// An AlterType is ALTER TYPE.
type AlterType struct {
	bound
	Name     Name
	IfExists bool
	Action   AlterAction
	IfField  bool       // ADD IF NOT EXISTS, RENAME IF EXISTS
	Fields   []FieldDef // for AlterAdd exactly one
	Renames  []Rename
	Field    string // AlterColumnType
	Type     *TypeName
}

// A DropType is DROP TYPE.
type DropType struct {
	bound
	Name     Name
	IfExists bool
}

// A CreateIndex is CREATE [CUSTOM] INDEX.
type CreateIndex struct {
	bound
	Name        string // "" if not given
	Custom      bool
	IfNotExists bool
	Table       Name
	Targets     []IndexTarget // servers refuse none and several
	Using       string        // class, as written; "" if not given
	Options     Options
}

// An IndexKind is the part of a column that an index covers.
type IndexKind int

const (
	IndexColumn  IndexKind = iota // (c)
	IndexValues                   // values(c)
	IndexKeys                     // keys(c)
	IndexEntries                  // entries(c)
	IndexFull                     // full(c)
)

// An IndexTarget is a column of an index.
type IndexTarget struct {
	Kind   IndexKind
	Column string
	// Columns are "(a, b)" of a local index of ScyllaDB, instead of a column. Nil means none.
	Columns []string
}

// A DropIndex is DROP INDEX.
type DropIndex struct {
	bound
	Name     Name
	IfExists bool
}

// An Unsupported is a statement that the parser recognizes only by its first words: views, functions, aggregates,
// triggers, roles, permissions, service levels. The rest is split into tokens but not parsed.
type Unsupported struct {
	bound
	What string // upper case: "CREATE MATERIALIZED VIEW", "LIST", "GRANT"
	Text string // the whole statement, without a semicolon
}

// An Expr is a term or a selector: one of the pointers *Literal, *Marker, *ListLiteral, *SetLiteral, *MapLiteral,
// *UDTLiteral, *TupleLiteral, *TypeHint, *Cast, *Call, *Binary, *Negate, *Column, *Field and *Element. The last three
// occur only in SELECT and GROUP BY. Its String is CQL.
type Expr interface {
	fmt.Stringer
	expr()
}

// A LiteralKind is the way in which a Literal was written.
type LiteralKind int

const (
	StringLiteral   LiteralKind = iota // Text is the string without quotes
	IntegerLiteral                     // digits, with an optional minus, of any length
	FloatLiteral                       // also "NaN", "Infinity" and "-Infinity", in this spelling
	BooleanLiteral                     // "true" or "false" as written, in any case
	DurationLiteral                    // as written: 1h30m, P1Y2M, P0001-02-03T04:05:06
	UUIDLiteral                        // as written
	HexLiteral                         // as written, with 0x
	NullLiteral                        // "NULL"
)

// A Literal is a constant.
type Literal struct {
	Kind LiteralKind
	Text string
}

// A Marker is a bind marker: ? or :name.
type Marker struct {
	Index int
	Name  string // "" for ?
}

// A ListLiteral is [a, b]: a list or a vector.
type ListLiteral struct{ Elems []Expr }

// A SetLiteral is {a, b}. Without elements it may also be an empty map.
type SetLiteral struct{ Elems []Expr }

// A MapLiteral is {k: v}, with at least one entry. It keeps repeated keys.
type MapLiteral struct{ Entries []MapEntry }

// A MapEntry is one key and value.
type MapEntry struct{ Key, Value Expr }

// A UDTLiteral is {name: v}, with at least one field. It keeps repeated names; the last one is valid. In
// SELECT a map whose keys are all columns is also parsed as a UDTLiteral.
type UDTLiteral struct{ Fields []FieldValue }

// A FieldValue is one field of a UDTLiteral.
type FieldValue struct {
	Name  string
	Value Expr
}

// A TupleLiteral is (a, b). (a) is a tuple of one element; in SELECT it is a in parentheses.
type TupleLiteral struct{ Elems []Expr }

// A TypeHint is (type) expr.
type TypeHint struct {
	Type *TypeName
	Expr Expr
}

// A Cast is CAST(expr AS type), where the type is native.
type Cast struct {
	Expr Expr
	Type *TypeName
}

// A Call is a call of a function, including token, count, writetime, maxwritetime and ttl, whose names are not quoted.
type Call struct {
	Name Name
	Star bool // count(*)
	Args []Expr
}

// A Binary is left op right.
type Binary struct {
	Op          byte // one of + - * / %
	Left, Right Expr
}

// A Negate is -expr. "-1" is a Literal, because the minus is part of the number; "- 1" is a Negate.
type Negate struct{ Expr Expr }

// A Column is a name in SELECT.
type Column struct{ Name string }

// A Field is of.Name.
type Field struct {
	Of   Expr
	Name string
}

// An Element is of[Index].
type Element struct{ Of, Index Expr }

func (*Literal) expr()      {}
func (*Marker) expr()       {}
func (*ListLiteral) expr()  {}
func (*SetLiteral) expr()   {}
func (*MapLiteral) expr()   {}
func (*UDTLiteral) expr()   {}
func (*TupleLiteral) expr() {}
func (*TypeHint) expr()     {}
func (*Cast) expr()         {}
func (*Call) expr()         {}
func (*Binary) expr()       {}
func (*Negate) expr()       {}
func (*Column) expr()       {}
func (*Field) expr()        {}
func (*Element) expr()      {}

// A TypeKind is the kind of a TypeName.
type TypeKind int

const (
	// Name is one of ascii, bigint, ..., varint, in lower case; text and varchar stay as written
	NativeType TypeKind = iota
	ListType            // Args: 1
	SetType             // Args: 1
	MapType             // Args: 2, key and value
	TupleType           // Args: at least one
	VectorType          // Args: 1; Dim
	FrozenType          // Args: 1
	UserType            // Keyspace, which may be "", and Name
	CustomType          // Name is a Java class: 'org.apache.cassandra.db.marshal.LexicalUUIDType'
)

// A TypeName is the spelling of a type. Its String is CQL.
type TypeName struct {
	Kind           TypeKind
	Keyspace, Name string
	Args           []*TypeName
	Dim            int // of a vector; zero and negative values are parsed, but servers refuse them
}
