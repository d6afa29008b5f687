// SPDX-License-Identifier: Apache-2.0

package differ

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// The comparison of rows: the same test process reads cells through the API itself, and another one, built with the
// compat module in its place, reads them through vecql.

// Rows are the rows of a query through an API.
type Rows interface {
	Scan(dest ...any) bool
	MapScan(m map[string]any) bool
	SliceMap() ([]map[string]any, error)
	Close() error
}

// values returns the destinations of the rows' RowData, which has the API's type.
func values(r Rows) ([]any, error) {
	out := reflect.ValueOf(r).MethodByName("RowData").Call(nil)
	err, _ := out[1].Interface().(error)
	return out[0].FieldByName("Values").Interface().([]any), err
}

// A Session sends the queries of an API.
type Session struct {
	Query func(stmt string, args []any) Rows
	Close func()
}

// A stored cell is a row of one of the tables of the comparison.
type stored struct {
	info  cql.TypeInfo
	table string
	key   int
	cell  []byte
}

// rowTypes are the types of the tables, in CQL.
func rowTypes(p Peer) []string {
	var texts []string
	for _, n := range natives {
		if n != cql.TypeCounter { // cannot be stored
			texts = append(texts, native(n).String())
		}
	}
	texts = append(texts, "list<int>", "set<text>", "map<text, int>", "map<text, inet>", "list<timestamp>", "list<uuid>",
		"tuple<text, int>", "ks.person", "list<frozen<tuple<text, int>>>", "list<frozen<ks.person>>", "list<frozen<list<int>>>",
		"map<text, frozen<ks.person>>", "tuple<frozen<list<int>>, inet>")
	if p.Vectors {
		texts = append(texts, "vector<float, 2>", "vector<text, 2>")
	}
	return texts
}

// bytesOf is a cell that is written as it is.
type bytesOf []byte

// MarshalCQL implements cql.Marshaler.
func (b bytesOf) MarshalCQL(cql.TypeInfo) ([]byte, error) { return b, nil }

// store creates a table for each type and writes its cells: NULL, without bytes, and values. A cell that the server
// refuses is left out.
func store(t *testing.T, p Peer, cluster *cqltest.Cluster) []stored {
	exec := func(stmt string) { require.NoError(t, cluster.Exec(stmt), stmt) }
	exec(`CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`)
	exec(`CREATE TYPE ks.person (name text, age int, "Name" inet)`)
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	var cells []stored
	for i, text := range rowTypes(p) {
		info, err := cql.ParseType(text, func(string, string) (cql.UDTTypeInfo, bool) { return udt, true })
		require.NoError(t, err)
		table := fmt.Sprintf("ks.t%d", i)
		if !strings.HasPrefix(text, "vector") && strings.ContainsAny(text, "<.") {
			text = "frozen<" + text + ">"
		}
		exec(fmt.Sprintf("CREATE TABLE %s (k int PRIMARY KEY, v %s)", table, text))
		for k, cell := range some(cellsOf(info)) {
			insert := session.Query("INSERT INTO "+table+" (k, v) VALUES (?, ?)", k, bytesOf(cell))
			if insert.Exec(t.Context()) == nil {
				cells = append(cells, stored{info, table, k, cell})
			}
		}
	}
	require.Greater(t, len(cells), 100)
	return cells
}

// some returns at most six of the cells: the first, NULL and without bytes, and others from the first to the last.
func some(cells [][]byte) [][]byte {
	const most = 6
	if len(cells) <= most {
		return cells
	}
	chosen := slices.Clone(cells[:2])
	for i := range most - 2 {
		chosen = append(chosen, cells[2+i*(len(cells)-3)/(most-3)])
	}
	return chosen
}

// read reads the cells through the API in all its ways. It returns an outcome for each of the cases of rowCases.
func read(p Peer, s Session, cells []stored) []string {
	var outcomes []string
	for _, c := range cells {
		for _, r := range rowCases(p, c) {
			outcomes = append(outcomes, r.outcome(p, s))
		}
	}
	return outcomes
}

// A rowCase reads one cell in one way.
type rowCase struct {
	Case
	stored
	verb string
	read func(p Peer, r rowCase, rows Rows) (string, error)
}

func (r rowCase) String() string { return r.verb + " " + r.Case.String() }

// rowCases returns the ways to read a cell: by Scan into every Go type, and by the verbs that choose the type.
func rowCases(p Peer, c stored) []rowCase {
	dests := nestedDestinations
	if _, ok := c.info.(cql.NativeType); ok {
		dests = destinations
	}
	goType := reflect.Zero(p.Dialect.GoType(c.info)).Interface()
	dests = append(dests[:len(dests):len(dests)], goType, any((*any)(nil)))
	var cases []rowCase
	add := func(verb string, value any, read func(Peer, rowCase, Rows) (string, error)) {
		info := Case{Decode: true, Info: c.info, Value: value, Cell: c.cell}
		cases = append(cases, rowCase{info, c, verb, read})
	}
	for _, dest := range dests {
		add("Scan", dest, scan)
	}
	add("MapScan", goType, mapScan)
	add("MapScan with a pointer", goType, mapScanPointer)
	add("SliceMap", goType, sliceMap)
	add("RowData", goType, rowData)
	return cases
}

// outcome queries the cell and reads it.
func (r rowCase) outcome(p Peer, s Session) (outcome string) {
	defer func() {
		if e := recover(); e != nil {
			outcome = Panicked
		}
	}()
	rows := s.Query("SELECT v FROM "+r.table+" WHERE k = ?", []any{r.key})
	text, err := r.read(p, r, rows)
	if closed := rows.Close(); err != nil || closed != nil {
		return Refused
	}
	return text
}

// scan reads into a variable of the case's type; a tuple, which is a destination for each element, into as many.
func scan(p Peer, r rowCase, rows Rows) (string, error) {
	dests := []reflect.Value{reflect.New(p.theirs(reflect.TypeOf(r.Value)))}
	if tuple, ok := r.info.(cql.TupleTypeInfo); ok {
		for range tuple.Elems[1:] {
			dests = append(dests, reflect.New(dests[0].Type().Elem()))
		}
	}
	pointers := make([]any, len(dests))
	for i, d := range dests {
		pointers[i] = d.Interface()
	}
	if !rows.Scan(pointers...) {
		return "no row", nil
	}
	texts := make([]string, len(dests))
	for i, d := range dests {
		texts[i] = Render(d.Elem())
	}
	return strings.Join(texts, ", "), nil
}

func mapScan(_ Peer, _ rowCase, rows Rows) (string, error) {
	m := map[string]any{}
	if !rows.MapScan(m) {
		return "no row", nil
	}
	return renderMap(m), nil
}

// mapScanPointer reads into a variable that the map points to.
func mapScanPointer(p Peer, r rowCase, rows Rows) (string, error) {
	dest := reflect.New(p.theirs(reflect.TypeOf(r.Value)))
	m := map[string]any{"v": dest.Interface()}
	if !rows.MapScan(m) {
		return "no row", nil
	}
	return renderMap(m) + " " + Render(dest.Elem()), nil
}

func sliceMap(_ Peer, _ rowCase, rows Rows) (string, error) {
	all, err := rows.SliceMap()
	texts := make([]string, len(all))
	for i, m := range all {
		texts[i] = renderMap(m)
	}
	return strings.Join(texts, "; "), err
}

func rowData(_ Peer, _ rowCase, rows Rows) (string, error) {
	destinations, err := values(rows)
	if err != nil {
		return "", err
	}
	if !rows.Scan(destinations...) {
		return "no row", nil
	}
	texts := make([]string, len(destinations))
	for i, v := range destinations {
		texts[i] = renderTyped(v)
	}
	return strings.Join(texts, ", "), nil
}

// renderMap returns the entries of a row, with the types of the values.
func renderMap(m map[string]any) string {
	var texts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		texts = append(texts, k+"="+renderTyped(m[k]))
	}
	return strings.Join(texts, ", ")
}

// renderTyped returns the value with its type, without the package of types that each API declares itself.
func renderTyped(v any) string {
	if v == nil {
		return "nil"
	}
	name := strings.NewReplacer("gocql.", "", "cql.", "").Replace(reflect.TypeOf(v).String())
	return name + " " + Render(reflect.ValueOf(v))
}

// outcomesVariable is set in the environment of the process with the compat modules: the folder for its outcomes.
const outcomesVariable = "DIFFER_OUTCOMES"

// CompareRows reports each difference between the rows of the API and of its compat module that is none of the known
// ones, and each known difference that did not occur. compat has the folders of the compat modules by the import path
// that each stands for, the same for all tests of a package. The package runs its tests of rows in a process that is
// built with them.
func CompareRows(t *testing.T, p Peer, compat map[string]string, known []Difference) {
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1})
	cells := store(t, p, cluster)
	node := cluster.Node(0).Addr()
	session, err := p.Open(node.Addr().String(), int(node.Port()))
	require.NoError(t, err)
	defer session.Close()
	outcomes := read(p, session, cells)
	if dir := os.Getenv(outcomesVariable); dir != "" { // the process with the compat modules
		text, err := json.Marshal(outcomes)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, t.Name()), text, 0o600))
		return
	}
	var ours []string
	require.NoError(t, json.Unmarshal(onCompat(t, p.Requirements, compat)[t.Name()], &ours))
	require.Len(t, ours, len(outcomes))
	counts := make(counts, len(known))
	i := 0
	for _, c := range cells {
		for _, r := range rowCases(p, c) {
			counts.compare(t, known, r, r.Case, outcomes[i], ours[i])
			i++
		}
	}
	t.Logf("%d readings of %d cells", len(outcomes), len(cells))
	counts.report(t, known)
}

// compatOutcomes are the outcomes of the process with the compat modules by test; nil means that it has not run.
var compatOutcomes map[string][]byte

// onCompat runs the package's tests of rows in a process with the compat modules, once, and returns its outcomes.
func onCompat(t *testing.T, requirements string, compat map[string]string) map[string][]byte {
	t.Helper()
	if compatOutcomes != nil {
		return compatOutcomes
	}
	dir := t.TempDir()
	modfile := filepath.Join(dir, "go.mod")
	text, err := os.ReadFile(filepath.Join("..", requirements+".mod"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(modfile, text, 0o600))
	edit := []string{"mod", "edit"}
	sums, err := os.ReadFile(filepath.Join("..", requirements+".sum"))
	require.NoError(t, err)
	for path, folder := range compat {
		absolute, err := filepath.Abs(folder)
		require.NoError(t, err)
		edit = append(edit, "-replace="+path+"="+absolute)
		sum, err := os.ReadFile(filepath.Join(folder, "go.sum"))
		require.NoError(t, err)
		sums = append(sums, sum...)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600))
	run := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Env = append(os.Environ(), outcomesVariable+"="+dir, "GOFLAGS=-mod=mod -buildvcs=false")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	run(append(edit, modfile)...)
	run("test", "-count=1", "-vet=off", "-modfile="+modfile, "-tags="+requirements, "-run=Rows$", ".")
	compatOutcomes = map[string][]byte{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		compatOutcomes[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
	}
	return compatOutcomes
}
