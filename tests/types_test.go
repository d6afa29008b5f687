// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Values of every CQL type: written, read back, and compared with literals by the server.

func exec(t *testing.T, s *vecql.Session, stmt string, values ...any) {
	t.Helper()
	require.NoError(t, s.Query(stmt, values...).Exec(t.Context()), "%.200s", stmt)
}

// typeCase is a column of a CQL type: the value written, and the literal by which the server must find the row.
type typeCase struct {
	cql     string
	value   any
	literal string // empty if WHERE cannot compare the type
}

// typeCases lists one column per CQL type.
func typeCases() []typeCase {
	id := cql.MustRandomUUID()
	timeID := cql.TimeUUID()
	at := time.Date(2024, 2, 29, 13, 14, 15, 678e6, time.UTC)
	bigVarint, _ := new(big.Int).SetString("-123456789012345678901234567890", 10)
	return []typeCase{
		{"ascii", "plain", "'plain'"},
		{"text", "naïve ☃ text", "'naïve ☃ text'"},
		{"blob", []byte{0, 1, 0xFE, 0xFF}, "0x0001feff"},
		{"boolean", true, "true"},
		{"tinyint", int8(-128), "-128"},
		{"smallint", int16(-32768), "-32768"},
		{"int", math.MinInt32, "-2147483648"},
		{"bigint", int64(math.MinInt64), "-9223372036854775808"},
		{"float", float32(1.5), "1.5"},
		{"double", -2.25, "-2.25"},
		{"decimal", inf.NewDec(-12345, 3), "-12.345"},
		{"varint", bigVarint, bigVarint.String()},
		{"uuid", id, id.String()},
		{"timeuuid", timeID, timeID.String()},
		{"inet", net.ParseIP("192.0.2.7").To4(), "'192.0.2.7'"},
		{"date", time.Date(1969, 12, 30, 0, 0, 0, 0, time.UTC), "'1969-12-30'"},
		{"time", 13*time.Hour + 5*time.Nanosecond, "'13:00:00.000000005'"},
		{"timestamp", at, "'2024-02-29 13:14:15.678+0000'"},
		{"duration", cql.Duration{Months: 14, Days: 3, Nanoseconds: 5e9}, ""},
		{"list<int>", []int{3, 1, 2}, ""},
		{"set<text>", []string{"a", "b"}, ""},
		{"map<text, bigint>", map[string]int64{"x": 1, "y": -2}, ""},
		{"tuple<int, text, uuid>", []any{7, "seven", id}, ""},
		{"frozen<list<frozen<map<int, frozen<set<text>>>>>>", []map[int][]string{{1: {"a", "b"}}, {2: {"c"}}}, ""},
		{"vector<float, 3>", []float32{1, 2, 3}, "[1.0, 2.0, 3.0]"},
	}
}

// typeCasesOf returns the cases whose types the servers have.
func typeCasesOf(s *vecql.Session) []typeCase {
	all := typeCases()
	if !hasVectors(s) {
		all = slices.DeleteFunc(all, func(c typeCase) bool { return strings.HasPrefix(c.cql, "vector<") })
	}
	return all
}

func testTypes(t *testing.T, s *vecql.Session, ks string) {
	cases := typeCasesOf(s)
	table := ks + ".types"
	var create strings.Builder
	fmt.Fprintf(&create, "CREATE TABLE %s (k int PRIMARY KEY", table)
	for i, c := range cases {
		fmt.Fprintf(&create, ", v%d %s", i, c.cql)
	}
	exec(t, s, create.String()+")")
	for i, c := range cases {
		exec(t, s, fmt.Sprintf("INSERT INTO %s (k, v%d) VALUES (?, ?)", table, i), 1, c.value)
		var v any
		require.NoError(t, s.Query(fmt.Sprintf("SELECT v%d FROM %s WHERE k = 1", i, table)).Scan(t.Context(), &v), c.cql)
		switch want := c.value.(type) {
		case *inf.Dec:
			require.Zero(t, want.Cmp(v.(*inf.Dec)), c.cql)
		case *big.Int:
			require.Zero(t, want.Cmp(v.(*big.Int)), c.cql)
		case net.IP:
			require.True(t, want.Equal(v.(net.IP)), c.cql)
		default:
			require.Equal(t, fmt.Sprint(c.value), fmt.Sprint(v), c.cql)
		}
		if c.literal != "" { // the server must decode the same value
			var n int64
			require.NoError(t, s.Query(fmt.Sprintf("SELECT count(*) FROM %s WHERE v%d = %s ALLOW FILTERING", table, i, c.literal)).Scan(t.Context(), &n), c.cql)
			require.EqualValues(t, 1, n, c.cql)
		}
	}
	var got uuid.UUID // the UUID of google/uuid
	want := uuid.New()
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.guuid (k uuid PRIMARY KEY, list list<uuid>)", ks))
	exec(t, s, fmt.Sprintf("INSERT INTO %s.guuid (k, list) VALUES (?, ?)", ks), want, []uuid.UUID{want, want})
	var list []uuid.UUID
	require.NoError(t, s.Query(fmt.Sprintf("SELECT k, list FROM %s.guuid WHERE k = ?", ks), want).Scan(t.Context(), &got, &list))
	require.Equal(t, want, got)
	require.Equal(t, []uuid.UUID{want, want}, list)

	exec(t, s, fmt.Sprintf("CREATE TABLE %s.c (k int PRIMARY KEY, n counter)", ks))
	exec(t, s, fmt.Sprintf("UPDATE %s.c SET n = n + ? WHERE k = 1", ks), int64(41))
	exec(t, s, fmt.Sprintf("UPDATE %s.c SET n = n + ? WHERE k = 1", ks), 1)
	var n int64
	require.NoError(t, s.Query(fmt.Sprintf("SELECT n FROM %s.c WHERE k = 1", ks)).Scan(t.Context(), &n))
	require.EqualValues(t, 42, n)
}

func testVectors(t *testing.T, s *vecql.Session, ks string) {
	nan := math.Float32frombits(0x7FC12345) // a quiet NaN with a payload
	ids := []cql.UUID{cql.MustRandomUUID(), cql.MustRandomUUID()}
	timeIDs := []cql.UUID{cql.TimeUUID(), cql.TimeUUID()}
	cases := []struct {
		cql   string
		value any
		dest  func() any
	}{
		{"vector<float, 4>", []float32{nan, float32(math.Copysign(0, -1)), float32(math.Inf(1)), math.SmallestNonzeroFloat32}, func() any { return new([]float32) }},
		{"vector<double, 3>", []float64{math.Copysign(0, -1), math.Inf(-1), math.MaxFloat64}, func() any { return new([]float64) }},
		{"vector<int, 2>", []int32{math.MinInt32, math.MaxInt32}, func() any { return new([]int32) }},
		{"vector<bigint, 2>", []int64{math.MinInt64, math.MaxInt64}, func() any { return new([]int64) }},
		{"vector<uuid, 2>", ids, func() any { return new([]cql.UUID) }},
		{"vector<timeuuid, 2>", timeIDs, func() any { return new([]cql.UUID) }},
		{"vector<text, 3>", []string{"", "a", strings.Repeat("long ", 100)}, func() any { return new([]string) }},
		{"vector<tinyint, 3>", []int8{-1, 0, 1}, func() any { return new([]int8) }},
		{"vector<smallint, 2>", []int16{-300, 300}, func() any { return new([]int16) }},
		{"vector<boolean, 3>", []bool{true, false, true}, func() any { return new([]bool) }},
		{"vector<varint, 2>", []int64{-129, 1 << 40}, func() any { return new([]int64) }},
		{"vector<vector<float, 2>, 3>", [][]float32{{1, 2}, {3, 4}, {5, 6}}, func() any { return new([][]float32) }},
		{"vector<frozen<list<text>>, 2>", [][]string{{"a"}, {"b", "c"}}, func() any { return new([][]string) }},
	}
	table := ks + ".vectors"
	var create strings.Builder
	fmt.Fprintf(&create, "CREATE TABLE %s (k int PRIMARY KEY", table)
	for i, c := range cases {
		fmt.Fprintf(&create, ", v%d %s", i, c.cql)
	}
	exec(t, s, create.String()+")")
	for i, c := range cases {
		exec(t, s, fmt.Sprintf("INSERT INTO %s (k, v%d) VALUES (?, ?)", table, i), 1, c.value)
		dest := c.dest()
		require.NoError(t, s.Query(fmt.Sprintf("SELECT v%d FROM %s WHERE k = ?", i, table), 1).Scan(t.Context(), dest), c.cql)
		if got, ok := dest.(*[]float32); ok {
			for j, f := range c.value.([]float32) {
				require.Equal(t, math.Float32bits(f), math.Float32bits((*got)[j]), "%s element %d", c.cql, j)
			}
		} else {
			require.Equal(t, fmt.Sprint(c.value), fmt.Sprint(deref(dest)), c.cql)
		}
	}
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.dim (k int PRIMARY KEY, v vector<float, 3>)", ks))
	err := s.Query(fmt.Sprintf("INSERT INTO %s.dim (k, v) VALUES (?, ?)", ks), 1, []float32{1, 2}).Exec(t.Context())
	require.ErrorIs(t, err, cql.ErrDimension)
	var m *cql.MarshalError
	require.ErrorAs(t, err, &m)
	require.Equal(t, "v", m.Column)
	require.Equal(t, "vector<float, 3>", m.Type.String())
	require.Equal(t, "[]float32", m.GoType)
	require.False(t, vecql.MayHaveApplied(err))
	exec(t, s, fmt.Sprintf("INSERT INTO %s.dim (k, v) VALUES (?, ?)", ks), 1, [3]float32{1, 2, 3})
	var array [3]float32
	require.NoError(t, s.Query(fmt.Sprintf("SELECT v FROM %s.dim", ks)).Scan(t.Context(), &array))
	require.Equal(t, [3]float32{1, 2, 3}, array)
	var short [2]float32
	require.ErrorIs(t, s.Query(fmt.Sprintf("SELECT v FROM %s.dim", ks)).Scan(t.Context(), &short), cql.ErrDimension)
}

func deref(p any) any {
	switch p := p.(type) {
	case *[]float64:
		return *p
	case *[]int32:
		return *p
	case *[]int64:
		return *p
	case *[]cql.UUID:
		return *p
	case *[]string:
		return *p
	case *[]int8:
		return *p
	case *[]int16:
		return *p
	case *[]bool:
		return *p
	case *[][]float32:
		return *p
	case *[][]string:
		return *p
	}
	return p
}

func testNulls(t *testing.T, s *vecql.Session, ks string) {
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (k int PRIMARY KEY, i int, t text, v %s, l list<int>)", ks, floats(s, 2)))
	insert := fmt.Sprintf("INSERT INTO %s.t (k, i, t, v, l) VALUES (?, ?, ?, ?, ?)", ks)
	exec(t, s, insert, 1, nil, (*string)(nil), []float32(nil), cql.Null[[]int]{})
	exec(t, s, insert, 2, 0, "", []float32{0, 0}, []int{})
	row := map[string]any{}
	require.NoError(t, s.Query(fmt.Sprintf("SELECT * FROM %s.t WHERE k = 1", ks)).MapScan(t.Context(), row))
	require.Equal(t, map[string]any{"k": 1, "i": nil, "t": nil, "v": nil, "l": nil}, row)

	var i cql.Null[int]
	var text *string
	var v []float32
	require.NoError(t, s.Query(fmt.Sprintf("SELECT i, t, v FROM %s.t WHERE k = 2", ks)).Scan(t.Context(), &i, &text, &v))
	require.Equal(t, cql.NullOf(0), i)
	require.Equal(t, "", *text)
	require.Equal(t, []float32{0, 0}, v)
	require.NoError(t, s.Query(fmt.Sprintf("SELECT i, t, v FROM %s.t WHERE k = 1", ks)).Scan(t.Context(), &i, &text, &v))
	require.False(t, i.Valid)
	require.Nil(t, text)
	require.Nil(t, v)

	unset := s.Query(fmt.Sprintf("UPDATE %s.t SET i = ?, t = ? WHERE k = 2", ks), cql.UnsetValue, "set")
	if s.ProtoVersion() < 4 {
		require.ErrorIs(t, unset.Exec(t.Context()), vecql.ErrUnsupported)
		return
	}
	require.NoError(t, unset.Exec(t.Context()))
	require.NoError(t, s.Query(fmt.Sprintf("SELECT i, t FROM %s.t WHERE k = 2", ks)).Scan(t.Context(), &i, &text))
	require.True(t, i.Valid, "an unset value does not change the column")
	require.Equal(t, "set", *text)
}

type address struct {
	Street string
	No     int `cql:"house_no"`
	Pos    []float32
}

func testUDT(t *testing.T, s *vecql.Session, ks string) {
	exec(t, s, fmt.Sprintf("CREATE TYPE %s.address (street text, house_no int, pos %s)", ks, floats(s, 2)))
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (k int PRIMARY KEY, a frozen<address>, l list<frozen<address>>)", ks))
	a := address{Street: "Main", No: 5, Pos: []float32{1, 2}}
	exec(t, s, fmt.Sprintf("INSERT INTO %s.t (k, a, l) VALUES (?, ?, ?)", ks), 1, a, []address{a, a})
	exec(t, s, fmt.Sprintf("INSERT INTO %s.t (k, a) VALUES (?, ?)", ks), 2, map[string]any{"street": "Side"})
	var got address
	var list []address
	require.NoError(t, s.Query(fmt.Sprintf("SELECT a, l FROM %s.t WHERE k = 1", ks)).Scan(t.Context(), &got, &list))
	require.Equal(t, a, got)
	require.Equal(t, []address{a, a}, list)
	var m map[string]any
	require.NoError(t, s.Query(fmt.Sprintf("SELECT a FROM %s.t WHERE k = 2", ks)).Scan(t.Context(), &m))
	require.Equal(t, map[string]any{"street": "Side", "house_no": nil, "pos": nil}, m)
	// Values written before the type gained a field lack that field.
	exec(t, s, fmt.Sprintf("ALTER TYPE %s.address ADD zip text", ks))
	m = nil
	require.NoError(t, s.Query(fmt.Sprintf("SELECT a FROM %s.t WHERE k = 1", ks)).SkipMetadata(false).Scan(t.Context(), &m))
	require.Equal(t, "Main", m["street"])
}

func testLarge(t *testing.T, s *vecql.Session, ks string) {
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (k int PRIMARY KEY, b blob, v %s)", ks, floats(s, 8000)))
	blob := make([]byte, 3<<20) // longer than many segments and than small buffers
	for i := range blob {
		blob[i] = byte(i * i >> 3)
	}
	vector := make([]float32, 8000)
	for i := range vector {
		vector[i] = float32(i) / 7
	}
	exec(t, s, fmt.Sprintf("INSERT INTO %s.t (k, b, v) VALUES (?, ?, ?)", ks), 1, blob, vector)
	var gotBlob []byte
	var gotVector []float32
	require.NoError(t, s.Query(fmt.Sprintf("SELECT b, v FROM %s.t WHERE k = 1", ks)).Scan(t.Context(), &gotBlob, &gotVector))
	require.True(t, string(blob) == string(gotBlob), "blob differs")
	require.Equal(t, vector, gotVector)
}

func testTimestamps(t *testing.T, s *vecql.Session, ks string) {
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (k int PRIMARY KEY, v int)", ks))
	exec(t, s, fmt.Sprintf("INSERT INTO %s.t (k, v) VALUES (1, 1)", ks))
	var last int64
	for i := range 20 { // several may be in one microsecond; the last one must win
		exec(t, s, fmt.Sprintf("UPDATE %s.t SET v = ? WHERE k = 1", ks), i)
		var v int
		var at int64
		require.NoError(t, s.Query(fmt.Sprintf("SELECT v, writetime(v) FROM %s.t WHERE k = 1", ks)).Scan(t.Context(), &v, &at))
		require.Equal(t, i, v)
		require.Greater(t, at, last)
		last = at
	}
	require.NoError(t, s.Query(fmt.Sprintf("INSERT INTO %s.t (k, v) VALUES (2, 2)", ks)).Timestamp(123).Exec(context.Background()))
	var at int64
	require.NoError(t, s.Query(fmt.Sprintf("SELECT writetime(v) FROM %s.t WHERE k = 2", ks)).Scan(t.Context(), &at))
	require.EqualValues(t, 123, at)
}
