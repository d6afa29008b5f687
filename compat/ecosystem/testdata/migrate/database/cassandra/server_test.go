// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"testing"

	"github.com/gocql/gocql"
	"github.com/golang-migrate/migrate/v4"
	dt "github.com/golang-migrate/migrate/v4/database/testing"
)

// The suites of migrate's drivers, on the server at 127.0.0.1:9042.

func open(t *testing.T) *Cassandra {
	session, err := gocql.NewCluster("127.0.0.1").CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, statement := range []string{
		`DROP KEYSPACE IF EXISTS testks`,
		`CREATE KEYSPACE testks WITH REPLICATION = {'class': 'SimpleStrategy', 'replication_factor': 1}`,
	} {
		if err := session.Query(statement).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	driver, err := (&Cassandra{}).Open("cassandra://127.0.0.1:9042/testks")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := driver.Close(); err != nil {
			t.Error(err)
		}
	})
	return driver.(*Cassandra)
}

func TestServerDriver(t *testing.T) {
	dt.Test(t, open(t), []byte("SELECT table_name from system_schema.tables"))
}

func TestServerMigrate(t *testing.T) {
	m, err := migrate.NewWithDatabaseInstance("file://./examples/migrations", "testks", open(t))
	if err != nil {
		t.Fatal(err)
	}
	dt.TestMigrate(t, m)
}
