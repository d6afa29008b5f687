// SPDX-License-Identifier: Apache-2.0

package sqlvecql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/sqlvecql"
)

// All connections share one session: its sockets are as many with a hundred goroutines as with one.
func TestConnectionsShareOneSession(t *testing.T) {
	cluster, db := start(t, items)
	require.Empty(t, cluster.Node(0).Conns(), "Open does not connect")
	require.NoError(t, db.PingContext(t.Context()))
	session, err := sqlvecql.Session(t.Context(), db)
	require.NoError(t, err)
	const sockets = 3 // the control connection, and two by default
	require.Eventually(t, func() bool { return len(cluster.Node(0).Conns()) == sockets }, 10*time.Second, time.Millisecond)
	insert, err := db.PrepareContext(t.Context(), "INSERT INTO items (id, name) VALUES (?, ?)")
	require.NoError(t, err)
	defer func() { _ = insert.Close() }()
	const goroutines, rounds = 100, 5
	var all sync.WaitGroup
	var ready sync.WaitGroup
	ready.Add(goroutines)
	for g := range goroutines {
		all.Go(func() {
			c, err := db.Conn(context.Background())
			ready.Done()
			ready.Wait() // all hold a connection now
			if err == nil {
				err = c.Close()
			}
			for i := 0; i < rounds && err == nil; i++ {
				id := g*rounds + i
				if _, err = insert.Exec(id, fmt.Sprint(id)); err == nil {
					var name string
					err = db.QueryRow("SELECT name FROM items WHERE id = ?", id).Scan(&name)
					if err == nil && name != fmt.Sprint(id) {
						err = fmt.Errorf("the name of %d is %q", id, name)
					}
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Len(t, cluster.Node(0).Conns(), sockets)
	same, err := sqlvecql.Session(t.Context(), db)
	require.NoError(t, err)
	require.Same(t, session, same)
	require.Equal(t, 3, cluster.Node(0).Requests(cqltest.OpPrepare), "each statement is prepared once, that of Ping too")
}

// Requests go to a replica of their partition.
func TestRouting(t *testing.T) {
	var wrong, right atomic.Int32
	_, db := startWith(t, cqltest.Config{OnRequest: func(r cqltest.Request) {
		switch {
		case !r.HasToken || r.Op != cqltest.OpExecute:
		case r.OnReplica:
			right.Add(1)
		default:
			wrong.Add(1)
		}
	}}, items)
	insert, err := db.Prepare("INSERT INTO items (id, name) VALUES (:id, :name)")
	require.NoError(t, err)
	defer func() { _ = insert.Close() }()
	for id := range 30 {
		_, err := insert.Exec(sql.Named("name", "lamp"), sql.Named("id", id))
		require.NoError(t, err)
		require.NoError(t, db.QueryRow("SELECT name FROM items WHERE id = ?", id).Scan(new(string)))
	}
	require.Zero(t, wrong.Load())
	require.EqualValues(t, 60, right.Load())
}

func TestRowsAreReadPageByPage(t *testing.T) {
	const n = 100
	cluster, db := start(t, items)
	for id := range n {
		exec(t, db, "INSERT INTO items (id, name) VALUES (?, 'lamp')", id)
	}
	var pages atomic.Int32
	cluster.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: "SELECT id", Match: func(cqltest.Request) bool {
		pages.Add(1)
		return false
	}})
	ctx := sqlvecql.WithQuery(t.Context(), func(q *vecql.Query) { q.PageSize(10).Prefetch(-1) })
	rows, err := db.QueryContext(ctx, "SELECT id FROM items")
	require.NoError(t, err)
	seen := map[int]bool{}
	for rows.Next() {
		var id int
		require.NoError(t, rows.Scan(&id))
		seen[id] = true
		require.EqualValues(t, (len(seen)+9)/10, pages.Load(), "row %d", len(seen))
	}
	require.NoError(t, rows.Err())
	require.Len(t, seen, n)
	require.NoError(t, rows.Close())

	pages.Store(0)
	rows, err = db.QueryContext(ctx, "SELECT id FROM items")
	require.NoError(t, err)
	require.True(t, rows.Next())
	require.NoError(t, rows.Close())
	require.EqualValues(t, 1, pages.Load(), "rows that are closed are not read")
}

// An error of a later page is the error of the rows.
func TestErrorOfAPage(t *testing.T) {
	cluster, db := start(t, items)
	for id := range 20 {
		exec(t, db, "INSERT INTO items (id) VALUES (?)", id)
	}
	cluster.Inject(cqltest.Fault{
		Statement: "SELECT id", Match: func(r cqltest.Request) bool { return r.Paged }, Error: &cqltest.Error{Code: cqltest.CodeInvalid},
	})
	ctx := sqlvecql.WithQuery(t.Context(), func(q *vecql.Query) { q.PageSize(10) })
	rows, err := db.QueryContext(ctx, "SELECT id FROM items")
	require.NoError(t, err)
	n := 0
	for rows.Next() {
		n++
	}
	require.Equal(t, 10, n)
	require.ErrorIs(t, rows.Err(), cql.CodeInvalid)
	_ = rows.Close()
}

func TestContexts(t *testing.T) {
	cluster, db := start(t, items)
	for id := range 30 {
		exec(t, db, "INSERT INTO items (id) VALUES (?)", id)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	_, err := db.QueryContext(ended, "SELECT id FROM items")
	require.ErrorIs(t, err, context.Canceled)

	never := make(chan struct{})
	defer close(never)
	exec(t, db, "SELECT id FROM items") // so that the statement is prepared
	rule := cluster.Inject(cqltest.Fault{Statement: "SELECT id", Until: never})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = db.QueryContext(ctx, "SELECT id FROM items")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	rule.Remove()

	cluster.Inject(cqltest.Fault{
		Statement: "SELECT id", Match: func(r cqltest.Request) bool { return r.Paged }, Until: never,
	})
	paged, cancel := context.WithCancel(t.Context())
	defer cancel()
	paged = sqlvecql.WithQuery(paged, func(q *vecql.Query) { q.PageSize(10) })
	rows, err := db.QueryContext(paged, "SELECT id FROM items")
	require.NoError(t, err)
	n := 0
	for rows.Next() {
		if n++; n == 10 {
			time.AfterFunc(10*time.Millisecond, cancel)
		}
	}
	require.Equal(t, 10, n)
	require.ErrorIs(t, rows.Err(), context.Canceled)
	_ = rows.Close()

	require.NoError(t, db.PingContext(t.Context()), "the session is as before")
}

func TestOptionsOfTheContext(t *testing.T) {
	var levels []string
	ctx := sqlvecql.WithQuery(t.Context(), func(q *vecql.Query) { q.Consistency(cql.One).Idempotent(true) })
	ctx = sqlvecql.WithQuery(ctx, func(q *vecql.Query) {
		levels = append(levels, fmt.Sprint(q.GetConsistency(), q.GetIdempotent()))
		q.Consistency(cql.Two)
	})
	_, db := start(t, items)
	_, err := db.ExecContext(ctx, "INSERT INTO items (id) VALUES (?)", 1)
	require.ErrorIs(t, err, cql.CodeUnavailable, "one node has no two replicas")
	require.Equal(t, []string{"ONE true"}, levels)
}

func TestTransactions(t *testing.T) {
	_, db := start(t, items)
	_, err := db.BeginTx(t.Context(), nil)
	require.ErrorIs(t, err, sqlvecql.ErrNoTransactions)
	_, err = db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelSerializable, ReadOnly: true})
	require.ErrorIs(t, err, sqlvecql.ErrNoTransactions)
	exec(t, db, `BEGIN BATCH
		INSERT INTO items (id, name) VALUES (?, ?);
		INSERT INTO items (id, name) VALUES (?, ?);
		APPLY BATCH`, 1, "lamp", 2, "vase")
	var n int
	require.NoError(t, db.QueryRow("SELECT count(*) FROM items").Scan(&n))
	require.Equal(t, 2, n)
}

func TestResults(t *testing.T) {
	_, db := start(t, items)
	requireResults(t, db)
}

// requireResults requires the results of statements on the empty table items.
func requireResults(t *testing.T, db *sql.DB) {
	t.Helper()
	res := exec(t, db, "INSERT INTO items (id, name) VALUES (1, 'lamp')")
	_, err := res.RowsAffected()
	require.ErrorIs(t, err, sqlvecql.ErrNoRowsAffected)
	_, err = res.LastInsertId()
	require.ErrorIs(t, err, sqlvecql.ErrNoLastInsertID)
	for _, c := range []struct {
		text string
		want int64
	}{
		{"INSERT INTO items (id, name) VALUES (1, 'vase') IF NOT EXISTS", 0},
		{"INSERT INTO items (id, name) VALUES (2, 'vase') IF NOT EXISTS", 1},
		{"UPDATE items SET name = 'x' WHERE id = 1 IF name = 'y'", 0},
		{"UPDATE items SET name = 'lamp' WHERE id = 1 IF name = 'lamp'", 1},
		{"DELETE FROM items WHERE id = 9 IF EXISTS", 0},
		{"BEGIN BATCH INSERT INTO items (id, name) VALUES (1, 'x') IF NOT EXISTS APPLY BATCH /* taken */", 0},
	} {
		n, err := exec(t, db, c.text).RowsAffected()
		require.NoError(t, err)
		require.Equal(t, c.want, n, c.text)
	}
	n, err := exec(t, db, "BEGIN BATCH UPDATE items SET name = 'z' WHERE id = ? IF name = ? APPLY BATCH", 1, "lamp").RowsAffected()
	require.NoError(t, err)
	require.EqualValues(t, 1, n)

	var applied bool
	var current string
	err = db.QueryRow("UPDATE items SET name = 'x' WHERE id = ? IF name = ?", 1, "y").Scan(&applied, &current)
	require.NoError(t, err)
	require.False(t, applied)
	require.Equal(t, "z", current)
}

// Statements without rows have none, and statements are not prepared before they run unless the session prepares them.
func TestStatements(t *testing.T) {
	cluster, db := start(t, items)
	rows, err := db.Query("INSERT INTO items (id) VALUES (1)")
	require.NoError(t, err)
	names, err := rows.Columns()
	require.NoError(t, err)
	require.Empty(t, names)
	require.False(t, rows.Next())
	require.NoError(t, rows.Err())
	exec(t, db, "SELECT * FROM items")
	create, err := db.Prepare("CREATE TABLE other (id int PRIMARY KEY)")
	require.NoError(t, err)
	_, err = create.Exec()
	require.NoError(t, err)
	require.NoError(t, create.Close())
	_, err = db.Prepare("SELECT nothing FROM items")
	require.ErrorIs(t, err, cql.CodeInvalid)
	_, err = db.Exec("USE other")
	require.ErrorIs(t, err, vecql.ErrUseStmt)

	find, err := db.Prepare("SELECT id FROM items WHERE id = ?")
	require.NoError(t, err)
	defer func() { _ = find.Close() }()
	cluster.Inject(cqltest.Fault{Forget: true, Times: 1, Op: cqltest.OpExecute})
	var id int
	require.NoError(t, find.QueryRow(1).Scan(&id), "a node that forgets a statement prepares it again")
	require.ErrorIs(t, find.QueryRow(2).Scan(&id), sql.ErrNoRows)
	_, err = find.Query()
	require.ErrorIs(t, err, vecql.ErrValueCount)
}

// A statement that fails is sent once: package database/sql repeats those with driver.ErrBadConn.
func TestNoStatementIsRepeated(t *testing.T) {
	cluster, db := start(t, items)
	var sent atomic.Int32
	exec(t, db, "INSERT INTO items (id) VALUES (1)")
	cluster.Inject(cqltest.Fault{Statement: "INSERT INTO items (id) VALUES (1)", Match: func(cqltest.Request) bool {
		sent.Add(1)
		return true
	}, Close: true})
	_, err := db.Exec("INSERT INTO items (id) VALUES (1)")
	require.ErrorIs(t, err, vecql.ErrConnectionClosed)
	require.True(t, vecql.MayHaveApplied(err))
	require.EqualValues(t, 1, sent.Load())
}

func TestSessionOfTheProgram(t *testing.T) {
	leak.Require(t)
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1})
	require.NoError(t, cluster.Exec(keyspace+items))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	db := sqlvecql.OpenDB(session)
	exec(t, db, "INSERT INTO shop.items (id) VALUES (1)")
	same, err := sqlvecql.Session(t.Context(), db)
	require.NoError(t, err)
	require.Same(t, session, same)
	require.NoError(t, db.Close())
	require.False(t, session.Closed())

	db = sqlvecql.OpenDB(session)
	defer func() { _ = db.Close() }()
	require.NoError(t, db.Ping())
	session.Close()
	require.ErrorIs(t, db.Ping(), vecql.ErrSessionClosed)
	_, err = db.Exec("INSERT INTO shop.items (id) VALUES (1)")
	require.ErrorIs(t, err, vecql.ErrSessionClosed)
}

func TestOpen(t *testing.T) {
	leak.Require(t)
	for uri, want := range map[string]string{
		"mysql://user:secret@host/":                "vecql: the uri does not begin with cassandra://",
		"cassandra://user:secret@host/?none=1":     "vecql: the setting none of the uri: there is no such setting",
		"cassandra://user:secret@/":                "vecql: the setting contact_points of the uri: a contact point",
		"cassandra://user:secret@host/?tls.ca=nil": "vecql: the setting tls of the uri: tls.ca",
	} {
		_, err := sql.Open("vecql", uri)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "secret")
	}
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1, Users: map[string]string{"reader": "p@ss"}})
	host := cluster.Hosts()[0]
	require.Error(t, open(t, "scylla://reader:wrong@"+host).Ping())
	db := open(t, "scylla://reader:p%40ss@"+host+"?consistency=one&timeout=5s")
	require.NoError(t, db.Ping())

	cluster.Node(0).Kill()
	late := open(t, "cassandra://reader:p%40ss@"+host+"?connect_timeout=1s")
	require.ErrorIs(t, late.PingContext(t.Context()), vecql.ErrNoConnectionsStarted)
	require.NoError(t, cluster.Node(0).Restart())
	require.NoError(t, late.PingContext(t.Context()), "the next use tries again")

	other, err := sqlvecql.Driver{}.Open("cassandra://reader:p%40ss@" + host)
	require.NoError(t, err)
	require.True(t, other.(driver.Validator).IsValid())
	require.NoError(t, other.Close())
	require.False(t, other.(driver.Validator).IsValid())
	require.Equal(t, driver.ErrBadConn, other.(driver.SessionResetter).ResetSession(t.Context()))
}

// Programs may use the driver without package database/sql, by the methods without a context too.
func TestWithoutPool(t *testing.T) {
	cluster, _ := start(t, items)
	c, err := sqlvecql.Driver{}.Open(uriOf(cluster, ""))
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	_, err = c.Begin() //nolint:staticcheck // the interface has it
	require.ErrorIs(t, err, sqlvecql.ErrNoTransactions)
	insert, err := c.Prepare("INSERT INTO items (id, name) VALUES (?, ?)")
	require.NoError(t, err)
	require.Equal(t, -1, insert.NumInput())
	_, err = insert.Exec([]driver.Value{1, "lamp"}) //nolint:staticcheck // likewise
	require.NoError(t, err)
	find, err := c.Prepare("SELECT name FROM items")
	require.NoError(t, err)
	rows, err := find.Query(nil) //nolint:staticcheck // likewise
	require.NoError(t, err)
	values := make([]driver.Value, 1)
	require.NoError(t, rows.Next(values))
	require.Equal(t, []driver.Value{"lamp"}, values)
	require.Equal(t, io.EOF, rows.Next(values))
	require.NoError(t, rows.Close())
}

// A program that waits for another one's connection to be made ends with its own context.
func TestContextsOfConnect(t *testing.T) {
	leak.Require(t)
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1})
	proceed := make(chan struct{})
	cluster.Inject(cqltest.Fault{Op: cqltest.OpStartup, Until: proceed})
	c, err := sqlvecql.Driver{}.OpenConnector("cassandra://" + cluster.Hosts()[0])
	require.NoError(t, err)
	require.Equal(t, sqlvecql.Driver{}, c.Driver())
	first := make(chan error)
	go func() {
		_, err := c.Connect(context.Background())
		first <- err
	}()
	require.Eventually(t, func() bool { return cluster.Node(0).Requests(cqltest.OpStartup) > 0 }, 10*time.Second, time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = c.Connect(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	close(proceed)
	require.NoError(t, <-first)
	require.NoError(t, c.(io.Closer).Close())
	_, err = c.Connect(t.Context())
	require.ErrorIs(t, err, vecql.ErrSessionClosed)
}

func TestSessionOfAnotherDriver(t *testing.T) {
	db := sql.OpenDB(another{})
	defer func() { require.NoError(t, db.Close()) }()
	_, err := sqlvecql.Session(t.Context(), db)
	require.ErrorContains(t, err, "its driver is another one (sqlvecql_test.anotherConn)")
}

// another is the connector of a driver without statements.
type another struct{}

type anotherConn struct{ driver.Conn }

func (another) Connect(context.Context) (driver.Conn, error) { return anotherConn{}, nil }
func (another) Driver() driver.Driver                        { return nil }
func (anotherConn) Close() error                             { return nil }
