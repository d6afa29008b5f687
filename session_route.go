// SPDX-License-Identifier: Apache-2.0

package vecql

import "net/netip"

// This file joins requests with the choice of nodes: which way a call goes, what its answer teaches, what the user's filter and policy say.

// target returns what the call's route follows from.
func (c *call) target() routeTarget {
	return routeTarget{
		keyspace: c.keyspace, table: c.table, token: c.token, hasToken: c.hasToken,
		lwt:  c.lwt || c.params.consistency.IsSerial(), // a read at a serial consistency is a round of Paxos as well
		host: c.hostID,
	}
}

// routeOf returns the order of nodes for a call.
func (s *Session) routeOf(c *call) route {
	target := c.target()
	target.start = s.start.Add(routeStep)
	return s.topo.Load().route(target)
}

// learnTablet remembers the tablet that the custom payload of a call's answer may tell of. It does not name the table.
func (s *Session) learnTablet(c *call, payload map[string][]byte) {
	if payload == nil || c.mixed {
		return
	}
	target, topo := c.target(), s.topo.Load()
	topo.learnTablet(&target, payload)
	if now := s.topo.Load(); now != topo { // which may have dropped what topo's nodes held just before this
		now.followTablets(topo)
	}
}

// appendTabletBlock appends the byte that ends an EXECUTE on connections with TABLETS_ROUTING_V2. The call's token must be known if it
// ever is.
func (s *Session) appendTabletBlock(dst []byte, c *call) []byte {
	target := c.target()
	return s.topo.Load().appendTabletBlock(dst, &target)
}

// admit has the user's filter and policy judge the nodes of a view.
func (s *Session) admit(view *clusterView) error {
	return s.routing.rules.judge(view.hosts, s.cfg.HostFilter)
}

// reached returns the address at which the session reaches a node that an event names, an invalid one when it does not.
func (s *Session) reached(addr netip.AddrPort) netip.AddrPort {
	if s.control.reach == nil {
		return addr
	}
	to, err := s.control.reach(addr)
	if err != nil {
		s.log.Warn("an event's address", "err", err)
	}
	return to
}

// routesBy sets where a call goes by the table of its statement.
func (c *call) routesBy(stmt *statement) {
	if keyspace, table := stmt.routing(); table != "" {
		c.keyspace, c.table = keyspace, table
	}
	c.lwt = c.lwt || stmt.lwt
}
