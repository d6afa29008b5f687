// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"context"
	"io/fs"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

const shop = `CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
	CREATE TABLE shop.items (id int PRIMARY KEY, name text)`

func TestObserve(t *testing.T) {
	c := New(t, Config{Network: InMemory, Nodes: 1})
	require.NoError(t, c.Exec(shop))
	s, err := vecql.NewSession(t.Context(), *clusterConfig(c))
	require.NoError(t, err)
	defer s.Close()
	refused := c.Inject(Fault{Op: OpExecute, Times: 1, Error: &Error{Code: CodeInvalid}})
	seen := c.Observe(Fault{Op: OpExecute, Statement: "INSERT", Error: &Error{Code: CodeServer}})
	insert := func() error {
		return s.Query("INSERT INTO shop.items (id, name) VALUES (?, ?)", 1, "lamp").Exec(context.Background())
	}
	require.ErrorIs(t, insert(), cql.CodeInvalid, "the fault applies to an observed request")
	require.NoError(t, insert(), "what is observed has no effect")
	require.NoError(t, s.Query("SELECT name FROM shop.items WHERE id = ?", 1).Exec(t.Context()))
	require.Equal(t, 2, seen.Hits())
	require.Equal(t, 1, refused.Hits())
	seen.Remove()
	require.NoError(t, insert())
	require.Equal(t, 2, seen.Hits())
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(t, Config{Network: InMemory, Nodes: 1})
		tc := connect(t, c, c.Node(0), 5)
		seen := c.Observe(Fault{Op: OpOptions})
		conns := c.InjectConn(ConnFault{})
		waited := make(chan error, 1)
		go func() { waited <- seen.Wait(t.Context(), 2) }()
		tc.call(OpOptions, 0, nil)
		synctest.Wait()
		require.Empty(t, waited, "one of two")
		tc.call(OpOptions, 0, nil)
		require.NoError(t, <-waited)
		require.NoError(t, seen.Wait(t.Context(), 1), "it has happened")

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := seen.Wait(ctx, 3)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "waiting for 3 hits of a fault, which has 2")
		connect(t, c, c.Node(0), 5)
		require.NoError(t, conns.Wait(t.Context(), 1))
		c.Close()
	})
}

func TestRequestValues(t *testing.T) {
	var requests []Request
	c := New(t, Config{Network: InMemory, Nodes: 1, OnRequest: func(r Request) {
		if r.Op == OpExecute || r.Op == OpBatch {
			requests = append(requests, r)
		}
	}})
	require.NoError(t, c.Exec(shop))
	s, err := vecql.NewSession(t.Context(), *clusterConfig(c))
	require.NoError(t, err)
	defer s.Close()
	insert := "INSERT INTO shop.items (id, name) VALUES (?, ?)"
	require.NoError(t, s.Query(insert, 1, "it's").Exec(t.Context()))
	require.NoError(t, s.Query("UPDATE shop.items SET name = :n WHERE id = :key", nil, 2).Exec(t.Context()))
	b := s.Batch(cql.LoggedBatch)
	b.Query(insert, 3, cql.UnsetValue)
	b.Query(insert, 4, "four")
	require.NoError(t, b.Exec(t.Context()))
	require.Len(t, requests, 3)
	require.Equal(t, []shown{
		{Value{Name: "id", Type: "int", Bytes: []byte{0, 0, 0, 1}}, "1"},
		{Value{Name: "name", Type: "text", Bytes: []byte("it's")}, "'it''s'"},
	}, showAll(requests[0].Values))
	name, ok := requests[1].Value("n")
	require.True(t, ok)
	require.Equal(t, []shown{{Value{Name: "n", Type: "text"}, "null"}}, showAll([]Value{name}))
	key, _ := requests[1].Value("key")
	require.Equal(t, "2", key.Text())
	_, ok = requests[1].Value("id")
	require.False(t, ok)
	require.Len(t, requests[2].Values, 4)
	require.True(t, requests[2].Values[1].Unset)
	require.Equal(t, "'four'", requests[2].Values[3].Text())
	require.Equal(t, []shown{{Value{Name: "id", Type: "int", Bytes: []byte{1}}, "0x01"}}, showAll(malformed(t, c, &requests)))
	require.Empty(t, Value{Bytes: []byte{1}}.Text(), "a value without a type")
}

// shown is a value with its text, and without its type, which tests cannot make.
type shown struct {
	Value
	text string
}

func showAll(values []Value) (all []shown) {
	for _, v := range values {
		text := v.Text()
		v.typ = nil
		all = append(all, shown{v, text})
	}
	return all
}

// malformed sends an int of one byte and returns the values of the request.
func malformed(t *testing.T, c *Cluster, requests *[]Request) []Value {
	tc := connect(t, c, c.Node(0), 4)
	id, _ := tc.prepare("SELECT name FROM shop.items WHERE id = ?", false)
	tc.call(OpExecute, 0, tc.executeBody(id, nil, 0, "\x01"))
	return (*requests)[len(*requests)-1].Values
}

func TestExecFS(t *testing.T) {
	c := New(t, Config{Network: InMemory, Nodes: 1})
	files := fstest.MapFS{
		"1_schema.cql":      {Data: []byte(shop)},
		"2_rows.cql":        {Data: []byte("\ufeffUSE shop; INSERT INTO items (id, name) VALUES (1, 'lamp')")},
		"fixtures/more.cql": {Data: []byte("INSERT INTO shop.items (id, name) VALUES (2, 'desk')")},
		"fixtures/bad.txt":  {Data: []byte("INSERT INTO nowhere (id) VALUES (2)")},
	}
	require.NoError(t, c.ExecFS(files))
	require.NoError(t, c.ExecFS(files, "fixtures/*.cql"))
	s, err := vecql.NewSession(t.Context(), *clusterConfig(c))
	require.NoError(t, err)
	defer s.Close()
	n, err := vecql.OneRow[int](t.Context(), s.Query("SELECT count(*) FROM shop.items"))
	require.NoError(t, err)
	require.Equal(t, 2, n)
	err = c.ExecFS(files, "fixtures/*.txt")
	require.ErrorContains(t, err, "(fixtures/bad.txt)")
	var e *Error
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, c.ExecFS(files, "*.sql"), fs.ErrNotExist)
	require.Error(t, c.ExecFS(files, "["))
}
