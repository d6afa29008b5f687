// SPDX-License-Identifier: Apache-2.0

// Package tables shows tables and queries by struct in both ways that docs/from-gocql.md has: by gocqlx on the module
// compat/gocql, and by vecql's own verbs on the same session.
package tables

import (
	"context"
	"testing"

	"github.com/gocql/gocql"
	"github.com/scylladb/gocqlx/v2"
	"github.com/scylladb/gocqlx/v2/table"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

type Person struct {
	FirstName string
	LastName  string
	Email     []string
}

var people = table.New(table.Metadata{
	Name:    "shop.people",
	Columns: []string{"first_name", "last_name", "email"},
	PartKey: []string{"first_name"},
	SortKey: []string{"last_name"},
})

func insertByGocqlx(session gocqlx.Session, p Person) error {
	return session.Query(people.Insert()).BindStruct(p).ExecRelease()
}

func selectByGocqlx(session gocqlx.Session, firstName string) ([]Person, error) {
	var found []Person
	err := session.Query(people.Select()).BindMap(map[string]any{"first_name": firstName}).SelectRelease(&found)
	return found, err
}

type Record struct {
	FirstName string   `cql:"first_name"`
	LastName  string   `cql:"last_name"`
	Email     []string `cql:"email"`
}

func insert(ctx context.Context, session *vecql.Session, r *Record) error {
	statement, err := vecql.Prepare[Record](ctx, session.Query(vecql.InsertInto[Record]("shop.people")))
	if err != nil {
		return err
	}
	return statement.Exec(ctx, r)
}

func find(ctx context.Context, session *vecql.Session, firstName string) (found []Record, err error) {
	query := session.Query(vecql.SelectFrom[Record]("shop.people")+" WHERE first_name = ?", firstName)
	for r, err := range vecql.Rows[Record](ctx, query) {
		if err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, nil
}

func TestTables(t *testing.T) {
	ctx := t.Context()
	c := cqltest.New(t, cqltest.Config{Nodes: 1})
	require.NoError(t, c.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE shop.people (first_name text, last_name text, email list<text>, PRIMARY KEY (first_name, last_name))`))
	session, err := gocqlx.WrapSession(gocql.NewCluster(c.Hosts()...).CreateSession())
	require.NoError(t, err)
	defer session.Close()
	own := session.Vecql()

	require.NoError(t, insertByGocqlx(session, Person{"Ada", "Lovelace", []string{"ada@example.com"}}))
	require.NoError(t, insert(ctx, own, &Record{"Ada", "Smith", nil}))
	byGocqlx, err := selectByGocqlx(session, "Ada")
	require.NoError(t, err)
	byVecql, err := find(ctx, own, "Ada")
	require.NoError(t, err)
	require.Equal(t, []Person{{"Ada", "Lovelace", []string{"ada@example.com"}}, {"Ada", "Smith", nil}}, byGocqlx)
	require.Len(t, byVecql, 2)
	for i := range byVecql {
		require.Equal(t, byGocqlx[i], Person(byVecql[i]))
	}
}
