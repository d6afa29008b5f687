// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Damaged and foreign text.

// shelf are the columns of the tests of this file.
var shelf = column.Schema{fieldOf("id", kindOf(column.Int32)), fieldOf("name", kindOf(column.String)), fieldOf("v", kindOf(column.Float64))}

// readText reads a text and returns its rows and the errors of its records, or of the file, in their order.
func readText(t *testing.T, o Options, text string) []string {
	t.Helper()
	out := []string{}
	o.Stdin = strings.NewReader(text)
	if o.Fields == nil {
		o.Fields = shelf
	}
	o.Rejected = func(e *RecordError) error {
		out = append(out, "!"+strings.TrimPrefix(e.Error(), "-, "))
		return nil
	}
	in, err := Open(o, Stdin)
	require.NoError(t, err)
	for b, err := range in.Batches(t.Context()) {
		if err != nil {
			return append(out, "!"+err.Error())
		}
		require.NoError(t, b.Check())
		for i := range b.Rows {
			var row []string
			for k := range b.Columns {
				row = append(row, fmt.Sprint(b.Columns[k].Value(i)))
			}
			out = append(out, strings.Join(row, "|"))
		}
	}
	return out
}

// TestDamagedCSV has records whose parts may not be cut, joined or moved to another column.
func TestDamagedCSV(t *testing.T) {
	plain := Options{Format: CSV}
	bare := Options{Format: CSV, Dialect: Dialect{NoHeader: true}}
	for _, c := range []struct {
		o    Options
		text string
		want []string
	}{
		{plain, "id,name,v\n70,lamp, red,1\n71,cup,2\n", []string{"!line 2: the record has 4 fields, the header 3; a field with the delimiter ',' needs quotes", "71|cup|2"}},
		{plain, "id,name,v\n70,lamp,1,\n", []string{"!line 2: the record has 4 fields"}},
		// delimiters at the end of the header
		{
			plain, "id,name,v,\n1,a,2,\n2,b,3\n3,c,,\n4,d,\n5,e\n6,f,1,2,\n7,g,1,x\n",
			[]string{
				"1|a|2", "2|b|3", "3|c|<nil>", "!line 5: the record has 2 fields, the header 3", "!line 6: the record has 2 fields",
				"!line 7: the record has 4 fields, the header 3; a field with the delimiter ',' needs quotes", "7|g|1",
			},
		},
		{
			plain, "id,name,v,,\n1,a,2,,\n2,b,3\n3,c,,,\n4,d,,\n5,e,1,,x\n6,f,1,x,\n7,g,1,\n",
			[]string{
				"1|a|2", "2|b|3", "3|c|<nil>", "!line 5: the record has 2 fields, the header 3", "!line 6: the record has 5 fields",
				"6|f|1", "7|g|1",
			},
		},
		{plain, "id,name,v,\"\"\n1,a,2,3\n", []string{"1|a|2"}}, // a name in quotes
		{Options{Format: CSV, Dialect: Dialect{Columns: []string{"id", "name", "v", "w"}}}, "a,b,c,\n1,a,2,3\n", []string{"1|a|2"}},
		{Options{Format: CSV, Dialect: Dialect{Columns: []string{"id", "name", "v"}}}, "a,b,c,\n1,a,2,\n", []string{"1|a|2"}},
		{Options{Format: CSV, RefuseExtra: true}, "id,name,v,\n1,a,2,\n2,b,3,x\n", []string{"1|a|2", "!line 3: the record has a value in a field without a name"}},
		// another delimiter
		{plain, "id;name;v\n1;a;2\n", []string{"!-: the header is one field, and has the character ';': --delimiter ';' divides it, --delimiter ',' keeps it"}},
		{plain, "\"id\"\t\"name\"\n", []string{`!-: the header is one field, and has the character '\t': --delimiter '\t' divides it`}},
		{Options{Format: CSV, Dialect: Dialect{Comma: ','}, Fields: column.Schema{fieldOf("a;b", kindOf(column.String))}}, "a;b\n1\n", []string{"1"}},
		{bare, "70,lamp, red,1\n", []string{"!line 1: the record has 4 fields, the list of fields 3"}},
		{Options{Format: CSV, Dialect: Dialect{NoHeader: true, Columns: []string{"id", "name", "v"}}, RefuseExtra: true}, "70,lamp,1,2\n", []string{"!line 1: the record has 4 fields"}},
		{Options{Format: CSV, AllowMissing: true}, "id,name,v\n1,a,2,3\n", []string{"!line 2: the record has 4 fields"}},
		{plain, "id,name,v\n70,lamp\n71,cup,2", []string{"!line 2: the record has 2 fields, the header 3", "71|cup|2"}},
		{bare, "70,lamp\n", []string{"!line 1: the record has 2 fields, the list of fields 3"}},
		{plain, "id,name,v\n1,lamp,1\n2,cu", []string{"1|lamp|1", "!line 3: the record has 2 fields"}},
		// ends of lines
		{plain, "id,name,v\r\n1,lamp,1\r\n2,cup,2\r\n", []string{"1|lamp|1", "2|cup|2"}},
		{plain, "id,name,v\n1,lamp,1\r\n2,cup,2", []string{"1|lamp|1", "2|cup|2"}},
		{plain, "id,name,v\r1,lamp,1\r2,cup,2\r", []string{"!-: the header: a carriage return without a line feed"}},
		{plain, "id,name,v\n1,la\rmp,1\n2,cup,2\n", []string{"!line 2: a carriage return without a line feed", "2|cup|2"}},
		{plain, "id,name,v\n1,\"la\rmp\",1\n2,\"c\r\nup\",2\n3,\"d\n\",3\n", []string{"1|la\rmp|1", "2|c\r\nup|2", "3|d\n|3"}},
		{plain, "id,name,v\n\n1,lamp,1\n\n", []string{"1|lamp|1"}},
		// quotes
		{plain, "id,name,v\n1,\"lamp,1\n2,cup,2\n", []string{"!line 2: a field in quotes has no end: the rest of the file is in it, 2 lines"}},
		{plain, "id,name,v\n1,\"lamp\" x,1\n2,cup,2\n", []string{"!line 2: text follows the closing quote", "2|cup|2"}},
		{plain, "id,name,v\n1,5\" disk,1\n2, \"x\",2\n", []string{`1|5" disk|1`, `2| "x"|2`}},
		{plain, "id,name,v\n1,\"a\"\"b\",1\n", []string{`1|a"b|1`}},
		{Options{Format: CSV, Dialect: Dialect{Escape: '\\'}}, "id,name,v\n1,\"a\\\"b\\\\c\\n\\\",1\"\"\",2\n", []string{`1|a"b\c\n",1"|2`}},
		// characters
		{plain, "id,name,v\n1,\xff,1\n2,cup,2\n", []string{"!line 2, column name: the text is not UTF-8", "2|cup|2"}},
		{plain, "id,name,v\n1,a\x00b,1\n", []string{"1|a\x00b|1"}},
		{plain, "id,name,v\n1\x00,a,1\n", []string{"!line 2, column id: \"1\\x00\" is not a value of type int32"}},
		{plain, "\ufeff\"id\",\"name\",v\n1,lamp,1\n", []string{"1|lamp|1"}},
		{plain, "\ufeffid,name,v\n1,lamp,1\n", []string{"1|lamp|1"}},
		{bare, "\ufeff1,lamp,1\n", []string{"1|lamp|1"}},
		{bare, "1,lamp,1\n\ufeff2,cup,2\n", []string{"1|lamp|1", "!line 2: a byte order mark is at the start of the record: several files were joined"}},
		{Options{Format: CSV, Fields: column.Schema{shelf[1]}}, "name\nlamp\n\ufeffname\ncup\n", []string{"lamp", "!line 3: a byte order mark", "cup"}},
		{Options{Format: CSV, Fields: column.Schema{shelf[1]}}, "name\n\"\ufeffcup\"\n", []string{"\ufeffcup"}},
		{plain, "\xff\xfei\x00d\x00", []string{"!-: the columns do not match: there is no column \"name\"; there are: id"}},
		{plain, "\xfe\xff\x00i\x00d", []string{"!-: the columns do not match: there is no column \"name\"; there are: id"}},
		// headers
		{plain, "id,name,name,v\n", []string{`!-: two fields have the name "name"`}},
		{plain, "id,,v,\n", []string{`!-: the columns do not match: there is no column "name"`}},
		{plain, "id,,,v,\n", []string{`!-: two fields have the name ""`}},
		{plain, "id,,v\n", []string{`!-: the columns do not match: there is no column "name"`}},
		{plain, "", []string{"!-: the file is empty, not even a header"}},
		{plain, "\n\n", []string{"!-: the file is empty, not even a header"}},
		{plain, "id,name,v\n", []string{}},
		{bare, "", []string{"!read -: the input is empty: it has neither a record nor a header"}},
		{bare, "\n\r\n", []string{"!read -: the input is empty"}},
		// of another format
		{plain, "PAR1\x15\x04\x15\x10", []string{"!-: the file is parquet, not csv"}},
		{plain, "ARROW1\x00\x00\xff\xff\xff\xff", []string{"!-: the file is arrow, not csv"}},
		{plain, "{\"id\":1,\"name\":\"a\"}\n", []string{"!-: the header: text follows the closing quote"}},
	} {
		got := readText(t, c.o, c.text)
		require.Len(t, got, len(c.want), "%q: %q", c.text, got)
		for i, want := range c.want {
			if strings.HasPrefix(want, "!") {
				require.Contains(t, got[i], want, "%q", c.text)
				continue
			}
			require.Equal(t, want, got[i], "%q", c.text)
		}
	}
}

// TestDamagedJSON has lines that are not JSON, or not one object.
func TestDamagedJSON(t *testing.T) {
	const good = `{"id":2,"name":"cup","v":2}`
	for line, want := range map[string]string{
		`{"id":01,"name":"a","v":1}`: `"01" is not a number of JSON`, `{"id":1,"name":"a","v":00.5}`: `"00.5" is not a number`, `{"id":1,"name":"a","v":1.}`: `"1." is not a number`,
		`{"id":1,"name":"a","v":-01}`: `"-01" is not a number`, `{"id":1,"name":"a","v":.5}`: "where a value is expected", `{"id":+1,"name":"a","v":1}`: "where a value is expected",
		`{"id":1,"name":"a","v":1e}`: `"1e" is not a number`, `{"id":1,"name":"a","v":1.e5}`: `"1.e5" is not a number`, `{"id":1,"name":"a","v":1e+}`: `"1e+" is not a number`,
		`{"id":1,"name":"a","v":NaN}`: "where a value is expected", `{"id":1,"name":"a","v":Infinity}`: "where a value is expected", `{"id":1,"name":"a","v":-Infinity}`: "is not a number",
		`{"id":1,"name":"a","v":-}`: `"-" is not a number`, `{"id":0x10,"name":"a","v":1}`: `is not a number`, `{"id":1_0,"name":"a","v":1}`: "a comma or }",
		`{"id":1,"name":"a","v":1--2}`: "is not a number", `{"id":1,"name":"a","v":"1_0"}`: `"1_0" is not a value of type float64`, `{"id":"01x","name":"a","v":1}`: "not a value",
		`{"id":1,"name":"a","v":nul}`: "where a value is expected", `{"id":1,"name":"a","v":True}`: "where a value is expected", `{"id":1,"name":'a',"v":1}`: "where a value is expected",
		`{id:1,"name":"a","v":1}`: "where a name is expected", `{"id":1,"name":"a","v":1,}`: "where a name is expected", `{"id":1 "name":"a","v":1}`: "a comma or }",
		`{"id":1,"name":"a","v":1}{"id":3,"name":"b","v":1}`: "where the end is expected", `{"id":1,"name":"a","v":1} x`: "where the end is expected", `[1,"a",1]`: "where { is expected",
		"{\"id\":1,\"name\":\"a\",\"v\":1}\x00junk": "where the end is expected", "\x00": "where { is expected", "{\"id\":1,\"name\":\"a\tb\",\"v\":1}": "a control character in a string",
		"{\"id\":1,\"name\":\"a\x00b\",\"v\":1}": "a control character in a string", "{\"id\":1,\"name\":\"a\\n\tb\",\"v\":1}": "invalid", "{\"id\":1,\"name\":\"\xff\",\"v\":1}": "the text is not UTF-8",
		`{"id":1,"name":"\ud800","v":1}`: "half of a surrogate pair", `{"id":1,"name":"\udc00\ud800","v":1}`: "half of a surrogate pair", `{"id":1,"name":"\ud800\u0041","v":1}`: "half of a surrogate pair",
		`{"id":1,"name":"x\ud83d","v":1}`: "half of a surrogate pair", `{"id":1,"name":"\x41","v":1}`: "invalid", `{"id":1,"name":"\u12","v":1}`: "invalid",
		`{"id":1,"name":"\ud83dXude00","v":1}`: "half of a surrogate pair", `{"id":1,"name":"\ud83d\nde00","v":1}`: "half of a surrogate pair", `{"id":1,"name":"\ud83dxyde00","v":1}`: "half of a surrogate pair",
		`{"id":1,"name":"\ud83d`: "a string has no end", `{"id":1,"name":"\ud83d\ude`: "a string has no end", `{"id":1,"name":"a","v":1,"more":tru}`: "invalid character '}' in literal true",
		`{"id":1,"id":3,"name":"a","v":1}`: "the member occurs twice", `{"id":1,"name":"a"}`: "column v: the object has no such member", `{"id":1,"name":"a","v":1`: "it ends where a comma or } is expected",
		`null`: "where { is expected", `{"id":1.0,"name":"a","v":1}`: "not a value of type int32", `{"id":1e0,"name":"a","v":1}`: "not a value of type int32",
		`{"id":2147483648,"name":"a","v":1}`: "out of range", `{"id":1,"name":"a","v":1e400}`: "out of range", `{"id":true,"name":"a","v":1}`: "not a value of type int32",
		`{"id":[1],"name":"a","v":1}`: "where a value is expected", `{"id":1,"name":{"x":1},"v":1}`: "where a value is expected", "\ufeff" + good: "where { is expected",
	} {
		for _, text := range []string{good + "\n" + line + "\n" + good, good + "\n" + line} {
			got := readText(t, Options{Format: JSON}, text)
			require.Greater(t, len(got), 1, line)
			require.Equal(t, "2|cup|2", got[0], line)
			require.Contains(t, got[1], "!line 2", line)
			require.Contains(t, got[1], want, line)
		}
	}
	for line, want := range map[string]string{
		"\ufeff" + good: "2|cup|2", `{"id":1,"name":"\ud83d\ude00","v":-0.5e+3}`: "1|😀|-500", ` { "v" : 1E5 , "name" : null , "id" : -0 } ` + "\r": "0|<nil>|100000",
		`{"id":1,"name":"\nd800","v":1}`:      "1|\nd800|1",
		`{"id":1,"name":"\\ud800","v":"NaN"}`: `1|\ud800|NaN`, `{"id":1,"name":"a\u0000b","v":"-Infinity"}`: "1|a\x00b|-Inf", `{"id":"12","name":"","v":"1e3"}`: "12||1000",
	} {
		require.Equal(t, []string{want}, readText(t, Options{Format: JSON}, line))
	}
	require.Contains(t, readText(t, Options{Format: JSON}, "")[0], "!read -: the input is empty")
	require.Contains(t, readText(t, Options{Format: JSON}, "\n \n")[0], "!read -: the input is empty")
	require.Contains(t, readText(t, Options{Format: JSON}, "\xff\xfe{\x00")[0], "!line 1: invalid JSON: it ends where a name is expected")
	require.Contains(t, readText(t, Options{Format: JSON}, "PAR1\x15\x04\x15\x10")[0], "the file is parquet, not json")
}

// TestNumbersOfJSONKeepTheirDigits has numbers that a float does not have.
func TestNumbersOfJSONKeepTheirDigits(t *testing.T) {
	fields := column.Schema{fieldOf("n", kindOf(column.Int64)), fieldOf("d", kindOf(column.Decimal)), fieldOf("i", kindOf(column.Varint))}
	require.Equal(t, []string{"9007199254740993|0.10000000000000000000000001|123456789012345678901234567890"}, readText(t, Options{Format: JSON, Fields: fields},
		`{"n":9007199254740993,"d":0.10000000000000000000000001,"i":123456789012345678901234567890}`))
}

// TestKeysOfMapsAreUnique refuses a map that would lose a value.
func TestKeysOfMapsAreUnique(t *testing.T) {
	m := fieldOf("m", kindOf(column.Map), fieldOf("key", kindOf(column.Int32)), fieldOf("value", kindOf(column.String)))
	words := fieldOf("m", kindOf(column.Map), fieldOf("key", kindOf(column.String)), fieldOf("value", kindOf(column.String)))
	for text, f := range map[string]column.Field{`{"m":{"1":"a","1":"b"}}`: m, `{"m":{"1":"a","01":"b"}}`: m, `{"m":[[1,"a"],[1,"b"]]}`: m, `{"m":{"x":"a","\u0078":"b"}}`: words} {
		require.Contains(t, readText(t, Options{Format: JSON, Fields: column.Schema{f}}, text)[0], "a key occurs twice", text)
	}
	require.Equal(t, []string{"map[1:a 2:b]", "map[1:c]"}, readText(t, Options{Format: JSON, Fields: column.Schema{m}}, `{"m":{"1":"a","2":"b"}}`+"\n"+`{"m":{"1":"c"}}`))
}

// TestClaimsOfArrowFiles reads a short file whose first message claims 2 GiB of metadata, then one that claims a body.
func TestClaimsOfArrowFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.arrow")
	writeFile(t, path, WriterOptions{}, column.NewBatch(column.Of("id", []int32{1})))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	failed := 0
	for at := 8; at+8 <= len(data); at += 4 {
		damaged := bytes.Clone(data)
		binary.LittleEndian.PutUint64(damaged[at:], 1<<40+1<<31-1)
		require.NoError(t, os.WriteFile(path, damaged, 0o666))
		for name, o := range map[string]Options{path: {}, Stdin: {Format: Arrow, Stdin: bytes.NewReader(damaged)}} {
			in, err := Open(o, name)
			require.NoError(t, err)
			for _, err := range in.Batches(t.Context()) {
				if err != nil {
					require.ErrorContains(t, err, "read "+name)
					failed++
				}
			}
		}
	}
	runtime.ReadMemStats(&after)
	require.Greater(t, failed, 20)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(len(data))*8<<20, "a few MiB for each file")
}

// TestUnusedFields names the fields for which there is no column.
func TestUnusedFields(t *testing.T) {
	id := column.Schema{fieldOf("id", kindOf(column.Int32))}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.csv": "id,color,\n1,red,x\n", "b.csv": "size,id\n1,2\n", "c.jsonl": `{"id":1,"weight":2}` + "\n" + `{"color":"red","id":3,"note":{}}` + "\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	writeFile(t, filepath.Join(dir, "d.parquet"), WriterOptions{}, column.NewBatch(column.Of("id", []int32{1}), column.Of("depth", []int32{1})))
	writeFile(t, filepath.Join(dir, "e.arrow"), WriterOptions{}, column.NewBatch(column.Of("id", []int32{1}), column.Of("height", []int32{1})))
	in, err := Open(Options{Fields: id}, dir)
	require.NoError(t, err)
	for _, err := range in.Batches(t.Context()) {
		require.NoError(t, err)
	}
	require.Equal(t, []string{"color", "", "size", "weight", "note", "depth", "height"}, in.Unused())
	for _, name := range []string{"a.csv", "c.jsonl", "d.parquet", "e.arrow"} {
		in, err := Open(Options{Fields: id, RefuseExtra: true}, filepath.Join(dir, name))
		require.NoError(t, err)
		var failed error
		for _, err := range in.Batches(t.Context()) {
			failed = err
		}
		require.ErrorContains(t, failed, "wanted", name)
	}
}

// TestColumnsOfTheFirstObject reads JSON without fields: the first object has the names.
func TestColumnsOfTheFirstObject(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}` + "\n" + `{"a":2,"b":3}`: "line 2, column b: the first object has no such member", `{"a":1,"a":2}`: "line 1, column a: the member occurs twice",
		`{"a":[1,]}`: "line 1, column a: invalid JSON: invalid character ']'", `{"a":{"b":tru}}`: "invalid character '}' in literal true", `{"a":[1}`: "invalid JSON",
	} {
		in, err := Open(Options{Format: JSON, Stdin: strings.NewReader(text)}, Stdin)
		require.NoError(t, err)
		var failed error
		for _, err := range in.Batches(t.Context()) {
			failed = err
		}
		require.ErrorContains(t, failed, want)
	}
}

// requireNumber compares the number at the start of a text with encoding/json. A letter must not follow the number.
func requireNumber(t testing.TB, text string) {
	word := text[:len(text)-len(strings.TrimLeft(text, "-+.eE0123456789"))]
	s := scanner{text: []byte(text)}
	got, err := s.scalar()
	if !json.Valid([]byte(word)) || len(word) < len(text) && isWordByte(text[len(word)]) {
		require.Error(t, err, "%q", text)
		return
	}
	require.NoError(t, err, "%q", text)
	require.Equal(t, word, string(got))
}

func TestNumberEqualsReference(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		text := []byte{"-01"[r.IntN(3)]}
		for range r.IntN(8) {
			text = append(text, "0015.eE+- ,_a"[r.IntN(13)])
		}
		requireNumber(t, string(text))
	}
}

func FuzzNumber(f *testing.F) {
	f.Add("-1.5e+10]")
	f.Fuzz(func(t *testing.T, text string) {
		if text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') {
			requireNumber(t, text)
		}
	})
}
