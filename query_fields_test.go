// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// The fields of structs as columns.

type Who struct {
	First, Last string
}

type who struct{ First string }

type byPointer struct {
	ID int
	*Who
}

type byPointerUnexported struct {
	ID int
	*who
}

type deepPointer struct {
	ID int
	Outer
}

type Outer struct{ *Who }

type twoCases struct {
	ID   int
	Name string
	NAME string
}

type twoTags struct {
	ID int
	A  string `cql:"name"`
	B  string `cql:"name"`
}

type tagAndName struct {
	ID    int
	Title string `cql:"name"`
	Name  string
}

type twoEmbedded struct {
	ID int
	Who
	Other
}

type Other struct{ First int }

type tagInEmbedded struct {
	ID    int
	First string
	Tagged
}

type Tagged struct {
	Given string `cql:"first"`
}

// panicOf returns the value that f panics with.
func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// TestFieldsAreNeverLeftOutInSilence uses structs with fields that no column would reach: each verb returns or panics
// with a typed error that names a field or a type.
func TestFieldsAreNeverLeftOutInSilence(t *testing.T) {
	session := fieldSession(t)
	requireRefused[byPointer](t, session, "*vecql_test.Who")
	requireRefused[byPointerUnexported](t, session, "*vecql_test.who")
	requireRefused[deepPointer](t, session, "*vecql_test.Who")
	requireRefused[twoCases](t, session, "Name and NAME")
	requireRefused[twoTags](t, session, "A and B")
	requireRefused[tagAndName](t, session, "Title and Name")
	requireRefused[twoEmbedded](t, session, "First and First")
	requireRefused[tagInEmbedded](t, session, "First and Given")
}

func fieldSession(t *testing.T) *vecql.Session {
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1})
	require.NoError(t, cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE shop.people (id int PRIMARY KEY, first text, last text, name text, at timestamp, who text);
		INSERT INTO shop.people (id) VALUES (7)`))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	t.Cleanup(session.Close)
	return session
}

func requireRefused[T any](t *testing.T, session *vecql.Session, named string) {
	t.Helper()
	refused := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, cql.ErrConversion)
		require.ErrorContains(t, err, named)
	}
	for _, f := range []func(){
		func() { vecql.InsertInto[T]("shop.people") },
		func() { vecql.UpdateWhere[T]("shop.people", "id") },
		func() { vecql.SelectFrom[T]("shop.people") },
	} {
		err, ok := panicOf(f).(error)
		require.True(t, ok)
		refused(err)
	}
	_, err := vecql.Prepare[T](t.Context(), session.Query("INSERT INTO shop.people (id) VALUES (?)"))
	refused(err)
	_, err = vecql.OneRow[T](t.Context(), session.Query("SELECT id FROM shop.people"))
	refused(err)
	for _, err := range vecql.Rows[T](t.Context(), session.Query("SELECT id FROM shop.people")) {
		refused(err)
	}
	w, err := bulk.Insert(t.Context(), session, "shop.people", bulk.Options{AllowMissing: true})
	require.NoError(t, err)
	refused(bulk.Rows(t.Context(), w, make([]T, 1)))
	require.NoError(t, w.Close(t.Context()))
}

type Base struct {
	ID    int
	First string
}

type lowerBase struct{ Last string }

type shadowing struct {
	Base
	lowerBase
	First   string
	Hidden  *Who `cql:"-"`
	*Ignore `cql:"-"`
	*locked
	Named `cql:"who"`
}

type Ignore struct{ Name string }

type locked struct{ n int }

type Named string

// TestFieldsOfEmbeddedStructs names the columns of structs that embed others: fields of plain structs, also unexported
// ones, the outer one of two of a name, embedded values with a tag or of one column; nothing behind the tag "-".
func TestFieldsOfEmbeddedStructs(t *testing.T) {
	require.Equal(t, "SELECT id, last, first, who FROM shop.people", vecql.SelectFrom[shadowing]("shop.people"))
	type withDuration struct {
		ID int
		cql.Duration
		Named
	}
	require.Equal(t, "SELECT id, duration, named FROM t", vecql.SelectFrom[withDuration]("t"))
	type tagged struct {
		ID  int
		Who `cql:"name"`
	}
	require.Equal(t, "SELECT id, name FROM t", vecql.SelectFrom[tagged]("t"))
	session := fieldSession(t)
	insert, err := vecql.Prepare[shadowing](t.Context(), session.Query(vecql.InsertInto[shadowing]("shop.people")))
	require.NoError(t, err)
	in := shadowing{Base: Base{1, "inner"}, lowerBase: lowerBase{"last"}, First: "outer", Named: "who"}
	require.NoError(t, insert.Exec(t.Context(), &in))
	out, err := vecql.OneRow[shadowing](t.Context(), session.Query(vecql.SelectFrom[shadowing]("shop.people")+" WHERE id = 1"))
	require.NoError(t, err)
	in.Base.First = ""
	require.Equal(t, in, out)
}

// TestTablesAreNames passes text that is not the name of a table.
func TestTablesAreNames(t *testing.T) {
	type row struct{ ID int }
	for _, name := range []string{
		"", " ", "items ", "a b", "items; DROP TABLE x", "items (id) VALUES (1) --", "a.b.c", "a.", ".a", `"a`, `a"`, `"a"b"`, `""`, "1a", "_a",
		"items/*", "é", "a\n", "'a'", "items USING TTL 1",
	} {
		for _, f := range []func(){
			func() { vecql.InsertInto[row](name) },
			func() { vecql.UpdateWhere[row](name, "id") },
			func() { vecql.SelectFrom[row](name) },
		} {
			err, ok := panicOf(f).(error)
			require.True(t, ok && errors.Is(err, vecql.ErrNoTable), "%q: %v", name, err)
			require.ErrorContains(t, err, fmt.Sprintf("%q", name))
		}
	}
	for _, name := range []string{"items", "Shop.Items", `"Shop"."It""ems"`, `shop."a b"`, "a_1", `"é"`} {
		require.Equal(t, "SELECT id FROM "+name, vecql.SelectFrom[row](name))
	}
}
