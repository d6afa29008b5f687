// SPDX-License-Identifier: Apache-2.0

//go:build !v2

package gocql_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// What v1.7 and the fork alone have: queries that count their attempts, retry policies that see the query, options of
// sessions, loggers of lines.

// TestObserverSeesTheAttemptsOfAQuery, with the metrics of their node: v1.7 counts all executions, the fork each one.
func TestObserverSeesTheAttemptsOfAQuery(t *testing.T) {
	c := newCluster(t, cqltest.Config{Nodes: 1})
	o := &observer{}
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) { cfg.QueryObserver = o })
	q := s.Query("SELECT name FROM items WHERE id = ?", 1).Consistency(gocql.One)
	for range 2 {
		if err := q.Exec(); err != nil {
			t.Fatal(err)
		}
	}
	if len(o.Queries) != 2 || q.Attempts() != counted(2) || q.Latency() <= 0 {
		t.Fatal(o.Queries, q.Attempts(), q.Latency())
	}
	for n, seen := range o.Queries {
		i := counted(n+1) - 1
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

// counted returns the number of attempts of a request after executions with one attempt each.
func counted(executions int) int {
	if countsEach {
		return 1
	}
	return executions
}

// TestDowngradingConsistency sends the request again at the next level of the list. The fork does with ScyllaDB only:
// it takes every statement for conditional elsewhere.
func TestDowngradingConsistency(t *testing.T) {
	c := newCluster(t, downgrading)
	s := newSession(t, c)
	fail(c, "SELECT", cqltest.Error{Code: cqltest.CodeUnavailable, Required: 2, Alive: 1})
	q := s.Query("SELECT id FROM items WHERE id = ?", 1).
		RetryPolicy(&gocql.DowngradingConsistencyRetryPolicy{ConsistencyLevelsToTry: []gocql.Consistency{gocql.One}})
	if err := q.Exec(); err != nil || q.GetConsistency() != gocql.One {
		t.Error(err, q.GetConsistency())
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
	if err := it.Close(); err == nil || q.Attempts() != attemptsWithoutPolicy {
		t.Error(err, q.Attempts())
	}
	if len(o.Queries) != attemptsWithoutPolicy || o.Queries[0].Keyspace != "shop" || o.Queries[0].Err == nil || o.Queries[0].Host == nil {
		t.Errorf("%+v", o.Queries)
	}
	p := &countingPolicy{result: gocql.Rethrow}
	if err := s.Query("SELECT nowhere FROM items WHERE id = ?", 1).RetryPolicy(p).Exec(); err == nil || len(p.errs) != 1 {
		t.Error(err, p.errs)
	}
}

// TestAttemptsThatWereNotSentAreCountedOnce, with an observer and without one.
func TestAttemptsThatWereNotSentAreCountedOnce(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	for _, o := range []gocql.QueryObserver{nil, &observer{}} {
		p := &countingPolicy{}
		q := s.Query("INSERT INTO items (id) VALUES (?)", "no number").RetryPolicy(p)
		if o != nil {
			q.Observer(o)
		}
		if err := q.Exec(); err == nil || q.Attempts() != 3 || !slices.Equal(p.attempts, []int{1, 2, 3}) {
			t.Error(o != nil, err, q.Attempts(), p.attempts)
		}
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
	s.SetPageSize(1)
	s.SetPrefetch(0.5)
	run(t, s, "INSERT INTO items (id) VALUES (?)", 1)
	run(t, s, "INSERT INTO items (id) VALUES (?)", 2)
	if it := s.Query("SELECT id FROM items").Iter(); it.NumRows() != 1 || len(it.PageState()) == 0 || it.Close() != nil {
		t.Error("page size")
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

// TestBatch: statements with values, without values, and with a function that returns the values.
func TestBatch(t *testing.T) {
	o := &observer{}
	s := newSession(t, newCluster(t, cqltest.Config{}), func(cfg *gocql.ClusterConfig) { cfg.BatchObserver = o })
	b := s.NewBatch(gocql.LoggedBatch)
	b.Query("INSERT INTO items (id, name) VALUES (?, ?)", 1, "lamp")
	b.Query("INSERT INTO items (id, name) VALUES (2, 'desk')")
	b.Bind("INSERT INTO items (id, name) VALUES (?, ?)", func(q *gocql.QueryInfo) ([]any, error) {
		return []any{len(q.Args) + 1, q.Args[1].Name}, nil
	})
	if b.Size() != 3 || b.IsIdempotent() || b.Keyspace() != "shop" {
		t.Error(b.Size(), b.IsIdempotent(), b.Keyspace())
	}
	for range 2 {
		if err := s.ExecuteBatch(b.WithContext(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if rows, err := s.Query("SELECT id FROM items").Iter().SliceMap(); err != nil || len(rows) != 3 {
		t.Error(rows, err)
	}
	if b.Attempts() != counted(2) || b.Latency() <= 0 || len(o.Batches) != 2 {
		t.Fatal(b.Attempts(), b.Latency(), len(o.Batches))
	}
	seen := o.Batches[1]
	if seen.Attempt != counted(2)-1 || seen.Err != nil || seen.Host == nil || seen.Metrics.Attempts < 1 || len(seen.Statements) != 3 ||
		!reflect.DeepEqual(seen.Values[0], []any{1, "lamp"}) || seen.Values[1] != nil {
		t.Errorf("%+v", seen)
	}
}

// TestRetriedBatch: the policy of a batch sees the batch.
func TestRetriedBatch(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c)
	c.Inject(cqltest.Fault{Op: cqltest.OpBatch, Times: 1, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
	b := s.NewBatch(gocql.LoggedBatch).RetryPolicy(&gocql.SimpleRetryPolicy{NumRetries: 1}).WithContext(context.Background())
	b.Query("INSERT INTO items (id) VALUES (?)", 1)
	b.Entries[0].Idempotent = true
	if err := s.ExecuteBatch(b); err != nil || b.Attempts() != 2 {
		t.Error(err, b.Attempts())
	}
}

// TestIterWithoutResult: the methods of an Iter that failed return zero values.
func TestIterWithoutResult(t *testing.T) {
	for _, it := range []*gocql.Iter{{}, new(gocql.Session).Query("SELECT 1").Iter()} {
		if it.Scan() || it.MapScan(map[string]any{}) || it.NumRows() != 0 || it.PageState() != nil || it.Host() != nil ||
			it.Columns() != nil || it.Warnings() != nil || it.GetCustomPayload() != nil || it.WillSwitchPage() || it.Scanner().Next() {
			t.Error("not empty")
		}
	}
}

// TestPolicyIsToldOfNewHosts and of those that went down.
func TestPolicyIsToldOfNewHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, cqltest.Config{Nodes: 2, Network: cqltest.InMemory})
		p := &eventPolicy{HostSelectionPolicy: gocql.DCAwareRoundRobinPolicy("datacenter1"), events: make(chan string, 16)}
		s := newSession(t, c, func(cfg *gocql.ClusterConfig) {
			cfg.Dialer = c.Dialer()
			cfg.PoolConfig.HostSelectionPolicy, cfg.Consistency = p, gocql.One
		})
		expect := func(want string) {
			t.Helper()
			if got := <-p.events; got != want {
				t.Fatal(got, "want", want)
			}
		}
		for _, event := range []string{"add", "add", "up", "up", "keyspace shop"} {
			expect(event)
		}
		added, err := c.AddNode("datacenter1", "rack1")
		if err != nil {
			t.Fatal(err)
		}
		expect("add")
		expect("up")
		added.Kill()
		expect("down")
		s.Close()
		c.Close()
	})
}

// eventPolicy sends a word for each event.
type eventPolicy struct {
	gocql.HostSelectionPolicy
	events chan string
}

func (p *eventPolicy) AddHost(h *gocql.HostInfo) { p.HostSelectionPolicy.AddHost(h); p.events <- "add" }

func (p *eventPolicy) KeyspaceChanged(e gocql.KeyspaceUpdateEvent) {
	p.events <- "keyspace " + e.Keyspace
}

func (p *eventPolicy) HostUp(h *gocql.HostInfo) { p.HostSelectionPolicy.HostUp(h); p.events <- "up" }

func (p *eventPolicy) HostDown(h *gocql.HostInfo) {
	p.HostSelectionPolicy.HostDown(h)
	p.events <- "down"
}

// TestColumnsOfAResult have the types of this API.
func TestColumnsOfAResult(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	if err := c.Exec("CREATE TABLE shop.vectors (id int PRIMARY KEY, v vector<float, 2>)"); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, c)
	it := s.Query("SELECT id, name, tags, counts, pair, home FROM items").Iter()
	want := []string{"int", "varchar", "list(varchar)", "map(varchar, int)", "tuple(int, varchar)", "shop.address{street=varchar,number=int}"}
	for i, column := range it.Columns() {
		if text := fmt.Sprint(column.TypeInfo); text != want[i] || column.Keyspace != "shop" || column.Table != "items" || column.TypeInfo.Version() != 4 {
			t.Error(column, text)
		}
	}
	if first := &it.Columns()[0]; first != &it.Columns()[0] {
		t.Error("the columns are converted again")
	}
	run(t, s, "INSERT INTO vectors (id, v) VALUES (?, ?)", 1, []float32{1, 2})
	it = s.Query("SELECT v FROM vectors").Iter()
	info := it.Columns()[0].TypeInfo
	if info.Type() != gocql.TypeCustom || info.Custom() != "org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType, 2)" {
		t.Error(info)
	}
	var v []float32
	if !it.Scan(&v) || len(v) != 2 || v[1] != 2 {
		t.Error(v, it.Close())
	}
	data, err := gocql.Marshal(info, []float32{1, 2})
	if err != nil || gocql.Unmarshal(info, data, &v) != nil || v[0] != 1 {
		t.Error(data, v, err)
	}
}

// TestStartWithoutAReachableHost.
func TestStartWithoutAReachableHost(t *testing.T) {
	if _, err := gocql.NewCluster().CreateSession(); err != gocql.ErrNoHosts {
		t.Errorf("%T %v", err, err)
	}
	c := newCluster(t, cqltest.Config{})
	cfg := gocql.NewCluster(c.Hosts()...)
	cfg.Keyspace = "none"
	if _, err := cfg.CreateSession(); err != gocql.ErrNoConnectionsStarted {
		t.Errorf("a missing keyspace: %T %v", err, err)
	}
	c.Close()
	if _, err := cfg.CreateSession(); err == nil || !errors.Is(err, vecql.ErrNoConnectionsStarted) || !strings.Contains(err.Error(), c.Hosts()[0]) {
		t.Errorf("no node: %T %v", err, err)
	}
}
