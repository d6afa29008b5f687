// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Queries apart from their values: pages, rows, batches, conditions, errors, prepared statements.

// fill creates a table of n rows (p, c, text, vector) in one partition.
func fill(t *testing.T, s *vecql.Session, ks string, n int) {
	t.Helper()
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (p int, c int, name text, v %s, PRIMARY KEY (p, c))", ks, floats(s, 4)))
	var wg sync.WaitGroup
	errs := make(chan error, n)
	for i := range n {
		wg.Go(func() {
			var name any = fmt.Sprint("row ", i)
			vector := []float32{float32(i), float32(i) + .25, -float32(i), 1}
			if i%10 == 3 {
				name, vector = nil, nil
			}
			errs <- s.Query(fmt.Sprintf("INSERT INTO %s.t (p, c, name, v) VALUES (1, ?, ?, ?)", ks), i, name, vector).Exec(t.Context())
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
}

func testPaging(t *testing.T, s *vecql.Session, ks string) {
	const n = 200
	fill(t, s, ks, n)
	all := fmt.Sprintf("SELECT c FROM %s.t WHERE p = 1", ks)
	for _, prefetch := range []float64{-1, 0, 0.5, 1} {
		it := s.Query(all).PageSize(7).Prefetch(prefetch).Iter(t.Context())
		var c, rows int
		for it.Scan(&c) {
			require.Equal(t, rows, c)
			rows++
		}
		require.NoError(t, it.Close())
		require.Equal(t, n, rows)
	}
	// Read page by page with the paging state, each page with a new query.
	var state []byte
	rows, pages := 0, 0
	for {
		it := s.Query(all).PageSize(30).PageState(state).Iter(t.Context())
		state = it.PageState()
		sc := it.Scanner()
		for sc.Next() {
			var c int
			require.NoError(t, sc.Scan(&c))
			require.Equal(t, rows, c)
			rows++
		}
		require.NoError(t, sc.Err())
		pages++
		if state == nil {
			break
		}
	}
	require.Equal(t, n, rows)
	require.GreaterOrEqual(t, pages, 7)
	// A query binds its values at the first page; later changes of the variables have no effect.
	key := []int{1}
	q := s.Query(fmt.Sprintf("SELECT c FROM %s.t WHERE p IN ?", ks), key).PageSize(20)
	it := q.Iter(t.Context())
	key[0] = 2
	q.Bind([]int{3}).PageSize(1)
	rows = 0
	for it.Scan(nil) {
		rows++
	}
	require.NoError(t, it.Close())
	require.Equal(t, n, rows)
	// Stop early, while a page is prefetched.
	it = s.Query(all).PageSize(5).Prefetch(1).Iter(t.Context())
	var c int
	require.True(t, it.Scan(&c))
	require.NoError(t, it.Close())
	// Pages that a filter leaves empty do not end the result.
	it = s.Query(fmt.Sprintf("SELECT c FROM %s.t WHERE p = 1 AND name = 'row 198' ALLOW FILTERING", ks)).PageSize(3).Iter(t.Context())
	require.True(t, it.Scan(&c))
	require.Equal(t, 198, c)
	require.False(t, it.Scan(&c))
	require.NoError(t, it.Close())
	m, err := s.Query(all + " LIMIT 3").Iter(t.Context()).SliceMap()
	require.NoError(t, err)
	require.Equal(t, []map[string]any{{"c": 0}, {"c": 1}, {"c": 2}}, m)
}

func testRows(t *testing.T, s *vecql.Session, ks string) {
	fill(t, s, ks, 50)
	type row struct {
		C    int
		Name *string
		Vec  []float32 `cql:"v"`
	}
	q := s.Query(fmt.Sprintf("SELECT c, name, v FROM %s.t", ks)).PageSize(9)
	var kept []row
	for r, err := range vecql.Rows[row](t.Context(), q) {
		require.NoError(t, err)
		kept = append(kept, r)
	}
	require.Len(t, kept, 50)
	for i, r := range kept { // kept rows are not overwritten by later ones
		require.Equal(t, i, r.C)
		if i%10 == 3 {
			require.Nil(t, r.Name)
			require.Nil(t, r.Vec)
			continue
		}
		require.Equal(t, fmt.Sprint("row ", i), *r.Name)
		require.Equal(t, []float32{float32(i), float32(i) + .25, -float32(i), 1}, r.Vec)
	}
	n := 0
	for _, err := range vecql.Rows[int](t.Context(), s.Query(fmt.Sprintf("SELECT c FROM %s.t", ks)).PageSize(5)) {
		require.NoError(t, err)
		if n++; n == 12 {
			break
		}
	}
	for _, err := range vecql.Rows[string](t.Context(), s.Query(fmt.Sprintf("SELECT name FROM %s.t WHERE p = 1 AND c = 3", ks))) {
		require.ErrorIs(t, err, cql.ErrNull)
	}
	for _, err := range vecql.Rows[struct{ C int }](t.Context(), s.Query(fmt.Sprintf("SELECT c, name FROM %s.t", ks))) {
		require.ErrorIs(t, err, cql.ErrConversion, "a column without a field")
	}
}

func testPages(t *testing.T, s *vecql.Session, ks string) {
	const n = 100
	fill(t, s, ks, n)
	var kept []*column.Batch
	seen := 0
	q := s.Query(fmt.Sprintf("SELECT c, name, v FROM %s.t", ks)).PageSize(16)
	for b, err := range q.Batches(t.Context()) {
		require.NoError(t, err)
		require.NoError(t, b.Check())
		require.True(t, b.Source.Host.IsValid())
		require.NotZero(t, b.Source.HostID)
		c, err := column.Slice[int32](b.Column("c"))
		require.NoError(t, err)
		for _, v := range c {
			require.EqualValues(t, seen, v)
			seen++
		}
		_, err = column.MatrixOf[float32](b.Column("name"))
		require.Error(t, err)
		kept = append(kept, b)
	}
	require.Equal(t, n, seen)
	require.Empty(t, kept[len(kept)-1].Source.NextPage)
	again, err := column.Concat(kept...)
	require.NoError(t, err)
	var borrowed []*column.Batch
	for b, err := range q.BorrowBatches(t.Context()) {
		require.NoError(t, err)
		borrowed = append(borrowed, b.Clone())
	}
	cloned, err := column.Concat(borrowed...)
	require.NoError(t, err)
	require.Empty(t, column.Diff(cloned, again))
	vectors := floatRows(t, again.Column("v"))
	names, err := again.Column("name").Text()
	require.NoError(t, err)
	for i := range n {
		null := i%10 == 3
		require.Equal(t, null, again.Column("v").Null(i))
		require.Equal(t, null, again.Column("name").Null(i))
		if !null {
			require.Equal(t, []float32{float32(i), float32(i) + .25, -float32(i), 1}, vectors(i))
			require.Equal(t, fmt.Sprint("row ", i), names.String(i))
		}
	}
}

func testBatch(t *testing.T, s *vecql.Session, ks string) {
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (p int, c int, v text, PRIMARY KEY (p, c))", ks))
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.n (p int PRIMARY KEY, n counter)", ks))
	for _, typ := range []cql.BatchType{cql.LoggedBatch, cql.UnloggedBatch} {
		b := s.Batch(typ)
		for i := range 20 {
			b.Query(fmt.Sprintf("INSERT INTO %s.t (p, c, v) VALUES (?, ?, ?)", ks), int(typ), i, fmt.Sprint(i))
		}
		b.Query(fmt.Sprintf("INSERT INTO %s.t (p, c, v) VALUES (%d, 100, 'no values')", ks, typ))
		require.NoError(t, b.Exec(t.Context()))
		var n int
		require.NoError(t, s.Query(fmt.Sprintf("SELECT count(*) FROM %s.t WHERE p = ?", ks), int(typ)).Scan(t.Context(), &n))
		require.Equal(t, 21, n)
	}
	b := s.Batch(cql.CounterBatch)
	for range 3 {
		b.Query(fmt.Sprintf("UPDATE %s.n SET n = n + ? WHERE p = 1", ks), 2)
	}
	require.NoError(t, b.Exec(t.Context()))
	var n int
	require.NoError(t, s.Query(fmt.Sprintf("SELECT n FROM %s.n", ks)).Scan(t.Context(), &n))
	require.Equal(t, 6, n)

	cas := func(v string) (bool, error) {
		applied, it, err := s.Batch(cql.UnloggedBatch).
			Query(fmt.Sprintf("INSERT INTO %s.t (p, c, v) VALUES (?, ?, ?) IF NOT EXISTS", ks), 9, 1, v).
			Query(fmt.Sprintf("INSERT INTO %s.t (p, c, v) VALUES (?, ?, ?) IF NOT EXISTS", ks), 9, 2, v).
			MapExecCAS(t.Context(), map[string]any{})
		if cerr := it.Close(); cerr != nil {
			err = cerr
		}
		return applied, err
	}
	applied, err := cas("first")
	require.NoError(t, err)
	require.True(t, applied)
	applied, err = cas("second")
	require.NoError(t, err)
	require.False(t, applied)

	big := s.Batch(cql.LoggedBatch)
	for range vecql.BatchSizeMaximum + 1 {
		big.Query("INSERT")
	}
	require.ErrorIs(t, big.Exec(t.Context()), vecql.ErrTooManyStmts)
}

func testCAS(t *testing.T, s *vecql.Session, ks string) {
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (k int PRIMARY KEY, v text, n int)", ks))
	insert := s.Query(fmt.Sprintf("INSERT INTO %s.t (k, v, n) VALUES (?, ?, ?) IF NOT EXISTS", ks), 1, "first", 1)
	var k, n int
	var v string
	applied, err := insert.ScanCAS(t.Context(), &k, &v, &n)
	require.NoError(t, err)
	require.True(t, applied)
	// columns are in the table's order: k, n, v
	applied, err = insert.Bind(1, "second", 2).ScanCAS(t.Context(), &k, &n, &v)
	require.NoError(t, err)
	require.False(t, applied)
	require.Equal(t, "first", v)
	require.Equal(t, 1, n)
	m := map[string]any{}
	applied, err = s.Query(fmt.Sprintf("UPDATE %s.t SET n = ? WHERE k = ? IF v = ?", ks), 5, 1, "other").MapScanCAS(t.Context(), m)
	require.NoError(t, err)
	require.False(t, applied)
	require.Equal(t, map[string]any{"v": "first"}, m)
	applied, err = s.Query(fmt.Sprintf("UPDATE %s.t SET n = ? WHERE k = ? IF v = ?", ks), 5, 1, "first").SerialConsistency(cql.LocalSerial).ScanCAS(t.Context())
	require.NoError(t, err)
	require.True(t, applied)
	_, err = s.Query(fmt.Sprintf("UPDATE %s.t SET n = ? WHERE k = ?", ks), 5, 1).ScanCAS(t.Context())
	require.ErrorContains(t, err, "[applied]")
}

func testErrors(t *testing.T, s *vecql.Session, ks string) {
	ctx := t.Context()
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (k int PRIMARY KEY, v text)", ks))
	err := s.Query("SELEC 1").Exec(ctx)
	require.ErrorIs(t, err, cql.CodeSyntax)
	require.False(t, vecql.MayHaveApplied(err))
	require.ErrorIs(t, s.Query("SELECT nope FROM "+ks+".t").Exec(ctx), cql.CodeInvalid)
	err = s.Query(fmt.Sprintf("CREATE TABLE %s.t (k int PRIMARY KEY)", ks)).Exec(ctx)
	var exists *cql.AlreadyExistsError
	require.ErrorAs(t, err, &exists)
	require.Equal(t, ks, exists.Keyspace)
	require.Equal(t, "t", exists.Table)
	require.ErrorIs(t, s.Query("USE system").Exec(ctx), vecql.ErrUseStmt)
	require.ErrorIs(t, s.Query("SELECT v FROM "+ks+".t WHERE k = 1").Scan(ctx, new(string)), vecql.ErrNotFound)
	require.ErrorIs(t, s.Query("SELECT v FROM "+ks+".t WHERE k = ?").Exec(ctx), vecql.ErrValueCount)
	require.ErrorIs(t, s.Query("SELECT v FROM "+ks+".t WHERE k = ?", 1, 2).Exec(ctx), vecql.ErrValueCount)
	require.ErrorIs(t, s.Query("SELECT v FROM "+ks+".t WHERE k = ?", "x").Exec(ctx), cql.ErrConversion)
	require.ErrorIs(t, s.Query("SELECT v FROM "+ks+".t WHERE k = ?", int64(1)<<40).Exec(ctx), cql.ErrRange)
	exec(t, s, "INSERT INTO "+ks+".t (k, v) VALUES (1, 'text')")
	var n int
	err = s.Query("SELECT v FROM "+ks+".t WHERE k = 1").Scan(ctx, &n)
	var u *cql.UnmarshalError
	require.ErrorAs(t, err, &u)
	require.Equal(t, "v", u.Column)
	require.ErrorIs(t, s.Query("SELECT k, v FROM "+ks+".t").Scan(ctx, &n), vecql.ErrColumnCount)

	over, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, s.Query("SELECT v FROM "+ks+".t").Exec(over), context.Canceled)
	over, cancel = context.WithTimeout(ctx, time.Microsecond)
	defer cancel()
	<-over.Done() // its timer may fire later than an answer in memory arrives
	require.ErrorIs(t, s.Query("SELECT v FROM "+ks+".t").Exec(over), context.DeadlineExceeded)
	if nodes := len(s.GetHosts()); nodes < 3 {
		err = s.Query("INSERT INTO " + ks + ".t (k, v) VALUES (1, 'x')").Consistency(cql.Three).Exec(ctx)
		var unavailable *cql.UnavailableError
		require.ErrorAs(t, err, &unavailable)
		require.Equal(t, cql.Three, unavailable.Consistency)
		require.Equal(t, 3, unavailable.Required)
		require.False(t, vecql.MayHaveApplied(err))
	}
}

func testBind(t *testing.T, s *vecql.Session, ks string) {
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (a int, b text, c text, v text, PRIMARY KEY ((a, b), c))", ks))
	insert := fmt.Sprintf("INSERT INTO %s.t (v, c, b, a) VALUES (:v, :c, :b, :a)", ks)
	exec(t, s, insert, cql.NamedValue("a", 1), cql.NamedValue("b", "b"), cql.NamedValue("c", "c"), cql.NamedValue("v", "v"))
	var v string
	require.NoError(t, s.Query(fmt.Sprintf("SELECT v FROM %s.t WHERE a = ? AND b = ? AND c = ?", ks), 1, "b", "c").Scan(t.Context(), &v))
	require.Equal(t, "v", v)
	require.ErrorIs(t, s.Query(insert, cql.NamedValue("a", 1)).Exec(t.Context()), vecql.ErrValueCount)
	require.ErrorIs(t, s.Query(insert, cql.NamedValue("x", 1), 2, 3, 4).Exec(t.Context()), vecql.ErrValueCount)
}

// testTyped executes typed statements before and after a change of their table.
func testTyped(t *testing.T, s *vecql.Session, ks string) {
	ctx := t.Context()
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (k int PRIMARY KEY, name text, v %s)", ks, floats(s, 3)))
	type row struct {
		K    int
		Name *string
		V    []float32
	}
	insert, err := vecql.Prepare[row](ctx, s.Query(fmt.Sprintf("INSERT INTO %s.t (k, name, v) VALUES (?, ?, ?)", ks)))
	require.NoError(t, err)
	get, err := vecql.Prepare[int](ctx, s.Query(fmt.Sprintf("SELECT name, v FROM %s.t WHERE k = ?", ks)))
	require.NoError(t, err)
	check := func(want row) {
		t.Helper()
		require.NoError(t, insert.Exec(ctx, &want))
		var got row
		require.NoError(t, get.Scan(ctx, &want.K, &got.Name, &got.V))
		require.Equal(t, want.Name, got.Name)
		require.Equal(t, want.V, got.V)
		if hasVectors(s) {
			into := make([]float32, 3)
			require.NoError(t, get.Scan(ctx, &want.K, nil, vecql.Into(into)))
			require.Equal(t, want.V, into)
		}
	}
	name := "one"
	for k := range 100 {
		check(row{k, &name, []float32{float32(k), 1, 2}})
	}
	check(row{K: 1, V: []float32{3, 4, 5}})
	if hasVectors(s) {
		require.ErrorIs(t, insert.Exec(ctx, &row{K: 1, V: []float32{1}}), cql.ErrDimension)
	}
	exec(t, s, fmt.Sprintf("ALTER TABLE %s.t ADD extra int", ks))
	check(row{2, &name, []float32{6, 7, 8}})
	missing := -1
	require.ErrorIs(t, get.Scan(ctx, &missing, nil, nil), vecql.ErrNotFound)
	if !hasVectors(s) {
		return
	}
	var flat []float32
	it := s.Query(fmt.Sprintf("SELECT v FROM %s.t", ks)).PageSize(30).Iter(ctx)
	for dst := vecql.AppendTo(&flat); it.Scan(dst); {
		continue
	}
	require.NoError(t, it.Close())
	require.Len(t, flat, 300)
}

func testMetadata(t *testing.T, s *vecql.Session, ks string) {
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (a int, b text, c text, v %s, PRIMARY KEY ((a, b), c))", ks, floats(s, 2)))
	m, err := s.StatementMetadata(t.Context(), fmt.Sprintf("SELECT c, v FROM %s.t WHERE c = ? AND b = ? AND a = ?", ks), "")
	require.NoError(t, err)
	require.Equal(t, ks, m.Keyspace)
	require.Equal(t, "t", m.Table)
	require.Equal(t, []int{2, 1}, m.PartitionKey)
	require.Equal(t, floats(s, 2), m.ResultColumns[1].TypeInfo.String())
	insert := s.Bind(fmt.Sprintf("INSERT INTO %s.t (a, b, c) VALUES (?, ?, ?)", ks), func(m vecql.StatementMetadata) ([]any, error) {
		values := make([]any, len(m.BindMarkers))
		for i, arg := range m.BindMarkers {
			if values[i] = arg.Name; arg.TypeInfo.Type() == cql.TypeInt {
				values[i] = 42
			}
		}
		return values, nil
	})
	require.NoError(t, insert.Exec(t.Context()))
	var a int
	var b, c string
	require.NoError(t, s.Query(fmt.Sprintf("SELECT a, b, c FROM %s.t", ks)).Scan(t.Context(), &a, &b, &c))
	require.Equal(t, "42 b c", fmt.Sprint(a, " ", b, " ", c))
}

// testAlter changes a table under a prepared SELECT *. Rows must be decoded with the columns that they have.
func testAlter(t *testing.T, s *vecql.Session, ks string) {
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (k int PRIMARY KEY, v text)", ks))
	exec(t, s, fmt.Sprintf("INSERT INTO %s.t (k, v) VALUES (1, 'v')", ks))
	all := s.Query(fmt.Sprintf("SELECT * FROM %s.t WHERE k = ?", ks), 1)
	m := map[string]any{}
	require.NoError(t, all.MapScan(t.Context(), m))
	require.Equal(t, map[string]any{"k": 1, "v": "v"}, m)
	exec(t, s, fmt.Sprintf("ALTER TABLE %s.t ADD a bigint", ks)) // before v in the order of columns
	exec(t, s, fmt.Sprintf("UPDATE %s.t SET a = 7 WHERE k = 1", ks))
	for range 4 { // on each connection, and with the metadata of the first response
		m = map[string]any{}
		require.NoError(t, all.MapScan(t.Context(), m))
		require.Equal(t, "v", m["v"])
		if a, ok := m["a"]; ok {
			require.EqualValues(t, 7, a)
		}
	}
}

// testReprepare makes the node forget a statement.
func testReprepare(t *testing.T, s *vecql.Session, ks string) {
	create := fmt.Sprintf("CREATE TABLE %s.t (k int PRIMARY KEY, v text)", ks)
	exec(t, s, create)
	insert := fmt.Sprintf("INSERT INTO %s.t (k, v) VALUES (?, ?)", ks)
	exec(t, s, insert, 1, "before")
	exec(t, s, fmt.Sprintf("DROP TABLE %s.t", ks))
	exec(t, s, create)
	for i := range 6 {
		exec(t, s, insert, i, "after")
		require.NoError(t, s.Batch(cql.UnloggedBatch).Query(insert, 100+i, "batch").Exec(t.Context()))
	}
	var n int
	require.NoError(t, s.Query(fmt.Sprintf("SELECT count(*) FROM %s.t", ks)).Scan(t.Context(), &n))
	require.Equal(t, 12, n)
}

func testTrace(t *testing.T, s *vecql.Session, ks string) {
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (k int PRIMARY KEY)", ks))
	var out strings.Builder
	require.NoError(t, s.Query(fmt.Sprintf("INSERT INTO %s.t (k) VALUES (?)", ks), 1).Trace(vecql.NewTraceWriter(s, &out)).Exec(t.Context()))
	require.Contains(t, out.String(), "tracing session")
	require.Contains(t, out.String(), "elapsed")
	it := s.Query("SELECT k FROM "+ks+".t WHERE k = ?", 1).Iter(t.Context())
	require.NotNil(t, it.Host())
	require.Equal(t, 1, it.Attempts())
	require.Equal(t, ks, it.Keyspace())
	require.NoError(t, it.Close())
}

// testConcurrent reads unique values from many goroutines with random timeouts. Each read must return its own value.
func testConcurrent(t *testing.T, s *vecql.Session, ks string) {
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (k int PRIMARY KEY, nonce text, v %s)", ks, floats(s, 16)))
	const workers, each = 32, 60
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(w)))
			for i := range each {
				k := w*each + i
				nonce := fmt.Sprintf("nonce %d of %d", i, w)
				vector := make([]float32, 16)
				for j := range vector {
					vector[j] = r.Float32()
				}
				if err := s.Query(fmt.Sprintf("INSERT INTO %s.t (k, nonce, v) VALUES (?, ?, ?)", ks), k, nonce, vector).Exec(t.Context()); err != nil {
					t.Errorf("insert %d: %v", k, err)
					return
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(40))*time.Millisecond/10)
				var got string
				err := s.Query(fmt.Sprintf("SELECT nonce FROM %s.t WHERE k = ?", ks), k).Scan(ctx, &got)
				cancel()
				if err == nil && got != nonce || err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %q, %v, want %q", got, err, nonce)
				}
				var back []float32
				if err := s.Query(fmt.Sprintf("SELECT nonce, v FROM %s.t WHERE k = ?", ks), k).Scan(t.Context(), &got, &back); err != nil ||
					got != nonce || fmt.Sprint(back) != fmt.Sprint(vector) {
					t.Errorf("got %q, %v, want %q", got, err, nonce)
				}
			}
		})
	}
	wg.Wait()
}

func testANN(t *testing.T, s *vecql.Session, ks string) {
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (k int PRIMARY KEY, v vector<float, 2>)", ks))
	exec(t, s, fmt.Sprintf("CREATE CUSTOM INDEX ON %s.t (v) USING 'StorageAttachedIndex' WITH OPTIONS = {'similarity_function': 'euclidean'}", ks))
	insert := fmt.Sprintf("INSERT INTO %s.t (k, v) VALUES (?, ?)", ks)
	for i := range 20 { // on all replicas: the search reads one
		require.NoError(t, s.Query(insert, i, []float32{float32(i), 1}).Consistency(cql.All).Exec(t.Context()))
	}
	nearest := s.Query(fmt.Sprintf("SELECT k, similarity_euclidean(v, ?) FROM %s.t ORDER BY v ANN OF ? LIMIT 3", ks), []float32{7.2, 1}, []float32{7.2, 1}).
		Consistency(cql.One)
	require.Eventually(t, func() bool { // the index is queryable after gossip has announced it
		return !errors.Is(nearest.Exec(t.Context()), cql.CodeReadFailure)
	}, 30*time.Second, 50*time.Millisecond)
	it := nearest.Iter(t.Context())
	var k int
	var similarity float32
	var found []int
	for it.Scan(&k, &similarity) {
		require.Greater(t, similarity, float32(0))
		found = append(found, k)
	}
	require.NoError(t, it.Close())
	require.Equal(t, []int{7, 8, 6}, found)
}
