// SPDX-License-Identifier: Apache-2.0

package valuetest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/internal/valuetest"
)

var record = flag.Bool("record", false, "write recorded.txt with the answers of the server")

func TestMain(m *testing.M) {
	cassandra.Supervise()
	os.Exit(m.Run())
}

// TestOnServer compares the record of each value with what Cassandra stores.
func TestOnServer(t *testing.T) {
	s := newServer(t)
	var lines strings.Builder
	for i, v := range valuetest.All() {
		got := s.store(i, v)
		lines.WriteString(v.Line(got))
		if !*record {
			require.Equal(t, v.Recorded(), got, v.Name())
		}
	}
	if *record {
		require.NoError(t, os.WriteFile("recorded.txt", []byte(lines.String()), 0o644))
	}
}

// A server stores values in a table with a column for each type, and in a table of counters.
type server struct {
	*testing.T
	session *vecql.Session
	types   []string
}

func newServer(t *testing.T) *server {
	cfg := &vecql.ClusterConfig{Hosts: strings.Split(os.Getenv("VECQL_TEST_HOSTS"), ",")}
	cfg.Timeout = 60 * time.Second
	if os.Getenv("VECQL_TEST_HOSTS") == "" {
		shared, err := cassandra.Shared(t.Context())
		require.NoError(t, err)
		cfg.Hosts = []string{shared.Host}
		cfg.Authenticator = vecql.PasswordAuthenticator{Username: cassandra.Username, Password: cassandra.Password}
	}
	keyspace := fmt.Sprint("vecql_values_", os.Getpid())
	s := &server{T: t}
	for _, v := range valuetest.All() {
		if !slices.Contains(s.types, v.Type) && v.Type != "counter" {
			s.types = append(s.types, v.Type)
		}
	}
	for _, cfg.Keyspace = range []string{"", keyspace} {
		var err error
		s.session, err = vecql.NewSession(t.Context(), *cfg)
		require.NoError(t, err)
		t.Cleanup(s.session.Close)
		if cfg.Keyspace == "" {
			s.run("CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
			dropper := s.session
			t.Cleanup(func() { require.NoError(t, dropper.Query("DROP KEYSPACE "+keyspace).Exec(context.Background())) })
		}
	}
	for _, text := range valuetest.CreateTypes(keyspace) {
		s.run(text)
	}
	columns := "id int PRIMARY KEY"
	for i, typ := range s.types {
		columns += fmt.Sprintf(", c%d %s", i, typ)
	}
	s.run("CREATE TABLE v (" + columns + ")")
	s.run("CREATE TABLE n (id int PRIMARY KEY, c counter)")
	return s
}

func (s *server) run(text string) {
	require.NoError(s, s.session.Query(text).Exec(s.Context()), text)
}

// store writes a value by its literal and returns its bytes.
func (s *server) store(id int, v valuetest.Value) valuetest.Record {
	table, column := "v", s.column(v)
	write := fmt.Sprintf("INSERT INTO v (id, %s) VALUES (%d, %s)", column, id, v.Literal)
	if v.Type == "counter" {
		table, column = "n", "c"
		write = fmt.Sprintf("UPDATE n SET c = c + %s WHERE id = %d", v.Literal, id)
	}
	if err := s.session.Query(write).Exec(s.Context()); err != nil {
		var refused *cql.ServerError
		require.True(s, errors.As(err, &refused), "%s: %v", v.Name(), err)
		s.Logf("%s: %s", v.Name(), refused.Message)
		return valuetest.Record{Refused: true}
	}
	it := s.session.Query(fmt.Sprintf("SELECT %s FROM %s WHERE id = %d", column, table, id)).Iter(s.Context())
	cells := make([][]byte, 1)
	require.True(s, it.NextRaw(cells), v.Name())
	cell := slices.Clone(cells[0])
	require.NoError(s, it.Close())
	return valuetest.Record{Cell: cell}
}
