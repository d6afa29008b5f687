// SPDX-License-Identifier: Apache-2.0

package tablecopy

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/cmd/vecql/internal/tablediff"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/tablescan"
)

// newCluster returns a cluster that has executed CQL in the keyspace shop, and a session.
func newCluster(t *testing.T, cfg cqltest.Config, cql string) (*cqltest.Cluster, *vecql.Session) {
	cfg.VNodes = 4
	cluster := cqltest.New(t, cfg)
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

// copyTable copies table a of shop to table b.
func copyTable(t *testing.T, from, to *vecql.Session, cfg Config) Report {
	c, err := New(t.Context(), tableOf(t, from, "a"), tableOf(t, to, "b"), cfg)
	require.NoError(t, err)
	require.NoError(t, c.Run(t.Context()))
	_, err = c.Close(t.Context())
	require.NoError(t, err)
	return c.Report()
}

// requireEqual requires that tables a and b have the same rows, with the same write times.
func requireEqual(t *testing.T, from, to *vecql.Session) {
	t.Helper()
	d, err := tablediff.New(t.Context(), tableOf(t, from, "a"), tableOf(t, to, "b"),
		tablediff.Config{WriteTimes: true})
	require.NoError(t, err)
	require.NoError(t, d.Run(t.Context()))
	require.Zero(t, d.Report().Differences(), d.Report())
}

// rowsOf returns the rows of a statement as JSON.
func rowsOf(t *testing.T, session *vecql.Session, stmt string) string {
	rows, err := session.Query(stmt).Iter(t.Context()).SliceMap()
	require.NoError(t, err)
	text, err := json.Marshal(rows)
	require.NoError(t, err)
	return string(text)
}

const both = `
	CREATE TABLE a (id int, part text, shared text STATIC, name text, n int, tags set<text>, v vector<float, 2>,
		PRIMARY KEY (id, part));
	CREATE TABLE b (id int, part text, shared text STATIC, name text, n int, tags set<text>, v vector<float, 2>,
		PRIMARY KEY (id, part)) WITH default_time_to_live = 10;`

func TestTimes(t *testing.T) {
	now := time.Now()
	cfg := cqltest.Config{Now: func() time.Time { return now }}
	source, from := newCluster(t, cfg, both)
	target, to := newCluster(t, cfg, both)
	require.NoError(t, source.Exec(`
		INSERT INTO shop.a (id, part, name, n, tags, v) VALUES (1, 'p', 'lamp', 7, {'x', 'y'}, [1, 2]) USING TIMESTAMP 1000;
		INSERT INTO shop.a (id, part, name) VALUES (1, 'q', 'cup') USING TIMESTAMP 1000 AND TTL 100;
		UPDATE shop.a USING TIMESTAMP 2000 AND TTL 200 SET n = 8 WHERE id = 1 AND part = 'q';
		UPDATE shop.a USING TIMESTAMP 3000 SET v = [3, 4] WHERE id = 1 AND part = 'q';
		INSERT INTO shop.a (id, part) VALUES (2, 'key alone');
		UPDATE shop.a USING TIMESTAMP 4000 SET shared = 'with rows' WHERE id = 1;
		UPDATE shop.a USING TIMESTAMP 5000 AND TTL 300 SET shared = 'without rows' WHERE id = 3;
		INSERT INTO shop.b (id, part, name) VALUES (9, 'p', 'stays')`))
	require.NoError(t, target.Exec(
		"INSERT INTO shop.b (id, part, name) VALUES (1, 'p', 'newer') USING TIMESTAMP 1001"))
	report := copyTable(t, from, to, Config{})
	require.Equal(t, Report{Rows: 4, Written: 8, Latest: 0}, report)
	require.NoError(t, source.Exec("UPDATE shop.a USING TIMESTAMP 1001 SET name = 'newer' WHERE id = 1 AND part = 'p'"))
	requireEqual(t, from, to)
	ttls := "SELECT id, part, ttl(name), ttl(n), ttl(v), ttl(shared), ttl(tags) FROM "
	require.Equal(t, `[{"id":1,"part":"p","ttl(n)":null,"ttl(name)":10,"ttl(shared)":null,"ttl(tags)":[0,0],"ttl(v)":null},`+
		`{"id":1,"part":"q","ttl(n)":200,"ttl(name)":100,"ttl(shared)":null,"ttl(tags)":null,"ttl(v)":null},`+
		`{"id":2,"part":"key alone","ttl(n)":null,"ttl(name)":null,"ttl(shared)":null,"ttl(tags)":null,"ttl(v)":null},`+
		`{"id":3,"part":null,"ttl(n)":null,"ttl(name)":null,"ttl(shared)":300,"ttl(tags)":null,"ttl(v)":null}]`,
		rowsOf(t, to, ttls+"shop.b"))
}

// TestElements keeps the times of each element of a set, a map and a user-defined type. The elements of a list get the
// latest ones.
func TestElements(t *testing.T) {
	now := time.Now()
	columns := "(id int, c int, tags set<text>, m map<text, int>, u pair, l list<int>, f frozen<list<int>>, s set<int> STATIC, PRIMARY KEY (id, c))"
	_, session := newCluster(t, cqltest.Config{Now: func() time.Time { return now }}, `
		CREATE TYPE pair (a int, b text); CREATE TABLE a `+columns+`; CREATE TABLE b `+columns+`;
		INSERT INTO a (id, c, tags, m, u, l, f, s) VALUES (1, 1, {'x'}, {'x': 1}, {a: 1, b: 'b'}, [1], [1], {1}) USING TIMESTAMP 1000;
		UPDATE a USING TIMESTAMP 2000 AND TTL 100 SET tags = tags + {'a'}, m = m + {'y': 2}, u.b = 'c', l = l + [2], s = s + {2}
			WHERE id = 1 AND c = 1;
		UPDATE a USING TIMESTAMP 500 SET tags = tags + {'old'}, s = s + {0} WHERE id = 2 AND c = 1;
		UPDATE a USING TIMESTAMP 600 SET tags = tags + {'new'} WHERE id = 2 AND c = 1;
		UPDATE a USING TIMESTAMP 7 SET s = s + {7} WHERE id = 3;
		UPDATE a USING TIMESTAMP 8 SET s = s + {8} WHERE id = 3`)
	report := copyTable(t, session, session, Config{})
	require.EqualValues(t, 3, report.Rows)
	require.EqualValues(t, 1, report.Latest)
	require.NoError(t, copyTwice(t, session))
	requireEqual(t, session, session)
	times := "SELECT id, tags, writetime(tags), ttl(tags), writetime(m), ttl(m), writetime(u), ttl(u), writetime(s), ttl(s), writetime(f) FROM "
	require.Equal(t, rowsOf(t, session, times+"shop.a"), rowsOf(t, session, times+"shop.b"))
	require.Equal(t, `[{"ttl(l)":[0,0],"writetime(l)":[2000,2000]}]`,
		rowsOf(t, session, "SELECT writetime(l), ttl(l) FROM shop.b WHERE id = 1 AND c = 1"))
}

// copyTwice copies the rows once more, which changes nothing.
func copyTwice(t *testing.T, session *vecql.Session) error {
	c, err := New(t.Context(), tableOf(t, session, "a"), tableOf(t, session, "b"), Config{})
	if err != nil {
		return err
	}
	err = c.Run(t.Context())
	_, closed := c.Close(t.Context())
	return errors.Join(err, closed)
}

// TestListsAreWrittenOnce copies lists, also static ones of several rows, while writes are executed and fail.
func TestListsAreWrittenOnce(t *testing.T) {
	columns := "(id int, c int, l list<int>, s list<int> STATIC, PRIMARY KEY (id, c))"
	cluster, session := newCluster(t, cqltest.Config{}, "CREATE TABLE a "+columns+"; CREATE TABLE b "+columns+`;
		INSERT INTO a (id, c, l, s) VALUES (1, 1, [1, 2], [7, 8]) USING TIMESTAMP 1000;
		INSERT INTO a (id, c, l) VALUES (1, 2, [3, 3]) USING TIMESTAMP 2000; INSERT INTO a (id, c) VALUES (1, 3);
		INSERT INTO b (id, c, l) VALUES (1, 1, [9]) USING TIMESTAMP 999`)
	cluster.Inject(cqltest.Fault{
		Op: cqltest.OpExecute, Statement: `UPDATE "shop"."b"`, Times: 3, Execute: true, Error: &cqltest.Error{Code: cqltest.CodeWriteTimeout},
	})
	for range 2 {
		copyTable(t, session, session, Config{})
		requireEqual(t, session, session)
	}
}

// TestCellsAreCopied copies cells that no other form holds: empty values, an address of 16 bytes for IPv4, other
// encodings of a number, a NaN with a payload.
func TestCellsAreCopied(t *testing.T) {
	columns := "(id int PRIMARY KEY, n int, i inet, v varint, d double, x decimal, l frozen<list<int>>, s frozen<set<double>>)"
	_, session := newCluster(t, cqltest.Config{}, "CREATE TABLE a "+columns+"; CREATE TABLE b "+columns)
	raw := func(name string, cells ...string) column.Column {
		c := newCellColumn(name)
		for _, cell := range cells {
			if cell == "" {
				require.NoError(t, codec.AppendCellRow(&c, nil))
				continue
			}
			require.NoError(t, codec.AppendCellRow(&c, must(hex.DecodeString(cell[1:]))))
		}
		return c
	}
	b := column.NewBatch(
		raw("id", "x00000001", "x00000002"), raw("n", "x", ""), raw("i", "x00000000000000000000ffffc0000207", "x"),
		raw("v", "x00000001", "xffff"), raw("d", "x7ff8000000000001", "xfff8000000000000"), raw("x", "x0000000000000001", ""),
		raw("l", "x000000010000000400000001", "x00000000"), raw("s", "x00000001000000087ff8000000000123", ""),
	)
	q := session.Query("INSERT INTO shop.a (id, n, i, v, d, x, l, s) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
	require.NoError(t, q.ExecRows(t.Context(), b))
	copyTable(t, session, session, Config{})
	requireEqual(t, session, session)
	for i, table := range []string{"shop.a", "shop.b"} {
		it := session.Query("SELECT n, i, v, d, x, l, s FROM " + table + " WHERE id = 1").Iter(t.Context())
		cells := make([][]byte, 7)
		require.True(t, it.NextRaw(cells), i)
		for k, cell := range cells {
			require.NotNil(t, cell)
			require.Equal(t, rawCell(&b.Columns[k+1], 0), cell, b.Columns[k+1].Name)
		}
		require.NoError(t, it.Close())
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestOldServer copies from a server that refuses the write times of collections.
func TestOldServer(t *testing.T) {
	source, from := newCluster(t, cqltest.Config{}, `
		CREATE TABLE a (id int PRIMARY KEY, name text, l list<int>);
		INSERT INTO a (id, name, l) VALUES (1, 'lamp', [1]) USING TIMESTAMP 1000;
		UPDATE a USING TIMESTAMP 2000 SET l = [2] WHERE id = 1;
		UPDATE a USING TIMESTAMP 3000 SET l = [3] WHERE id = 2`)
	source.Inject(cqltest.Fault{
		Op: cqltest.OpPrepare, Statement: `WRITETIME("l")`,
		Error: &cqltest.Error{Code: cqltest.CodeInvalid, Message: "Cannot use selection function writeTime on collections"},
	})
	_, to := newCluster(t, cqltest.Config{}, "CREATE TABLE b (id int PRIMARY KEY, name text, l list<int>)")
	require.Equal(t, Report{Rows: 2, Written: 3, Untimed: []string{"l"}}, copyTable(t, from, to, Config{}))
	require.Contains(t, rowsOf(t, to, "SELECT id, l, name, writetime(l) FROM shop.b"),
		`{"id":1,"l":[2],"name":"lamp","writetime(l)":[1000]}`)
}

func TestOptions(t *testing.T) {
	cluster, session := newCluster(t, cqltest.Config{}, `
		CREATE TABLE a (id int PRIMARY KEY, name text, ttl int, writetime int);
		CREATE TABLE b (id int PRIMARY KEY, name text, ttl int, writetime int);
		INSERT INTO a (id, name, ttl, writetime) VALUES (1, 'lamp', 2, 3) USING TIMESTAMP 1000;
		INSERT INTO a (id, name, ttl) VALUES (2, 'cup', 9)`)
	copyTable(t, session, session, Config{NoTimes: true, Where: "ttl < 5 ALLOW FILTERING", Columns: []string{"name"}})
	require.Equal(t, `[{"id":1,"name":"lamp","ttl":null,"writetime":null}]`, rowsOf(t, session, "SELECT * FROM shop.b"))
	require.NoError(t, cluster.Exec("TRUNCATE shop.b"))
	copyTable(t, session, session, Config{})
	requireEqual(t, session, session)
}

func TestRefused(t *testing.T) {
	_, session := newCluster(t, cqltest.Config{}, `
		CREATE TABLE a (id int PRIMARY KEY, name text); CREATE TABLE b (id int PRIMARY KEY, name int);
		CREATE TABLE c (id int PRIMARY KEY); CREATE TABLE n (id int PRIMARY KEY, n counter)`)
	a := tableOf(t, session, "a")
	for other, want := range map[string]string{
		"b": `column "name" of shop.b is int, in shop.a it is text`, "c": `table shop.c has no column "name"`,
	} {
		_, err := New(t.Context(), a, tableOf(t, session, other), Config{})
		require.EqualError(t, err, want)
	}
	_, err := New(t.Context(), tableOf(t, session, "n"), a, Config{})
	require.ErrorIs(t, err, ErrCounters)
	_, err = New(t.Context(), a, a, Config{Columns: []string{"x"}})
	require.EqualError(t, err, `table shop.a has no column "x"`)
}

// TestResume cancels a copy many times, and resumes it from the last checkpoint.
func TestResume(t *testing.T) {
	const rows = 200
	cluster, session := newCluster(t, cqltest.Config{}, `
		CREATE TABLE a (id int PRIMARY KEY, name text); CREATE TABLE b (id int PRIMARY KEY, name text)`)
	for id := range rows {
		require.NoError(t, cluster.Exec(fmt.Sprintf("INSERT INTO shop.a (id, name) VALUES (%d, 'x')", id)))
	}
	var saved *tablescan.Checkpoint
	save := func(c tablescan.Checkpoint) { saved = &c }
	runs := 0
	for done := false; !done; runs++ {
		ctx, cancel := context.WithCancel(t.Context())
		cluster.Inject(cqltest.Fault{
			Statement: "INSERT", Op: cqltest.OpExecute, Skip: rows / 5, Edit: func(*cqltest.Answer) { cancel() },
		})
		c, err := New(t.Context(), tableOf(t, session, "a"), tableOf(t, session, "b"),
			Config{Scan: tablescan.Config{Checkpoint: saved, Workers: 2, PageBytes: 1}})
		require.NoError(t, err)
		ended := make(chan struct{})
		var saver sync.WaitGroup
		saver.Go(func() { saveUntil(ctx, ended, c, save) })
		done = c.Run(ctx) == nil
		close(ended)
		saver.Wait()
		checkpoint, err := c.Close(t.Context())
		require.NoError(t, err)
		save(checkpoint)
		cluster.ClearFaults()
		cancel()
	}
	require.Greater(t, runs, 2)
	require.EqualValues(t, rows, saved.Rows)
	requireEqual(t, session, session)
}

// saveUntil saves a checkpoint of a copy each millisecond until it has ended.
func saveUntil(ctx context.Context, ended <-chan struct{}, c *Copy, save func(tablescan.Checkpoint)) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if checkpoint, err := c.Flush(ctx); err == nil {
				save(checkpoint)
			}
		case <-ended:
			return
		}
	}
}

// TestFlush requires that Flush waits for the rows that were read: the rows of its checkpoint are written.
func TestFlush(t *testing.T) {
	cluster, session := newCluster(t, cqltest.Config{}, `
		CREATE TABLE a (id int PRIMARY KEY, name text); CREATE TABLE b (id int PRIMARY KEY, name text);
		INSERT INTO a (id, name) VALUES (1, 'lamp')`)
	answers := make(chan struct{})
	writes := cluster.Inject(cqltest.Fault{Statement: "INSERT", Op: cqltest.OpExecute, Until: answers})
	c, err := New(t.Context(), tableOf(t, session, "a"), tableOf(t, session, "b"), Config{})
	require.NoError(t, err)
	require.NoError(t, c.Run(t.Context()))
	require.NoError(t, writes.Wait(t.Context(), 1))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = c.Flush(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	close(answers)
	checkpoint, err := c.Flush(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, checkpoint.Rows)
	requireEqual(t, session, session)
	_, err = c.Close(t.Context())
	require.NoError(t, err)
}
