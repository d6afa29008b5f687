// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Comparison with Cassandra: testdata/cassandra/*.cql are statements, *.txt are Cassandra's answers, written by
//
//	go test -run TestCassandra -record 127.0.0.1 ./cqltest/internal/engine

var record = flag.String("record", "", "address of a Cassandra node: write its answers to testdata/cassandra/*.txt")

// raw keeps the bytes of a cell.
type raw struct{ b []byte }

// UnmarshalCQL implements cql.Unmarshaler.
func (r *raw) UnmarshalCQL(_ cql.TypeInfo, data []byte) error {
	r.b = data
	return nil
}

// line is a line of a file of statements: words for how to execute the statement, and the statement.
type line struct {
	text  string
	page  int             // "PAGE n": reads all pages of n rows
	level cql.Consistency // the name of a level: has this consistency instead of ONE
	bind  ValueState      // "NULL", "UNSET": binds every marker to this
	bytes []byte          // "HEX bytes": binds every marker to these; "HEX -" to none
}

// nextPage separates pages in an answer.
const nextPage = "next page"

func parseLine(text string) line {
	l := line{page: 5000, level: cql.One}
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "PAGE":
		word, rest, _ = strings.Cut(rest, " ")
		l.page, _ = strconv.Atoi(word)
	case "ONE", "LOCAL_ONE", "QUORUM", "LOCAL_QUORUM", "EACH_QUORUM", "ALL", "SERIAL", "LOCAL_SERIAL":
		l.level = levelOf(word)
	case "NULL":
		l.bind = ValueNull
	case "UNSET":
		l.bind = ValueUnset
	case "HEX":
		word, rest, _ = strings.Cut(rest, " ")
		l.bytes, _ = hex.DecodeString(word)
	default:
		rest = text
	}
	l.text = rest
	return l
}

// levelOf returns the consistency level of a name.
func levelOf(name string) cql.Consistency {
	return cql.Consistency(slices.Index(consistencyNames, name))
}

// answers executes a line on an engine and returns the answers as text, one for each page, and the last result.
func answers(t *testing.T, e *Engine, l line) (string, *Result) {
	s, err := e.Prepare("ks", l.text)
	if err != nil {
		return answer(nil, err), nil
	}
	r := &Request{PageSize: l.page, Consistency: uint16(l.level), Values: make([]Value, len(s.Bind))}
	for i := range r.Values {
		r.Values[i] = Value{State: l.bind, Bytes: l.bytes}
	}
	var pages []string
	for {
		res, err := e.Execute(t.Context(), s, r)
		pages = append(pages, answer(res, err))
		if err != nil || res.PagingState == nil || l.page == 5000 {
			return strings.Join(pages, "\n"+nextPage+"\n"), res
		}
		r.PagingState = res.PagingState
	}
}

// MarshalCQL implements cql.Marshaler.
func (r raw) MarshalCQL(cql.TypeInfo) ([]byte, error) { return r.b, nil }

// answer returns a result as text: names and types of the columns, and rows; or the error.
func answer(r *Result, err error) string {
	if err != nil { // without warnings, which the driver does not return beside an error
		return show(r, err)
	}
	lines := warningLines(r.Warnings)
	if r.Kind == ResultRows {
		names := make([]string, len(r.Columns))
		for i, c := range r.Columns {
			names[i] = c.Name + " " + plainType(c.Type.String())
		}
		lines = append(lines, "["+strings.Join(names, ", ")+"]")
		if len(r.Rows) > 0 {
			lines = append(lines, show(r, nil))
		}
	}
	return strings.Join(lines, "\n")
}

// warningLines returns warnings as lines, without that about USE, which Cassandra sends once a minute.
func warningLines(warnings []string) []string {
	var lines []string
	for _, w := range warnings {
		if !strings.HasPrefix(w, "`USE <keyspace>`") {
			lines = append(lines, "warning: "+w)
		}
	}
	return lines
}

// ask executes a line on Cassandra and returns the answers as text, one for each page. Cells are formatted by the types
// of like, if the number of columns is the same.
func ask(s *vecql.Session, l line, like *Result) string {
	values := make([]any, strings.Count(l.text, "?"))
	for i := range values {
		switch {
		case l.bind == ValueUnset:
			values[i] = cql.UnsetValue
		case l.bytes != nil:
			values[i] = raw{l.bytes}
		}
	}
	q := s.Query(l.text, values...).Keyspace("ks").PageSize(l.page).Prefetch(0).Consistency(l.level)
	var pages []string
	for {
		it := q.Iter(context.Background())
		for range 10 {
			if it.NumRows() > 0 || !errors.Is(it.Close(), cql.CodeUnprepared) { // evicted by many other statements
				break
			}
			it = q.Iter(context.Background())
		}
		state := it.PageState()
		pages = append(pages, askPage(it, like))
		if len(state) == 0 || l.page == 5000 {
			return strings.Join(pages, "\n"+nextPage+"\n")
		}
		q = q.PageState(state)
	}
}

func askPage(it *vecql.Iter, like *Result) string {
	cols := it.Columns()
	lines := warningLines(it.Warnings())
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = c.Name + " " + plainType(c.TypeInfo.String())
	}
	if len(cols) > 0 {
		lines = append(lines, "["+strings.Join(names, ", ")+"]")
	}
	row := make([]any, len(cols))
	for i := range row {
		row[i] = new(raw)
	}
	for range it.NumRows() {
		if !it.Scan(row...) {
			break
		}
		cells := make([]string, len(row))
		for i, c := range row {
			b := c.(*raw).b
			if like != nil && len(like.Columns) == len(row) {
				cells[i] = like.Columns[i].Type.literal(b)
			} else if cells[i] = fmt.Sprintf("0x%x", b); b == nil {
				cells[i] = "null"
			}
			c.(*raw).b = nil
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	if err := it.Close(); err != nil {
		var e *cql.ServerError
		if errors.As(err, &e) {
			return fmt.Sprintf("%04x %s", int(e.Code), e.Message)
		}
		return "error: " + err.Error()
	}
	return strings.Join(lines, "\n")
}

// TestCassandra compares the answers to statements with Cassandra's. In the statements a line that begins with "#" is a
// comment; type line lists the words that may precede a statement, and PREPARE only prepares it.
func TestCassandra(t *testing.T) {
	files, err := filepath.Glob("testdata/cassandra/*.cql")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".cql"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			golden := strings.TrimSuffix(file, ".cql") + ".txt"
			if *record != "" {
				recordAnswers(t, string(text), golden)
				return
			}
			want := readAnswers(t, golden)
			e, _ := newEngine(t)
			for _, line := range strings.Split(string(text), "\n") {
				if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
					continue
				}
				expected, ok := want[line]
				require.True(t, ok && len(expected) > 0, "no answer recorded: %s", line)
				want[line] = expected[1:]
				var got string
				if text, ok := strings.CutPrefix(line, "PREPARE "); ok {
					got = prepared(e, text)
				} else {
					got, _ = answers(t, e, parseLine(line))
				}
				if !sameAnswer(expected[0], got) {
					t.Errorf("%s\nCassandra: %s\nengine:    %s", line, expected[0], got)
				}
			}
		})
	}
}

// prepared returns the metadata of a prepared statement as text.
func prepared(e *Engine, text string) string {
	s, err := e.Prepare("ks", text)
	if err != nil {
		return show(nil, err)
	}
	spell := func(cols []Column) string {
		out := make([]string, len(cols))
		for i, c := range cols {
			out[i] = c.Keyspace + "." + c.Table + " " + c.Name + " " + plainType(c.Type.String())
		}
		return strings.Join(out, ", ")
	}
	return fmt.Sprintf("bind [%s] key %v result [%s]", spell(s.Bind), s.PKIndexes, spell(s.Result))
}

func plainType(s string) string {
	return strings.NewReplacer("frozen<", "", ">", "", "ks.", "").Replace(s)
}

func askPrepared(t *testing.T, s *vecql.Session, text string) string {
	m, err := s.StatementMetadata(t.Context(), text, "ks")
	var e *cql.ServerError
	if errors.As(err, &e) {
		return fmt.Sprintf("%04x %s", int(e.Code), e.Message)
	}
	require.NoError(t, err)
	spell := func(cols []cql.ColumnInfo) string {
		out := make([]string, len(cols))
		for i, c := range cols {
			out[i] = c.Keyspace + "." + c.Table + " " + c.Name + " " + plainType(c.TypeInfo.String())
		}
		return strings.Join(out, ", ")
	}
	return fmt.Sprintf("bind [%s] key %v result [%s]", spell(m.BindMarkers), m.PartitionKey, spell(m.ResultColumns))
}

// randomID is the id of a table in DESCRIBE ... WITH INTERNALS.
var randomID = regexp.MustCompile(`\bID = [0-9a-f-]{36}`)

// jsonFault is an error of a value in JSON.
var jsonFault = regexp.MustCompile(`(Error decoding JSON value for \S+): .*`)

// sameAnswer compares answers. Of syntax errors it compares only the code: the parser has its own tests.
func sameAnswer(want, got string) bool {
	if strings.HasPrefix(want, "2000 line") {
		return strings.HasPrefix(got, "2000 ")
	}
	cut := func(s string) string { // removes the overloads of functions, the addresses of replicas,
		// Jackson's errors, the classes of Java in errors of JSON, and the ids of tables
		before, _, _ := strings.Cut(s, " (known type signatures")
		before, _, _ = strings.Cut(before, " (can be matched by")
		before, _, _ = strings.Cut(before, ": UNKNOWN from /")
		before, _, _ = strings.Cut(before, " as a map: ")
		before, _, _ = strings.Cut(before, " failed: Could not decode JSON")
		before, _, _ = strings.Cut(before, "MarshalException: ")
		before = jsonFault.ReplaceAllString(before, "$1")
		// Cassandra gives the result of to_json the name by which the function was first called with the type.
		before = strings.ReplaceAll(before, "system.tojson(", "system.to_json(")
		return randomID.ReplaceAllString(before, "ID = ")
	}
	return cut(want) == strings.TrimSpace(cut(got))
}

func recordAnswers(t *testing.T, text, golden string) {
	cfg := &vecql.ClusterConfig{Hosts: []string{*record}}
	cfg.Timeout = 30 * time.Second
	s, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	defer s.Close()
	for _, ks := range []string{"ks", "ks2", "bad"} {
		require.NoError(t, s.Query("DROP KEYSPACE IF EXISTS "+ks).Exec(t.Context()))
	}
	require.NoError(t, s.Query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}").Exec(t.Context()))
	cfg.Keyspace = "ks" // of the connections: DESCRIBE ignores the keyspace of a prepared statement
	connected, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	defer connected.Close()
	s = connected
	e, _ := newEngine(t)
	var out strings.Builder
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if text, ok := strings.CutPrefix(line, "PREPARE "); ok {
			fmt.Fprintf(&out, "> %s\n%s\n", line, askPrepared(t, s, text))
			continue
		}
		_, like := answers(t, e, parseLine(line))
		fmt.Fprintf(&out, "> %s\n", line)
		a := ask(s, parseLine(line), like)
		for i := 0; i < 100 && strings.Contains(a, "INDEX_NOT_AVAILABLE"); i++ { // an index needs a moment after its creation
			time.Sleep(100 * time.Millisecond)
			a = ask(s, parseLine(line), like)
		}
		if a != "" {
			out.WriteString(a + "\n")
		}
	}
	require.NoError(t, os.WriteFile(golden, []byte(out.String()), 0o644))
}

func readAnswers(t *testing.T, golden string) map[string][]string {
	b, err := os.ReadFile(golden)
	require.NoError(t, err)
	out := map[string][]string{}
	for _, part := range strings.Split("\n"+string(b), "\n> ")[1:] {
		line, rest, _ := strings.Cut(part, "\n")
		out[line] = append(out[line], strings.TrimSpace(rest))
	}
	return out
}
