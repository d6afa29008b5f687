// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/soak"
)

// Texts of values, and the bytes that a real Cassandra stores for them. The parsers of the module are tested with the
// records in internal/textform/testdata, so that their tests need no server.

var updateTextForms = flag.Bool("update-text-forms", false, "record what the server stores for texts")

const textFormsFolder = "../internal/textform/testdata"

// textForms are valid texts of each type, and the characters that mutations insert.
var textForms = []struct {
	typ, alphabet string
	seeds         []string
}{
	{"double", "0159.-+eE_xfdN ,", []string{
		"0", "-0", "1.5", "-1.5", "1.", ".5", "-.5", "1e5", "1E5", "1e+5", "1e-5", "1.5e3", "1.e3", "01", "00.5", "+1", "+1.5", "1_0",
		"2024_01", "0x1p2", "0x10", "1e5_0", "NaN", "nan", "NAN", "-NaN", "-nan", "+NaN", "Infinity", "-Infinity", "infinity", "INFINITY",
		"-infinity", "+Infinity", "Inf", "inf", "-inf", "+inf", "1e", "1e+", "", "-", ".", "1e400", "-1e400", "1e-400", "4.9e-324", "2.4e-324",
		"1.7976931348623157e308", "1.7976931348623159e308", "9007199254740993", "0.1", "1f", "1d", "1.5F", "1,5", "0b1", "0o7", "1e0.5",
		"123456789012345678901234567890", "١",
	}},
	{"float", "0159.-+eE_xfdN ,", []string{
		"0", "-0", "1.5", "1.", ".5", "1e5", "1E+5", "1.5e-3", "01", "+1", "1_0", "0x1p2", "NaN", "nan", "-NaN", "Infinity", "-Infinity",
		"-infinity", "inf", "3.4028235e38", "3.4028236e38", "1e39", "1e-46", "1.4e-45", "16777217", "0.1", "1f",
	}},
	{"int", "0159.-+eE_x ,", []string{
		"0", "-0", "1", "-1", "01", "007", "+1", "1_0", "0x10", "1.0", "1.", "1e2", "2147483647", "2147483648", "-2147483648", "-2147483649",
		"", "-", "NaN", "1 ", "٣",
	}},
	{"bigint", "0159.-+eE_x ,", []string{"0", "-1", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1_0", "+5", "5.0"}},
	{"smallint", "019-+_", []string{"0", "32767", "32768", "-32768", "-32769"}},
	{"tinyint", "019-+_", []string{"0", "127", "128", "-128", "-129"}},
	{"varint", "0159.-+eE_x ,", []string{
		"0", "-0", "1", "-1", "01", "+1", "1_0", "0x10", "1.0", "1e2", "340282366920938463463374607431768211456", "-128", "128", "", "-",
	}},
	{"decimal", "0159.-+eE_x ,", []string{
		"0", "-0", "0.0", "1", "1.50", "-12.50", ".5", "1.", "01.5", "+1", "1e5", "1E5", "1e+5", "1e-5", "1.5e3", "1_0", "0x10", "NaN", "Infinity",
		"1e2147483647", "1e2147483648", "1e-2147483648", "0e10", "123456789012345678901234567890.123", "", ".", "1e", "1f",
	}},
	{"date", "0159-+TZ /:", []string{
		"1970-01-01", "2024-02-29", "2023-02-29", "0000-01-01", "0001-01-01", "-0001-01-01", "-0044-03-15", "-44-03-15", "9999-12-31",
		"10000-01-01", "+10000-01-01", "-10000-01-01", "+9999-01-01", "+0001-01-01", "-0000-01-01", "+0000-01-01", "-5877641-06-23", "-5877641-06-22",
		"+5881580-07-11", "+5881580-07-12", "5881580-07-11", "+5881580-08-01", "+999999999-01-01", "0", "1", "-1", "2147483648", "4294967295", "4294967296",
		"20240101", "2024-1-1", "2024-01-1", "24-01-01", "2024/01/01", "2024-01-01T00:00:00", "2024-01-01Z", " 2024-01-01", "2024-01-01 ",
		"2024-13-01", "2024-00-01", "2024-01-32", "2024-001", "2024-W01-1", "", "+20240101", "002024-01-01", "+02024-01-01", "+00010000-01-01",
	}},
	{"time", "0159-+:.TZ ", []string{
		"00:00:00", "23:59:59.999999999", "12:30:45.5", "12:30", "12", "24:00:00", "12:60:00", "12:00:60", "1:2:3", "01:02:3", "12:30:45.1234567890",
		"12:30:45.", "12:30:45,5", "0", "1", "86399999999999", "86400000000000", "-1", "-12:00:00", "12:30:45Z", "", "12:30:45.000", "120000", "T12:00:00",
		"23:59:60",
	}},
	{"timestamp", "0159-+:.TZ ", []string{
		"0", "-1", "1700000000000", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "20240101", "2024-01-01",
		"2024-01-01T12:30", "2024-01-01 12:30", "2024-01-01T12:30:45", "2024-01-01 12:30:45.123", "2024-01-01T12:30:45.123Z", "2024-01-01T12:30:45.1Z",
		"2024-01-01T12:30:45.12Z", "2024-01-01T12:30:45.123456Z", "2024-01-01T12:30:45.123456789Z", "2024-01-01T12:30:45.123999Z", "2024-01-01T12:30:45.1234567890Z",
		"2024-01-01T12:30:45+0100", "2024-01-01T12:30:45+01:00", "2024-01-01T12:30:45+01", "2024-01-01T12:30:45 +0100", "2024-01-01T12:30:45-0330",
		"2024-01-01 12:30:45 UTC", "2024-01-01 12:30:45 CET", "2024-01-01 12:30:45 America/New_York", "2024-01-01 12:30:45 PST", "2024-01-01T12:30:45UTC",
		"2024-01-01 12:30:45z", "2024-01-01+0100", "2024-01-01Z", "2024-01-01 UTC", "2024-01-01T12:30Z", "2024-01-01T12:30+0100", "0000-01-01T00:00:00Z",
		"0001-01-01T00:00:00Z", "-0044-03-15T00:00:00Z", "-0044-03-15", "9999-12-31T23:59:59.999Z", "10000-01-01T00:00:00Z", "+10000-01-01T00:00:00Z",
		"+10000-01-01", "-10000-01-01T00:00:00Z", "+292278994-08-17T07:12:55.807Z", "+292278994-08-17T07:12:55.808Z", "-292275055-05-16T16:47:04.192Z",
		"-292275055-05-16T16:47:04.191Z", "292278994-08-17 07:12:55.807Z", "2024-02-30T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T23:59:60Z",
		"2024-1-1", "2024-01-01T1:2:3Z", "2024-01-01T12", "2024-01-01T12Z", "2024-01-01T12:30:45+14:00", "2024-01-01T12:30:45+18:00", "2024-01-01T12:30:45+19:00",
		"2024-01-01T12:30:45+24:00", "2024-01-01T12:30:45-00:00", "2024-01-01T12:30:45.Z", "2024-01-01t12:30:45z", "", "1.5", "2024-01-01 12:30:45.123+0000",
		"2024-01-01T12:30:45+01:00:30", "2024-01-01T12:30:45+010", "1582-10-10T00:00:00Z", "1500-02-29T00:00:00Z", "2023-02-29T00:00:00Z",
	}},
	{"duration", "0159-+.PYMWDTHSymwdhsunoµ: ", []string{
		"1y", "1mo", "1w", "1d", "1h", "1m", "1s", "1ms", "1us", "1µs", "1ns", "1y2mo3w4d5h6m7s8ms9us10ns", "-1y2mo", "1y1y", "1d1y", "1mo2mo", "1d1w", "1w1d",
		"1h1h", "1s1h", "1ns1us", "1us1µs", "1y-2mo", "--1y", "+1y", "1Y", "1MO", "1Mo", "1D", "1H", "1M", "1S", "1MS", "1Us", "1NS", "1W", "1Y2MO3W4D5H6M7S8MS9US10NS",
		"0y", "0ns", "0", "1", "", "-", "y", "1.5h", "1h30m0.5s", "0.5s", "1 y", "1y 2mo", "P1Y", "P1Y2M", "P1Y2M3D", "PT1H", "PT1H2M3S", "P1Y2M3DT4H5M6S",
		"P1W", "P2W", "P1Y1W", "P1D2W", "-P1Y", "-P1Y2M", "-PT1H", "P-1Y", "PT-1H", "p1y", "P1y", "pt1h", "P", "PT", "-P", "P1YT", "P1M", "PT1M", "PT1.5S", "PT0.5S",
		"P0001-02-03T04:05:06", "-P0001-02-03T04:05:06", "P0000-00-00T00:00:00", "P0001-13-40T25:61:61", "P1-2-3T4:5:6", "P0001-02-03", "p0001-02-03t04:05:06",
		"P00001-02-03T04:05:06", "P9999-99-99T99:99:99", "178956970y8mo", "178956970y7mo", "-178956970y8mo", "2147483647mo", "2147483648mo", "-2147483648mo", "2147483647d",
		"2147483648d", "-2147483648d", "306783378w1d", "306783378w2d", "306783379w", "9223372036854775807ns", "9223372036854775808ns", "-9223372036854775808ns",
		"2562047h47m16s854ms775us807ns", "2562047h47m16s854ms775us808ns", "99999999999999999999y", "P99999999999Y", "PT2562048H", "1Us2ns", "1ms1m", "12h30m", "1y3d", "1µS",
	}},
	{"inet", "0159.:abf/%", []string{
		"127.0.0.1", "::1", "::ffff:192.0.2.7", "::ffff:c000:207", "2001:db8::1", "2001:DB8::1", "1.2.3", "1.2", "1", "256.0.0.1", "01.2.3.4", "1.2.3.4.5",
		"fe80::1%eth0", "localhost", "::", "0.0.0.0", "[::1]", "1.2.3.4/32", "", "::1.2.3.4", "16909060", "0x7f.0.0.1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7",
	}},
	{"uuid", "019afgAF-{}", []string{
		"123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000", "123e4567e89b12d3a456426614174000", "{123e4567-e89b-12d3-a456-426614174000}",
		"00000000-0000-0000-0000-000000000000", "1-1-1-1-1", "123e4567-e89b-12d3-a456-42661417400", "", "urn:uuid:123e4567-e89b-12d3-a456-426614174000",
		"123e4567-e89b12d3-a456-42661-4174000",
	}},
	{"timeuuid", "019afgAF-", []string{"123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-42d3-a456-426614174000", "00000000-0000-0000-0000-000000000000"}},
}

// printForms are cells whose text the server is asked for.
var printForms = map[string][]string{
	"date": {
		"00000000", "00000001", "7fffffff", "80000000", "80000001", "ffffffff", "fffffffe", "7ff50572", "7ff50571", "802cc0cd", "802cc0ce", "7fe9bda9", "800ac34f", "7ff50400",
	},
	"timestamp": {
		"0000000000000000", "ffffffffffffffff", "8000000000000000", "7fffffffffffffff", "0000018cc251f400", "0000e677d21fdbff", "0000e677d21fdc00", "ffffc77ceebc0400",
		"ffffc77cecebff00", "fffffffffffffc17", "00000000000003e8",
	},
	"time":     {"0000000000000000", "00004e94914effff", "0000000000000001", "00000000000f4240", "000000003b9aca00", "0000274a48a78000"},
	"double":   {"7ff8000000000000", "7ff8000000000001", "7ff0000000000000", "fff0000000000000", "8000000000000000", "0000000000000001", "7fefffffffffffff", "4341c37937e08000", "3f1a36e2eb1c432d"},
	"float":    {"7fc00000", "7f800000", "ff800000", "80000000", "00000001", "7f7fffff"},
	"decimal":  {"0000000200", "000000020f", "fffffffb01", "0000001e01", "7fffffff01", "8000000001", "00000007ff"},
	"duration": {"000000", "020202", "010101", "080c28"},
}

// mutate returns a text with one change: a character of the alphabet inserted or put in place of another, a character
// left out, a part repeated, or two texts joined.
func mutate(r *rand.Rand, seeds []string, alphabet []rune) string {
	s := []rune(seeds[r.IntN(len(seeds))])
	at := r.IntN(len(s) + 1)
	switch c := alphabet[r.IntN(len(alphabet))]; {
	case len(s) == 0 || r.IntN(5) < 2:
		s = slices.Insert(s, at, c)
	case r.IntN(3) == 0:
		s[min(at, len(s)-1)] = c
	case r.IntN(2) == 0:
		s = slices.Delete(s, min(at, len(s)-1), min(at, len(s)-1)+1)
	default:
		return string(s[:at]) + seeds[r.IntN(len(seeds))]
	}
	return string(s)
}

// isQuoted reports whether literals of a type have quotes.
func isQuoted(typ string) bool {
	return slices.Contains([]string{"date", "time", "timestamp", "inet"}, typ)
}

// isTerm reports whether a text is at most one term of CQL: neither a sum nor two tokens.
func isTerm(typ, text string) bool {
	if typ == "uuid" || typ == "timeuuid" || isQuoted(typ) {
		return true
	}
	for i, c := range text {
		switch {
		case strings.ContainsRune(" *%/,", c):
			return false
		case (c == '+' || c == '-') && i > 0 && !strings.ContainsRune("eE", rune(text[i-1])):
			return false
		}
	}
	return true
}

// A textForm is a text and the cells that the server stores for it as a literal, as a string of JSON, and as a bare
// value of JSON: hexadecimal digits, "-" if it refuses the text, "?" if it was not asked.
type textForm struct{ text, literal, quoted, bare string }

func (f textForm) String() string {
	return strconv.Quote(f.text) + "\t" + f.literal + "\t" + f.quoted + "\t" + f.bare
}

func parseTextForm(t *testing.T, line string) textForm {
	parts := strings.Split(line, "\t")
	require.Len(t, parts, 4, line)
	text, err := strconv.Unquote(parts[0])
	require.NoError(t, err, line)
	return textForm{text, parts[1], parts[2], parts[3]}
}

// A formTable is a table with a column of each type.
type formTable struct {
	t    *testing.T
	s    *vecql.Session
	name string
	key  int
}

// ask inserts one value by a statement and returns the cell. %d is the key.
func (f *formTable) ask(key int, typ, statement string) string {
	if err := f.s.Query(statement).Exec(f.t.Context()); err != nil {
		return "-"
	}
	var cell []byte
	read := fmt.Sprintf("SELECT CAST_TO_BLOB(v_%s) FROM %s WHERE k = %d", typ, f.name, key)
	read = strings.ReplaceAll(read, "CAST_TO_BLOB", function(f.s, typ+"_as_blob"))
	require.NoError(f.t, f.s.Query(read).Scan(f.t.Context(), &cell), statement)
	return hex.EncodeToString(cell)
}

func (f *formTable) form(key int, typ, text string) textForm {
	out := textForm{text, "?", "?", "?"}
	if isTerm(typ, text) {
		literal := text
		if isQuoted(typ) {
			literal = "'" + strings.ReplaceAll(text, "'", "''") + "'"
		}
		out.literal = f.ask(key, typ, fmt.Sprintf("INSERT INTO %s (k, v_%s) VALUES (%d, %s)", f.name, typ, key, literal))
	}
	quoted, err := json.Marshal(text)
	require.NoError(f.t, err)
	insert := func(value string) string {
		return fmt.Sprintf(`INSERT INTO %s JSON '{"k": %d, "v_%s": %s}'`, f.name, key, typ, strings.ReplaceAll(value, "'", "''"))
	}
	out.quoted = f.ask(key, typ, insert(string(quoted)))
	if !strings.ContainsAny(text, `, "{}[]:`) {
		out.bare = f.ask(key, typ, insert(text))
	}
	return out
}

// function returns the name of a function of CQL: Cassandra 4 has toJson for to_json.
func function(s *vecql.Session, name string) string {
	words := strings.Split(name, "_")
	if s.GetHosts()[0].Version >= "5" {
		return name
	}
	for i := range words[1:] {
		words[1+i] = strings.ToUpper(words[1+i][:1]) + words[1+i][1:]
	}
	return strings.Join(words, "")
}

// every returns each n-th line.
func every(lines []string, n int) (some []string) {
	for i := 0; i < len(lines); i += n {
		some = append(some, lines[i])
	}
	return some
}

// TestTextForms compares the recorded cells of texts with those that a Cassandra stores.
func TestTextForms(t *testing.T) {
	soak.NoRace(t)
	s := connect(t, config(t, plainNode))
	f := &formTable{t: t, s: s, name: keyspace(t, s, 1) + ".forms"}
	create := "CREATE TABLE " + f.name + " (k int PRIMARY KEY"
	for _, forms := range textForms {
		create += fmt.Sprintf(", v_%s %[1]s", forms.typ)
	}
	require.NoError(t, s.Query(create+")").Exec(t.Context()))
	for _, forms := range textForms {
		path := filepath.Join(textFormsFolder, forms.typ+".txt")
		var texts []string
		var recorded []string
		if *updateTextForms {
			texts = slices.Clone(forms.seeds)
			r := rand.New(rand.NewPCG(1, uint64(len(forms.typ))))
			for range max(40, 3*len(forms.seeds)) {
				if text := mutate(r, forms.seeds, []rune(forms.alphabet)); !slices.Contains(texts, text) {
					texts = append(texts, text)
				}
			}
		} else {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			recorded = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
			if step := soak.Size(8, 1); step > 1 { // each statement takes some milliseconds
				recorded = every(recorded, step)
			}
			if !hasVectors(s) && forms.typ == "inet" { // Java 11, on which Cassandra 4 runs, reads hexadecimal addresses
				recorded = slices.DeleteFunc(recorded, func(line string) bool { return strings.Contains(line, "0x") })
			}
			for _, line := range recorded {
				texts = append(texts, parseTextForm(t, line).text)
			}
		}
		got := make([]string, len(texts))
		var wait sync.WaitGroup
		for w := range 4 {
			wait.Go(func() {
				for i := w; i < len(texts); i += 4 {
					got[i] = f.form(i, forms.typ, texts[i]).String()
				}
			})
		}
		wait.Wait()
		if *updateTextForms {
			require.NoError(t, os.WriteFile(path, []byte(strings.Join(got, "\n")+"\n"), 0o666))
			continue
		}
		require.Equal(t, recorded, got, forms.typ)
	}
}

// TestPrintedForms compares the recorded texts of cells with those that a Cassandra prints: in JSON, and cast to text.
func TestPrintedForms(t *testing.T) {
	s := connect(t, config(t, plainNode))
	name := keyspace(t, s, 1) + ".prints"
	create := "CREATE TABLE " + name + " (k int PRIMARY KEY"
	var got []string
	for typ := range printForms {
		create += fmt.Sprintf(", v_%s %[1]s", typ)
	}
	require.NoError(t, s.Query(create+")").Exec(t.Context()))
	for typ, cells := range printForms {
		for _, cell := range cells {
			blob := fmt.Sprintf("INSERT INTO %s (k, v_%s) VALUES (1, %s(0x%s))", name, typ, function(s, "blob_as_"+typ), cell)
			require.NoError(t, s.Query(blob).Exec(t.Context()), blob)
			var inJSON, cast string
			read := fmt.Sprintf("SELECT %s(v_%s) FROM %s", function(s, "to_json"), typ, name)
			if err := s.Query(read).Scan(t.Context(), &inJSON); err != nil {
				inJSON = "-"
			}
			read = fmt.Sprintf("SELECT CAST(v_%s AS text) FROM %s", typ, name)
			if err := s.Query(read).Scan(t.Context(), &cast); err != nil {
				cast = "-"
			}
			got = append(got, typ+"\t"+cell+"\t"+inJSON+"\t"+cast)
		}
	}
	slices.Sort(got)
	path := filepath.Join(textFormsFolder, "printed.tsv")
	if *updateTextForms {
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(got, "\n")+"\n"), 0o666))
		return
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.Split(strings.TrimSuffix(string(data), "\n"), "\n"), got)
}
