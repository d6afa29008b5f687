// SPDX-License-Identifier: Apache-2.0

package sqlvecql_test

import (
	"database/sql"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// Every CQL type, in both directions, beside the values that vecql itself reads.

type address struct {
	Street string
	Number int `cql:"no"`
}

var (
	uuid     = must(cql.ParseUUID("c232ab00-9414-11ec-b3c8-9f6bdeced846")) // of time
	at       = time.Date(2022, 2, 22, 19, 22, 22, 0, time.UTC)
	duration = cql.Duration{Months: 1, Days: 2, Nanoseconds: 3}
	huge, _  = new(big.Int).SetString("123456789012345678901234567890", 10)
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// types has a column of each type: a bound value, and the value that an *any receives.
var types = []struct {
	cql       string
	name      string // of the type, if it is not the type in upper case
	bound     any
	value     any
	precision bool
	length    int64
}{
	{cql: "tinyint", bound: -7, value: int64(-7)},
	{cql: "smallint", bound: int16(300), value: int64(300)},
	{cql: "int", bound: math.MinInt32, value: int64(math.MinInt32)},
	{cql: "bigint", bound: int64(math.MaxInt64), value: int64(math.MaxInt64)},
	{cql: "varint", bound: huge, value: huge.String()},
	{cql: "float", bound: float32(0.1), value: float64(float32(0.1))},
	{cql: "double", bound: 0.1, value: 0.1},
	{cql: "decimal", bound: "-12.50", value: "-12.50", precision: true},
	{cql: "boolean", bound: true, value: true},
	{cql: "text", bound: "grün", value: "grün", length: math.MaxInt64},
	{cql: "varchar", name: "TEXT", bound: "", value: "", length: math.MaxInt64},
	{cql: "ascii", bound: []byte("abc"), value: "abc", length: math.MaxInt64},
	{cql: "blob", bound: []byte{0, 255}, value: []byte{0, 255}, length: math.MaxInt64},
	{cql: "uuid", bound: uuid, value: uuid.String()},
	{cql: "timeuuid", bound: uuid.String(), value: uuid.String()},
	{cql: "inet", bound: netip.MustParseAddr("10.0.0.1"), value: "10.0.0.1"},
	{cql: "timestamp", bound: at, value: at},
	{cql: "date", bound: at, value: time.Date(2022, 2, 22, 0, 0, 0, 0, time.UTC)},
	{cql: "time", bound: time.Hour, value: time.Hour},
	{cql: "duration", bound: duration, value: duration.String()},
	{cql: "list<int>", bound: []int{1, 2}, value: []int{1, 2}},
	{cql: "set<text>", bound: map[string]struct{}{"a": {}}, value: []string{"a"}},
	{cql: "map<text, int>", bound: map[string]int{"a": 1}, value: map[string]int{"a": 1}},
	{cql: "tuple<int, text>", bound: []any{1, nil}, value: []any{1, nil}},
	{cql: "frozen<address>", name: "shop.address", bound: address{"main", 5}, value: map[string]any{"street": "main", "no": 5}},
	{
		cql: "list<frozen<address>>", name: "LIST<shop.address>", bound: []address{{"main", 5}},
		value: []map[string]any{{"street": "main", "no": 5}},
	},
	{cql: "vector<float, 3>", bound: []float32{1, 2, 3}, value: []float32{1, 2, 3}, length: 3},
	{cql: "vector<double, 2>", bound: [2]float64{1, 2}, value: []float64{1, 2}, length: 2},
	{cql: "vector<text, 2>", bound: []string{"a", "b"}, value: []string{"a", "b"}, length: 2},
}

// createTypes creates the type address and the table types, whose columns are c0, c1, ...
func createTypes() string {
	text := "CREATE TYPE shop.address (street text, no int); CREATE TABLE shop.types (id int PRIMARY KEY"
	for i, c := range types {
		text += fmt.Sprintf(", c%d %s", i, c.cql)
	}
	return text + ")"
}

func TestTypes(t *testing.T) {
	_, db := start(t, createTypes())
	requireTypes(t, db, true)
}

// requireTypes requires that each type of the table types is written and read as it is, but vectors where a server has
// none.
func requireTypes(t *testing.T, db *sql.DB, vectors bool) {
	t.Helper()
	exec(t, db, "INSERT INTO types (id) VALUES (0)")
	for i, c := range types {
		t.Run(c.cql, func(t *testing.T) {
			if !vectors && strings.HasPrefix(c.cql, "vector<") {
				t.Skip("missing: no vectors")
			}
			column := fmt.Sprintf("c%d", i)
			exec(t, db, "INSERT INTO types (id, "+column+") VALUES (1, ?)", c.bound)
			rows, err := db.QueryContext(t.Context(), "SELECT "+column+" FROM types WHERE id IN (0, 1)")
			require.NoError(t, err)
			defer func() { require.NoError(t, rows.Close()) }()
			kinds, err := rows.ColumnTypes()
			require.NoError(t, err)
			requireColumnType(t, kinds[0], column, i)
			got, null := any(nil), any("not NULL")
			scanned := reflect.New(kinds[0].ScanType())
			require.True(t, rows.Next())
			require.NoError(t, rows.Scan(&null))
			require.NoError(t, rows.Scan(scanned.Interface()), "NULL into %v", kinds[0].ScanType())
			require.Nil(t, null)
			require.True(t, rows.Next())
			require.NoError(t, rows.Scan(&got))
			require.Equal(t, c.value, got)
			require.NoError(t, rows.Scan(scanned.Interface()), "into %v", kinds[0].ScanType())
			require.Equal(t, c.value, plain(scanned.Elem()))
			exec(t, db, "INSERT INTO types (id, "+column+") VALUES (2, ?)", got) // what is read can be written
			again := any(nil)
			require.NoError(t, db.QueryRow("SELECT "+column+" FROM types WHERE id = 2").Scan(&again))
			require.Equal(t, got, again)
		})
	}
}

// requireColumnType compares the type of a column with types[i].
func requireColumnType(t *testing.T, kind *sql.ColumnType, column string, i int) {
	t.Helper()
	c := types[i]
	require.Equal(t, column, kind.Name())
	if c.name == "" {
		c.name = upper(c.cql)
	}
	require.Equal(t, c.name, regexp.MustCompile(`vecql_sql_\d+`).ReplaceAllString(kind.DatabaseTypeName(), "shop"))
	length, ok := kind.Length()
	require.Equal(t, c.length, length)
	require.Equal(t, c.length != 0, ok)
	precision, scale, ok := kind.DecimalSize()
	require.Equal(t, c.precision, ok)
	if ok {
		require.Equal(t, [2]int64{math.MaxInt64, math.MaxInt64}, [2]int64{precision, scale})
	}
	nullable, ok := kind.Nullable()
	require.True(t, nullable && ok)
}

// plain returns the value in a type of ColumnTypeScanType.
func plain(v reflect.Value) any {
	switch v := v.Interface().(type) {
	case sql.NullInt64:
		return v.Int64
	case sql.NullFloat64:
		return v.Float64
	case sql.NullString:
		return v.String
	case sql.NullBool:
		return v.Bool
	case sql.NullTime:
		return v.Time
	case []byte:
		return v
	}
	return v.Elem().Interface()
}

func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

// Destinations without a wrapper.
func TestPlainDestinations(t *testing.T) {
	_, db := start(t, createTypes())
	column := map[string]string{}
	for i, c := range types {
		column[c.cql] = fmt.Sprintf("c%d", i)
		exec(t, db, fmt.Sprintf("INSERT INTO types (id, c%d) VALUES (1, ?)", i), c.bound)
	}
	type vector []float32
	for _, c := range []struct {
		cql  string
		dest any
		want any
	}{
		{"tinyint", new(int8), int8(-7)},
		{"bigint", new(string), "9223372036854775807"},
		{"bigint", new(*int64), ref(int64(math.MaxInt64))},
		{"float", new(float32), float32(0.1)},
		{"varint", new(string), huge.String()},
		{"decimal", new(float64), -12.5},
		{"uuid", new(cql.UUID), uuid},
		{"uuid", new(*cql.UUID), &uuid},
		{"timeuuid", new(sql.Null[cql.UUID]), sql.Null[cql.UUID]{V: uuid, Valid: true}},
		{"inet", new(string), "10.0.0.1"},
		{"duration", new(string), "1mo2d3ns"},
		{"time", new(time.Duration), time.Hour},
		{"blob", new(sql.RawBytes), sql.RawBytes{0, 255}},
		{"list<int>", new([]int), []int{1, 2}},
		{"map<text, int>", new(map[string]int), map[string]int{"a": 1}},
		{"vector<float, 3>", new([]float32), []float32{1, 2, 3}},
		{"vector<float, 3>", new(vector), vector{1, 2, 3}},
		{"vector<float, 3>", new(sql.Null[[]float32]), sql.Null[[]float32]{V: []float32{1, 2, 3}, Valid: true}},
		{"frozen<address>", new(map[string]any), map[string]any{"street": "main", "no": 5}},
	} {
		rows, err := db.Query("SELECT " + column[c.cql] + " FROM types WHERE id = 1")
		require.NoError(t, err)
		require.True(t, rows.Next())
		require.NoError(t, rows.Scan(c.dest), "%s into %T", c.cql, c.dest)
		require.Equal(t, c.want, reflect.ValueOf(c.dest).Elem().Interface(), "%s into %T", c.cql, c.dest)
		require.NoError(t, rows.Close())
	}
	var small int8
	err := db.QueryRow("SELECT " + column["bigint"] + " FROM types WHERE id = 1").Scan(&small)
	require.ErrorContains(t, err, "out of range")
}

func ref[T any](v T) *T { return &v }
