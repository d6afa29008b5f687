// SPDX-License-Identifier: Apache-2.0

package valuetest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"regexp"
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

var record = flag.Bool("record", false, "write recorded.txt, or the file of another release line, with the answers of the server")

func TestMain(m *testing.M) {
	cassandra.Supervise()
	os.Exit(m.Run())
}

// TestOnServer compares the record of each value with what Cassandra stores. Cassandra 5.0 made the records. Another
// release line has a file with the lines that differ. Values whose types the line does not have are left out.
func TestOnServer(t *testing.T) {
	s := newServer(t)
	file, differs := "recorded.txt", false
	if s.line != "5.0" {
		file, differs = "recorded-"+s.line+".txt", true
	}
	var lines strings.Builder
	for i, v := range valuetest.All() {
		if !s.has(v.Type) {
			continue
		}
		if got := s.store(i, v); !differs || !reflect.DeepEqual(got, v.Recorded()) {
			lines.WriteString(v.Line(got))
		}
	}
	if *record && lines.Len() > 0 {
		require.NoError(t, os.WriteFile(file, []byte(lines.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	if !differs || !errors.Is(err, fs.ErrNotExist) { // a line without a file does not differ
		require.NoError(t, err)
	}
	require.Equal(t, string(want), lines.String())
}

// A server stores values in a table with a column for each type, and in a table of counters.
type server struct {
	*testing.T
	session *vecql.Session
	line    string // the first two numbers of the release
	types   []string
	// asRecorded has the names of values that the server stores as the record has them.
	asRecorded map[string]bool
}

func newServer(t *testing.T) *server {
	cfg := &vecql.ClusterConfig{Hosts: strings.Split(os.Getenv("VECQL_TEST_HOSTS"), ",")}
	cfg.Timeout, cfg.Protocol.Version = 60*time.Second, cassandra.Protocol()
	if os.Getenv("VECQL_TEST_HOSTS") == "" {
		shared, err := cassandra.Shared(t.Context())
		require.NoError(t, err)
		cfg.Hosts = []string{shared.Host}
		cfg.Authenticator = vecql.PasswordAuthenticator{Username: cassandra.Username, Password: cassandra.Password}
	}
	keyspace := fmt.Sprint("vecql_values_", os.Getpid())
	s := &server{T: t, asRecorded: map[string]bool{}}
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
	release := strings.Split(s.session.GetHosts()[0].Version, ".")
	s.line = release[0] + "." + release[1][:1]
	vectors := s.line >= "5"
	for _, v := range valuetest.All() {
		vector := strings.Contains(v.Type, "vector") || strings.Contains(v.Type, "vt_deep")
		if !slices.Contains(s.types, v.Type) && v.Type != "counter" && (vectors || !vector) {
			s.types = append(s.types, v.Type)
		}
	}
	for _, text := range valuetest.CreateTypes(keyspace) {
		if vectors || !strings.Contains(text, "vector") {
			s.run(text)
		}
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

// has reports whether the server has a type: Cassandra 4 has no vectors.
func (s *server) has(typ string) bool { return typ == "counter" || slices.Contains(s.types, typ) }

// oldFunction finds the names of functions that are blobAsInt in Cassandra 4.
var oldFunction = regexp.MustCompile(`blob_as_([a-z])`)

// literal returns the literal of a value in the server's CQL.
func (s *server) literal(v valuetest.Value) string {
	if s.line >= "5" {
		return v.Literal
	}
	return oldFunction.ReplaceAllStringFunc(v.Literal, func(name string) string {
		return "blobAs" + strings.ToUpper(name[len(name)-1:])
	})
}

// store writes a value by its literal and returns its bytes.
func (s *server) store(id int, v valuetest.Value) valuetest.Record {
	table, column := "v", s.column(v)
	write := fmt.Sprintf("INSERT INTO v (id, %s) VALUES (%d, %s)", column, id, s.literal(v))
	if v.Type == "counter" {
		table, column = "n", "c"
		write = fmt.Sprintf("UPDATE n SET c = c + %s WHERE id = %d", s.literal(v), id)
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
