// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Tests beyond the recorded answers of Cassandra: bound values, paging, clocks, orders of writes.

// bind executes a prepared statement with values; nil means NULL, unset means not set.
func bind(t testing.TB, e *Engine, text string, values ...[]byte) (*Result, error) {
	t.Helper()
	s, err := e.Prepare("ks", text)
	require.NoError(t, err, text)
	r := &Request{}
	for _, v := range values {
		switch {
		case v == nil:
			r.Values = append(r.Values, Value{State: ValueNull})
		case isUnset(v):
			r.Values = append(r.Values, Value{State: ValueUnset})
		default:
			r.Values = append(r.Values, Value{Bytes: v})
		}
	}
	return e.Execute(t.Context(), s, r)
}

func TestUnsupportedFunctions(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TABLE t (k int PRIMARY KEY, d decimal)")
	for _, call := range []string{"mask_hash(k)", "exp(d)", "log10(d)"} {
		require.Contains(t, answer(run(t, e, "SELECT "+call+" FROM t")), "is not supported", call)
	}
}

func TestExecuteBound(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TABLE t (k int PRIMARY KEY, v text, l list<int>, s frozen<set<int>>)")
	one, text := int32Bytes(1), []byte("text")
	set := joinCollection(ListOf(Native("int")), [][]byte{int32Bytes(2), one})
	null := "2200 null is not supported inside collections"
	for _, c := range []struct {
		name, cql string
		values    [][]byte
		want      string
	}{
		{"insert", "INSERT INTO t (k, v, s) VALUES (?, ?, ?)", [][]byte{one, text, set}, ""},
		{"set comes sorted", "SELECT v, s FROM t WHERE k = ?", [][]byte{one}, "'text' | {1, 2}"},
		{"unset leaves", "UPDATE t SET v = ?, l = ? WHERE k = ?", [][]byte{unset, unset, one}, ""},
		{"unset left", "SELECT v FROM t WHERE k = ?", [][]byte{one}, "'text'"},
		{"null deletes", "UPDATE t SET v = ? WHERE k = ?", [][]byte{nil, one}, ""},
		{"null deleted", "SELECT v FROM t WHERE k = ?", [][]byte{one}, "null"},
		{"null key", "SELECT v FROM t WHERE k = ?", [][]byte{nil}, "2200 Invalid null value in condition for column k"},
		{"unset key", "SELECT v FROM t WHERE k = ?", [][]byte{unset}, "2200 Invalid unset value for column k"},
		{"short int", "SELECT v FROM t WHERE k = ?", [][]byte{{1, 2}}, "2200 Expected 4 or 0 byte int (2)"},
		{"not UTF-8", "UPDATE t SET v = ? WHERE k = 1", [][]byte{{0xFF}}, "2200 String didn't validate."},
		{"broken list", "UPDATE t SET l = ? WHERE k = 1", [][]byte{{0, 0, 0, 9}}, "2200 Not enough bytes to read a list"},
		{"null in list", "UPDATE t SET l = ? WHERE k = 1", [][]byte{{0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF}}, null},
		{"limit", "SELECT k FROM t LIMIT ?", [][]byte{one}, "1"},
		{"unset limit", "SELECT k FROM t LIMIT ?", [][]byte{unset}, "1"},
		{"zero limit", "SELECT k FROM t LIMIT ?", [][]byte{int32Bytes(0)}, "2200 LIMIT must be strictly positive"},
		{"in", "SELECT k FROM t WHERE k IN ?", [][]byte{joinCollection(ListOf(Native("int")), [][]byte{one, int32Bytes(5), one})}, "1"},
		{"ttl", "INSERT INTO t (k) VALUES (2) USING TTL ?", [][]byte{int32Bytes(-1)}, "2200 A TTL must be greater or equal to 0, but was -1"},
		{"too few", "SELECT v FROM t WHERE k = ?", nil, "2200 Invalid amount of bind variables"},
		{"too many", "SELECT v FROM t WHERE k = 1", [][]byte{one}, "2200 Invalid amount of bind variables"},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, show(bind(t, e, c.cql, c.values...))) })
	}
}

func TestExecuteNamed(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TABLE t (a int, b int, PRIMARY KEY (a, b))")
	s, err := e.Prepare("ks", "INSERT INTO t (b, a) VALUES (:x, ?)")
	require.NoError(t, err)
	values := []Value{{Name: "a", Bytes: int32Bytes(1)}, {Name: "x", Bytes: int32Bytes(2)}}
	_, err = e.Execute(t.Context(), s, &Request{Values: values, Named: true})
	require.NoError(t, err)
	require.Equal(t, "1 | 2", show(run(t, e, "SELECT a, b FROM t")))
	tok, ok := e.Token(s, values, true)
	require.True(t, ok)
	require.Equal(t, int64(-4069959284402364209), tok)
	_, err = e.Execute(t.Context(), s, &Request{Values: values[:1], Named: true})
	require.ErrorContains(t, err, "bind variables")
	_, ok = e.Token(s, values[:1], true)
	require.False(t, ok)
}

func TestStatementValid(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TYPE u (a int)")
	mustRun(t, e, "CREATE TABLE t (k int PRIMARY KEY, l list<frozen<u>>)")
	mustRun(t, e, "CREATE TABLE o (k int PRIMARY KEY)")
	prepare := func(text string) *Statement {
		s, err := e.Prepare("ks", text)
		require.NoError(t, err)
		return s
	}
	for _, change := range []string{"ALTER TABLE t ADD v int", "ALTER TYPE u ADD b text", "CREATE INDEX ON t (v)", "DROP TABLE t"} {
		s, other := prepare("SELECT * FROM t WHERE k = 1"), prepare("SELECT * FROM o")
		before := e.schema.Load().keyspaces["ks"].tables.get("t")
		version := e.SchemaVersion()
		require.True(t, e.Valid(s))
		mustRun(t, e, change)
		require.False(t, e.Valid(s), change)
		require.True(t, e.Valid(other), change)
		require.NotEqual(t, version, e.SchemaVersion())
		if after := e.schema.Load().keyspaces["ks"].tables.get("t"); after != nil {
			require.Equal(t, before.id, after.id)
		}
	}
}

// TestMergeOrder applies the same writes in many orders, with equal results.
func TestMergeOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 100 {
		var writes []string
		for i := range 8 {
			ts, c := r.IntN(4)+1, r.IntN(3)
			using := fmt.Sprintf("USING TIMESTAMP %d", ts)
			ttl := using + []string{"", " AND TTL 1000", " AND TTL 2000"}[r.IntN(3)]
			writes = append(writes, []string{
				fmt.Sprintf("INSERT INTO t (p, c, v) VALUES (1, %d, %d) %s", c, i, ttl),
				fmt.Sprintf("UPDATE t %s SET v = %d WHERE p = 1 AND c = %d", ttl, i, c),
				fmt.Sprintf("UPDATE t %s SET v = null, m['k%d'] = %d WHERE p = 1 AND c = %d", using, i%3, i, c),
				fmt.Sprintf("UPDATE t %s SET m = {'k%d': %d, 'x': 1} WHERE p = 1 AND c = %d", using, i%3, i, c),
				fmt.Sprintf("DELETE m['k%d'], v FROM t %s WHERE p = 1 AND c = %d", i%3, using, c),
				fmt.Sprintf("DELETE FROM t %s WHERE p = 1 AND c = %d", using, c),
				fmt.Sprintf("DELETE FROM t %s WHERE p = 1 AND c > %d", using, c),
				fmt.Sprintf("DELETE FROM t %s WHERE p = 1", using),
				fmt.Sprintf("UPDATE t %s SET s = %d, st = {%d} WHERE p = 1", using, i, i),
				fmt.Sprintf("UPDATE t %s SET st = st + {%d} WHERE p = 1", using, i),
				fmt.Sprintf("DELETE s, st FROM t %s WHERE p = 1", using),
			}[r.IntN(11)])
		}
		var first string
		for order := range 4 {
			e, clock := newEngine(t)
			mustRun(t, e, "CREATE TABLE t (p int, c int, s int static, st set<int> static, v int, m map<text, int>, PRIMARY KEY (p, c))")
			for _, w := range writes {
				mustRun(t, e, w)
			}
			var got string
			for _, wait := range []int{0, 1500, 1000} { // cells expire over time
				clock.at = clock.at.Add(time.Duration(wait) * time.Second)
				got += show(run(t, e, "SELECT p, c, s, st, v, m, writetime(v), writetime(s) FROM t")) + "\n"
			}
			if order == 0 {
				first = got
			}
			require.Equal(t, first, got, "seed %d\n%s", seed, strings.Join(writes, "\n"))
			r.Shuffle(len(writes), func(i, j int) { writes[i], writes[j] = writes[j], writes[i] })
		}
	}
}

func TestExpiry(t *testing.T) {
	e, clock := newEngine(t)
	mustRun(t, e, "CREATE TABLE t (k int PRIMARY KEY, v int, l list<int>) WITH default_time_to_live = 100")
	mustRun(t, e, "INSERT INTO t (k, v, l) VALUES (1, 1, [1, 2]) USING TTL 10")
	mustRun(t, e, "INSERT INTO t (k, v) VALUES (2, 2)")
	mustRun(t, e, "INSERT INTO t (k, v) VALUES (3, 3) USING TTL 0")
	require.Equal(t, "1 | 10\n2 | 100\n3 | null", sortLines(show(run(t, e, "SELECT k, ttl(v) FROM t"))))
	clock.at = clock.at.Add(9 * time.Second)
	require.Equal(t, "1 | 1 | [1, 2] | 1", show(run(t, e, "SELECT k, v, l, ttl(v) FROM t WHERE k = 1")))
	mustRun(t, e, "UPDATE t USING TTL 5 SET l = l + [3] WHERE k = 1")
	clock.at = clock.at.Add(time.Second)
	require.Equal(t, "1 | null | [3]", show(run(t, e, "SELECT k, v, l FROM t WHERE k = 1")))
	clock.at = clock.at.Add(90 * time.Second)
	require.Equal(t, "3", show(run(t, e, "SELECT k FROM t")))
	s, err := e.Prepare("ks", "SELECT k FROM t")
	require.NoError(t, err)
	res, err := e.Execute(t.Context(), s, &Request{HasNowInSeconds: true, NowInSeconds: int32(clock.at.Unix() - 95)})
	require.Equal(t, "1\n2\n3", sortLines(show(res, err)), "the request's time decides")
}

func sortLines(s string) string {
	lines := strings.Split(s, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// pages reads all pages of a statement and calls between after each.
func pages(t *testing.T, e *Engine, text string, size int, between func(page int)) []string {
	t.Helper()
	s, err := e.Prepare("ks", text)
	require.NoError(t, err)
	var out []string
	var state []byte
	for page := 0; ; page++ {
		r, err := e.Execute(t.Context(), s, &Request{PageSize: size, PagingState: state})
		require.NoError(t, err)
		require.LessOrEqual(t, len(r.Rows), size)
		if text := show(r, nil); text != "" {
			out = append(out, strings.Split(text, "\n")...)
		}
		if state = r.PagingState; state == nil {
			return out
		}
		if between != nil {
			between(page)
		}
	}
}

func TestPages(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TABLE t (p int, c int, d int, s int static, v int, PRIMARY KEY (p, c, d)) WITH CLUSTERING ORDER BY (c DESC, d ASC)")
	for p := range 12 {
		if p%4 == 3 {
			mustRun(t, e, fmt.Sprintf("UPDATE t SET s = %d WHERE p = %d", p, p))
			continue
		}
		for i := range p * 3 {
			mustRun(t, e, fmt.Sprintf("INSERT INTO t (p, c, d, v) VALUES (%d, %d, %d, %d)", p, i/4, i%4, i))
		}
	}
	for _, text := range []string{
		"SELECT * FROM t",
		"SELECT * FROM t LIMIT 17",
		"SELECT * FROM t PER PARTITION LIMIT 4",
		"SELECT * FROM t PER PARTITION LIMIT 4 LIMIT 11",
		"SELECT DISTINCT p, s FROM t",
		"SELECT * FROM t WHERE p = 10",
		"SELECT * FROM t WHERE p = 10 ORDER BY c ASC",
		"SELECT * FROM t WHERE p = 10 AND c IN (5, 1, 3)",
		"SELECT * FROM t WHERE p = 10 AND c IN (5, 1, 3) ORDER BY c ASC",
		"SELECT * FROM t WHERE p = 10 AND c > 2",
		"SELECT * FROM t WHERE p = 10 AND (c, d) > (2, 1)",
		"SELECT * FROM t WHERE p IN (10, 3, 9, 1, 99)",
		"SELECT * FROM t WHERE p IN (10, 3, 9, 1, 99) LIMIT 20",
		"SELECT * FROM t WHERE v > 7 ALLOW FILTERING",
		"SELECT * FROM t WHERE token(p) > 0",
		"SELECT p, c, count(*), sum(v) FROM t GROUP BY p, c",
		"SELECT p, c, count(*) FROM t GROUP BY p, c LIMIT 7",
		"SELECT p, c, count(*) FROM t GROUP BY p, c PER PARTITION LIMIT 2",
		"SELECT p, count(*) FROM t GROUP BY p",
		"SELECT count(*) FROM t",
	} {
		want := pages(t, e, text, 1000, nil)
		require.NotEmpty(t, want)
		for _, size := range []int{1, 2, 3, 7, 50} {
			require.Equal(t, want, pages(t, e, text, size, nil), "%s by %d", text, size)
		}
	}
}

// TestPagesChange changes the table between pages: rows that exist throughout are read once, in order.
func TestPagesChange(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TABLE t (p int, c int, PRIMARY KEY (p, c))")
	for p := range 5 {
		for c := range 20 {
			mustRun(t, e, fmt.Sprintf("INSERT INTO t (p, c) VALUES (%d, %d)", p, c*10))
		}
	}
	keep := func(rows []string) []string {
		return slices.DeleteFunc(rows, func(r string) bool {
			return !strings.HasSuffix(r, "0") || strings.HasSuffix(r, " 40") || strings.HasPrefix(r, "4 ")
		})
	}
	want := keep(pages(t, e, "SELECT p, c FROM t", 1000, nil))
	n := 0
	got := pages(t, e, "SELECT p, c FROM t", 3, func(page int) {
		for p := range 4 {
			mustRun(t, e, fmt.Sprintf("INSERT INTO t (p, c) VALUES (%d, %d)", p, page*10+1))
			mustRun(t, e, fmt.Sprintf("DELETE FROM t WHERE p = %d AND c = 40", p))
		}
		mustRun(t, e, "DELETE FROM t WHERE p = 4")
		mustRun(t, e, fmt.Sprintf("INSERT INTO t (p, c) VALUES (%d, 1)", 100+page))
		n++
	})
	require.Greater(t, n, 20)
	require.Equal(t, want, keep(got))
}

func TestPagingStateGarbage(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TABLE t (p int, c text, PRIMARY KEY (p, c))")
	mustRun(t, e, "CREATE TABLE o (p int, c text, d int, PRIMARY KEY (p, c, d))")
	for i := range 5 {
		mustRun(t, e, fmt.Sprintf("INSERT INTO t (p, c) VALUES (1, '%d')", i))
	}
	s, err := e.Prepare("ks", "SELECT * FROM t")
	require.NoError(t, err)
	res, err := e.Execute(t.Context(), s, &Request{PageSize: 2})
	require.NoError(t, err)
	good := res.PagingState
	var bad [][]byte
	for i := range good {
		bad = append(bad, good[:i])
		flipped := slices.Clone(good)
		flipped[i] ^= 0x55
		bad = append(bad, flipped)
	}
	bad = append(bad, append(slices.Clone(good), 0), []byte("garbage"), make([]byte, 100))
	for _, state := range bad {
		_, err := e.Execute(t.Context(), s, &Request{PageSize: 2, PagingState: state})
		require.Equal(t, "000a Invalid value for the paging state", show(nil, err), "%x", state)
	}
	other, err := e.Prepare("ks", "SELECT * FROM o")
	require.NoError(t, err)
	_, err = e.Execute(t.Context(), other, &Request{PageSize: 2, PagingState: good})
	require.Error(t, err, "the state of another table")
	in, err := e.Prepare("ks", "SELECT * FROM t WHERE p = 2")
	require.NoError(t, err)
	_, err = e.Execute(t.Context(), in, &Request{PageSize: 2, PagingState: good})
	require.Error(t, err, "the state of another query")
}

func TestBatchMessage(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TABLE t (p int, c int, v blob, PRIMARY KEY (p, c))")
	mustRun(t, e, "CREATE TABLE n (k int PRIMARY KEY, a counter)")
	prepare := func(text string) *Statement {
		s, err := e.Prepare("ks", text)
		require.NoError(t, err)
		return s
	}
	insert := prepare("INSERT INTO t (p, c, v) VALUES (?, ?, ?)")
	entry := func(p, c int32, v []byte) BatchEntry {
		return BatchEntry{insert, []Value{{Bytes: int32Bytes(p)}, {Bytes: int32Bytes(c)}, {Bytes: v}}}
	}
	do := func(typ BatchType, entries ...BatchEntry) string {
		r, err := e.Batch(t.Context(), typ, entries, &Request{})
		s := show(r, err)
		if err == nil {
			s += strings.Join(r.Warnings, "; ")
		}
		return s
	}
	add := BatchEntry{Statement: prepare("UPDATE n SET a = a + 1 WHERE k = 1")}
	require.Equal(t, "", do(BatchLogged))
	require.Equal(t, "", do(BatchLogged, entry(1, 1, []byte{1}), entry(1, 2, []byte{2})))
	require.Equal(t, "", do(BatchCounter, add, add, add))
	require.Equal(t, "3", show(run(t, e, "SELECT a FROM n")))
	require.Equal(t, "2200 Cannot include a counter statement in a logged batch", do(BatchLogged, add))
	require.Equal(t, "2200 Cannot include non-counter statement in a counter batch", do(BatchCounter, entry(1, 1, nil)))
	require.Equal(t, "2200 Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.",
		do(BatchLogged, BatchEntry{Statement: prepare("SELECT * FROM t")}))
	require.Equal(t, "000a Invalid BATCH type 9", do(9))
	require.Equal(t, "2200 Batch too large", do(BatchUnlogged, entry(2, 1, make([]byte, 60<<10)), entry(3, 1, nil)))
	require.Equal(t, "", do(BatchUnlogged, entry(2, 1, make([]byte, 60<<10)), entry(2, 2, []byte{1})), "one partition has no limit")
	require.Contains(t, do(BatchUnlogged, entry(4, 1, make([]byte, 6<<10)), entry(5, 1, []byte{1})), "exceeding specified threshold of 5120")
	// An index out of range fails the whole batch.
	mustRun(t, e, "CREATE TABLE l (k int PRIMARY KEY, l list<int>)")
	require.Contains(t, do(BatchLogged, entry(6, 1, []byte{1}), BatchEntry{Statement: prepare("UPDATE l SET l[0] = 1 WHERE k = 1")}), "2200")
	require.Equal(t, "", show(run(t, e, "SELECT c FROM t WHERE p = 6")))
	require.Equal(t, "", do(BatchLogged, entry(7, 1, []byte{1}), entry(7, 1, []byte{2})))
	require.Equal(t, "0x02", show(run(t, e, "SELECT v FROM t WHERE p = 7")), "of one time the larger value")
}

func TestVirtual(t *testing.T) {
	e, _ := newEngine(t)
	e.AddVirtual(Virtual{
		Keyspace: "system", Name: "local",
		Columns: "key text p; host_id uuid; rpc_address inet; tokens set<text>; rpc_port int; rack text",
		Rows: func(node any) []map[string]any {
			return []map[string]any{{
				"key": "local", "host_id": [16]byte{1}, "rpc_address": "127.0.0.1", "tokens": []string{"5", "-1"}, "rpc_port": node,
			}}
		},
	})
	s, err := e.Prepare("", "SELECT key, host_id, rpc_address, tokens, rpc_port, rack FROM system.local WHERE key = 'local'")
	require.NoError(t, err)
	for node := range 2 {
		require.Equal(t, fmt.Sprintf("'local' | 01000000-0000-0000-0000-000000000000 | '127.0.0.1' | {'-1', '5'} | %d | null", node),
			show(e.Execute(t.Context(), s, &Request{Node: node})))
	}
	_, err = e.Execute(t.Context(), s, &Request{Node: "not an int"})
	require.ErrorContains(t, err, "system.local.rpc_port")
	require.Equal(t, "'local' | 'text' | 'partition_key'", show(run(t, e, "SELECT table_name, type, kind FROM system_schema.columns "+
		"WHERE keyspace_name = 'system' AND table_name = 'local' AND column_name = 'key'")))
	for _, text := range []string{"INSERT INTO system.local (key) VALUES ('x')", "TRUNCATE system.local", "DROP TABLE system.local"} {
		require.Contains(t, show(run(t, e, text)), "2100 ", text)
	}
}

// TestConcurrent reads, writes and changes the schema concurrently. Batches on one partition are atomic for readers.
func TestConcurrent(t *testing.T) {
	e := New(Options{})
	for _, text := range []string{
		"CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE t (p int, c int, v int, l list<int>, PRIMARY KEY (p, c))", "CREATE TABLE n (k int PRIMARY KEY, a counter)",
		"CREATE TABLE lwt (k int PRIMARY KEY, v int)", "INSERT INTO lwt (k, v) VALUES (1, 0)",
	} {
		mustRun(t, e, text)
	}
	const workers, each = 4, 100
	var wg sync.WaitGroup
	var won sync.Map
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				batch := fmt.Sprintf("BEGIN BATCH UPDATE t SET v = %[1]d, l = l + [1] WHERE p = 1 AND c = 1; "+
					"UPDATE t SET v = %[1]d WHERE p = 1 AND c = 2; APPLY BATCH", i)
				if _, err := run(t, e, batch); err != nil {
					t.Error(err)
				}
				if _, err := run(t, e, "UPDATE n SET a = a + 1 WHERE k = 1"); err != nil {
					t.Error(err)
				}
				r, err := run(t, e, "SELECT v FROM t WHERE p = 1")
				if err != nil || len(r.Rows) == 2 && string(r.Rows[0][0]) != string(r.Rows[1][0]) {
					t.Errorf("half a batch: %s", show(r, err))
				}
				if r, err := run(t, e, fmt.Sprintf("UPDATE lwt SET v = %d WHERE k = 1 IF v = %d", i+1, i)); err != nil {
					t.Error(err)
				} else if r.Rows[0][0][0] == 1 {
					if _, twice := won.LoadOrStore(i, w); twice {
						t.Errorf("%d was won twice", i)
					}
				}
				if i%20 == 0 {
					if _, err := run(t, e, fmt.Sprintf("CREATE TABLE x%d_%d (k int PRIMARY KEY)", w, i)); err != nil {
						t.Error(err)
					}
					if _, err := run(t, e, "SELECT * FROM system_schema.tables"); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, fmt.Sprint(workers*each), show(run(t, e, "SELECT a FROM n")))
	r := mustRun(t, e, "SELECT l FROM t WHERE p = 1 AND c = 1")
	require.EqualValues(t, workers*each, binary.BigEndian.Uint32(r.Rows[0][0]))
}

func TestCanceled(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TABLE t (k int PRIMARY KEY)")
	s, err := e.Prepare("ks", "SELECT * FROM t")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = e.Execute(ctx, s, &Request{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = e.Batch(ctx, BatchLogged, nil, &Request{})
	require.ErrorIs(t, err, context.Canceled)
}

// TestNaN computes NaN, which has the bytes of Java's.
func TestNaN(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TABLE t (k int PRIMARY KEY, d double)")
	mustRun(t, e, "INSERT INTO t (k, d) VALUES (1, NaN)")
	for _, cell := range mustRun(t, e, "SELECT d + 1, d / 0, -(d), avg(d) FROM t").Rows[0] {
		require.Equal(t, "7ff8000000000000", hex.EncodeToString(cell))
	}
}

// TestAlterTypeChanges alters a type that another one contains: both are announced.
func TestAlterTypeChanges(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TYPE address (zip int)")
	mustRun(t, e, "CREATE TYPE person (home frozen<address>)")
	mustRun(t, e, "CREATE TYPE zone (n int)")
	r := mustRun(t, e, "ALTER TYPE address ADD city text")
	require.Equal(t, []Change{{"UPDATED", "TYPE", "ks", "address"}, {"UPDATED", "TYPE", "ks", "person"}}, r.Changes)
}
