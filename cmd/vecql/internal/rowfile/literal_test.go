// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/valuetest"
)

// Literals of CQL in CSV: what COPY of cqlsh writes and reads.

// TestNestedLiterals reads the literals of nested values and vectors as the server does.
func TestNestedLiterals(t *testing.T) {
	read := 0
	for _, v := range valuetest.All() {
		r := v.Recorded()
		if v.Raw || !strings.ContainsAny(v.Type, "<_") || columnDiffers(v) || r.Refused || r.Cell == nil {
			continue
		}
		infos := infosOf(v)
		fields := column.Schema{codec.ColumnField("v", infos[0].TypeInfo)}
		if kind := fields[0].Type.Kind; !kind.IsNested() && kind != column.Vector || strings.Contains(v.Literal, "1e39") {
			continue // the server stores a float out of range as Infinity
		}
		got, err := cellOfText(t, v, Options{Fields: fields}, `"`+strings.ReplaceAll(v.Literal, `"`, `""`)+"\"\n")
		require.NoError(t, err, v.Name())
		if !strings.Contains(v.Type, "set<") && !strings.Contains(v.Type, "map<") { // which the server sorts
			require.Equal(t, hex.EncodeToString(r.Cell), got, v.Name())
		}
		read++
	}
	require.Greater(t, read, 100)
}

// cellOfText returns the cell of the only value of a CSV text without a header.
func cellOfText(t *testing.T, v valuetest.Value, o Options, text string) (cell string, err error) {
	o.Format, o.Dialect.NoHeader, o.Stdin = CSV, true, strings.NewReader(text)
	in, err := Open(o, Stdin)
	require.NoError(t, err)
	for b, e := range in.Batches(t.Context()) {
		if e != nil {
			return "", e
		}
		cell, err = cellOf(infosOf(v), b)
	}
	return cell, err
}

// TestStoredCellsReturnAsLiterals writes each stored cell as COPY FROM reads it, and reads the file.
func TestStoredCellsReturnAsLiterals(t *testing.T) {
	written := 0
	for _, v := range valuetest.Stored() {
		if columnDiffers(v) {
			continue
		}
		infos, cell := infosOf(v), v.Recorded().Cell
		b, err := cellBatch(infos, cell)
		require.NoError(t, err, v.Name())
		want, err := cellOf(infos, b)
		require.NoError(t, err, v.Name())
		var out bytes.Buffer
		o := WriterOptions{
			Format: CSV, Values: Values{Timestamp: Epoch}, Dialect: Dialect{Escape: '\\', EscapeAny: true, NoHeader: true},
			Types: []cql.TypeInfo{infos[0].TypeInfo},
		}
		w, err := NewWriter(&out, b.Schema(), o)
		require.NoError(t, err)
		require.NoError(t, w.Write(b), v.Name())
		require.NoError(t, w.Close())
		got, err := cellOfText(t, v, Options{Fields: b.Schema(), Dialect: o.Dialect, Values: Values{Timestamp: Epoch}}, out.String())
		require.NoError(t, err, "%s: %s", v.Name(), out.String())
		require.Equal(t, textOf(v, CSV, want), got, "%s: %s", v.Name(), out.String())
		written++
	}
	require.Greater(t, written, 300)
}

// TestLiterals has literals that valuetest does not have: without spaces, of COPY, damaged.
func TestLiterals(t *testing.T) {
	texts := fieldOf("c", kindOf(column.List), fieldOf("element", kindOf(column.String)))
	numbers := fieldOf("c", kindOf(column.List), fieldOf("element", kindOf(column.Int32)))
	byNumber := fieldOf("c", kindOf(column.Map), fieldOf("key", kindOf(column.Int32)), fieldOf("value", kindOf(column.String)))
	byTime := fieldOf("c", kindOf(column.Map), fieldOf("key", column.Type{Kind: column.Time, Unit: column.Nanos}), fieldOf("value", kindOf(column.Int32)))
	byPair := fieldOf("c", kindOf(column.Map), fieldOf("key", kindOf(column.Tuple), fieldOf("0", kindOf(column.Int32)), fieldOf("1", kindOf(column.String))), fieldOf("value", kindOf(column.Int32)))
	street := fieldOf("c", kindOf(column.Struct), fieldOf("name", kindOf(column.String)), fieldOf("No", kindOf(column.Int32)))
	pair := fieldOf("c", kindOf(column.Tuple), fieldOf("0", kindOf(column.Int32)), fieldOf("1", column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true}))
	vector := fieldOf("c", column.VectorOf(column.Float32, 2))
	for _, c := range []struct {
		field      column.Field
		text, want string
	}{
		{texts, "['a','it''s', '']", "[a it's ]"},
		{texts, "{a, b c}", "[a b c]"},
		{texts, "{}", "[]"},
		{texts, "['null', null, 'None']", "[null <nil> None]"},
		{texts, "['a' 'b']", `!invalid literal of CQL: "'b']" where a comma or ] is expected`},
		{texts, "['a", "!invalid literal of CQL: a string has no end"},
		{texts, "['a'}", "!where a comma or ] is expected"},
		{texts, `['a', "b"]`, `!"\"b\"]" where a value is expected`},
		{texts, "[[a]]", "!where a value is expected"},
		{texts, "a", "!invalid JSON"},
		{numbers, "{1,-2}", "[1 -2]"},
		{numbers, "{1, 2} 3", `!invalid literal of CQL: "3" where the end is expected`},
		{numbers, "{1, x}", `!element 1: "x" is not a value of type int32`},
		{numbers, "(1, 2)", "!where [ is expected"},
		{byNumber, "{1:'a: b',2:''}", "map[1:a: b 2:]"},
		{byNumber, "{1: 'a', 1: 'b'}", "!a key occurs twice"},
		{byNumber, "{: 'a'}", "!where a name is expected"},
		{byNumber, "{1}", "!where : is expected"},
		{byTime, "{12:13:14.000000005: 1, '00:00:00':2}", "map[0s:2 12h13m14.000000005s:1]"},
		{byTime, "{12: 1}", `!"12" is not a value of type time`},
		{byPair, "{(1, 'a: b'): 2}", "!"},
		{street, "{name: 'x', No: 1}", "map[No:1 name:x]"},
		{street, `{"No":1,name:'x'}`, "map[No:1 name:x]"},
		{street, "{name: , No: }", "map[No:<nil> name:<nil>]"},
		{street, "{no: 1}", `!no field "no"`},
		{street, "{name 'x'}", "!where : is expected"},
		{pair, "(1, '2026-07-05 12:13:14.123+0000')", "[1 2026-07-05 12:13:14.123 +0000 UTC]"},
		{pair, "(None, 'None')", "[<nil> <nil>]"},
		{pair, "(1)", "!1 fields of a tuple of 2"},
		{vector, "[NaN, -Infinity]", "[NaN -Inf]"},
		{vector, "[1, 2.5e+10]", "[1 2.5e+10]"},
		{vector, "[1, ]", "!where a value is expected"},
	} {
		if c.want == "!" { // a map of tuples has no Go value
			require.Len(t, readText(t, Options{Format: CSV, Fields: column.Schema{c.field}}, "c\n\""+c.text+"\"\n"), 1)
			continue
		}
		got := readText(t, Options{Format: CSV, Fields: column.Schema{c.field}}, "c\n\""+strings.ReplaceAll(c.text, `"`, `""`)+"\"\n")
		require.Len(t, got, 1, c.text)
		if part, fails := strings.CutPrefix(c.want, "!"); fails {
			require.Contains(t, got[0], "!line 2, column c: ", c.text)
			require.Contains(t, got[0], part, c.text)
			continue
		}
		require.Equal(t, c.want, got[0], c.text)
	}
}

// TestTextOfCopyTo reads the escapes of COPY TO, which cqlsh writes a second time for CSV.
func TestTextOfCopyTo(t *testing.T) {
	o := Options{
		Format: CSV, Dialect: Dialect{NoHeader: true, Escape: '\\', EscapeAny: true}, Values: Values{CopyTo: true, Nulls: []string{`\N`}},
		Fields: column.Schema{fieldOf("t", kindOf(column.String)), fieldOf("d", kindOf(column.Date))},
	}
	for text, want := range map[string]string{
		`C:\\\\new\\ttable,2026-07-05`:      "C:\\new\ttable|2026-07-05 00:00:00 +0000 UTC",
		`"a \"b\", \\n\\r\\x07\\x80",\\\\N`: "a \"b\", \n\r\a\u0080|<nil>",
		`say \"hi\",2932897`:                "say \"hi\"|10000-01-01 00:00:00 +0000 UTC",
		`\\\\N,\\\\N`:                       "<nil>|<nil>",
		`C:\\dir,1`:                         "!line 1, column t: \"C:\\\\dir\" is not a value of type string: COPY TO writes no such backslash",
		`x\\,1`:                             `!line 1, column t: "x\\" is not a value`,
		`x\\x4,1`:                           "!line 1, column t: ",
		`x\\x4g,1`:                          "!line 1, column t: ",
		`x,2147483648`:                      `!line 1, column d: "2147483648" does not fit type date`,
		`x,`:                                `!line 1, column d: "" is not a value of type date`,
	} {
		got := readText(t, o, text+"\n")
		require.Len(t, got, 1, text)
		if strings.HasPrefix(want, "!") {
			require.Contains(t, got[0], want, text)
			continue
		}
		require.Equal(t, want, got[0], text)
	}
}

// TestSplitAsPython splits as csv.reader of Python 3.11 does with escapechar='\\' and doublequote=False.
func TestSplitAsPython(t *testing.T) {
	o := Options{Format: CSV, Dialect: Dialect{NoHeader: true, Escape: '\\', EscapeAny: true, Columns: []string{"a", "b"}}}
	o.Fields = column.Schema{fieldOf("a", kindOf(column.String)), fieldOf("b", kindOf(column.String))}
	o.Values.Nulls = []string{"\x00"}
	for text, want := range map[string]string{
		`a\,b,c`:          "a,b|c",
		`a\\,c`:           `a\|c`,
		`a\"b\",c`:        `a"b"|c`,
		`"a\"b\\",c`:      `a"b\|c`,
		`"a\n",\n`:        "an|n",
		"a\\\nb,c":        "a\nb|c",
		`\"a,"b,\"c\",d"`: `"a|b,"c",d`,
		`a"b,c"d"`:        `a"b|c"d"`,
		`,\\`:             `|\`,
	} {
		for _, end := range []string{"\n", "\r\n", ""} {
			require.Equal(t, []string{want}, readText(t, o, text+end), text)
		}
	}
}
