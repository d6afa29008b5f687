// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// TestWriteThatMayHaveBeenExecutedIsNotSentAgain, unless it is idempotent.
func TestWriteThatMayHaveBeenExecutedIsNotSentAgain(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) { cfg.RetryPolicy = &gocql.SimpleRetryPolicy{NumRetries: 5} })
	for idempotent, want := range map[bool]int{false: 1, true: 6} {
		rule := c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Error: &cqltest.Error{Code: cqltest.CodeWriteTimeout}})
		q := s.Query("INSERT INTO items (id) VALUES (?)", 1).Idempotent(idempotent)
		if err := q.Exec(); err == nil || rule.Hits() > want || rule.Hits() < min(want, 3) {
			t.Error(idempotent, rule.Hits(), err)
		}
		rule.Remove()
	}
}

// TestExponentialBackoffEndsWithTheContext.
func TestExponentialBackoffEndsWithTheContext(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c)
	fail(c, "SELECT", cqltest.Error{Code: cqltest.CodeOverloaded})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	policy := &gocql.ExponentialBackoffRetryPolicy{NumRetries: 3, Min: time.Hour, Max: time.Hour}
	if err := s.Query("SELECT id FROM items WHERE id = ?", 1).WithContext(ctx).RetryPolicy(policy).Exec(); err == nil {
		t.Error("no error")
	}
}

type traces [][]byte

func (t *traces) Trace(id []byte) { *t = append(*t, slices.Clone(id)) }

// TestCopiesOfAQuery have values and options of their own.
func TestCopiesOfAQuery(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	var traces traces
	q := s.Query("INSERT INTO items (id, name) VALUES (?, ?)", 1, "") // an empty text is encoded by the dialect
	copied, with := *q, q.WithContext(t.Context())
	other := copied
	copied.Bind(2, "lamp").Trace(&traces)
	with.Bind(3, "desk").Idempotent(true).PageSize(1)
	for i, q := range []*gocql.Query{q, &copied, with, &other} {
		if err := q.Exec(); err != nil {
			t.Fatal(i, err)
		}
		if len(traces) != min(i, 1) || q.IsIdempotent() != (i == 2) {
			t.Error(i, len(traces), q.IsIdempotent())
		}
	}
	rows, err := s.Query("SELECT id, name FROM items").Iter().SliceMap()
	if names := map[any]any{}; err == nil && len(rows) == 3 {
		for _, row := range rows {
			names[row["id"]] = row["name"]
		}
		if fmt.Sprint(names) != "map[1: 2:lamp 3:desk]" {
			t.Error(names)
		}
	} else {
		t.Error(rows, err)
	}
}

// TestQueryIsSmall: each query of a program is on the heap, and hundreds of them in flight fill the processor's cache.
func TestQueryIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(gocql.Query{}); size > 152 {
		t.Error(size, "bytes")
	}
}

// TestConditionalStatements: what was applied, and the current values.
func TestConditionalStatements(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	insert := "INSERT INTO items (id, name) VALUES (?, ?) IF NOT EXISTS"
	m := map[string]any{}
	if applied, err := s.Query(insert, 1, "lamp").MapScanCAS(m); err != nil || !applied || len(m) != 0 {
		t.Fatal(applied, m, err)
	}
	if applied, err := s.Query(insert, 1, "desk").MapScanCAS(m); err != nil || applied || m["name"] != "lamp" {
		t.Fatal(applied, m, err)
	}
	var name string
	update := s.Query("UPDATE items SET name = ? WHERE id = ? IF name = ?", "bed", 1, "desk").SerialConsistency(gocql.LocalSerial)
	if applied, err := update.ScanCAS(&name); err != nil || applied || name != "lamp" {
		t.Fatal(applied, name, err)
	}
	if applied, err := update.Bind("bed", 1, "lamp").ScanCAS(&name); err != nil || !applied {
		t.Fatal(applied, err)
	}
	if applied, err := s.Query("SELECT * FROM items WHERE id = ?", 1).MapScanCAS(m); err != nil || applied || m["name"] != "bed" {
		t.Error("a SELECT:", applied, m, err)
	}
	if _, err := s.Query("UPDATE items SET name = ? WHERE id = ?", "x", 1).ScanCAS(); err != gocql.ErrNotFound {
		t.Error("a statement without a condition:", err)
	}
}

// TestPaging: automatic paging reads all rows, PageState one page.
func TestPaging(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	for id := range 25 {
		run(t, s, "INSERT INTO items (id) VALUES (?)", id)
	}
	count := func(it *gocql.Iter) (n int) {
		for it.Scan(new(int)) {
			n++
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(s.Query("SELECT id FROM items").PageSize(10).Prefetch(0).Iter()); n != 25 {
		t.Error("automatic:", n)
	}
	state := []byte{} // as an empty text in base64 is decoded
	var pages []int
	for {
		it := s.Query("SELECT id FROM items").PageSize(10).PageState(state).Iter()
		state = it.PageState()
		pages = append(pages, count(it))
		if len(state) == 0 {
			break
		}
	}
	if !slices.Equal(pages, []int{10, 10, 5}) {
		t.Error("manual:", pages)
	}
	if it := s.Query("SELECT id FROM items").PageSize(0).Iter(); it.NumRows() != 25 {
		t.Error("no paging:", it.NumRows())
	}
}

// TestBindingFunctionGetsTheStatement.
func TestBindingFunctionGetsTheStatement(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	run(t, s, "INSERT INTO items (id, name) VALUES (?, ?)", 1, "lamp")
	var name string
	q := s.Bind("SELECT name FROM items WHERE id = ?", func(q *gocql.QueryInfo) ([]any, error) {
		if len(q.Args) != 1 || q.Args[0].TypeInfo.Type() != gocql.TypeInt || q.Rval[0].Name != "name" || len(q.PKeyColumns) != 1 || len(q.Id) == 0 {
			return nil, fmt.Errorf("%+v", q)
		}
		return []any{1}, nil
	})
	if err := q.Scan(&name); err != nil || name != "lamp" {
		t.Fatal(name, err)
	}
}

// TestNamedAndUnsetValues.
func TestNamedAndUnsetValues(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	run(t, s, "INSERT INTO items (id, name) VALUES (:id, :name)", gocql.NamedValue("name", "lamp"), gocql.NamedValue("id", 1))
	run(t, s, "INSERT INTO items (id, name) VALUES (?, ?)", 1, gocql.UnsetValue)
	if m := mapRow(t, s, map[string]any{}, 1); m["name"] != "lamp" {
		t.Error(m)
	}
}

// TestTraceWriter writes the events of a trace.
func TestTraceWriter(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	var text strings.Builder
	if err := s.Query("SELECT id FROM items WHERE id = ?", 1).Trace(gocql.NewTraceWriter(s, &text)).Exec(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.ToLower(text.String()), "tracing session") {
		t.Error(text.String())
	}
}

// TestSpeculativeExecution: a second node answers while the first one is silent, if the query is marked idempotent.
func TestSpeculativeExecution(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c)
	run(t, s, "INSERT INTO items (id) VALUES (?)", 1)
	silent := c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Times: 1, Drop: true})
	q := s.Query("INSERT INTO items (id) VALUES (?)", 1).Idempotent(true).
		SetSpeculativeExecutionPolicy(&gocql.SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: time.Millisecond})
	if err := q.Exec(); err != nil || silent.Hits() != 1 {
		t.Error(err, silent.Hits())
	}
	var none gocql.NonSpeculativeExecution
	if none.Attempts() != 0 || none.Delay() <= 0 {
		t.Error(none.Attempts(), none.Delay())
	}
}

// TestDecisionsOfDowngradingConsistency by error.
func TestDecisionsOfDowngradingConsistency(t *testing.T) {
	p := &gocql.DowngradingConsistencyRetryPolicy{}
	for _, test := range []struct {
		err  error
		want gocql.RetryType
	}{
		{&gocql.RequestErrUnavailable{Alive: 1}, gocql.Retry},
		{&gocql.RequestErrUnavailable{}, gocql.Rethrow},
		{&gocql.RequestErrWriteTimeout{WriteType: "SIMPLE", Received: 1}, gocql.Ignore},
		{&gocql.RequestErrWriteTimeout{WriteType: "COUNTER"}, gocql.Rethrow},
		{&gocql.RequestErrWriteTimeout{WriteType: "UNLOGGED_BATCH"}, gocql.Retry},
		{&gocql.RequestErrWriteTimeout{WriteType: "CAS", Received: 1}, gocql.Rethrow},
		{&gocql.RequestErrReadTimeout{}, gocql.Retry},
		{gocql.ErrConnectionClosed, gocql.RetryNextHost},
	} {
		if got := p.GetRetryType(test.err); got != test.want {
			t.Errorf("%T: %d, want %d", test.err, got, test.want)
		}
	}
}
