// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tests of the parser and the printer against each other, and against expected trees and errors.

func TestParseRoundTrip(t *testing.T) {
	for _, test := range valid {
		st, err := Parse(test.text)
		if test.want == "error" {
			require.Error(t, err, test.text)
			continue
		}
		require.NoError(t, err, test.text)
		want := test.want
		if want == "" {
			want = test.text
		}
		require.Equal(t, want, fmt.Sprint(st))
		again, err := Parse(want)
		require.NoError(t, err, want)
		require.Equal(t, st, again, test.text)
	}
}

// TestParseTruncated checks that truncated texts yield a *SyntaxError.
func TestParseTruncated(t *testing.T) {
	for _, test := range valid {
		for i := range test.text {
			if _, err := Parse(test.text[:i]); err != nil {
				requireSyntaxError(t, err, test.text[:i])
			}
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range broken {
		_, err := Parse(test.text)
		require.EqualError(t, err, test.want, test.text)
		requireSyntaxError(t, err, test.text)
	}
}

// requireSyntaxError checks that err is a *SyntaxError and returns its message.
func requireSyntaxError(t *testing.T, err error, text string) string {
	t.Helper()
	var e *SyntaxError
	require.True(t, errors.As(err, &e), "%T of %q", err, text)
	require.NotEmpty(t, e.Message, text)
	return e.Message
}

func TestSyntaxErrorPlace(t *testing.T) {
	_, err := Parse("SELECT *\nFORM t")
	require.Equal(t, &SyntaxError{Line: 2, Column: 0, Message: "mismatched input 'FORM' expecting K_FROM (SELECT *[FORM]...)"}, err)
	_, err = Parse("SELECT *")
	require.Equal(t, &SyntaxError{Line: 0, Column: -1, Message: "mismatched input '<EOF>' expecting K_FROM"}, err)
	_, err = Parse("USE ?")
	require.Equal(t, &SyntaxError{Message: "Bind variables cannot be used for keyspace names"}, err)
}

// TestParseCassandra checks that ParseCassandra refuses the extensions of ScyllaDB.
func TestParseCassandra(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"SELECT a FROM t BYPASS CACHE", "line 1:16 mismatched input 'BYPASS' expecting EOF (SELECT a FROM t [BYPASS]...)"},
		{"SELECT a FROM t USING TIMEOUT 5s", "line 1:16 mismatched input 'USING' expecting EOF (SELECT a FROM t [USING]...)"},
		{"TRUNCATE t USING TIMEOUT 5s", "line 1:11 mismatched input 'USING' expecting EOF (TRUNCATE t [USING]...)"},
		{
			"INSERT INTO t (a) VALUES (1) USING TIMEOUT 5s",
			"line 1:35 no viable alternative at input 'TIMEOUT' (...) VALUES (1) USING [TIMEOUT]...)",
		},
		{
			"UPDATE t USING TTL 1 AND TIMEOUT 5s SET a = 1 WHERE k = 1",
			"line 1:25 no viable alternative at input 'TIMEOUT' (...t USING TTL 1 AND [TIMEOUT]...)",
		},
		{
			"DELETE FROM t USING TIMEOUT 5s WHERE k = 1",
			"line 1:20 mismatched input 'TIMEOUT' expecting K_TIMESTAMP (DELETE FROM t USING [TIMEOUT]...)",
		},
		{
			"DELETE FROM t USING TIMESTAMP 1 AND TIMEOUT 5s WHERE k = 1",
			"line 1:32 mismatched input 'AND' expecting K_WHERE (...FROM t USING TIMESTAMP 1 [AND]...)",
		},
		{"CREATE SERVICE LEVEL l", "line 1:7 no viable alternative at input 'SERVICE' ([CREATE] SERVICE...)"},
		{"PRUNE MATERIALIZED VIEW v", "line 1:0 no viable alternative at input 'PRUNE' ([PRUNE]...)"},
	} {
		_, err := ParseCassandra(test.text)
		require.EqualError(t, err, test.want, test.text)
		_, err = Parse(test.text)
		require.NoError(t, err, test.text)
	}
	st, err := ParseCassandra("SELECT bypass, timeout FROM cache")
	require.NoError(t, err)
	require.Equal(t, "SELECT bypass, timeout FROM cache", fmt.Sprint(st))
}

func TestStatementMarkers(t *testing.T) {
	names := func(st Statement) []string {
		var list []string
		for i, m := range st.Markers() {
			require.Equal(t, i, m.Index)
			list = append(list, m.Name)
		}
		return list
	}
	for text, want := range map[string][]string{
		"SELECT * FROM t": nil,
		"SELECT f(?), :a FROM t WHERE a = ? AND b IN :B AND (c, d) > (?, :\"D d\")":            {"", "a", "", "b", "", "D d"},
		"SELECT * FROM t ORDER BY v ANN OF :v PER PARTITION LIMIT ? LIMIT :n USING TIMEOUT :t": {"v", "", "n", "t"},
		"INSERT INTO t (a, b) VALUES (:x, :x) USING TTL :ttl":                                  {"x", "x", "ttl"},
		"INSERT INTO t JSON :j": {"j"},
		"UPDATE t USING TIMESTAMP :ts SET m[:k] = :v, l = :p + l, c = c + :n WHERE k = :key IF a[:i] IN (:j, :j)": {
			"ts", "k", "v", "p", "n", "key", "i", "j", "j",
		},
		"DELETE m[:k] FROM t USING TIMESTAMP :ts WHERE k = :key IF a = :a": {"k", "ts", "key", "a"},
		"BEGIN BATCH USING TIMESTAMP :ts INSERT INTO t (a) VALUES (:a); DELETE FROM t WHERE k = :k; APPLY BATCH": {
			"ts", "a", "k",
		},
	} {
		st, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, names(st), text)
	}
}

func TestBatchMarkers(t *testing.T) {
	st, err := Parse("BEGIN BATCH UPDATE t SET a = ? WHERE k = ?; DELETE FROM t WHERE k = 1; INSERT INTO t (a) VALUES (:a) APPLY BATCH")
	require.NoError(t, err)
	list := st.(*Batch).Statements
	require.Equal(t, []*Marker{{Index: 0}, {Index: 1}}, list[0].Markers())
	require.Empty(t, list[1].Markers())
	require.Equal(t, []*Marker{{Index: 2, Name: "a"}}, list[2].Markers())
}

// TestParseDepth checks that deep nesting fails quickly.
func TestParseDepth(t *testing.T) {
	const n = 100_000
	for name, text := range map[string]string{
		"tuples":    "INSERT INTO t (a) VALUES (" + strings.Repeat("(", n),
		"lists":     "INSERT INTO t (a) VALUES (" + strings.Repeat("[", n),
		"sets":      "INSERT INTO t (a) VALUES (" + strings.Repeat("{", n),
		"maps":      "INSERT INTO t (a) VALUES (" + strings.Repeat("{1:", n),
		"UDTs":      "INSERT INTO t (a) VALUES (" + strings.Repeat("{a:", n),
		"calls":     "INSERT INTO t (a) VALUES (" + strings.Repeat("f(", n),
		"hints":     "INSERT INTO t (a) VALUES (" + strings.Repeat("(int)", n) + "1)",
		"casts":     "INSERT INTO t (a) VALUES (" + strings.Repeat("cast(", n),
		"sum":       "INSERT INTO t (a) VALUES (1" + strings.Repeat("+1", n) + ")",
		"product":   "INSERT INTO t (a) VALUES (1" + strings.Repeat("*1", n) + ")",
		"minus":     "SELECT " + strings.Repeat("- ", n) + "a FROM t",
		"fields":    "SELECT a" + strings.Repeat(".b", n) + " FROM t",
		"elements":  "SELECT a" + strings.Repeat("[1]", n) + " FROM t",
		"relations": "SELECT a FROM t WHERE " + strings.Repeat("(", n) + "a = 1" + strings.Repeat(")", n),
		"types":     "CREATE TABLE t (a " + strings.Repeat("list<", n),
		"hint type": "INSERT INTO t (a) VALUES ((" + strings.Repeat("list<", n),
	} {
		_, err := Parse(text)
		message := requireSyntaxError(t, err, name)
		if name != "hint type" { // tried as a type hint, refused as a tuple
			require.Contains(t, message, "nested too deeply", name)
		}
	}
	for _, text := range []string{
		"INSERT INTO t (a) VALUES (" + strings.Repeat("[", 40) + strings.Repeat("]", 40) + ")",
		"SELECT 1" + strings.Repeat(" + 1", maxDepth) + " FROM t",
		"CREATE TABLE t (a " + strings.Repeat("list<", 100) + "u" + strings.Repeat(">", 100) + ")",
	} {
		st, err := Parse(text)
		require.NoError(t, err)
		require.Equal(t, text, fmt.Sprint(st))
	}
}

func TestParseType(t *testing.T) {
	for text, want := range map[string]*TypeName{
		"INT":                {Kind: NativeType, Name: "int"},
		"varchar":            {Kind: NativeType, Name: "varchar"},
		"vector<float, 128>": {Kind: VectorType, Args: []*TypeName{{Kind: NativeType, Name: "float"}}, Dim: 128},
		"vector<float, -1>":  {Kind: VectorType, Args: []*TypeName{{Kind: NativeType, Name: "float"}}, Dim: -1},
		"frozen<map<text, ks.\"U\">>": {Kind: FrozenType, Args: []*TypeName{{Kind: MapType, Args: []*TypeName{
			{Kind: NativeType, Name: "text"}, {Kind: UserType, Keyspace: "ks", Name: "U"},
		}}}},
		"tuple<int, frozen<u>>": {Kind: TupleType, Args: []*TypeName{
			{Kind: NativeType, Name: "int"}, {Kind: FrozenType, Args: []*TypeName{{Kind: UserType, Name: "u"}}},
		}},
		"list":     {Kind: UserType, Name: "list"},
		"key":      {Kind: UserType, Name: "key"},
		"int.u":    {Kind: UserType, Keyspace: "int", Name: "u"},
		"'a.b.C'":  {Kind: CustomType, Name: "a.b.C"},
		`"int"`:    {Kind: UserType, Name: "int"},
		"set<int>": {Kind: SetType, Args: []*TypeName{{Kind: NativeType, Name: "int"}}},
	} {
		got, err := ParseType(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		again, err := ParseType(got.String())
		require.NoError(t, err, text)
		require.Equal(t, want, again, text)
	}
	for _, text := range []string{
		"", "int int", "list<>", "set", "map<int, int", "count", "vector<int>", "tuple<>", "select", "int;", "ks.int", "?",
	} {
		_, err := ParseType(text)
		requireSyntaxError(t, err, text)
	}
}

// TestParseTree checks trees that String does not distinguish.
func TestParseTree(t *testing.T) {
	one, integer := &Literal{Kind: IntegerLiteral, Text: "1"}, func(s string) *Literal { return &Literal{Kind: IntegerLiteral, Text: s} }
	for _, test := range []struct {
		text string
		want Expr
	}{
		{"-1", integer("-1")},
		{"- 1", &Negate{one}},
		{"1 + 2 * 3", &Binary{Op: '+', Left: one, Right: &Binary{Op: '*', Left: integer("2"), Right: integer("3")}}},
		{"1 - 2 - 3", &Binary{Op: '-', Left: &Binary{Op: '-', Left: one, Right: integer("2")}, Right: integer("3")}},
		{"a", &Column{"a"}},
		{`"A"`, &Column{"A"}},
		{"A.B.c", &Field{Of: &Field{Of: &Column{"a"}, Name: "b"}, Name: "c"}},
		{"a[1]", &Element{Of: &Column{"a"}, Index: one}},
		{"(a)", &TupleLiteral{Elems: []Expr{&Column{"a"}}}},
		{"(int) a.b", &Field{Of: &TypeHint{Type: &TypeName{Name: "int"}, Expr: &Column{"a"}}, Name: "b"}},
		{"COUNT(*)", &Call{Name: Name{Name: "count"}, Star: true}},
		{"F(a)", &Call{Name: Name{Name: "f"}, Args: []Expr{&Column{"a"}}}},
		{`"F"(1)`, &Call{Name: Name{Name: "F"}, Args: []Expr{one}}},
		{"K.now()", &Call{Name: Name{Keyspace: "k", Name: "now"}}},
		{"CAST(a AS TEXT)", &Cast{Expr: &Column{"a"}, Type: &TypeName{Name: "text"}}},
		{"{}", &SetLiteral{}},
		{"{a: 1}", &UDTLiteral{Fields: []FieldValue{{Name: "a", Value: one}}}},
		{"{1: a}", &MapLiteral{Entries: []MapEntry{{Key: one, Value: &Column{"a"}}}}},
		{"0xAB", &Literal{Kind: HexLiteral, Text: "0xAB"}},
		{"1h", &Literal{Kind: DurationLiteral, Text: "1h"}},
		{"P1Y", &Literal{Kind: DurationLiteral, Text: "P1Y"}},
		{"p1y", &Column{"p1y"}},
		{"P1Yx", &Column{"p1yx"}},
		{"true", &Literal{Kind: BooleanLiteral, Text: "true"}},
		{"1.", &Literal{Kind: FloatLiteral, Text: "1."}},
		{"1e5", &Literal{Kind: FloatLiteral, Text: "1e5"}},
		{"null", &Literal{Kind: NullLiteral, Text: "NULL"}},
		{"$$a''b$$", &Literal{Kind: StringLiteral, Text: "a''b"}},
	} {
		st, err := Parse("SELECT " + test.text + " FROM t")
		require.NoError(t, err, test.text)
		require.Equal(t, []Selector{{Expr: test.want}}, st.(*Select).Selectors, test.text)
	}
}

func TestUnsupported(t *testing.T) {
	for text, what := range map[string]string{
		"CREATE MATERIALIZED VIEW v AS SELECT 1":      "CREATE MATERIALIZED VIEW",
		"alter materialized view v WITH a = 1":        "ALTER MATERIALIZED VIEW",
		"DROP MATERIALIZED VIEW IF EXISTS v":          "DROP MATERIALIZED VIEW",
		"CREATE FUNCTION f () RETURNS int AS ';'":     "CREATE FUNCTION",
		"CREATE OR REPLACE AGGREGATE a (int)":         "CREATE AGGREGATE",
		"DROP FUNCTION f":                             "DROP FUNCTION",
		"DROP AGGREGATE a":                            "DROP AGGREGATE",
		"CREATE TRIGGER t ON t USING 'x'":             "CREATE TRIGGER",
		"DROP TRIGGER t ON t":                         "DROP TRIGGER",
		"CREATE ROLE r WITH PASSWORD = 'x'":           "CREATE ROLE",
		"ALTER ROLE r WITH PASSWORD = 'x'":            "ALTER ROLE",
		"DROP ROLE r":                                 "DROP ROLE",
		"CREATE USER u":                               "CREATE USER",
		"ALTER USER u":                                "ALTER USER",
		"DROP USER u":                                 "DROP USER",
		"GRANT ALL ON t TO r":                         "GRANT",
		"REVOKE ALL ON t FROM r":                      "REVOKE",
		"LIST ALL PERMISSIONS":                        "LIST",
		"ADD IDENTITY 'x' TO ROLE 'r'":                "ADD IDENTITY",
		"DROP IDENTITY 'x'":                           "DROP IDENTITY",
		"CREATE SERVICE LEVEL l WITH timeout = 5s":    "CREATE SERVICE LEVEL",
		"ATTACH SERVICE_LEVEL l TO r":                 "ATTACH",
		"PRUNE MATERIALIZED VIEW v USING TIMEOUT 10s": "PRUNE",
	} {
		st, err := Parse(" " + text + " ;; ")
		require.NoError(t, err, text)
		require.Equal(t, &Unsupported{What: what, Text: text}, st)
		require.Equal(t, text, fmt.Sprint(st))
	}
	for _, text := range []string{
		"CREATE OR REPLACE TABLE t (a int)", "ALTER FUNCTION f", "CREATE IDENTITY 'x'", "ADD x", "CREATE MATERIALIZED x", "ALTER INDEX i",
		"DROP CUSTOM INDEX i", "LIST ROLES; LIST ROLES", "LIST", "LIST ROLES OF",
	} {
		_, err := Parse(text)
		requireSyntaxError(t, err, text)
	}
}

func TestOptions(t *testing.T) {
	st, err := Parse("CREATE TABLE t (a int) WITH A = 'x' AND \"B\" = 1e1 AND c = {'k': 1, 2: true} AND d = {}")
	require.NoError(t, err)
	options := st.(*CreateTable).Options
	require.Equal(t, Options{
		{Name: "a", Value: "x"},
		{Name: "B", Value: "1e1"},
		{Name: "c", Map: map[string]string{"k": "1", "2": "true"}},
		{Name: "d", Map: map[string]string{}},
	}, options)
	o, ok := options.Get("c")
	require.True(t, ok)
	require.Equal(t, "true", o.Map["2"])
	_, ok = options.Get("b")
	require.False(t, ok)
}

func TestQuoteIdent(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "a_1": "a_1", "A": `"A"`, "": `""`, "1a": `"1a"`, "_a": `"_a"`, `a"b`: `"a""b"`, "select": `"select"`, "key": `"key"`,
		"true": `"true"`, "nan": `"nan"`, "infinity": `"infinity"`, "a b": `"a b"`, "é": `"é"`,
	} {
		require.Equal(t, want, QuoteIdent(name))
	}
	require.Equal(t, "'it''s'", QuoteString("it's"))
}
