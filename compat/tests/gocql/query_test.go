// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// TestObserverSeesTheAttemptsOfAllExecutionsOfAQuery, with the metrics of their node.
func TestObserverSeesTheAttemptsOfAllExecutionsOfAQuery(t *testing.T) {
	c := newCluster(t, cqltest.Config{Nodes: 1})
	o := &observer{}
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) { cfg.QueryObserver = o })
	q := s.Query("SELECT name FROM items WHERE id = ?", 1).Consistency(gocql.One)
	for range 2 {
		if err := q.Exec(); err != nil {
			t.Fatal(err)
		}
	}
	if len(o.Queries) != 2 || q.Attempts() != 2 || q.Latency() <= 0 {
		t.Fatal(o.Queries, q.Attempts(), q.Latency())
	}
	for i, seen := range o.Queries {
		if seen.Attempt != i || seen.Metrics.Attempts != i+1 || seen.Metrics.TotalLatency <= 0 || seen.Keyspace != "shop" ||
			seen.Statement != q.Statement() || !reflect.DeepEqual(seen.Values, []any{1}) || seen.Err != nil ||
			!seen.Host.IsUp() || seen.Host.HostID() == "" || seen.Host != o.Queries[0].Host {
			t.Errorf("%d: %+v", i, seen)
		}
	}
}

// TestQueryCountsItsAttemptsWithoutAnObserver.
func TestQueryCountsItsAttemptsWithoutAnObserver(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c)
	q := s.Query("INSERT INTO items (id) VALUES (?)", 1).Idempotent(true).RetryPolicy(&gocql.SimpleRetryPolicy{NumRetries: 3})
	c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Times: 2, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
	if err := q.Exec(); err != nil || q.Attempts() != 3 || q.Latency() <= 0 {
		t.Fatal(err, q.Attempts(), q.Latency())
	}
}

// countingPolicy is a retry policy of a program that looks at the query.
type countingPolicy struct {
	attempts []int
	errs     []error
	result   gocql.RetryType // its zero value is Retry
}

func (p *countingPolicy) Attempt(q gocql.RetryableQuery) bool {
	if _, ok := q.(*gocql.Query); !ok {
		panic(fmt.Sprintf("%T", q))
	}
	p.attempts = append(p.attempts, q.Attempts())
	return q.Attempts() <= 2
}

func (p *countingPolicy) GetRetryType(err error) gocql.RetryType {
	p.errs = append(p.errs, err)
	return p.result
}

// TestRetryPolicyOfTheProgram: the zero value of RetryType is a retry on the same node.
func TestRetryPolicyOfTheProgram(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	o := &observer{}
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) { cfg.QueryObserver = o })
	run(t, s, "INSERT INTO items (id) VALUES (?)", 1)
	o.Queries = nil
	p := &countingPolicy{}
	c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
	err := s.Query("INSERT INTO items (id) VALUES (?)", 1).Idempotent(true).RetryPolicy(p).Exec()
	if codeOf(err) != gocql.ErrCodeOverloaded {
		t.Fatalf("%T %v", err, err)
	}
	if !slices.Equal(p.attempts, []int{1, 2, 3}) || len(p.errs) != 2 || len(o.Queries) != 3 {
		t.Error(p.attempts, p.errs, len(o.Queries))
	}
	for _, seen := range o.Queries {
		if seen.Host != o.Queries[0].Host {
			t.Error("another node")
		}
	}
	if codeOf(p.errs[0]) != gocql.ErrCodeOverloaded {
		t.Errorf("%T", p.errs[0])
	}
}

// TestUnknownRetryTypeIsAnError.
func TestUnknownRetryTypeIsAnError(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c)
	fail(c, "SELECT", cqltest.Error{Code: cqltest.CodeOverloaded})
	q := s.Query("SELECT id FROM items WHERE id = ?", 1).RetryPolicy(&countingPolicy{result: 99})
	if err := q.Exec(); err != gocql.ErrUnknownRetryType {
		t.Errorf("%T %v", err, err)
	}
}

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

// TestDowngradingConsistency sends the request again at the next level of the list.
func TestDowngradingConsistency(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c)
	fail(c, "SELECT", cqltest.Error{Code: cqltest.CodeUnavailable, Required: 2, Alive: 1})
	q := s.Query("SELECT id FROM items WHERE id = ?", 1).
		RetryPolicy(&gocql.DowngradingConsistencyRetryPolicy{ConsistencyLevelsToTry: []gocql.Consistency{gocql.One}})
	if err := q.Exec(); err != nil || q.GetConsistency() != gocql.One {
		t.Error(err, q.GetConsistency())
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

// TestFailedPrepareIsAnAttempt: it has a host, and the retry policy is asked.
func TestFailedPrepareIsAnAttempt(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	o := &observer{}
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) { cfg.QueryObserver = o })
	q := s.Query("SELECT nothing FROM items WHERE id = ?", 1)
	it := q.Iter()
	if it.Host() == nil || it.Host().ConnectAddress() == nil {
		t.Error("no host")
	}
	if err := it.Close(); err == nil || q.Attempts() != 1 {
		t.Error(err, q.Attempts())
	}
	if len(o.Queries) != 1 || o.Queries[0].Keyspace != "shop" || o.Queries[0].Err == nil || o.Queries[0].Host == nil {
		t.Errorf("%+v", o.Queries)
	}
	p := &countingPolicy{result: gocql.Rethrow}
	if err := s.Query("SELECT nowhere FROM items WHERE id = ?", 1).RetryPolicy(p).Exec(); err == nil || len(p.errs) != 1 {
		t.Error(err, p.errs)
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
	s.SetPageSize(4)
	s.SetPrefetch(0.5)
	if it := s.Query("SELECT id FROM items").Iter(); it.NumRows() != 4 || count(it) != 25 {
		t.Error("page size of the session")
	}
	var state []byte
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

// TestSettingsOfASession apply to the queries made after them.
func TestSettingsOfASession(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	q := s.Query("SELECT id FROM items")
	s.SetConsistency(gocql.LocalOne)
	if q.GetConsistency() != gocql.Quorum || s.Query("").GetConsistency() != gocql.LocalOne || s.NewBatch(gocql.LoggedBatch).GetConsistency() != gocql.LocalOne {
		t.Error("consistency")
	}
	var traces traces
	s.SetTrace(&traces)
	run(t, s, "SELECT id FROM items")
	if len(traces) != 1 || len(traces[0]) != 16 {
		t.Error(traces)
	}
	s.SetTrace(nil)
	run(t, s, "SELECT id FROM items")
	if len(traces) != 1 {
		t.Error(traces)
	}
}

type traces [][]byte

func (t *traces) Trace(id []byte) { *t = append(*t, slices.Clone(id)) }

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

// TestRouteOfAQuery: the routing key is known before the execution, the table after it.
func TestRouteOfAQuery(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	q := s.Query("SELECT name FROM items WHERE id = ?", 258)
	if q.Table() != "" || q.Keyspace() != "shop" {
		t.Error(q.Keyspace(), q.Table())
	}
	if key, err := q.GetRoutingKey(); err != nil || !slices.Equal(key, []byte{0, 0, 1, 2}) || q.Table() != "items" {
		t.Error(key, err, q.Table())
	}
	if key, err := q.RoutingKey([]byte{9}).GetRoutingKey(); err != nil || !slices.Equal(key, []byte{9}) {
		t.Error(key, err)
	}
	other := s.Query("SELECT name FROM items WHERE id = ?", 1)
	if err := other.Exec(); err != nil || other.Table() != "items" {
		t.Error(other.Table(), err)
	}
	b := s.NewBatch(gocql.UnloggedBatch)
	b.Query("INSERT INTO items (id) VALUES (?)", 258)
	if key, err := b.GetRoutingKey(); err != nil || !slices.Equal(key, []byte{0, 0, 1, 2}) {
		t.Error(key, err)
	}
}

// TestQueryIsCopiedByWithContext.
func TestQueryIsCopiedByWithContext(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	q := s.Query("SELECT id FROM items WHERE id = ?", 1)
	c := q.WithContext(context.WithValue(t.Context(), requestID{}, 7))
	if c == q || c.Context().Value(requestID{}) != 7 || q.Context().Value(requestID{}) != nil {
		t.Error("the context")
	}
	if err := c.Exec(); err != nil || q.Attempts() != 1 {
		t.Error("copies share their metrics:", q.Attempts(), err)
	}
	q.Release()
	if q.Statement() == "" {
		t.Error("a released query has no statement")
	}
}

type requestID struct{}

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
