// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/binary"
	"fmt"

	ns "github.com/vecql/vecql/bench/nullserver"
)

// The statements. The bind value of a scan is the number of its pages.
const (
	InsertVector = "INSERT INTO ks.vectors (id, v) VALUES (?, ?)"
	InsertSmall  = "INSERT INTO ks.small (k, v) VALUES (?, ?)"
	InsertMixed  = "INSERT INTO ks.mixed (id, name, age, views, level, kind, active, score, price, created, day, addr, data, event, tags, marks," +
		" counts, note, parent, total) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	InsertTen = "INSERT INTO ks.small (id, age, name, active, price, created, parent, score, level, note)" +
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	// LoadInsert and LoadVector are the statements of bench/stall/load for table LoadTable.
	LoadTable   = "ks.load"
	LoadInsert  = "INSERT INTO " + LoadTable + " (k, v) VALUES (?, ?)"
	LoadVector  = "SELECT v FROM " + LoadTable + "_vectors WHERE k = ?"
	ReadVector  = "SELECT id, v FROM ks.vectors WHERE id = ?"
	ScanVectors = "SELECT id, v FROM ks.vectors WHERE pages = ?"
	// ScanTable is the statement of a table scan, which tablescan runs as ScanTokens: a row for each token.
	ScanTable  = "SELECT id, v FROM ks.vectors"
	ScanTokens = "SELECT id, v, token(\"id\") FROM ks.vectors WHERE token(\"id\") > ? AND token(\"id\") <= ?"
	ScanSmall  = "SELECT id, age, name, active, price, created, parent, score, level, note FROM ks.small WHERE pages = ?"
	ScanMixed  = "SELECT id, name, age, views, level, kind, active, score, price, created, day, addr, data, event, tags, marks, counts," +
		" note, parent, total FROM ks.mixed WHERE pages = ?"
)

// The inserted values.
const (
	SmallKey   int64 = 0x0123456789ABCDEF
	SmallValue int64 = -2
)

// InsertID and InsertedVector are the values of the inserted vector row and of the row that ReadVector returns.
var (
	InsertID       = UUID(0)
	InsertedVector = Vector(0, Dim)
)

// InsertedSmall is the inserted row of ten columns.
var InsertedSmall = func() *SmallRow { r := Small(1); return &r }()

// InsertedMixed is the inserted row of twenty columns. Its map has one entry, because the server compares bytes and the
// order of several entries is not defined.
var InsertedMixed = func() *MixedRow {
	r := Mixed(1)
	r.Counts = map[string]int{r.Name: 7}
	return &r
}()

var smallColumns = []ns.Column{
	{Name: "id", Type: ns.Bigint},
	{Name: "age", Type: ns.Int},
	{Name: "name", Type: ns.Text},
	{Name: "active", Type: ns.Boolean},
	{Name: "price", Type: ns.Double},
	{Name: "created", Type: ns.Timestamp},
	{Name: "parent", Type: ns.UUID},
	{Name: "score", Type: ns.Float},
	{Name: "level", Type: ns.Smallint},
	{Name: "note", Type: ns.Text},
}

// cells appends the row's values in the order of smallColumns, each after its length.
func (r *SmallRow) cells(dst []byte) []byte {
	return cells(dst, r.ID, r.Age, r.Name, r.Active, r.Price, r.Created, r.Parent, r.Score, r.Level, r.Note)
}

// Values returns the encoded values in the order of smallColumns, without lengths.
func (r *SmallRow) Values() (values [][]byte) {
	for b := r.cells(nil); len(b) > 0; {
		n := 4 + binary.BigEndian.Uint32(b)
		values, b = append(values, b[4:n]), b[n:]
	}
	return values
}

var mixedColumns = []ns.Column{
	{Name: "id", Type: ns.UUID},
	{Name: "name", Type: ns.Text},
	{Name: "age", Type: ns.Int},
	{Name: "views", Type: ns.Bigint},
	{Name: "level", Type: ns.Smallint},
	{Name: "kind", Type: ns.Tinyint},
	{Name: "active", Type: ns.Boolean},
	{Name: "score", Type: ns.Float},
	{Name: "price", Type: ns.Double},
	{Name: "created", Type: ns.Timestamp},
	{Name: "day", Type: ns.Date},
	{Name: "addr", Type: ns.Inet},
	{Name: "data", Type: ns.Blob},
	{Name: "event", Type: ns.Timeuuid},
	{Name: "tags", Type: ns.List(ns.Text)},
	{Name: "marks", Type: ns.Set(ns.Int)},
	{Name: "counts", Type: ns.Map(ns.Text, ns.Int)},
	{Name: "note", Type: ns.Text},
	{Name: "parent", Type: ns.UUID},
	{Name: "total", Type: ns.Bigint},
}

// cells appends the row's values in the order of mixedColumns, each after its length.
func (r *MixedRow) cells(dst []byte) []byte {
	day := binary.BigEndian.AppendUint32(nil, uint32(r.Day.Unix()/86400)+1<<31)
	return cells(dst, r.ID, r.Name, r.Age, r.Views, r.Level, r.Kind, r.Active, r.Score, r.Price, r.Created, day, r.Addr,
		r.Data, r.Event,
		list(r.Tags), list(r.Marks), dict(r.Counts), r.Note, r.Parent, r.Total)
}

// Statements returns the statements of the null server, with their results.
func Statements() []*ns.Statement {
	vector := ns.Vector("FloatType", Dim)
	id, v, pages := ns.Column{Name: "id", Type: ns.UUID}, ns.Column{Name: "v", Type: vector},
		[]ns.Column{{Name: "pages", Type: ns.Int}}
	var ids, vectors, smalls [][]byte
	for i := range vectorRows {
		r := &vectorRows[i]
		ids, vectors = append(ids, cells(nil, r.ID)), append(vectors, cells(nil, r.ID, VectorBytes(r.V)))
	}
	for i := range smallRows {
		smalls = append(smalls, smallRows[i].cells(nil))
	}
	vectorRow := func(dst []byte, i int) []byte { return cells(dst, UUID(i), VectorBytes(Vector(i, Dim))) }
	all := []*ns.Statement{
		{
			Text: InsertVector, Bind: []ns.Column{id, v}, Key: []int{0},
			Want: vectors,
		},
		{
			Text: InsertSmall, Bind: []ns.Column{{Name: "k", Type: ns.Bigint}, {Name: "v", Type: ns.Bigint}}, Key: []int{0},
			Want: [][]byte{cells(nil, SmallKey, SmallValue)},
		},
		{Text: InsertTen, Bind: smallColumns, Key: []int{0}, Want: smalls},
		{Text: InsertMixed, Bind: mixedColumns, Key: []int{0}, Want: [][]byte{InsertedMixed.cells(nil)}},
		{
			Text: ReadVector, Bind: []ns.Column{id}, Key: []int{0}, Want: ids, Rows: []ns.Column{id, v},
			Row: vectorRow,
		},
		{Text: LoadInsert, Bind: []ns.Column{{Name: "k", Type: ns.Int}, {Name: "v", Type: ns.Int}}, Key: []int{0}},
		{
			Text: LoadVector, Bind: []ns.Column{{Name: "k", Type: ns.Int}}, Key: []int{0}, Rows: []ns.Column{v},
			Row: func(dst []byte, i int) []byte { return cells(dst, VectorBytes(Vector(i, Dim))) },
		},
		{Text: ScanVectors, Bind: pages, Rows: []ns.Column{id, v}, Row: vectorRow, Paged: true},
		{
			Text: ScanTokens, Bind: []ns.Column{{Name: "start", Type: ns.Bigint}, {Name: "end", Type: ns.Bigint}},
			Rows: []ns.Column{id, v, {Name: "token", Type: ns.Bigint}}, Tokens: true,
			Row: func(dst []byte, i int) []byte { return cells(vectorRow(dst, i), int64(0)) },
		},
		{
			Text: ScanSmall, Bind: pages, Paged: true,
			Rows: smallColumns,
			Row:  func(dst []byte, i int) []byte { r := Small(i); return r.cells(dst) },
		},
		{
			Text: ScanMixed, Bind: pages, Paged: true,
			Rows: mixedColumns,
			Row:  func(dst []byte, i int) []byte { r := Mixed(i); return r.cells(dst) },
		},
	}
	for _, c := range Cases() {
		all = append(all, &ns.Statement{Text: c.Statement(), Bind: []ns.Column{{Name: "c", Type: c.cql}}})
	}
	return all
}

// A Case is a value for the codec benchmarks.
type Case struct {
	Type  string // part of a benchmark's name
	Dim   int    // dimension of a vector, else 0
	Value any    // []float32, []float64, []int32, []int64, [][16]byte, []int, []string or map[string]int
	Data  []byte // the encoded value; entries of a map may be in another order
	cql   ns.Type
}

// Statement returns a statement with one bind marker of the case's type. Drivers take the type from the server's
// response to PREPARE.
func (c *Case) Statement() string {
	return fmt.Sprintf("INSERT INTO ks.codec (%q) VALUES (?)", c.Name())
}

// Name returns the case as parts of a benchmark's name.
func (c *Case) Name() string {
	if c.Dim == 0 {
		return "case=" + c.Type
	}
	return fmt.Sprintf("type=%s/dim=%d", c.Type, c.Dim)
}

// Cases returns the vectors of all element types and dimensions, followed by the collections.
func Cases() []*Case {
	var all []*Case
	for _, dim := range []int{128, 384, 768, 1536, 3072} {
		r := random(dim)
		all = append(all,
			vectorCase("float", "FloatType", fill(dim, r.Float32)), vectorCase("double", "DoubleType", fill(dim, r.Float64)),
			vectorCase("int", "Int32Type", fill(dim, func() int32 { return int32(r.Uint32()) })),
			vectorCase("bigint", "LongType", fill(dim, func() int64 { return int64(r.Uint64()) })),
			vectorCase("uuid", "UUIDType", fill(dim, func() [16]byte { return UUID(int(r.Int32())) })),
			vectorCase("timeuuid", "TimeUUIDType", fill(dim, func() [16]byte { return TimeUUID(int(r.Int32())) })),
		)
	}
	r := random(0)
	floats, texts, counts := fill(1000, r.Float32), fill(100, func() string {
		return text(int(r.Int32()), 10)
	}), map[string]int{}
	for i, t := range texts {
		counts[t] = i
	}
	return append(all,
		&Case{Type: "list<float>1000", Value: floats, Data: list(floats), cql: ns.List(ns.Float)},
		&Case{Type: "list<text>100", Value: texts, Data: list(texts), cql: ns.List(ns.Text)},
		&Case{Type: "map<text,int>100", Value: counts, Data: dict(counts), cql: ns.Map(ns.Text, ns.Int)},
	)
}

func fill[T any](n int, next func() T) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = next()
	}
	return s
}

func vectorCase[T any](name, class string, v []T) *Case {
	return &Case{Type: name, Dim: len(v), Value: v, Data: VectorBytes(v), cql: ns.Vector(class, len(v))}
}
