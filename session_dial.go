// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"
)

// This file opens the session's connections: what each of them is told, and the first one to every node.

// startGrace is how long NewSession waits for the other nodes once it is connected to one: a node that does not answer at all must not
// hold up the start. Dialling it goes on in the background.
const startGrace = time.Second

// awaitNodes starts the pools and returns when every node has been tried, or startGrace after the first one that was reached.
func (s *Session) awaitNodes(ctx context.Context) error {
	nodes := s.topo.Load().nodes
	tried := make(chan *node, len(nodes))
	for _, n := range nodes {
		n.pool.refill()
		s.wg.Go(func() {
			select {
			case <-n.pool.tried:
			case <-s.ctx.Done():
			}
			tried <- n
		})
	}
	var grace <-chan time.Time
	for range nodes {
		select {
		case n := <-tried:
			if grace == nil && n.pool.isUp() {
				timer := time.NewTimer(startGrace)
				defer timer.Stop()
				grace = timer.C
			}
			continue
		case <-grace:
		case <-ctx.Done():
			return ctx.Err()
		}
		break
	}
	if slices.ContainsFunc(nodes, func(n *node) bool { return n.pool.isUp() }) {
		return nil
	}
	var errs []error
	for _, n := range nodes {
		errs = append(errs, cmp.Or(n.pool.lastError(), ErrConnectionClosed)) // the pool may not have been told yet
	}
	return fmt.Errorf("%w: %w", ErrNoConnectionsStarted, errors.Join(errs...))
}

// newPool returns the pool of a node. Its owner starts it.
func (s *Session) newPool(h *HostInfo) *pool {
	return newPool(s.ctx, h.addr.String(), poolConfig{
		size: s.cfg.NumConns, shardPort: s.shardPort, policy: s.cfg.ReconnectionPolicy, drain: s.cfg.Timeout,
		changed: s.notify.hosts, log: s.log.With("node", h.id),
		dial: func(ctx context.Context, to dialTarget, closed func(*conn, error)) (*conn, error) {
			return s.dialNode(ctx, h.id, to, closed)
		},
	})
}

// dial opens a connection to addr.
func (s *Session) dial(ctx context.Context, addr string, onEvent func(any), closed func(*conn, error)) (*conn, error) {
	return s.dialTo(ctx, dialTarget{addr: addr}, onEvent, closed)
}

func (s *Session) dialTo(ctx context.Context, to dialTarget, onEvent func(any), closed func(*conn, error)) (*conn, error) {
	options := map[string]string{
		"CQL_VERSION": s.cfg.CQLVersion, "DRIVER_NAME": "vecql", "DRIVER_VERSION": driverVersion, "SESSION_ID": s.id.String(),
	}
	s.cfg.ApplicationInfo.startup(options)
	cfg := &connConfig{
		dial:    func(ctx context.Context, addr string) (net.Conn, error) { return s.dialSocket(ctx, to) },
		tls:     s.tlsConfig(to.addr),
		version: s.version, compressor: s.cfg.Compressor, auth: s.cfg.Authenticator, tabletsV2: s.cfg.ExperimentalTabletsRoutingV2,
		options: options, timeout: s.cfg.Timeout, connectTimeout: s.cfg.ConnectTimeout, heartbeat: max(s.cfg.HeartbeatInterval, 0),
		logger: s.log, onEvent: onEvent, onClose: closed,
	}
	return s.dialObserved(ctx, cfg, to.addr)
}

// wrongNodeError says that another node than the one that was meant answers at an address.
type wrongNodeError struct{ want, got UUID }

func (e *wrongNodeError) Error() string {
	return fmt.Sprintf("node %v answers at the address of node %v", e.got, e.want)
}

// dialNode opens a connection for requests to the node with that id, and puts the session's keyspace in use on it.
func (s *Session) dialNode(ctx context.Context, id UUID, to dialTarget, closed func(*conn, error)) (*conn, error) {
	c, err := s.dialTo(ctx, to, nil, closed)
	if err != nil {
		return nil, err
	}
	if got := c.features.hostID; got != (UUID{}) && id != (UUID{}) && got != id { // only ScyllaDB tells
		err := &wrongNodeError{want: id, got: got}
		c.close(err)
		s.control.refreshSoon() // the addresses that are known are out of date
		return nil, err
	}
	s.sawFeatures(&c.features)
	if s.cfg.Keyspace == "" {
		return c, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.ConnectTimeout)
	defer cancel()
	if _, err := systemQuery(ctx, c, `USE `+quoteIdentifier(s.cfg.Keyspace)); err != nil {
		err = fmt.Errorf("use keyspace %q: %w", s.cfg.Keyspace, err)
		c.close(err)
		return nil, err
	}
	return c, nil
}

// dialSocket opens the TCP connection.
func (s *Session) dialSocket(ctx context.Context, to dialTarget) (net.Conn, error) {
	if to.port == 0 {
		return s.cfg.Dialer.DialContext(ctx, "tcp", to.addr)
	}
	host, _, err := net.SplitHostPort(to.addr)
	if err != nil {
		return nil, err
	}
	addr := net.JoinHostPort(host, strconv.Itoa(int(to.port)))
	ports := portRange{s.cfg.ShardAwareLocalPorts[0], s.cfg.ShardAwareLocalPorts[1]}
	return dialShard(ctx, ports, to.shard, to.shards, func(ctx context.Context, port int) (net.Conn, error) {
		return dialFromPort(ctx, s.cfg.Dialer, addr, port)
	})
}

// shardPort returns the shard-aware port to use with a node, 0 when there is none or it can not be used.
func (s *Session) shardPort(f *features) uint16 {
	switch {
	case s.cfg.DisableShardAwarePort || !choosesPorts(s.cfg.Dialer):
		return 0
	case s.cfg.TLS != nil:
		return f.shardAwarePortSSL
	}
	return f.shardAwarePort
}

// choosesPorts reports whether a Dialer can be told its local port.
func choosesPorts(d Dialer) bool {
	if d, ok := d.(*net.Dialer); ok {
		local, ok := d.LocalAddr.(*net.TCPAddr)
		return d.LocalAddr == nil || ok && local.Port == 0
	}
	_, ok := d.(LocalPortDialer)
	return ok
}

// dialFromPort opens a TCP connection from a local port.
func dialFromPort(ctx context.Context, d Dialer, addr string, port int) (net.Conn, error) {
	if d, ok := d.(LocalPortDialer); ok {
		return d.DialContextLocalPort(ctx, "tcp", addr, port)
	}
	standard, ok := d.(*net.Dialer)
	if !ok {
		return nil, errors.New("the dialer can not choose local ports")
	}
	own := *standard
	local := net.TCPAddr{Port: port}
	if given, ok := own.LocalAddr.(*net.TCPAddr); ok {
		local.IP, local.Zone = given.IP, given.Zone
	}
	own.LocalAddr = &local
	return own.DialContext(ctx, "tcp", addr)
}
