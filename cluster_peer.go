// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
)

// Verification of peers. Networks reuse addresses: another cluster may answer at the address of a node. Each connection
// therefore asks the server for its cluster and host id before it carries a request.
//
// The question follows READY or AUTH_SUCCESS: Cassandra refuses a QUERY before, and on v5 READY changes the framing.
// USE and REGISTER do not wait for its answer, so that verification adds no round trip to a connection that sends one
// of them, or registers for the end of the server. ScyllaDB sends its host id in SUPPORTED; a connection to the
// expected node then needs no question.
//
// A node may get another host id while it runs: from the transactional metadata of Cassandra 6. For seconds the rows of
// its peers have the new id while the node answers with the old one, or the other way around. The rows, which come from
// a verified server, decide. When they have another id for a node at its address and in its place in the ring
// (topology.renamed), the node keeps its pool, whose dials accept both ids until one is answered with the new id.
// Before that, a server with another id at the address may belong to a restored copy of the cluster, which has the same
// name and tokens: dials refuse it. Open connections stay, because only new ones may lead to another server.

// peers contains the expected cluster and what was logged about others.
type peers struct {
	mu         sync.Mutex
	cluster    string          // the expected name; empty means unknown
	refused    map[string]Peer // by address: the server that was refused last
	unverified bool            // an unverified server was logged
}

// expect sets the name of the cluster if it is unknown.
func (p *peers) expect(cluster string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cluster == "" {
		p.cluster = cluster
	}
}

// expected returns the name of the cluster, empty if it is unknown.
func (p *peers) expected() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cluster
}

// accept forgets which server was refused at the address.
func (p *peers) accept(addr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.refused, addr)
}

// maxRefused bounds the addresses remembered as refused.
const maxRefused = 1024

// refuse stores a refused server, and reports whether it was not the last one refused at its address.
func (p *peers) refuse(e *PeerError) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refused[e.Address] == e.Got {
		return false
	}
	if p.refused == nil || len(p.refused) >= maxRefused {
		p.refused = map[string]Peer{}
	}
	p.refused[e.Address] = e.Got
	return true
}

// isShared reports whether another node of the cluster than the one of that id was the last one refused at the address:
// any node may answer there.
func (p *peers) isShared(addr string, id cql.UUID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	got := p.refused[addr]
	return got.ClusterName == p.cluster && got.HostID != id && got.HostID != (cql.UUID{})
}

// firstUnverified reports whether it is called for the first time.
func (p *peers) firstUnverified() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.unverified
	p.unverified = true
	return first
}

// dialVerified opens a connection to a node, or to any node of the cluster without host ids, and calls initial on it,
// which may be nil. A server that is definitely another one is refused with a *PeerError.
func (k *cluster) dialVerified(ctx context.Context, cfg *conn.Config, to dialTarget,
	initial func(context.Context, *conn.Conn) error,
) (*conn.Conn, error) {
	want, before := Peer{ClusterName: k.peers.expected(), HostID: to.ids.now}, to.ids.before
	if k.cfg.Nodes.LoadBalanced || k.cfg.Nodes.DisableInitialHostLookup {
		want.HostID = cql.UUID{}
	}
	cfg.Prepare = func(ctx context.Context, c *conn.Conn) error {
		if initial == nil && !c.Features.Graceful {
			return k.verify(ctx, c, want, before)
		}
		var failure, unregistered error
		var wg sync.WaitGroup
		if initial != nil {
			wg.Go(func() { failure = initial(ctx, c) })
		}
		if c.Features.Graceful {
			wg.Go(func() { unregistered = conn.RegisterShutdown(ctx, c) })
		}
		err := k.verify(ctx, c, want, before)
		wg.Wait()
		return cmp.Or(err, failure, unregistered) // the first is the cause of the others
	}
	c, err := k.dialObserved(ctx, cfg, to.addr)
	var wrong *PeerError
	switch {
	case err == nil && to.ids.now != (cql.UUID{}):
		k.peers.accept(to.addr)
	case errors.As(err, &wrong):
		k.counters.wrongPeers.Add(1)
		if k.peers.refuse(wrong) {
			k.log.Warn("peer refused", "node", to.addr, "err", wrong)
			k.control.refreshSoon() // the known addresses may be stale
		}
	}
	return c, err
}

// verify returns a *PeerError if the server of c is definitely not the wanted one. The wanted node may have another
// host id, before; zero means none. verify stores the answered host id in c.
func (k *cluster) verify(ctx context.Context, c *conn.Conn, want Peer, before cql.UUID) error {
	if want == (Peer{}) || want.HostID != (cql.UUID{}) && want.HostID == c.Features.HostID {
		return nil
	}
	got, err := readPeer(ctx, c)
	if err != nil && !refusesStatement(err) {
		return errtext.Errorf("verify the peer: %w", err)
	}
	if c.Features.HostID != (cql.UUID{}) {
		got.HostID = c.Features.HostID
	}
	c.Features.HostID = got.HostID
	wrong := &PeerError{Address: c.Addr(), Want: want, Got: got}
	if wrong.WrongCluster() || wrong.wrongNode() && got.HostID != before {
		return wrong
	}
	compared := want.ClusterName != "" && got.ClusterName != "" ||
		want.HostID != (cql.UUID{}) && got.HostID != (cql.UUID{})
	if !compared && k.peers.firstUnverified() {
		k.log.Warn("peer not verified: the server reports neither its cluster nor its host id", "node", c.Addr(), "err", err)
	}
	return nil
}

// readPeer asks a server for its cluster and host id.
func readPeer(ctx context.Context, c *conn.Conn) (Peer, error) {
	rows, err := systemQuery(ctx, c, "SELECT cluster_name, host_id FROM system.local WHERE key = 'local'")
	if err != nil || len(rows) == 0 {
		return Peer{}, err
	}
	return Peer{ClusterName: get[string](rows[0], "cluster_name"), HostID: get[cql.UUID](rows[0], "host_id")}, nil
}

// refusesStatement reports whether err means that the server would refuse the statement again, as some proxies do.
func refusesStatement(err error) bool {
	return errors.Is(err, cql.CodeSyntax) || errors.Is(err, cql.CodeUnauthorized) || errors.Is(err, cql.CodeInvalid) ||
		errors.Is(err, cql.CodeConfig)
}
