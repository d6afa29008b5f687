// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"net"

	"github.com/vecql/vecql/stats"
)

// Snapshots of the pools of connections.

// The sentinel errors of pools. No verb returns them.
var (
	ErrHostDown            = errors.New("gocql: host is nil or down")
	ErrNoPool              = errors.New("gocql: host does not have a pool")
	ErrNoConnectionsInPool = errors.New("gocql: host pool does not have connections")
)

// HostInformation is what HostInfo has.
type HostInformation interface {
	Peer() net.IP
	ConnectAddress() net.IP
	UntranslatedConnectAddress() net.IP
	BroadcastAddress() net.IP
	ListenAddress() net.IP
	RPCAddress() net.IP
	PreferredIP() net.IP
	DataCenter() string
	Rack() string
	HostID() string
	WorkLoad() string
	Partitioner() string
	ClusterName() string
	Tokens() []string
	Port() int
	IsUp() bool
	ScyllaShardAwarePort() uint16
	ScyllaShardAwarePortTLS() uint16
	ScyllaShardCount() int
}

// A HostPoolInfo describes the connections to a node.
type HostPoolInfo interface {
	GetConnectionCount() int
	// GetExcessConnectionCount returns the number of connections to shards that have enough.
	GetExcessConnectionCount() int
	GetShardCount() int
	String() string
	// InFlight returns the number of requests without a response.
	InFlight() int
	Host() HostInformation
	IsClosed() bool
}

// hostPool is a HostPoolInfo: a snapshot.
type hostPool struct {
	host *HostInfo
	node stats.Node
}

func (p hostPool) GetConnectionCount() int { return p.node.Connections }
func (p hostPool) GetShardCount() int      { return p.host.ScyllaShardCount() }
func (p hostPool) InFlight() int           { return p.node.InFlight }
func (p hostPool) Host() HostInformation   { return p.host }
func (p hostPool) IsClosed() bool          { return p.node.State == stats.PoolClosed }

func (p hostPool) GetExcessConnectionCount() (n int) {
	for _, c := range p.node.Conns {
		if c.State == stats.ConnSurplus {
			n++
		}
	}
	return n
}

func (p hostPool) String() string {
	return fmt.Sprintf("[pool host=%s state=%s connections=%d in_flight=%d]", p.host.ConnectAddressAndPort(), p.node.State,
		p.node.Connections, p.node.InFlight)
}

// IterateHostPools calls iter for the pools of all nodes, until it returns false.
func (s *Session) IterateHostPools(iter func(info HostPoolInfo) bool) {
	v, err := s.started()
	if err != nil {
		return
	}
	hosts := map[string]*HostInfo{}
	for _, h := range s.hosts.All(v.GetHosts()) {
		hosts[h.HostID()] = h
	}
	for _, node := range v.Stats().Nodes {
		// A node that has come or left between the two calls has no HostInfo.
		if h := hosts[node.HostID]; h != nil && !iter(hostPool{h, node}) {
			return
		}
	}
}

// GetHostPoolByID returns the pool of a node, nil if there is none.
func (s *Session) GetHostPoolByID(hostID string) (found HostPoolInfo) {
	s.IterateHostPools(func(info HostPoolInfo) bool {
		if info.Host().HostID() == hostID {
			found = info
		}
		return found == nil
	})
	return found
}

// MAX_IN_FLIGHT_THRESHOLD is the number of requests without a response from which a node is busy.
var MAX_IN_FLIGHT_THRESHOLD = 10

// IsBusy reports whether the session has MAX_IN_FLIGHT_THRESHOLD requests to the node without a response.
func (h *HostInfo) IsBusy(s *Session) bool {
	if h == nil {
		return false
	}
	pool := s.GetHostPoolByID(h.HostID())
	return pool != nil && pool.InFlight() >= MAX_IN_FLIGHT_THRESHOLD
}
