// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// Session.

// A Session sends requests to one cluster. It is safe for use by any number of goroutines.
type Session struct {
	driver *vecql.Session
	cfg    ClusterConfig
	types  *RegisteredTypes       // nil means that the program registered none
	picker *api.Picker[*HostInfo] // nil means a policy that the driver executes itself

	hosts     *api.Hosts[HostInfo]
	keyspaces api.Keyspaces[KeyspaceMetadata]
	results   api.Results[HostInfo, ColumnInfo]
	rare      api.Rare[RetryPolicy]
}

// NewSession connects to the cluster that cfg describes.
func NewSession(cfg ClusterConfig) (*Session, error) {
	s := &Session{cfg: cfg, hosts: newHosts(), types: userTypes(cfg.RegisteredTypes), rare: rareOptions(&cfg)}
	s.results = api.Results[HostInfo, ColumnInfo]{
		Dialect: dialect, Hosts: s.hosts, Columns: s.columns, Values: s.values(),
		Failure: func(err error, _ bool) error { return plain(err) },
	}
	if err := s.cfg.check(); err != nil {
		return nil, err
	}
	c, err := s.convert()
	if err != nil {
		return nil, fmt.Errorf("gocql: unable to create session: %w", err)
	}
	if s.driver, err = vecql.NewSession(s.observers().Context(context.Background()), c); err != nil {
		if errors.Is(err, vecql.ErrNoConnectionsStarted) {
			s.log(err)
			return nil, ErrNoConnectionsStarted
		}
		return nil, fmt.Errorf("gocql: unable to create session: %w", plain(err))
	}
	s.hosts.Attach(s.driver)
	s.cfg.ProtoVersion = s.driver.ProtoVersion() // gocql's own tests read it
	if s.picker != nil {
		s.startPicker()
	}
	if l := s.cfg.Metadata.SessionReadyListener; l != nil {
		l.OnSessionReady(s)
	}
	return s, nil
}

// log reports the reason of an error that the API returns as a sentinel.
func (s *Session) log(err error) {
	if s.cfg.Logger != nil {
		s.cfg.Logger.Error("unable to create session", NewLogFieldError("err", err))
	}
}

// Vecql returns the session of vecql that serves s. It shares the connections and prepared statements of s.
func (s *Session) Vecql() *vecql.Session { return s.driver }

// closeTimeout bounds the wait for requests in flight in Close.
const closeTimeout = 11 * time.Second

// Close closes the session and its connections.
func (s *Session) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = s.driver.Shutdown(ctx)
}

// Closed reports whether Close was called.
func (s *Session) Closed() bool { return s.driver.Closed() }

// AwaitSchemaAgreement blocks until all nodes report one schema version.
func (s *Session) AwaitSchemaAgreement(ctx context.Context) error {
	return s.driver.AwaitSchemaAgreement(ctx)
}

// GetHosts returns the nodes of the cluster.
func (s *Session) GetHosts() []*HostInfo {
	return s.hosts.All(s.driver.GetHosts())
}

// KeyspaceMetadata returns the metadata of a keyspace.
func (s *Session) KeyspaceMetadata(keyspace string) (*KeyspaceMetadata, error) {
	if keyspace == "" && !s.Closed() {
		return nil, ErrNoKeyspace
	}
	k, err := s.driver.KeyspaceMetadata(context.Background(), keyspace)
	if err != nil {
		return nil, plain(err)
	}
	return s.keyspace(k)
}

// AllKeyspaceMetadata returns the metadata of all keyspaces by name.
func (s *Session) AllKeyspaceMetadata() (map[string]*KeyspaceMetadata, error) {
	all, err := s.driver.AllKeyspaceMetadata(context.Background())
	if err != nil {
		return nil, plain(err)
	}
	out := make(map[string]*KeyspaceMetadata, len(all))
	for name, k := range all {
		if out[name], err = s.keyspace(k); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// StatementMetadata describes a prepared statement.
type StatementMetadata struct {
	Keyspace            string
	Table               string
	BindColumns         []ColumnInfo
	PKBindColumnIndexes []int
	ResultColumns       []ColumnInfo
}

// StatementMetadata prepares a statement and describes it. An empty keyspace means the session's.
func (s *Session) StatementMetadata(ctx context.Context, stmt, keyspace string) (StatementMetadata, error) {
	if keyspace == s.cfg.Keyspace {
		keyspace = ""
	}
	m, err := s.driver.StatementMetadata(ctx, stmt, keyspace)
	if err != nil {
		return StatementMetadata{}, plain(err)
	}
	return StatementMetadata{
		Keyspace: m.Keyspace, Table: m.Table, BindColumns: s.columns(m.BindMarkers),
		PKBindColumnIndexes: slices.Clone(m.PartitionKey), ResultColumns: s.columns(m.ResultColumns),
	}, nil
}

// columns returns columns in the API's shape.
func (s *Session) columns(columns []cql.ColumnInfo) []ColumnInfo {
	return api.Each(columns, func(c cql.ColumnInfo) ColumnInfo {
		return ColumnInfo{Keyspace: c.Keyspace, Table: c.Table, Name: c.Name, TypeInfo: s.types.fromCQL(c.TypeInfo)}
	})
}

// values returns what binds values of types that the program registered, nil if it has none.
func (s *Session) values() func([]any) []any {
	if s.types == nil {
		return nil
	}
	return s.types.bind
}
