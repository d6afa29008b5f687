// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sqlvecql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/sqlvecql"
)

// What package database/sql adds to the verbs of package vecql, with one goroutine. The node is a process of its own,
// so that memory and processor time are the client's.

// nodeEnv makes the program a node until its standard input ends.
const nodeEnv = "VECQL_SQL_NODE"

const dimension = 384

// serveNode runs the node. It prints the address of the node.
func serveNode() error {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1})
	if err != nil {
		return err
	}
	defer cluster.Close()
	table := fmt.Sprintf("CREATE TABLE shop.items (id int PRIMARY KEY, name text, price double, embedding vector<float, %d>);", dimension)
	if err := cluster.Exec(keyspace + table); err != nil {
		return err
	}
	fmt.Println(cluster.Hosts()[0])
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// startNode starts a node in another process and returns a session.
func startNode(b *testing.B) *vecql.Session {
	b.Helper()
	cmd := osexec.Command(os.Args[0]) // ends with its standard input
	cmd.Env, cmd.Stderr = append(os.Environ(), nodeEnv+"=1"), os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		require.NoError(b, in.Close())
		require.NoError(b, cmd.Wait())
	})
	var host string
	_, err = fmt.Fscanln(out, &host)
	require.NoError(b, err)
	cfg, err := sqlvecql.ParseURI("cassandra://" + host + "/shop?consistency=one")
	require.NoError(b, err)
	session, err := vecql.NewSession(b.Context(), *cfg)
	require.NoError(b, err)
	b.Cleanup(session.Close)
	return session
}

const (
	insertItem = "INSERT INTO items (id, name, price, embedding) VALUES (?, ?, ?, ?)"
	selectItem = "SELECT id, name, price, embedding FROM items WHERE id = ?"
	selectAll  = "SELECT id, name, price FROM items"
)

// An item is the destination of a row.
type item struct {
	id        int
	name      string
	price     float64
	embedding []float32
}

// BenchmarkSQL measures one row written, one row read by key, and one row of a result of 10,000. "make bench-sql" makes
// a table of its output.
func BenchmarkSQL(b *testing.B) {
	session := startNode(b)
	db := sqlvecql.OpenDB(session)
	defer func() { require.NoError(b, db.Close()) }()
	const rows = 10_000
	e := make([]float32, dimension)
	for id := range rows {
		require.NoError(b, session.Query(insertItem, id, "lamp", 9.5, e).Exec(b.Context()))
	}
	for _, c := range []struct {
		name string
		run  func(ctx context.Context, n int) error
	}{
		{"verb=exec/driver=vecql", func(ctx context.Context, n int) error {
			return times(n, func(i int) error { return session.Query(insertItem, i%rows, "lamp", 9.5, e).Exec(ctx) })
		}},
		{"verb=exec/driver=database-sql", func(ctx context.Context, n int) error {
			return times(n, func(i int) error {
				_, err := db.ExecContext(ctx, insertItem, i%rows, "lamp", 9.5, e)
				return err
			})
		}},
		{"verb=row/driver=vecql", func(ctx context.Context, n int) error {
			return times(n, func(i int) error {
				var v item
				return session.Query(selectItem, i%rows).Scan(ctx, &v.id, &v.name, &v.price, &v.embedding)
			})
		}},
		{"verb=row/driver=database-sql", func(ctx context.Context, n int) error {
			return times(n, func(i int) error {
				var v item
				return db.QueryRowContext(ctx, selectItem, i%rows).Scan(&v.id, &v.name, &v.price, &v.embedding)
			})
		}},
		{"verb=rows/driver=vecql", func(ctx context.Context, n int) error {
			return times((n+rows-1)/rows, func(int) error { return scanIter(ctx, session, min(n, rows)) })
		}},
		{"verb=rows/driver=database-sql", func(ctx context.Context, n int) error {
			return times((n+rows-1)/rows, func(int) error { return scanRows(ctx, db, min(n, rows)) })
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			require.NoError(b, c.run(b.Context(), 1)) // prepares and connects
			b.ReportAllocs()
			began := cpuTime(b)
			b.ResetTimer()
			require.NoError(b, c.run(b.Context(), b.N))
			b.StopTimer()
			b.ReportMetric(float64((cpuTime(b)-began).Nanoseconds())/1e3/float64(b.N), "cpu-us/op")
		})
	}
}

// times calls f n times, up to the first error.
func times(n int, f func(i int) error) error {
	for i := range n {
		if err := f(i); err != nil {
			return err
		}
	}
	return nil
}

// errRows means that a result had another number of rows.
var errRows = errors.New("another number of rows")

// scanIter reads the first n rows of the table.
func scanIter(ctx context.Context, session *vecql.Session, n int) error {
	it := session.Query(selectAll).Iter(ctx)
	var v item
	seen := 0
	for seen < n && it.Scan(&v.id, &v.name, &v.price) {
		seen++
	}
	if err := it.Close(); err != nil || seen == n {
		return err
	}
	return errRows
}

// scanRows reads the first n rows of the table.
func scanRows(ctx context.Context, db *sql.DB, n int) error {
	rows, err := db.QueryContext(ctx, selectAll)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var v item
	seen := 0
	for seen < n && rows.Next() {
		if err := rows.Scan(&v.id, &v.name, &v.price); err != nil {
			return err
		}
		seen++
	}
	if err := rows.Err(); err != nil || seen == n {
		return err
	}
	return errRows
}

// cpuTime returns the processor time of the process.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
