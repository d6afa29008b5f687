// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat/compattest"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

const selectName = "SELECT name FROM items WHERE id = ?"

func TestQueryKnowsItsTableOnceItWasExecuted(t *testing.T) {
	m := openModule(t)
	q := m.query(selectName, 258)
	require.False(t, IsKnown(&q.v1Query))
	require.Equal(t, vecql.RouteInfo{}, KnownRoute(&q.v1Query))
	require.Empty(t, q.Table())
	require.Equal(t, "shop", q.Keyspace())
	require.NoError(t, Exec(&q.v1Query, nil))
	require.True(t, IsKnown(&q.v1Query))
	require.Equal(t, "items", q.Table())
	require.Equal(t, "shop", q.Keyspace())
	require.Nil(t, q.replicas())
	require.Empty(t, m.query(selectName, 258).Table(), "another query, although its statement is prepared")

	key, err := m.query(selectName, 258).GetRoutingKey()
	require.NoError(t, err)
	require.Equal(t, []byte{0, 0, 1, 2}, key)
	key, err = m.query(selectName, 258).RoutingKey([]byte{7}).GetRoutingKey()
	require.NoError(t, err)
	require.Equal(t, []byte{7}, key)
	_, err = m.query("SELECT name FROM nothing WHERE id = ?", 1).GetRoutingKey()
	require.Equal(t, 0x2200, err.(RequestError).Code())

	other := m.query("CREATE TABLE other (id int PRIMARY KEY)")
	require.NoError(t, Exec(&other.v1Query, nil))
	require.False(t, IsKnown(&other.v1Query), "the statement is not prepared")
	SetKeyspace(other, "own")
	require.Equal(t, "own", other.Keyspace())
}

// TestRouteOfAFunctionThatBindsIsUnknown until the query has values.
func TestRouteOfAFunctionThatBindsIsUnknown(t *testing.T) {
	m := openModule(t)
	calls := 0
	q := m.bound(selectName, func(*QueryInfo[string]) ([]any, error) {
		calls++
		return []any{258}, nil
	})
	key, err := q.GetRoutingKey()
	require.NoError(t, err)
	require.Nil(t, key)
	require.Zero(t, calls)
	key, err = q.Bind(258).GetRoutingKey()
	require.NoError(t, err)
	require.Equal(t, []byte{0, 0, 1, 2}, key)
}

func TestFunctionThatBindsGetsThePreparedStatement(t *testing.T) {
	m := openModule(t)
	m.exec(t, insertItem, 1, "lamp")
	var seen QueryInfo[string]
	bind := func(q *QueryInfo[string]) ([]any, error) {
		seen = *q
		return []any{1}, nil
	}
	var name string
	require.NoError(t, m.bound(selectName, bind).Scan(&name))
	require.Equal(t, "lamp", name)
	require.NotEmpty(t, seen.Id)
	seen.Id = nil
	require.Equal(t, QueryInfo[string]{nil, []string{"id"}, []string{"name"}, []int{0}}, seen)
	failure := errors.New("of the program")
	require.Equal(t, failure, Exec(&m.bound(selectName, func(*QueryInfo[string]) ([]any, error) { return nil, failure }).v1Query, nil))
}

// TestStatementWithoutMarkersIsExecutedWithoutItsValues, unless the API prepares it.
func TestStatementWithoutMarkersIsExecutedWithoutItsValues(t *testing.T) {
	m := openModule(t)
	values := func(*QueryInfo[string]) ([]any, error) { return []any{1}, nil }
	require.NoError(t, Exec(&m.query("CREATE TABLE a (id int PRIMARY KEY)", 1).v1Query, nil))
	require.NoError(t, Exec(&m.bound("CREATE TABLE b (id int PRIMARY KEY)", values).v1Query, nil))
	require.NoError(t, m.iter(m.query("CREATE TABLE c (id int PRIMARY KEY)", 1), nil).Close())
	require.NoError(t, m.iter(m.bound("CREATE TABLE d (id int PRIMARY KEY)", values), nil).Close())
	for _, table := range []string{"a", "b", "c", "d"} {
		m.exec(t, "SELECT id FROM "+table)
	}
	require.EqualError(t, Exec(&m.query("SELECT id FROM a", 1).v1Query, nil), "gocql: expected 0 values send got 1")
}

// watched is an execution of the module. It records what the policy and the observer of a program see.
type watched struct {
	Execution
	asked    []vecql.Attempt
	seen     []vecql.ObservedAttempt
	decision vecql.Decision // after the first attempt
}

func (w *watched) Decide(_ context.Context, a vecql.Attempt) vecql.Decision {
	w.Count(a.Number)
	if w.asked = append(w.asked, a); len(w.asked) == 1 {
		return w.decision
	}
	return vecql.Decision{}
}

func (w *watched) ObserveAttempt(_ context.Context, o vecql.ObservedAttempt) {
	w.Observe(o.Host.ID.String(), o.Attempt, o.End.Sub(o.Start), o.Metrics)
	w.seen = append(w.seen, o)
}

// TestRequestThatCannotBeEncodedIsAnAttempt: policies and observers see it on a node, as often as the policy decides.
func TestRequestThatCannotBeEncodedIsAnAttempt(t *testing.T) {
	m := openModule(t)
	for _, observed := range []bool{false, true} {
		check := func(w *watched, err error, attempts int, batch, idempotent bool) {
			t.Helper()
			require.ErrorContains(t, err, "M vecql: ")
			require.Equal(t, 2, attempts)
			require.Len(t, w.asked, 2)
			for i, a := range w.asked {
				require.Equal(t, i+1, a.Number)
				require.Equal(t, cql.Two, a.Consistency)
				require.Equal(t, batch, a.Batch)
				require.Equal(t, idempotent, a.Idempotent)
				require.NotNil(t, a.Host)
			}
		}
		w := &watched{decision: vecql.Decision{Type: vecql.RetryNextHost}}
		q := m.query(insertItem, "x", 1).Consistency(level(cql.Two)).Idempotent(true)
		check(w, Exec(&q.v1Query, w.Begin(w, true, observed)), q.Attempts(), false, true)
		if observed {
			require.Len(t, w.seen, 2)
			for i, o := range w.seen {
				require.Equal(t, "shop", o.Keyspace)
				require.Equal(t, insertItem, o.Statements[0])
				require.Equal(t, i, o.Attempt)
				require.Equal(t, w.asked[i].Host, o.Host)
				require.Equal(t, w.asked[i].Err, o.Err)
				require.False(t, o.Start.IsZero() || o.End.IsZero())
			}
		}
		w = &watched{decision: vecql.Decision{Type: vecql.RetryNextHost}}
		q = m.query(insertItem, "x", 1).Consistency(level(cql.Two))
		check(w, m.iter(q, w.Begin(w, true, observed)).Close(), q.Attempts(), false, false)

		w = &watched{decision: vecql.Decision{Type: vecql.RetryNextHost}}
		b := m.batch(entry(insertItem, 1, "a"), entry(insertItem, "x", 1))
		b.content.Cons = level(cql.Two)
		check(w, m.execBatch(b, w.Begin(w, true, observed)).Close(), b.Attempts(), true, false)
		if observed {
			require.Len(t, w.seen, 2)
			for i, o := range w.seen {
				require.Equal(t, "shop", o.Keyspace)
				require.Equal(t, []string{insertItem, insertItem}, o.Statements)
				require.Equal(t, i, o.Attempt)
				require.Equal(t, w.asked[i].Host, o.Host)
				require.Equal(t, w.asked[i].Err, o.Err)
				require.False(t, o.Start.IsZero() || o.End.IsZero())
			}
		}
	}
	q := m.query(insertItem, "x", 1)
	require.Error(t, Exec(&q.v1Query, nil))
	require.Equal(t, 1, q.Attempts(), "without a policy")
}

// TestPolicyOfTheProgramSelectsTheNodeOfARequestThatIsNotSent.
func TestPolicyOfTheProgramSelectsTheNodeOfARequestThatIsNotSent(t *testing.T) {
	m := openModule(t)
	nodes := m.of.GetHosts()
	var requests []any
	var routes []vecql.RouteInfo
	m.core.Pick = func(ctx context.Context, r vecql.RouteInfo) vecql.NextHost {
		requests, routes = append(requests, RequestOf(ctx)), append(routes, r)
		return vecql.HostsInOrder(nodes[1])
	}
	w := &watched{}
	q := m.query(insertItem, "x", 1).Idempotent(true)
	require.Error(t, Exec(&q.v1Query, w.Begin(w, true, false)))
	require.True(t, w.asked[0].Host == nodes[1])
	require.Equal(t, []any{q}, requests)
	require.Equal(t, []vecql.RouteInfo{{Keyspace: "shop", Statement: insertItem, Idempotent: true}}, routes)
}

// TestAttemptsOfAllExecutionsAreCounted, or of the last one alone.
func TestAttemptsOfAllExecutionsAreCounted(t *testing.T) {
	m := openModule(t)
	for _, each := range []bool{false, true} {
		m.core.EachCounted = each
		q, b := m.query(insertItem, 1, "a"), m.batch(entry(insertItem, 1, "a"))
		for n := 1; n <= 3; n++ {
			require.NoError(t, Exec(&q.v1Query, nil))
			require.NoError(t, m.execBatch(b, nil).Close())
			want := n
			if each {
				want = 1
			}
			require.Equal(t, want, q.Attempts())
			require.Equal(t, want, b.Attempts())
			require.Positive(t, q.Latency())
		}
	}
	literal := &moduleBatch{content: Content[level, string]{Entries: []BatchEntry[string]{entry(insertItem, 1, "a")}, Cons: level(cql.One)}}
	require.NoError(t, m.execBatch(literal, nil).Close())
	require.Equal(t, 1, literal.Attempts())
}

// TestObserverAndPolicySeeTheAttemptsOfARequest.
func TestObserverAndPolicySeeTheAttemptsOfARequest(t *testing.T) {
	m := openModule(t)
	m.exec(t, insertItem, 1, "a")
	busy := cqltest.Error{Code: cqltest.CodeOverloaded}
	w := &watched{decision: vecql.Decision{Type: vecql.RetryNextHost}}
	compattest.Fail(m.cluster, insertItem, busy)
	q := m.query(insertItem, 1, "a").Idempotent(true)
	require.NoError(t, Exec(&q.v1Query, w.Begin(w, true, true)))
	require.Equal(t, 2, q.Attempts())
	require.Len(t, w.seen, 2)
	require.Len(t, w.asked, 1)

	w = &watched{decision: vecql.Decision{Type: vecql.RetryNextHost}}
	m.cluster.Inject(cqltest.Fault{Op: cqltest.OpBatch, Times: 1, Error: &busy})
	b := m.batch(BatchEntry[string]{Stmt: insertItem, Args: []any{1, "a"}, Idempotent: true})
	require.NoError(t, m.execBatch(b, w.Begin(w, true, true)).Close())
	require.Equal(t, 2, b.Attempts())
	require.Len(t, w.seen, 2)
	require.Len(t, w.asked, 1)
	require.True(t, w.asked[0].Batch)
}

// TestWarningsOfTheFirstPageArePassedOn, with the request and the node.
func TestWarningsOfTheFirstPageArePassedOn(t *testing.T) {
	m := openModule(t)
	m.exec(t, insertItem, 1, "a")
	m.exec(t, "SELECT id FROM items")
	warning := m.cluster.Inject(cqltest.Fault{Warnings: []string{"slow"}, Match: func(r cqltest.Request) bool {
		return r.Statement == insertItem || r.Statement == "SELECT id FROM items"
	}})
	m.exec(t, insertItem, 1, "a") // the warnings are ignored
	var requests []any
	m.core.Warn = func(request any, node *cql.Host, warnings []string) {
		require.NotNil(t, node)
		require.Equal(t, []string{"slow"}, warnings)
		requests = append(requests, request)
	}
	q, rows, b := m.query(insertItem, 1, "a"), m.query("SELECT id FROM items"), m.batch(entry(insertItem, 1, "a"))
	require.NoError(t, Exec(&q.v1Query, nil))
	it := m.iter(rows, nil)
	require.Equal(t, []string{"slow"}, it.Warnings())
	require.NoError(t, it.Close())
	require.NoError(t, m.execBatch(b, nil).Close())
	require.Equal(t, []any{q, rows, b}, requests)
	warning.Remove()
	require.NoError(t, m.iter(rows, nil).Close())
	require.Len(t, requests, 3, "no warnings")
}

func TestBatchHasTheValuesAndTextsOfItsStatements(t *testing.T) {
	entries := []BatchEntry[string]{entry("a", 1, "x"), {Stmt: "b", Idempotent: true}}
	require.Equal(t, []string{"a", "b"}, StatementsOf(entries))
	require.Equal(t, [][]any{{1, "x"}, nil}, ValuesOf(entries))
	require.False(t, AllIdempotent(entries))
	entries[0].Idempotent = true
	require.True(t, AllIdempotent(entries))
}

// TestRouteOfABatchIsThatOfItsFirstStatement.
func TestRouteOfABatchIsThatOfItsFirstStatement(t *testing.T) {
	m := openModule(t)
	bind := BoundEntry(insertItem, func(*QueryInfo[string]) ([]any, error) { return []any{3, "c"}, nil })
	first := m.batch(entry(insertItem, 258, "a"), entry(insertItem, 1, "b"))
	require.False(t, BeginsKnown(&first.v1Batch, first.content), "the statement is not prepared")
	key, err := RoutingKeyOf(&first.v1Batch, first.content)
	require.NoError(t, err)
	require.Equal(t, []byte{0, 0, 1, 2}, key)
	require.True(t, BeginsKnown(&first.v1Batch, first.content))
	literal := &moduleBatch{content: first.content}
	for _, b := range []*moduleBatch{m.batch(), m.batch(bind, entry(insertItem, 1, "a")), literal} {
		key, err = RoutingKeyOf(&b.v1Batch, b.content)
		require.NoError(t, err)
		require.Nil(t, key)
		require.False(t, BeginsKnown(&b.v1Batch, b.content))
		require.Nil(t, b.replicas())
		require.Empty(t, b.Table())
	}
	require.Equal(t, "shop", first.Keyspace())
	require.Empty(t, literal.Keyspace())
	SetKeyspace(first, "own")
	require.Equal(t, "own", first.Keyspace())
	unknown := m.batch(entry("INSERT INTO nothing (id) VALUES (?)", 1))
	_, err = RoutingKeyOf(&unknown.v1Batch, unknown.content)
	require.Equal(t, 0x2200, err.(RequestError).Code())

	m.core.Started = nil
	_, err = RoutingKeyOf(&first.v1Batch, first.content)
	require.Equal(t, ErrSessionClosed, err)
	require.False(t, BeginsKnown(&first.v1Batch, first.content))
	require.False(t, IsKnown(&m.query(insertItem, 1, "a").v1Query))
	require.Equal(t, ErrSessionClosed, m.execBatch(first, nil).Close())
	_, err = m.query(selectName, 1).GetRoutingKey()
	require.Equal(t, ErrSessionClosed, err)
}

func TestMetadataOfASessionIsThatOfTheModule(t *testing.T) {
	m := openModule(t)
	var keyspaces Keyspaces[string]
	convert := func(k *cql.KeyspaceMetadata) (*string, error) { return &k.Name, nil }
	name, err := SchemaOf(&m.core, &keyspaces, "shop", convert)
	require.NoError(t, err)
	require.Equal(t, "shop", *name)
	again, err := SchemaOf(&m.core, &keyspaces, "shop", convert)
	require.NoError(t, err)
	require.True(t, name == again)
	_, err = SchemaOf(&m.core, &keyspaces, "none", convert)
	require.Equal(t, ErrKeyspaceDoesNotExist, err)
	require.NoError(t, AwaitAgreement(t.Context(), &m.core))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m.cluster.Node(0).SetSchemaVersion(&[16]byte{1})
	require.Equal(t, context.Canceled, AwaitAgreement(ctx, &m.core))
	m.core.Started = nil
	_, err = SchemaOf(&m.core, &keyspaces, "shop", convert)
	require.Equal(t, ErrSessionClosed, err)
	require.Equal(t, ErrSessionClosed, AwaitAgreement(t.Context(), &m.core))
}

// TestStartErrorNamesItsCause, except for a missing keyspace and a filter that accepts no node.
func TestStartErrorNamesItsCause(t *testing.T) {
	for _, err := range []error{vecql.ErrKeyspaceDoesNotExist, vecql.ErrNoHosts} {
		require.True(t, StartError(failed(err)) == ErrNoConnectionsStarted)
	}
	cause := errors.New("refused")
	require.EqualError(t, StartError(cause), "gocql: unable to create session: refused")
	require.ErrorIs(t, StartError(cause), cause)
}
