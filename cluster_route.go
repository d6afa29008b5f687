// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
)

// The session's use of client routes (topology_host.go): it reads them with each view and after each event, and moves
// the pools of the nodes whose route has changed.

// registerRoutes registers a control connection for these events and for events of client routes. ScyllaDB before
// 2026.1 refuses an unknown type, and the others with it (scylladb/java-driver pull request 807): the session then
// registers for the others, and reads the routes with each view, at most ReconnectInterval after a change.
func (k *cluster) registerRoutes(ctx context.Context, c *conn.Conn, events []string) error {
	err := conn.Register(ctx, c, append(slices.Clone(events), frame.EventRoutes))
	var refused *cql.ServerError
	if !errors.As(err, &refused) || refused.Code != cql.CodeProtocol {
		return err
	}
	k.routes.noEvent.Do(func() {
		k.log.Warn("no event of client routes: they are read again every ReconnectInterval", "node", c.Addr(), "err", err)
	})
	if len(events) == 0 {
		return nil
	}
	return conn.Register(ctx, c, events)
}

// readRoutes reads the rows of system.client_routes for a view.
func (k *cluster) readRoutes(ctx context.Context, conn *conn.Conn, view *clusterView) error {
	if k.routes == nil {
		return nil
	}
	view.reading = k.routes.begun.Add(1)
	var err error
	if view.routes, err = systemQuery(ctx, conn, k.routes.statement()); err != nil {
		return errtext.Errorf("read system.client_routes: %w", err)
	}
	return nil
}

// ownAddress returns what is known of the address of the node of a connection: the address that was dialed. With client
// routes that is the address of a proxy, and only the default port is known.
func (k *cluster) ownAddress(conn *conn.Conn) (netip.AddrPort, error) {
	if k.routes != nil {
		return netip.AddrPortFrom(netip.Addr{}, uint16(k.cfg.Port)), nil
	}
	return netip.ParseAddrPort(conn.Addr())
}

// setRoutes chooses the routes of a view, and moves the pools of the nodes that have other routes.
func (k *cluster) setRoutes(view *clusterView) {
	if k.routes == nil {
		return
	}
	for _, id := range k.routes.update(view.reading, view.routes) {
		if n := k.topo.Load().nodeByID(id); n != nil {
			k.movePool(n)
			n.pool.retryNow() // it may wait after failures on the old route
		}
	}
}

// movePool sets the address that the pool of a node dials. A node that has lost its client route keeps its connections;
// dialNode refuses further ones.
func (k *cluster) movePool(n *node) {
	if k.requireRoute(n.info.ID) == nil {
		n.pool.move(k.addrOf(n.info))
	}
}

// addrOf returns the address at which a node is dialed. The announced address of a node without a client route is a
// name only: dialNode refuses it.
func (k *cluster) addrOf(h *cql.Host) string {
	if k.routes != nil {
		if addr, err := k.routes.addrOf(h.ID); err == nil {
			return addr
		}
	}
	return h.Address.String()
}

// requireRoute returns ErrNoRoute if client routes are configured and none leads to the node.
func (k *cluster) requireRoute(id cql.UUID) error {
	if k.routes == nil {
		return nil
	}
	_, err := k.routes.addrOf(id)
	return err
}

// hearRoutes returns a listener to the events of a control connection that wakes followRoutes after an event about
// client routes, and passes other events on.
func (k *cluster) hearRoutes(next func(any)) func(any) {
	if k.routes == nil {
		return next
	}
	return func(e any) {
		if _, ok := e.(frame.RoutesEvent); !ok {
			next(e)
			return
		}
		select {
		case k.routes.wake <- struct{}{}:
		default:
		}
	}
}

// followRoutes reads the client routes after each event, until the session ends. It does not wait as the readings of
// views do, because the old route may already be closed.
func (k *cluster) followRoutes() {
	for {
		select {
		case <-k.routes.wake:
		case <-k.ctx.Done():
			return
		}
		link := k.control.current()
		if link == nil {
			continue // the next control connection reads all
		}
		ctx, cancel := context.WithTimeout(k.ctx, k.cfg.ConnectTimeout)
		var view clusterView
		err := k.readRoutes(ctx, link, &view)
		cancel()
		if err != nil {
			k.log.Warn("client routes not read, reading the cluster", "node", link.Addr(), "err", err)
			k.control.refreshSoon()
			continue
		}
		k.setRoutes(&view)
	}
}
