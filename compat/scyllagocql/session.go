// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql/events"
	"github.com/gocql/gocql/internal/eventbus"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Session: a session of vecql with this API's defaults.

// A Session sends requests to a cluster. It is safe for use by any number of goroutines.
type Session struct {
	defaults
	core   core
	id     string
	cfg    ClusterConfig
	hosts  *api.Hosts[HostInfo]
	picker *api.Picker[*HostInfo] // of a HostSelectionPolicy of the program; nil means that vecql selects the nodes
	events eventbus.Bus[events.Event]
	warns  WarningHandler // nil means none

	vecql  atomic.Pointer[vecql.Session] // nil until the session has connected
	ready  chan struct{}                 // closed when connecting has ended
	err    error                         // of connecting; valid after ready is closed
	ctx    context.Context               // ends connecting
	cancel context.CancelFunc

	schema api.Keyspaces[KeyspaceMetadata]
}

// NewSession connects to a cluster.
func NewSession(cfg ClusterConfig) (*Session, error) {
	s, c, err := newSession(cfg)
	if err != nil {
		return nil, err
	}
	if s.connect(c); s.err != nil {
		return nil, s.err
	}
	return s, nil
}

// NewSessionNonBlocking returns a session that connects to a cluster in the background. Until it has connected its
// verbs return ErrSessionNotReady.
func NewSessionNonBlocking(cfg ClusterConfig) (*Session, error) {
	s, c, err := newSession(cfg)
	if err != nil {
		return nil, err
	}
	go s.connect(c)
	return s, nil
}

// newSession returns a session that has not connected yet, and its configuration for vecql.
func newSession(cfg ClusterConfig) (*Session, *vecql.ClusterConfig, error) {
	if err := cfg.Validate(); err != nil {
		return nil, nil, err
	}
	id, err := RandomUUID()
	if err != nil {
		return nil, nil, err
	}
	s := &Session{
		id: id.String(), cfg: cfg, ready: make(chan struct{}), hosts: newHosts(),
	}
	c, err := s.config()
	if err != nil {
		return nil, nil, err
	}
	s.setCore()
	s.core.Failure, s.core.Warn, s.core.EachCounted = sentError, s.warn, true
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if build := cfg.WarningsHandlerBuilder; build != nil {
		s.warns = build(s)
	}
	return s, c, nil
}

// connect connects to the cluster, as often as InitialReconnectionPolicy allows.
func (s *Session) connect(c *vecql.ClusterConfig) {
	defer close(s.ready)
	defer s.cancel()
	var v *vecql.Session
	for i := range s.cfg.InitialReconnectionPolicy.GetMaxRetries() {
		if i > 0 && !s.wait(s.cfg.InitialReconnectionPolicy.GetInterval(i)) {
			break
		}
		if v, s.err = vecql.NewSession(s.observers().Context(s.ctx), *c); s.err == nil {
			break
		}
	}
	if s.err == nil {
		s.vecql.Store(v)
		s.hosts.Attach(v)
	}
	if s.picker != nil {
		s.picker.Start(s.Vecql(), func() { s.cfg.PoolConfig.HostSelectionPolicy.Init(s) },
			func() { s.picker.StartKeyspace(s.cfg.Keyspace) })
	}
	if s.err != nil {
		s.err = api.StartError(s.err)
		return
	}
	if policy := s.cfg.PoolConfig.HostSelectionPolicy; policy != nil {
		s.err = policy.IsOperational(s)
	}
	if s.err != nil || s.ctx.Err() != nil { // closed in between
		v.Close()
	}
}

// timeout returns the timeout of an attempt, 0 for nil.
func (s *Session) timeout() time.Duration {
	if s == nil {
		return 0
	}
	return s.cfg.Timeout
}

// wait waits and reports whether the session is still wanted.
func (s *Session) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// Vecql returns the session of vecql that s uses, nil if s is not ready. Close of either closes both.
func (s *Session) Vecql() *vecql.Session { return s.vecql.Load() }

// ID returns an id of the session.
func (s *Session) ID() string { return s.id }

// ErrSessionNotReady means that a session has not connected yet.
var ErrSessionNotReady = errors.New("session is not ready yet")

// Ready returns nil if the session has connected, ErrSessionNotReady while it connects, else the error of connecting.
func (s *Session) Ready() error {
	select {
	case <-s.ready:
		return s.err
	default:
		return ErrSessionNotReady
	}
}

// WaitUntilReady waits until the session has connected, and returns the error of connecting.
func (s *Session) WaitUntilReady() error {
	<-s.ready
	return s.err
}

// started returns the session of vecql.
func (s *Session) started() (*vecql.Session, error) {
	if s == nil || s.ready == nil {
		return nil, ErrSessionClosed
	}
	if v := s.vecql.Load(); v != nil {
		return v, nil
	}
	if err := s.Ready(); err != nil {
		return nil, err
	}
	return s.vecql.Load(), nil
}

// proto returns the version of the protocol.
func (s *Session) proto() byte {
	if v := s.vecql.Load(); v != nil {
		return byte(v.ProtoVersion())
	}
	return protoVersionOfValues
}

// Close closes the session.
func (s *Session) Close() {
	if s == nil || s.ready == nil {
		return
	}
	s.cancel()
	if v := s.vecql.Load(); v != nil {
		v.Close()
	}
	s.events.Close()
}

// Closed reports whether the session is closed.
func (s *Session) Closed() bool {
	if s == nil || s.ready == nil {
		return true
	}
	v := s.vecql.Load()
	if v == nil {
		return s.ctx.Err() != nil
	}
	return v.Closed()
}

// AwaitSchemaAgreement waits until all nodes have the same schema, at most MaxWaitSchemaAgreement.
func (s *Session) AwaitSchemaAgreement(ctx context.Context) error {
	err := api.AwaitAgreement(ctx, s.v1())
	if errors.Is(err, vecql.ErrSchemaAgreement) {
		return &ErrSchemaMismatch{err: err}
	}
	return err
}

// GetHosts returns the nodes.
func (s *Session) GetHosts() []*HostInfo {
	v, err := s.started()
	if err != nil {
		return nil
	}
	return s.hosts.All(v.GetHosts())
}

// LastPage reports whether no page follows the current one.
func (it *Iter) LastPage() bool { return len(it.PageState()) == 0 }
