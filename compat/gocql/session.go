// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Session: a session of vecql with this API's defaults.

// A Session sends requests to a cluster. It is safe for use by any number of goroutines.
type Session struct {
	defaults
	vecql   *vecql.Session
	cfg     ClusterConfig
	hosts   *api.Hosts[HostInfo]
	picker  *api.Picker[*HostInfo] // of a HostSelectionPolicy of the program; nil means that vecql selects the nodes
	schema  api.Keyspaces[KeyspaceMetadata]
	results api.Results[HostInfo, ColumnInfo]
}

type defaults = api.Defaults[Consistency]

// NewSession connects to a cluster.
func NewSession(cfg ClusterConfig) (*Session, error) {
	if len(cfg.Hosts) == 0 {
		return nil, ErrNoHosts
	}
	s := &Session{cfg: cfg, defaults: api.NewDefaults(cfg.Consistency, cfg.PageSize), hosts: newHosts()}
	s.results = s.newResults()
	c, err := s.config()
	if err != nil {
		return nil, err
	}
	s.vecql, err = vecql.NewSession(*c)
	if s.picker != nil {
		s.picker.Start(s.Vecql(), s.cfg.Keyspace, func() { s.cfg.PoolConfig.HostSelectionPolicy.Init(s) })
	}
	if err != nil {
		return nil, startError(err)
	}
	s.cfg.ProtoVersion = s.vecql.ProtoVersion() // gocql's own tests read it
	return s, nil
}

// startError returns the error of a start that failed. A missing keyspace, and a filter that accepts no node, are
// ErrNoConnectionsStarted, as in gocql; other errors name their cause.
func startError(err error) error {
	if errors.Is(err, vecql.ErrKeyspaceDoesNotExist) || errors.Is(err, vecql.ErrNoHosts) {
		return ErrNoConnectionsStarted
	}
	return fmt.Errorf("gocql: unable to create session: %w", err)
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

// timeout returns the timeout of an attempt.
func (s *Session) timeout() time.Duration { return api.OrNever(s.cfg.Timeout) }

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
	v, err := s.started()
	if err != nil {
		return err
	}
	return plain(v.AwaitSchemaAgreement(ctx))
}
