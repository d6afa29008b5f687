// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
)

// Generated statements: literals, JSON and operations on values of all types. testdata/cassandra/generated.cql has a
// sample of them, which TestCassandra compares with Cassandra's answers. More are compared with a running node by
//
//	go test -run TestGenerated -compare 127.0.0.1 -statements 5000 ./cqltest/internal/engine

var (
	compareWith = flag.String("compare", "", "address of a Cassandra node: compare its answers to generated statements")
	statements  = flag.Int("statements", 5000, "number of groups of statements for -compare")
	seed        = flag.Uint64("seed", 1, "of the statements for -compare")
)

const (
	generatedFile  = "testdata/cassandra/generated.cql"
	generatedCount = 500 // groups of statements in the sample
)

// generator generates statements.
type generator struct{ *rand.Rand }

// of returns one of the texts.
func (g generator) of(texts ...string) string { return texts[g.IntN(len(texts))] }

// year returns a year as text, often one that a parser may treat otherwise.
func (g generator) year() string {
	if g.IntN(3) == 0 {
		return g.of("0000", "0001", "-0001", "-0044", "+10000", "10000", "+9999", "9999", "-9999", "-10000", "+12345", "292278994",
			"+292278994", "+292278995", "-292275055", "+5881580", "5881580", "+5881581", "-5877641", "-5877642", "24", "224", "02024", "+999999999", "-999999999", "-0", "+0000")
	}
	digits := g.IntN(6) + 2
	most := 1
	for range digits {
		most *= 10
	}
	return g.of("", "", "", "-", "+") + fmt.Sprintf("%0*d", 4+g.IntN(5)/4, g.IntN(most))
}

// day returns the text of a date.
func (g generator) day() string {
	if g.IntN(2) == 0 {
		return g.year() + g.of("-01-01", "-12-31", "-02-29", "-07-11", "-07-12", "-06-23", "-06-22")
	}
	return g.year() + fmt.Sprintf(g.of("-%02d-%02d", "-%02d-%02d", "-%d-%d"), g.IntN(14), g.IntN(33))
}

// clock returns the text of a time of day.
func (g generator) clock() string {
	s := fmt.Sprintf("%02d:%02d", g.IntN(25), g.IntN(61))
	if g.IntN(4) > 0 {
		s += fmt.Sprintf(":%02d", g.IntN(61))
		if g.IntN(2) == 0 {
			s += "." + g.of("1", "12", "123", "1234", "123456", "123456789", "1234567890", "", "000")
		}
	}
	return s
}

// moment returns the text of a timestamp.
func (g generator) moment() string {
	s := g.day()
	if g.IntN(3) > 0 {
		s += g.of("T", " ", "T", " ", "t", "  ") + g.clock()
	}
	return s + g.of("", "Z", "+0100", "+01:00", "-01", " UTC", "GMT", " +0000", "z", "+1", "+19:00", "-1800", "+01:60", "Z ")
}

// span returns the text of a duration.
func (g generator) span() string {
	if g.IntN(3) == 0 {
		return g.of("P1Y", "P1Y2M3D", "PT1H", "PT1H2M3S", "P1Y2M3DT4H5M6S", "P2W", "P0001-02-03T04:05:06", "P", "PT", "P1D2Y", "P1YT", "p1y", "PT1.5S", "-P1Y",
			"1y1y", "1d1y", "1mo2mo", "1y1mo1w1d1h1m1s1ms1us1ns", "1µs", "1Y", "1MO", "1Mo", "1H", "1NS", "0s", "-0s", "178956970y8mo", "178956970y7mo",
			"2147483647d", "2147483648d", "9223372036854775807ns", "9223372036854775808ns", "2562047h47m16s854ms775us807ns", "1w1d", "1d1w", "1s1m", "1us1ms")
	}
	s := g.of("", "", "", "-")
	for _, unit := range []string{"y", "mo", "w", "d", "h", "m", "s", "ms", "us", "ns"} {
		if g.IntN(3) == 0 {
			s += fmt.Sprint(g.IntN([]int{3, 100, 100_000}[g.IntN(3)]), unit)
		}
	}
	if len(s) < 2 {
		return "1h"
	}
	return s
}

// number returns the text of a number.
func (g generator) number() string {
	if g.IntN(2) == 0 {
		return g.of("0", "-0", "1", "-1", "007", "127", "128", "-128", "-129", "32767", "32768", "2147483647", "2147483648", "-2147483648", "9223372036854775807",
			"9223372036854775808", "-9223372036854775808", "18446744073709551616", "1.0", "1.", "0.1", "-0.0", "1e2", "1E2", "1e-2", "1.5e10", "1e400", "-1e400", "1e-400",
			"3.4028236e38", "1.4e-45", "7e-46", "123456789.123456789", "0.00001", "10000000.0", "9999999.0", "1e7", "1e-3", "NaN", "-NaN", "Infinity", "-Infinity", "nan", "100000000000000000000000000000.5")
	}
	return g.of("", "-") + fmt.Sprint(g.IntN(1000)) + g.of("", "", fmt.Sprintf(".%d", g.IntN(100000)), fmt.Sprintf("e%d", g.IntN(40)-20))
}

// quoted returns text as a CQL string.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// valueColumn is a column of ks.v.
type valueColumn struct {
	name, typ string
	literal   func(g generator) string // in CQL
	json      func(g generator) string
}

// plainText returns a text with characters that need care.
func plainText(g generator) string {
	return g.of("", "a", "lamp", "it's", `say "hi"`, `back\slash`, "é", "日本", "\x7f", "tab\tstop", "null", "𝄞", " ", "/", "\u2028")
}

// jsonText returns text as JSON.
func jsonText(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`).Replace(s)
	return `"` + s + `"`
}

// valueColumns returns the columns of ks.v.
func valueColumns() []valueColumn {
	text := func(f func(g generator) string) func(g generator) string {
		return func(g generator) string { return quoted(f(g)) }
	}
	inJSON := func(f func(g generator) string) func(g generator) string {
		return func(g generator) string { return jsonText(f(g)) }
	}
	bare := func(f func(g generator) string) func(g generator) string { return f }
	either := func(f func(g generator) string) func(g generator) string {
		return func(g generator) string {
			if g.IntN(3) == 0 {
				return jsonText(f(g))
			}
			return f(g)
		}
	}
	days := func(g generator) string {
		if g.IntN(5) == 0 {
			return g.of("0", "1", "2147483648", "4294967295", "4294967296", "-1", "-2147483648", "20240101", "", " 2024-01-01", "2024-01-01 ", "2024-01-01T00:00:00Z", "2024/01/01", "2024-1", "+5")
		}
		return g.day()
	}
	moments := func(g generator) string {
		if g.IntN(8) == 0 {
			return g.of("0", "1", "-1", "86399999", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "")
		}
		return g.moment()
	}
	clocks := func(g generator) string {
		if g.IntN(5) == 0 {
			return g.of("0", "1", "86399999999999", "86400000000000", "-1", "", "24:00:00", "1:2:3", "001:00:00", "00:00", "12:00:00Z")
		}
		return g.clock()
	}
	addresses := func(g generator) string {
		return g.of("127.0.0.1", "::1", "::", "::ffff:192.0.2.7", "10.0.0.1", "255.255.255.255", "2001:db8::ff00:42:8329", "FE80::1", "fe80::1%eth0", "256.0.0.1", "1.2.3.4.5", "", "0x7f.1", "::2", "1.2.3.4")
	}
	ids := func(g generator) string {
		return g.of("50554d6e-29bb-11e5-b345-feff819cdc9f", "123e4567-e89b-42d3-a456-426614174000", "00000000-0000-0000-0000-000000000000", "50554D6E-29BB-11E5-B345-FEFF819CDC9F", "50554d6e29bb11e5b345feff819cdc9f")
	}
	blobs := func(g generator) string { return g.of("0x", "0xff", "0xFF00", "0Xab", "0xabc") }
	bools := func(g generator) string { return g.of("true", "false", "TRUE", "False", "1") }
	unquotedOr := func(f func(g generator) string) func(g generator) string { // numbers without quotes, others with
		return func(g generator) string {
			s := f(g)
			if strings.Trim(s, "0123456789-") == "" && s != "" && strings.LastIndexByte(s, '-') <= 0 && g.IntN(2) == 0 {
				return s
			}
			return quoted(s)
		}
	}
	all := []valueColumn{
		{"c_ascii", "ascii", text(plainText), inJSON(plainText)},
		{"c_text", "text", text(plainText), inJSON(plainText)},
		{"c_blob", "blob", bare(blobs), inJSON(blobs)},
		{"c_bool", "boolean", bare(bools), either(bools)},
		{"c_date", "date", unquotedOr(days), either(days)},
		{"c_time", "time", unquotedOr(clocks), either(clocks)},
		{"c_ts", "timestamp", unquotedOr(moments), either(moments)},
		{"c_dur", "duration", bare(generator.span), inJSON(generator.span)},
		{"c_inet", "inet", text(addresses), inJSON(addresses)},
		{"c_uuid", "uuid", bare(ids), inJSON(ids)},
		{"c_timeuuid", "timeuuid", bare(ids), inJSON(ids)},
	}
	for _, t := range []string{"tinyint", "smallint", "int", "bigint", "varint", "float", "double", "decimal"} {
		all = append(all, valueColumn{"c_" + t, t, bare(generator.number), either(generator.number)})
	}
	for _, c := range all {
		if c.typ == "blob" || c.typ == "boolean" || c.typ == "uuid" || c.typ == "timeuuid" {
			continue
		}
		all = append(all, nestedColumns(c)...)
	}
	return all
}

// nestedColumns returns columns with the type of c in a collection, a map and a tuple.
func nestedColumns(c valueColumn) []valueColumn {
	join := func(f func(g generator) string, open, end string, least int) func(g generator) string {
		return func(g generator) string {
			parts := make([]string, g.IntN(3)+least)
			for i := range parts {
				parts[i] = f(g)
			}
			return open + strings.Join(parts, ", ") + end
		}
	}
	pairs := func(g generator) string { return c.literal(g) + ": " + g.of("1", "2") }
	jsonPairs := func(g generator) string {
		key := c.json(g)
		if key[0] != '"' {
			key = `"` + key + `"`
		}
		return key + ": " + g.of("1", "2")
	}
	all := []valueColumn{
		{"l_" + c.typ, "list<" + c.typ + ">", join(c.literal, "[", "]", 0), join(c.json, "[", "]", 0)},
		{
			"t_" + c.typ, "tuple<" + c.typ + ", int>", func(g generator) string { return "(" + c.literal(g) + ", 1)" },
			func(g generator) string { return "[" + c.json(g) + ", 1]" },
		},
	}
	if c.typ != "duration" {
		all = append(all,
			valueColumn{"s_" + c.typ, "set<" + c.typ + ">", join(c.literal, "{", "}", 1), join(c.json, "[", "]", 0)},
			valueColumn{"m_" + c.typ, "map<" + c.typ + ", int>", join(pairs, "{", "}", 1), func(g generator) string { return "{" + jsonPairs(g) + "}" }})
	}
	return all
}

// setup returns the statements that create the tables.
func setup(columns []valueColumn) []string {
	var v strings.Builder
	for _, c := range columns {
		fmt.Fprintf(&v, ", %s %s", c.name, c.typ)
	}
	return []string{
		"CREATE TYPE ks.pt (a int, b text)",
		"CREATE TABLE ks.v (k int PRIMARY KEY" + v.String() + ")",
		"CREATE TABLE ks.g (k int, c int, st int static, sl list<int> static, l list<int>, s set<int>, m map<int, text>, u pt, f frozen<list<int>>, v text, PRIMARY KEY (k, c))",
		"CREATE TABLE ks.n (k int PRIMARY KEY, n counter, o counter)",
	}
}

// value returns statements that write a value and read it in several forms.
func (g generator) value(k int, c valueColumn) []string {
	where := fmt.Sprintf(" FROM ks.v WHERE k = %d", k)
	write := fmt.Sprintf("INSERT INTO ks.v (k, %s) VALUES (%d, %s)", c.name, k, c.literal(g))
	if g.IntN(3) == 0 {
		write = fmt.Sprintf("INSERT INTO ks.v JSON %s", quoted(fmt.Sprintf(`{"k": %d, "%s": %s}`, k, c.name, c.json(g))))
	}
	forms := []string{
		fmt.Sprintf("SELECT %s, to_json(%s)", c.name, c.name) + where,
		"SELECT JSON " + c.name + where,
		"SELECT CAST(" + c.name + " AS text)" + where,
	}
	switch c.typ {
	case "date":
		forms = append(forms, "SELECT toTimestamp(c_date), toUnixTimestamp(c_date), c_date + 1mo"+where, "SELECT CAST(c_date AS timestamp)"+where)
	case "timestamp":
		forms = append(forms, "SELECT toDate(c_ts), toUnixTimestamp(c_ts), c_ts - 1d"+where, "SELECT CAST(c_ts AS date)"+where)
	}
	read := forms[g.IntN(len(forms))]
	if g.IntN(4) > 0 {
		read = forms[0]
	}
	if strings.Contains(c.typ, "float") { // Java before 19 writes more digits than are needed
		read = "SELECT " + c.name + where
	}
	return []string{write, read}
}

// change returns an assignment of an UPDATE of ks.g.
func (g generator) change() string {
	list := func() string { return g.of("[1]", "[2, 3]", "[]", "null", "[1, 1]") }
	at := func() string { return g.of("0", "1", "2", "-1", "5") }
	item := func() string { return g.of("5", "6", "null") }
	set := func() string { return g.of("{1}", "{2, 3}", "{}", "{1, 2}", "null") }
	pairs := func() string { return g.of("{1: 'a'}", "{2: 'b', 3: 'c'}", "{}", "{1: 'z'}", "null") }
	switch g.IntN(16) {
	case 0, 1:
		return "l = l + " + list()
	case 2:
		return "l = " + list() + " + l"
	case 3:
		return "l = l - " + list()
	case 4, 5:
		return "l[" + at() + "] = " + item()
	case 6:
		return g.of("l", "f", "sl") + " = " + list()
	case 7:
		return "sl" + g.of(" = sl + [1]", "[0] = 3", "[1] = null")
	case 8:
		return "s = s " + g.of("+", "-") + " " + set()
	case 9:
		return "s = " + set()
	case 10:
		return "m = m + " + pairs()
	case 11:
		return "m = m - " + set()
	case 12:
		return "m[" + at() + "] = " + g.of("'x'", "'y'", "null")
	case 13:
		return g.of("m = "+pairs(), "u = "+g.of("{a: 1}", "{a: 1, b: 'x'}", "null"), "u.a = 2", "u.b = null")
	case 14:
		return "st = " + g.of("1", "null")
	}
	return "v = " + g.of("'v'", "null")
}

// modify returns statements that change a row of ks.g or ks.n and read it.
func (g generator) modify() []string {
	k, c := g.IntN(3), g.IntN(3)
	where := fmt.Sprintf(" WHERE k = %d AND c = %d", k, c)
	var write string
	switch g.IntN(12) {
	case 0:
		items := []string{"l", "l[0]", "l[1]", "s", "m", "m[1]", "u", "u.a", "f", "v", "s[1]", "st", "sl[0]"}
		g.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		write = "DELETE " + strings.Join(items[:1+g.IntN(2)], ", ") + " FROM ks.g" + where
	case 1:
		write = "DELETE FROM ks.g" + g.of(where, fmt.Sprintf(" WHERE k = %d", k), fmt.Sprintf(" WHERE k = %d AND c > %d", k, c))
	case 2:
		n := fmt.Sprintf(" WHERE k = %d", k)
		op := func() string {
			return g.of("n = n + 1", "n = n - 2", "n += 3", "o = o + 1", "n = 1", "n = n + null", "n = o + 1", "n -= 9223372036854775807")
		}
		assign := op()
		if g.IntN(3) == 0 {
			assign += ", " + op()
		}
		return []string{"UPDATE ks.n SET " + assign + n, "SELECT * FROM ks.n" + n}
	case 3:
		write = fmt.Sprintf("INSERT INTO ks.g (k, c, l, s, m, f, v) VALUES (%d, %d, [1, 2], {1, 2}, {1: 'a'}, [1], 'v')", k, c)
	default:
		changes := []string{g.change()}
		for g.IntN(2) == 0 && len(changes) < 4 {
			changes = append(changes, g.change())
		}
		write = "UPDATE ks.g SET " + strings.Join(changes, ", ") + where
		if g.IntN(8) == 0 {
			write += g.of(" IF EXISTS", " IF v = 'v'", " IF l[0] = 1", " IF s CONTAINS 1", " IF m[1] = 'a'", " IF l = [1, 2]", " IF u.a = 1")
		}
	}
	return []string{write, fmt.Sprintf("SELECT %s FROM ks.g WHERE k = %d", g.of("*", "JSON *", "*"), k)}
}

// generate returns the statements of n groups.
func generate(seed uint64, n int) []string {
	g := generator{rand.New(rand.NewPCG(seed, 0))}
	columns := valueColumns()
	lines := setup(columns)
	for i := range n {
		if g.IntN(3) == 0 {
			lines = append(lines, g.modify()...)
		} else if g.IntN(2) == 0 {
			lines = append(lines, g.value(i, columns[4+g.IntN(4)])...) // dates, times, timestamps and durations
		} else {
			lines = append(lines, g.value(i, columns[g.IntN(len(columns))])...)
		}
	}
	return slices.DeleteFunc(lines, func(line string) bool { return strings.ContainsAny(line, "\r\n?") })
}

// TestGenerated requires that the generator made the sample. With -compare it compares the engine with Cassandra.
func TestGenerated(t *testing.T) {
	sample := "# Statements of generate_test.go.\n" + strings.Join(generate(1, generatedCount), "\n") + "\n"
	if *record != "" {
		require.NoError(t, os.WriteFile(generatedFile, []byte(sample), 0o644))
	}
	if *compareWith != "" {
		compareGenerated(t, generate(*seed, *statements))
		return
	}
	stored, err := os.ReadFile(generatedFile)
	require.NoError(t, err)
	require.Equal(t, sample, string(stored), "go test -run 'TestGenerated|TestCassandra/generated' -record ADDRESS")
}

// compareGenerated executes statements on a Cassandra node and on an engine, and fails where the answers differ.
func compareGenerated(t *testing.T, lines []string) {
	cfg := &vecql.ClusterConfig{Hosts: []string{*compareWith}}
	cfg.Timeout = 30 * time.Second
	s, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Query("DROP KEYSPACE IF EXISTS ks").Exec(t.Context()))
	require.NoError(t, s.Query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}").Exec(t.Context()))
	e, _ := newEngine(t)
	for _, text := range lines {
		got, like := answers(t, e, parseLine(text))
		if want := ask(s, parseLine(text), like); !sameAnswer(want, got) {
			t.Errorf("%s\nCassandra: %s\nengine:    %s", text, want, got)
		}
	}
}
