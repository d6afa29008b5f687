// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Session: a session of vecql with this API's defaults.

// A Session sends requests to a cluster. It is safe for use by any number of goroutines.
type Session struct {
	defaults
	core   core
	vecql  *vecql.Session
	cfg    ClusterConfig
	hosts  *api.Hosts[HostInfo]
	picker *api.Picker[*HostInfo] // of a HostSelectionPolicy of the program; nil means that vecql selects the nodes
	schema api.Keyspaces[KeyspaceMetadata]
}

// NewSession connects to a cluster.
func NewSession(cfg ClusterConfig) (*Session, error) {
	if len(cfg.Hosts) == 0 {
		return nil, ErrNoHosts
	}
	s := &Session{cfg: cfg, hosts: newHosts()}
	c, err := s.config()
	if err != nil {
		return nil, err
	}
	s.setCore()
	s.vecql, err = vecql.NewSession(s.observers().Context(context.Background()), *c)
	s.hosts.Attach(s.vecql)
	if s.picker != nil {
		s.picker.Start(s.Vecql(), func() { s.cfg.PoolConfig.HostSelectionPolicy.Init(s) },
			func() { s.picker.StartKeyspace(s.cfg.Keyspace) })
	}
	if err != nil {
		return nil, api.StartError(err)
	}
	s.cfg.ProtoVersion = s.vecql.ProtoVersion() // gocql's own tests read it
	return s, nil
}

// Vecql returns the session of vecql that s uses. Close of either closes both.
func (s *Session) Vecql() *vecql.Session { return s.vecql }

// started returns the session of vecql.
func (s *Session) started() (*vecql.Session, error) {
	if s == nil || s.vecql == nil {
		return nil, ErrSessionClosed
	}
	return s.vecql, nil
}

// proto returns the version of the protocol.
func (s *Session) proto() byte { return byte(s.vecql.ProtoVersion()) }

// Close closes the session.
func (s *Session) Close() {
	if v, err := s.started(); err == nil {
		v.Close()
	}
}

// Closed reports whether the session is closed.
func (s *Session) Closed() bool {
	v, err := s.started()
	return err != nil || v.Closed()
}

// AwaitSchemaAgreement waits until all nodes have the same schema, at most MaxWaitSchemaAgreement.
func (s *Session) AwaitSchemaAgreement(ctx context.Context) error {
	return api.AwaitAgreement(ctx, s.v1())
}
