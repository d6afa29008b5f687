// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/cqltext"
)

// The schema of files of CQL.

// ErrSchema means that files have no schema of a keyspace that can be read.
var ErrSchema = errors.New("no schema")

// ReadFiles returns the schema that files of CQL create, in their order, and notes about what is left out of it. An
// empty keyspace means the only one that has tables; tables without a keyspace are in keyspace. Statements that do not
// change tables, types, indexes and views have no effect. Files need no statement that creates the keyspace.
func ReadFiles(ctx context.Context, keyspace string, files []string) (*cql.KeyspaceMetadata, []string, error) {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1, Network: cqltest.InMemory})
	if err != nil {
		return nil, nil, err
	}
	defer cluster.Close()
	r := &reader{cluster: cluster, keyspaces: map[string]bool{}}
	if keyspace != "" {
		r.use(keyspace)
	}
	for _, name := range files {
		if err := r.readFile(name); err != nil {
			return nil, nil, err
		}
		if keyspace != "" {
			r.use(keyspace) // USE ends with its file
		}
	}
	cfg := vecql.ClusterConfig{Hosts: cluster.Hosts(), Logger: slog.New(slog.DiscardHandler)}
	cfg.Pool.Dialer = cluster.Dialer()
	session, err := vecql.NewSession(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	defer session.Close()
	ks, err := r.choose(ctx, session, keyspace)
	if err != nil {
		return nil, r.notes, err
	}
	ks = ks.Clone()
	if err := r.addViews(ks); err != nil {
		return nil, r.notes, err
	}
	return ks, r.notes, nil
}

// A reader executes files.
type reader struct {
	cluster   *cqltest.Cluster
	keyspaces map[string]bool // that exist
	current   string          // of USE
	at        string          // file and line of the statement
	views     []*viewText
	notes     []string
}

// choose returns the schema of a keyspace, or of the only one that has tables.
func (r *reader) choose(ctx context.Context, session *vecql.Session, keyspace string) (*cql.KeyspaceMetadata, error) {
	found := map[string]*cql.KeyspaceMetadata{}
	for name := range r.keyspaces {
		ks, err := session.KeyspaceMetadata(ctx, name)
		if err != nil {
			return nil, err
		}
		if len(ks.Tables) > 0 && (keyspace == "" || keyspace == name) {
			found[name] = ks
		}
	}
	names := slices.Sorted(maps.Keys(found))
	switch {
	case len(names) == 1:
		return found[names[0]], nil
	case len(names) > 1:
		return nil, fmt.Errorf("%w: the files have the keyspaces %s: name one", ErrSchema, strings.Join(names, ", "))
	case keyspace != "":
		return nil, fmt.Errorf("%w: the files create no table of keyspace %s", ErrSchema, keyspace)
	}
	return nil, fmt.Errorf("%w: the files create no table", ErrSchema)
}

// use makes a keyspace, unless it exists, the one of tables without a keyspace.
func (r *reader) use(keyspace string) {
	r.create(keyspace)
	r.current = keyspace
}

// create creates a keyspace unless it exists. The replication of the files does not matter, and may name data centers
// that the cluster does not have.
func (r *reader) create(keyspace string) {
	if !r.keyspaces[keyspace] {
		r.keyspaces[keyspace] = true
		_ = r.cluster.Exec("CREATE KEYSPACE " + cqltext.QuoteIdentifier(keyspace) + // a wrong name fails at its table
			" WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}")
	}
}

// readFile executes the statements of a file. The error names the file and the line.
func (r *reader) readFile(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	at := 0
	for _, s := range cqltext.Statements(text) {
		at += strings.Index(text[at:], s)
		r.at = fmt.Sprintf("%s:%d", name, 1+strings.Count(text[:at], "\n"))
		if err := r.execute(s); err != nil {
			return fmt.Errorf("%s: %w", r.at, err)
		}
		at += len(s)
	}
	return nil
}

// ignored are the first words of statements that change no schema.
var ignored = strings.Fields("INSERT UPDATE DELETE BEGIN SELECT TRUNCATE GRANT REVOKE LIST DESCRIBE DESC COMMENT SECURITY CONSISTENCY")

// execute executes a statement that changes the schema of tables.
func (r *reader) execute(text string) error {
	s := scan(scan(text).unmasked())
	switch s.words() {
	case "USE":
		r.use(cqltext.UnquoteIdentifier(s.at(1)))
	case "CREATE KEYSPACE", "CREATE SCHEMA":
		r.create(cqltext.UnquoteIdentifier(s.at(s.name())))
	case "CREATE TABLE", "CREATE COLUMNFAMILY", "CREATE TYPE":
		r.qualify(s)
		return r.run(s.before("WITH"))
	case "CREATE INDEX", "CREATE CUSTOM":
		return r.createIndex(s)
	case "ALTER TABLE", "ALTER COLUMNFAMILY", "ALTER TYPE", "DROP TABLE", "DROP COLUMNFAMILY", "DROP TYPE", "DROP INDEX":
		r.qualify(s)
		if s.find("WITH") < 0 && !s.changesMask() { // options and masks have no effect
			return r.run(s.text)
		}
	case "CREATE MATERIALIZED":
		return r.createView(s)
	case "DROP MATERIALIZED":
		return r.dropView(s)
	default:
		first := strings.ToUpper(s.at(0))
		if !slices.Contains(ignored, first) && !slices.Contains([]string{"CREATE", "ALTER", "DROP"}, first) {
			return fmt.Errorf("%w: %.40q is no statement of CQL", ErrSchema, title(s.text))
		}
	}
	return nil
}

func (r *reader) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// qualify creates the keyspace of the name in a statement.
func (r *reader) qualify(s *statementText) {
	if n := s.name(); s.at(n+1) == "." {
		r.create(cqltext.UnquoteIdentifier(s.at(n)))
	}
}

// run executes a statement in the current keyspace. The error is the server's text.
func (r *reader) run(text string) error {
	if r.current != "" {
		text = "USE " + cqltext.QuoteIdentifier(r.current) + ";\n" + text
	}
	err := r.cluster.Exec(text)
	var server *cqltest.Error
	switch {
	case errors.As(err, &server) && strings.HasPrefix(server.Message, "No keyspace has been specified"):
		return fmt.Errorf("%w: the statement names no keyspace: name it by --keyspace, or in %s", ErrSchema, SettingsFile)
	case errors.As(err, &server):
		return fmt.Errorf("%w: %s", ErrSchema, cmp.Or(server.Message, err.Error()))
	}
	return err
}

// createIndex executes a CREATE INDEX. An index of vectors of either server is one of Cassandra's here.
func (r *reader) createIndex(s *statementText) error {
	using, on := s.find("USING"), s.find("ON")
	if using < 0 || on < 0 { // without ON it is an error of the server
		return r.run(s.before("WITH"))
	}
	class := strings.ToLower(strings.Trim(s.at(using+1), "'"))
	switch class[strings.LastIndexByte(class, '.')+1:] {
	case "sai", "storageattachedindex":
		return r.run(s.text[:s.tokens[using].at] + "USING '" + sai + "'")
	case "vector_index":
		return r.run(s.text[:s.tokens[on].at] + "ON " + s.qualified(on+1) + " (" + s.vectorTarget() + ") USING '" + sai + "'")
	}
	r.note("the index on %s is left out: its class is %s", s.qualified(on+1), s.at(using+1))
	return nil
}
