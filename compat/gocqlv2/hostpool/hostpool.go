// SPDX-License-Identifier: Apache-2.0

// Package hostpool has a host selection policy on the host pools of github.com/hailocab/go-hostpool.
package hostpool

import (
	"maps"
	"slices"
	"sync"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/hailocab/go-hostpool"
)

// HostPoolHostPolicy returns a policy that takes the node of each attempt from hp and reports the outcome to it.
func HostPoolHostPolicy(hp hostpool.HostPool) *hostPoolHostPolicy {
	return &hostPoolHostPolicy{pool: hp, hosts: map[string]*gocql.HostInfo{}}
}

type hostPoolHostPolicy struct {
	pool  hostpool.HostPool
	mu    sync.RWMutex
	hosts map[string]*gocql.HostInfo // by address
}

func (p *hostPoolHostPolicy) Init(*gocql.Session)                       {}
func (p *hostPoolHostPolicy) KeyspaceChanged(gocql.KeyspaceUpdateEvent) {}
func (p *hostPoolHostPolicy) SetPartitioner(string)                     {}

// IsLocal reports true: the policy has no distances.
func (p *hostPoolHostPolicy) IsLocal(*gocql.HostInfo) bool { return true }

func address(h *gocql.HostInfo) string { return h.ConnectAddress().String() }

// change edits the nodes and passes their addresses to the pool.
func (p *hostPoolHostPolicy) change(edit func(hosts map[string]*gocql.HostInfo)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.hosts)
	if edit(p.hosts); len(p.hosts) != before {
		p.pool.SetHosts(slices.Collect(maps.Keys(p.hosts)))
	}
}

// SetHosts replaces the nodes.
func (p *hostPoolHostPolicy) SetHosts(hosts []*gocql.HostInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hosts = make(map[string]*gocql.HostInfo, len(hosts))
	addrs := make([]string, len(hosts))
	for i, h := range hosts {
		addrs[i] = address(h)
		p.hosts[addrs[i]] = h
	}
	p.pool.SetHosts(addrs)
}

// AddHost adds a node, unless another one has its address.
func (p *hostPoolHostPolicy) AddHost(host *gocql.HostInfo) {
	p.change(func(hosts map[string]*gocql.HostInfo) {
		if hosts[address(host)] == nil {
			hosts[address(host)] = host
		}
	})
}

// RemoveHost removes the node at an address.
func (p *hostPoolHostPolicy) RemoveHost(host *gocql.HostInfo) {
	p.change(func(hosts map[string]*gocql.HostInfo) { delete(hosts, address(host)) })
}

// HostUp adds a node.
func (p *hostPoolHostPolicy) HostUp(host *gocql.HostInfo) { p.AddHost(host) }

// HostDown removes a node.
func (p *hostPoolHostPolicy) HostDown(host *gocql.HostInfo) { p.RemoveHost(host) }

// Pick takes each node from the pool.
func (p *hostPoolHostPolicy) Pick(gocql.ExecutableStatement) gocql.NextHost {
	return func() gocql.SelectedHost {
		p.mu.RLock()
		defer p.mu.RUnlock()
		if len(p.hosts) == 0 {
			return nil
		}
		response := p.pool.Get()
		host, ok := p.hosts[response.Host()]
		if !ok {
			return nil
		}
		return selected{p, host, response}
	}
}

// selected is a node with the response of the pool, which receives the outcome.
type selected struct {
	policy   *hostPoolHostPolicy
	host     *gocql.HostInfo
	response hostpool.HostPoolResponse
}

func (s selected) Info() *gocql.HostInfo { return s.host }

// Mark reports the outcome of an attempt, unless the node has left the policy.
func (s selected) Mark(err error) {
	s.policy.mu.RLock()
	defer s.policy.mu.RUnlock()
	if _, ok := s.policy.hosts[address(s.host)]; ok {
		s.response.Mark(err)
	}
}
