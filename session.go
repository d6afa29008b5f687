// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"sync"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/flight"
	"github.com/vecql/vecql/internal/hooks"
	"github.com/vecql/vecql/internal/queue"
	"github.com/vecql/vecql/internal/quietlog"
	"github.com/vecql/vecql/stats"
)

// Session: opening and closing, the snapshot of the cluster, and the methods that return schema metadata.

// A Session sends requests to one cluster. It is safe for use by any number of goroutines and meant to live as long as
// the program.
type Session struct {
	core
	cluster
	sender
	done chan struct{} // closed when Close has finished
}

// connectHalves makes the cluster and the sender share the core.
func (s *Session) connectHalves() { s.cluster.core, s.sender.core = &s.core, &s.core }

// NewSession connects to the cluster that cfg describes. It returns after one attempt to connect to every node, or one
// second after the first node was reached; it then connects to the others in the background. After an error no
// goroutine or connection is left. NewSession returns early when ctx ends; the session does not use ctx afterwards.
func NewSession(ctx context.Context, cfg ClusterConfig) (*Session, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	cfg.Authenticator = conceal(cfg.Authenticator)
	id, err := cql.RandomUUID()
	if err != nil {
		return nil, err
	}
	s := &Session{done: make(chan struct{})}
	s.core.cfg, s.core.id, s.core.log = cfg, id, quietlog.New(cfg.Logger, "node")
	s.core.statements = flight.New[statement](cfg.Limits.MaxPreparedStmts)
	s.connectHalves()
	s.peers.cluster, s.reach = cfg.Nodes.ClusterName, translator(cfg.Nodes.AddressTranslator)
	s.routes = newClientRoutes(cfg.Nodes.ClientRoutes, cfg.TLS != nil)
	s.hook = hooks.Of(ctx)
	s.defaultPolicies, s.throttle = newPolicies(&s.cfg), newThrottle(cfg.Limits.Throttle)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if cfg.Limits.MemoryBudget > 0 {
		s.memory = queue.NewBudget(cfg.Limits.MemoryBudget, s.ctx.Done())
	}
	s.drainCtx, s.forceClose = context.WithCancel(context.Background())
	s.routing.rules = newPlanRules(cfg.HostSelectionPolicy)
	s.topo.Store(&topology{routing: &s.routing})
	s.control = s.newControl()
	s.schema = newSchemaCache(s.ctx, cfg.Schema.Metadata, s.anyConn)
	s.notify = newNotifier(&s.cluster)
	err = s.connect(ctx)
	if err == nil {
		err = s.notify.start(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	s.control.wg.Add(1)
	go s.control.run(s.ctx)
	return s, nil
}

// Close closes the session. It refuses new requests, waits up to ClusterConfig.Timeout for the requests in flight, and
// closes all connections. When it returns, no goroutine and no socket of the session is left, except goroutines in the
// program's own code that did not return within that time. Further calls block until the first has returned.
func (s *Session) Close() { _ = s.Shutdown(context.Background()) }

// Shutdown is Close and stops waiting when ctx ends; it then returns the error of ctx.
func (s *Session) Shutdown(ctx context.Context) error {
	if !s.closed.CompareAndSwap(false, true) {
		select {
		case <-s.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer close(s.done)
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	defer context.AfterFunc(ctx, s.forceClose)()
	s.cancel()
	errs := []error{s.notify.stop(ctx), background.AwaitAll(ctx, &s.control.wg)}
	s.schema.close()
	s.mu.Lock() // no view is installed after this
	nodes := s.topo.Load().nodes
	s.mu.Unlock()
	ended := make([]error, len(nodes)+1)
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { ended[i] = n.pool.close(ctx, stats.EndClosed) })
	}
	if c := s.control.take(); c != nil {
		ended[len(nodes)] = c.Drain(ctx, stats.EndClosed)
	}
	wg.Wait()
	s.wg.Wait()
	s.forceClose()
	return errors.Join(append(append(errs, ended...), s.endTasks(ctx))...)
}

// Closed reports whether Close was called.
func (s *Session) Closed() bool { return s.closed.Load() }

// ProtoVersion returns the native protocol version in use.
func (s *Session) ProtoVersion() int { return int(s.version) }

// GetHosts returns the nodes of the cluster as last read from the system tables, ordered by host id.
func (s *Session) GetHosts() []*cql.Host {
	nodes := s.topo.Load().nodes
	hosts := make([]*cql.Host, len(nodes))
	for i, n := range nodes {
		hosts[i] = n.info
	}
	return hosts
}

// IsUp reports whether a connection to a node of the cluster takes requests.
func (s *Session) IsUp(host *cql.Host) bool {
	topo := s.topo.Load()
	i := topo.find(host.ID)
	return i >= 0 && topo.nodes[i].pool.isUp()
}

// AwaitSchemaAgreement blocks until all nodes that are up report the same schema version. It returns ErrSchemaAgreement
// when ctx or ClusterConfig.Schema.MaxWaitAgreement ends first. The session itself waits for agreement after each of
// its schema changes.
func (s *Session) AwaitSchemaAgreement(ctx context.Context) error {
	return s.awaitSchemaAgreement(ctx, nil)
}

// KeyspaceMetadata returns the metadata of a keyspace with its tables, types, functions and aggregates. The first call
// reads it from the system tables; later calls return the cached metadata. A schema change by this session or an event
// of the server invalidates the cache; the event may arrive shortly after another session's change. Names are
// case-sensitive.
//
// Errors are ErrKeyspaceDoesNotExist, ErrNoKeyspace, ErrNoMetadata and the errors of requests.
func (s *Session) KeyspaceMetadata(ctx context.Context, keyspace string) (*cql.KeyspaceMetadata, error) {
	if s.closed.Load() {
		return nil, errtext.Errorf("read the metadata of keyspace %q: %w", keyspace, ErrSessionClosed)
	}
	return s.schema.keyspace(ctx, keyspace)
}

// AllKeyspaceMetadata returns the metadata of all keyspaces by name, system keyspaces included. The caller owns the
// map. From the first call on, the session caches all keyspaces; see KeyspaceMetadata.
func (s *Session) AllKeyspaceMetadata(ctx context.Context) (map[string]*cql.KeyspaceMetadata, error) {
	if s.closed.Load() {
		return nil, errtext.Errorf("read the metadata of all keyspaces: %w", ErrSessionClosed)
	}
	return s.schema.allMetadata(ctx)
}

// TableMetadata returns the metadata of a table; see KeyspaceMetadata. Errors are the errors of KeyspaceMetadata,
// ErrNoTable, and ErrNoMetadata if ClusterConfig.Schema.Metadata is MetadataKeyspaces.
func (s *Session) TableMetadata(ctx context.Context, keyspace, table string) (*cql.TableMetadata, error) {
	ks, err := s.KeyspaceMetadata(ctx, keyspace)
	if err != nil {
		return nil, err
	}
	if s.cfg.Schema.Metadata == MetadataKeyspaces {
		return nil, errtext.Errorf("%w: table %q.%q: ClusterConfig.Schema.Metadata is MetadataKeyspaces", ErrNoMetadata, keyspace, table)
	}
	if t := ks.Tables[table]; t != nil {
		return t, nil
	}
	return nil, errtext.Errorf("%w: %q.%q", ErrNoTable, keyspace, table)
}
