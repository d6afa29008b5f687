// SPDX-License-Identifier: Apache-2.0

package tablediff

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// newCluster returns a cluster that has executed CQL in the keyspace shop, and a session.
func newCluster(t *testing.T, cql string) (*cqltest.Cluster, *vecql.Session) {
	cluster := cqltest.New(t, cqltest.Config{VNodes: 4})
	require.NoError(t, cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}; USE shop; `+cql))
	config := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
	config.Logger = slog.New(slog.DiscardHandler)
	session, err := vecql.NewSession(t.Context(), *config)
	require.NoError(t, err)
	t.Cleanup(session.Close)
	return cluster, session
}

func tableOf(t *testing.T, session *vecql.Session, table string) clustertable.Table {
	metadata, err := session.TableMetadata(t.Context(), "shop", table)
	require.NoError(t, err)
	return clustertable.Table{Session: session, Metadata: metadata}
}

// compare compares the tables a and b of shop.
func compare(t *testing.T, session *vecql.Session, cfg Config) Report {
	d, err := New(t.Context(), tableOf(t, session, "a"), tableOf(t, session, "b"), cfg)
	require.NoError(t, err)
	require.NoError(t, d.Run(t.Context()))
	require.InDelta(t, 1, d.Done(), 1e-9)
	return d.Report()
}

// lines returns the differences of a report, one a line.
func lines(r Report) string {
	var b strings.Builder
	for _, d := range r.First {
		fmt.Fprintln(&b, d)
	}
	return b.String()
}

const items = `
	CREATE TABLE a (id int, part text, name text, tags set<text>, v vector<float, 3>, PRIMARY KEY (id, part));
	CREATE TABLE b (id int, part text, name text, tags set<text>, v vector<float, 3>, PRIMARY KEY (id, part))
		WITH CLUSTERING ORDER BY (part DESC);`

func TestTables(t *testing.T) {
	cluster, session := newCluster(t, items)
	for id := range 50 {
		for _, table := range []string{"a", "b"} {
			for part := range 1 + id%7 {
				require.NoError(t, cluster.Exec(fmt.Sprintf(
					"INSERT INTO shop.%s (id, part, name, tags, v) VALUES (%d, 'p%d', 'lamp', {'x', 'y'}, [1, 2, %d])",
					table, id, part, id)))
			}
		}
	}
	report := compare(t, session, Config{})
	require.Zero(t, report.Differences(), report)
	require.EqualValues(t, 197, report.Rows, "of another clustering order")
	require.NoError(t, cluster.Exec(`
		DELETE FROM shop.b WHERE id = 6 AND part = 'p3';
		INSERT INTO shop.b (id, part, name) VALUES (13, 'p9', 'new');
		INSERT INTO shop.b (id, part, name) VALUES (77, 'p0', 'other partition');
		INSERT INTO shop.a (id, part, name) VALUES (78, 'p0', 'other partition');
		UPDATE shop.b SET name = null WHERE id = 1 AND part = 'p0';
		UPDATE shop.b SET name = 'lamp''s', tags = {'y'} WHERE id = 2 AND part = 'p1';
		UPDATE shop.b SET v = [1, 2.5, 3.5] WHERE id = 3 AND part = 'p0';
		DELETE tags FROM shop.b WHERE id = 4 AND part = 'p0'`))
	report = compare(t, session, Config{})
	require.Equal(t, `id=1 part="p0": name: "lamp" in the source, NULL in the target
id=13 part="p9": only in the target
id=2 part="p1": name: "lamp" in the source, "lamp's" in the target; tags: [x y] in the source, [y] in the target
id=3 part="p0": v[1]: 2 in the source, 2.5 in the target (2 of 3 elements differ)
id=4 part="p0": tags: [x y] in the source, NULL in the target
id=6 part="p3": missing in the target
id=77 part="p0": only in the target
id=78 part="p0": missing in the target
`, lines(report))
	report.First = nil
	require.Equal(t, Report{Rows: 198, Missing: 2, Extra: 2, Different: 4}, report)
	report = compare(t, session, Config{AllowExtra: true, Shown: 1, Columns: []string{"v"}})
	require.Len(t, report.First, 1)
	report.First = nil
	require.Equal(t, Report{Rows: 198, Missing: 2, Different: 1}, report)
}

func TestTolerance(t *testing.T) {
	cluster, session := newCluster(t, `
		CREATE TABLE a (id int PRIMARY KEY, f float, d double, v vector<float, 2>, m map<text, frozen<list<double>>>);
		CREATE TABLE b (id int PRIMARY KEY, f float, d double, v vector<float, 2>, m map<text, frozen<list<double>>>);`)
	insert := "INSERT INTO shop.%s (id, f, d, v, m) VALUES (%d, %s, %s, [%s, %[3]s], {'k': [%[4]s]})"
	cases := []struct {
		a, b          string
		exact, within bool
	}{
		{"1", "1", true, true},
		{"1", "1.001", false, true},
		{"1000", "1001", false, true},
		{"1", "1.1", false, false},
		{"0", "-0.0", false, true},
		{"NaN", "NaN", true, true},
		{"Infinity", "Infinity", true, true},
		{"Infinity", "3e38", false, false},
		{"NaN", "1", false, false},
	}
	for i, v := range cases {
		require.NoError(t, cluster.Exec(fmt.Sprintf(insert, "a", i, v.a, v.a, v.a)))
		require.NoError(t, cluster.Exec(fmt.Sprintf(insert, "b", i, v.b, v.b, v.b)))
	}
	for _, tolerance := range []float64{0, 0.002} {
		text := lines(compare(t, session, Config{Tolerance: tolerance, Shown: 100}))
		for i, v := range cases {
			equal := v.exact || tolerance > 0 && v.within
			for _, name := range []string{"f", "d", "v[0]", "m"} {
				found := regexp.MustCompile(fmt.Sprintf(`(?m)^id=%d: .*\b%s: `, i, regexp.QuoteMeta(name))).MatchString(text)
				require.Equal(t, equal, !found, "%s and %s, %v, %s:\n%s", v.a, v.b, tolerance, name, text)
			}
		}
	}
}

func TestWriteTimes(t *testing.T) {
	cluster, session := newCluster(t, `
		CREATE TABLE a (id int PRIMARY KEY, name text, l list<int>); CREATE TABLE b (id int PRIMARY KEY, name text, l list<int>);
		INSERT INTO a (id, name, l) VALUES (1, 'lamp', [1]) USING TIMESTAMP 1000;
		INSERT INTO b (id, name, l) VALUES (1, 'lamp', [1]) USING TIMESTAMP 2000;
		INSERT INTO a (id) VALUES (2); INSERT INTO b (id) VALUES (2)`)
	require.Empty(t, compare(t, session, Config{}).First)
	require.Equal(t, "id=1: write time of name: 1000 in the source, 2000 in the target\n",
		lines(compare(t, session, Config{WriteTimes: true})))
	require.NoError(t, cluster.Exec("DELETE name FROM shop.a WHERE id = 1"))
	require.Contains(t, lines(compare(t, session, Config{WriteTimes: true})), "write time of name: none in the source")
}

// TestResume ends a comparison after every 30 requests, and resumes it from its checkpoint.
func TestResume(t *testing.T) {
	cluster, session := newCluster(t, items)
	want := Report{}
	for id := range 40 {
		require.NoError(t, cluster.Exec(fmt.Sprintf("INSERT INTO shop.a (id, part) VALUES (%d, 'p')", id)))
		want.Rows++
		if id%3 > 0 {
			require.NoError(t, cluster.Exec(fmt.Sprintf("INSERT INTO shop.b (id, part) VALUES (%d, 'p')", id)))
		} else {
			want.Missing++
		}
	}
	var checkpoint *Checkpoint
	runs := 0
	for {
		d, err := New(t.Context(), tableOf(t, session, "a"), tableOf(t, session, "b"),
			Config{Workers: 2, Checkpoint: checkpoint})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		fault := cluster.Inject(cqltest.Fault{
			Statement: "token(", Op: cqltest.OpExecute, Skip: 30, Edit: func(*cqltest.Answer) { cancel() },
		})
		err = d.Run(ctx)
		cancel()
		fault.Remove()
		runs++
		text, jsonErr := json.Marshal(d.Checkpoint())
		require.NoError(t, jsonErr)
		checkpoint = &Checkpoint{}
		require.NoError(t, json.Unmarshal(text, checkpoint))
		if err == nil {
			break
		}
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Greater(t, runs, 2)
	require.Empty(t, checkpoint.Left)
	checkpoint.Report.First = nil
	require.Equal(t, want, checkpoint.Report)
	_, err := New(t.Context(), tableOf(t, session, "b"), tableOf(t, session, "a"), Config{Checkpoint: checkpoint})
	require.ErrorIs(t, err, ErrCheckpoint)
}

// TestCheckpointDuringRun requires that a checkpoint has the ranges that are compared at its moment.
func TestCheckpointDuringRun(t *testing.T) {
	cluster, session := newCluster(t, items)
	d, err := New(t.Context(), tableOf(t, session, "a"), tableOf(t, session, "b"), Config{Workers: 2})
	require.NoError(t, err)
	answers := make(chan struct{})
	reads := cluster.Inject(cqltest.Fault{Statement: "token(", Op: cqltest.OpExecute, Until: answers})
	all, done := d.Checkpoint().Left, make(chan error, 1)
	go func() { done <- d.Run(t.Context()) }()
	require.NoError(t, reads.Wait(t.Context(), 2))
	require.Equal(t, all, d.Checkpoint().Left)
	close(answers)
	require.NoError(t, <-done)
	require.Empty(t, d.Checkpoint().Left)
}

// TestOtherBytesDiffer compares values that servers store in several ways: only the same bytes are equal.
func TestOtherBytesDiffer(t *testing.T) {
	columns := "(id int PRIMARY KEY, i inet, v varint, x decimal, d double, n int)"
	cluster, session := newCluster(t, "CREATE TABLE a "+columns+"; CREATE TABLE b "+columns)
	for i, cells := range [][2]string{
		{"i: blobAsInet(0x00000000000000000000ffffc0000207)", "'192.0.2.7'"},
		{"v: blobAsVarint(0x0001)", "1"},
		{"d: blobAsDouble(0x7ff8000000000001)", "NaN"},
		{"n: blobAsInt(0x)", "NULL"},
		{"x: 1.0", "1.00"},
	} {
		name, a, _ := strings.Cut(cells[0], ": ")
		require.NoError(t, cluster.Exec(fmt.Sprintf("INSERT INTO shop.a (id, %s) VALUES (%d, %s); INSERT INTO shop.b (id, %[1]s) VALUES (%[2]d, %[4]s)",
			name, i, a, cells[1])))
	}
	report := compare(t, session, Config{})
	require.EqualValues(t, 5, report.Different, report)
	require.Contains(t, lines(report), "in the source, 0xc0000207 in the target")
	require.EqualValues(t, 4, compare(t, session, Config{Tolerance: 1e-9}).Different, "both are NaN")
}

// TestCellsOfFiles compares cells of files with those that servers store for them.
func TestCellsOfFiles(t *testing.T) {
	set := func(elems ...string) []byte {
		cell := []byte{0, 0, 0, byte(len(elems))}
		for _, e := range elems {
			cell = append(append(cell, 0, 0, 0, byte(len(e))), e...)
		}
		return cell
	}
	text := cql.NewNativeType(5, cql.TypeText, "")
	udt := cql.UDTTypeInfo{Elements: []cql.UDTField{{Name: "a", Type: text}, {Name: "b", Type: cql.NewSetType(text)}}}
	field := func(b []byte) []byte { return append([]byte{0, 0, 0, byte(len(b))}, b...) }
	null := []byte{255, 255, 255, 255}
	for name, c := range map[string]struct {
		t    cql.TypeInfo
		a, b []byte
		want bool
	}{
		"sets":                    {cql.NewSetType(text), set("a", "b"), set("b", "a"), true},
		"sets of sets":            {cql.NewListType(cql.NewSetType(text)), set(string(set("a", "b"))), set(string(set("b", "a"))), true},
		"lists":                   {cql.NewListType(text), set("a", "b"), set("b", "a"), false},
		"maps":                    {cql.NewMapType(text, text), append([]byte{0, 0, 0, 2}, set("a", "1", "b", "2")[4:]...), append([]byte{0, 0, 0, 2}, set("b", "2", "a", "1")[4:]...), true},
		"fields at the end":       {udt, field([]byte("x")), slices.Concat(field([]byte("x")), null), true},
		"a set in a field":        {udt, slices.Concat(null, field(set("a", "b"))), slices.Concat(null, field(set("b", "a"))), true},
		"another field":           {udt, slices.Concat(field([]byte("x")), field(set("a"))), field([]byte("x")), false},
		"empty and NULL":          {text, []byte{}, nil, false},
		"a damaged set":           {cql.NewSetType(text), set("a")[:6], set("b"), false},
		"numbers in other digits": {cql.NewNativeType(5, cql.TypeVarint, ""), []byte{0, 1}, []byte{1}, false},
	} {
		require.Equal(t, c.want, sameValues{}.cells(c.t, c.a, c.b), name)
		require.Equal(t, c.want, sameValues{}.cells(c.t, c.b, c.a), name)
	}
}

// TestBatchesWithStaticRows compares partitions that have static values only.
func TestBatchesWithStaticRows(t *testing.T) {
	_, session := newCluster(t, `CREATE TABLE a (id int, part text, shared text STATIC, name text, PRIMARY KEY (id, part));
		UPDATE a SET shared = 's' WHERE id = 1; UPDATE a SET shared = 'other' WHERE id = 2`)
	null := []bool{true, true, true}
	batch := column.NewBatch(column.Of("id", []int32{1, 2, 3}), column.Strings("part", []string{"", "", ""}).WithNulls(null),
		column.Strings("shared", []string{"s", "t", "u"}), column.Strings("name", []string{"", "", ""}).WithNulls(null))
	d, err := NewBatches("x.csv", tableOf(t, session, "a"), Config{})
	require.NoError(t, err)
	require.NoError(t, d.Add(t.Context(), batch))
	require.NoError(t, d.Finish(t.Context()))
	require.Equal(t, `id=2 part=NULL: shared: "t" in the source, "other" in the target
id=3 part=NULL: missing in the target
`, lines(d.Report()))
}

// TestNull requires that NULL is no empty text, but an empty collection.
func TestNull(t *testing.T) {
	_, session := newCluster(t, items)
	columns := tableOf(t, session, "a").Metadata.Columns
	require.False(t, equal(columns["name"], nil, []byte{}, 0))
	require.True(t, equal(columns["name"], nil, nil, 0))
	require.True(t, equal(columns["tags"], nil, make([]byte, 4), 0))
}

func TestFailures(t *testing.T) {
	cluster, session := newCluster(t, items)
	for id := range 20 {
		require.NoError(t, cluster.Exec(fmt.Sprintf("INSERT INTO shop.a (id, part) VALUES (%d, 'p')", id)))
	}
	// all nodes fail a request now and then: the driver, then the comparison repeat it
	failing := cqltest.Fault{Statement: "token(", Op: cqltest.OpExecute, Times: 12, Error: &cqltest.Error{Code: cqltest.CodeReadTimeout}}
	fault := cluster.Inject(failing)
	require.EqualValues(t, 20, compare(t, session, Config{}).Missing)
	require.Equal(t, 12, fault.Hits())
	failing.Times = 0
	cluster.Inject(failing)
	d, err := New(t.Context(), tableOf(t, session, "a"), tableOf(t, session, "b"), Config{Retries: 1})
	require.NoError(t, err)
	require.ErrorIs(t, d.Run(t.Context()), cql.CodeReadTimeout)
	cluster.ClearFaults()
	require.NoError(t, d.Run(t.Context()), "Run continues")
	require.EqualValues(t, 20, d.Report().Missing)
}

func TestRefused(t *testing.T) {
	_, session := newCluster(t, `
		CREATE TABLE a (id int PRIMARY KEY, name text); CREATE TABLE b (id bigint PRIMARY KEY, name text);
		CREATE TABLE c (id int PRIMARY KEY, name int); CREATE TABLE d (id int PRIMARY KEY)`)
	a := tableOf(t, session, "a")
	for other, want := range map[string]string{
		"b": "the primary key of shop.b is ((id bigint), ), in shop.a it is ((id int), )",
		"c": `column "name" of shop.c is int, in shop.a it is text`,
		"d": `table shop.d has no column "name"`,
	} {
		_, err := New(t.Context(), a, tableOf(t, session, other), Config{})
		require.EqualError(t, err, want)
	}
	_, err := New(t.Context(), a, a, Config{Columns: []string{"x"}})
	require.EqualError(t, err, `table shop.a has no column "x"`)
}

func TestBatches(t *testing.T) {
	cluster, session := newCluster(t, `CREATE TABLE a (id int PRIMARY KEY, name text, tags set<text>, n bigint);
		INSERT INTO a (id, name, tags, n) VALUES (0, 'lamp', {'b', 'a'}, 1); INSERT INTO a (id, name, n) VALUES (1, 'cup', 1);
		INSERT INTO a (id, n) VALUES (2, 1); INSERT INTO a (id, name) VALUES (9, 'extra')`)
	tags := column.Lists("tags", []int32{0, 2, 2, 2, 2}, column.Strings("element", []string{"b", "a"}))
	batch := column.NewBatch(column.Of("id", []int32{0, 1, 2, 3}), tags,
		column.Strings("name", []string{"lamp", "cap", "", "new"}).WithNulls([]bool{false, false, true, false}),
		column.Of("n", []int16{1, 1, 1, 1}))
	d, err := NewBatches("items.parquet", tableOf(t, session, "a"), Config{})
	require.NoError(t, err)
	require.NoError(t, d.Add(t.Context(), batch))
	checkpoint := d.Checkpoint()
	require.NoError(t, d.Finish(t.Context()))
	require.Equal(t, `id=1: name: "cap" in the source, "cup" in the target
id=3: missing in the target
id=9: only in the target
`, lines(d.Report()))
	require.EqualValues(t, 4, d.Report().Rows)
	// a resumed comparison reads only the rows that are left, and has the keys of all
	reads := cluster.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: `"id" = ?`})
	again, err := NewBatches("items.parquet", tableOf(t, session, "a"), Config{Checkpoint: &checkpoint})
	require.NoError(t, err)
	require.NoError(t, again.Add(t.Context(), batch))
	require.NoError(t, again.Add(t.Context(), column.NewBatch(column.Of("id", []int32{9}))))
	require.NoError(t, again.Finish(t.Context()))
	require.Equal(t, 1, reads.Hits())
	require.Equal(t, Report{Rows: 5, Missing: 1, Different: 1, First: d.Report().First[:2]}, again.Report())
	_, err = NewBatches("other.parquet", tableOf(t, session, "a"), Config{Checkpoint: &checkpoint})
	require.ErrorIs(t, err, ErrCheckpoint)
	only, err := NewBatches("items.parquet", tableOf(t, session, "a"), Config{AllowExtra: true})
	require.NoError(t, err)
	require.NoError(t, only.Add(t.Context(), batch.Slice(0, 1)))
	require.NoError(t, only.Finish(t.Context()))
	require.Equal(t, Report{Rows: 1}, only.Report())
	require.NoError(t, only.Add(t.Context(), column.NewBatch(column.Of("id", []int32{0}).WithNulls([]bool{true}))))
	require.Equal(t, "id=NULL: not compared, because its primary key has NULL\n", lines(only.Report()))
}

func TestBatchesRefused(t *testing.T) {
	_, session := newCluster(t, "CREATE TABLE a (id int PRIMARY KEY, name text)")
	for want, batch := range map[string]*column.Batch{
		`table shop.a has no column "other"`: column.NewBatch(column.Of("id", []int32{1}), column.Of("other", []int32{1})),
		"the batch has no column":            column.NewBatch(column.Strings("name", []string{"x"})),
		"no conversion between these types":  column.NewBatch(column.Of("id", []float64{1})),
	} {
		d, err := NewBatches("x", tableOf(t, session, "a"), Config{})
		require.NoError(t, err)
		err = d.Add(t.Context(), batch)
		require.ErrorContains(t, err, want)
		var marshal *cql.MarshalError
		require.Equal(t, strings.HasPrefix(want, "table"), !errors.As(err, &marshal))
	}
}
