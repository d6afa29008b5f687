// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"sync"

	"github.com/hailocab/go-hostpool"
)

// Host selection by a host pool, which learns from the outcome of requests.

// hostPoolHostPolicy is HostPoolHostPolicy. Nodes have their addresses as names in the pool.
type hostPoolHostPolicy struct {
	pool  hostpool.HostPool
	mu    sync.RWMutex
	hosts map[string]*HostInfo
}

// HostPoolHostPolicy sends requests to the nodes that hp returns.
func HostPoolHostPolicy(hp hostpool.HostPool) HostSelectionPolicy {
	return &hostPoolHostPolicy{pool: hp, hosts: make(map[string]*HostInfo)}
}

func (p *hostPoolHostPolicy) Init(*Session)                       {}
func (p *hostPoolHostPolicy) SetPartitioner(string)               {}
func (p *hostPoolHostPolicy) KeyspaceChanged(KeyspaceUpdateEvent) {}
func (p *hostPoolHostPolicy) IsLocal(*HostInfo) bool              { return true }
func (p *hostPoolHostPolicy) HostUp(host *HostInfo)               { p.AddHost(host) }
func (p *hostPoolHostPolicy) HostDown(host *HostInfo)             { p.RemoveHost(host) }

// SetHosts replaces the nodes.
func (p *hostPoolHostPolicy) SetHosts(hosts []*HostInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hosts = make(map[string]*HostInfo, len(hosts))
	for _, h := range hosts {
		p.hosts[h.ConnectAddress().String()] = h
	}
	p.setNames()
}

// AddHost implements HostStateNotifier.
func (p *hostPoolHostPolicy) AddHost(host *HostInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name := host.ConnectAddress().String(); p.hosts[name] == nil {
		p.hosts[name] = host
		p.setNames()
	}
}

// RemoveHost implements HostStateNotifier.
func (p *hostPoolHostPolicy) RemoveHost(host *HostInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name := host.ConnectAddress().String(); p.hosts[name] != nil {
		delete(p.hosts, name)
		p.setNames()
	}
}

// setNames passes the names of the nodes to the pool. Callers hold p.mu.
func (p *hostPoolHostPolicy) setNames() {
	names := make([]string, 0, len(p.hosts))
	for name := range p.hosts {
		names = append(names, name)
	}
	p.pool.SetHosts(names)
}

// Pick implements HostSelectionPolicy. The iterator has no end.
func (p *hostPoolHostPolicy) Pick(ExecutableQuery) NextHost {
	return func() SelectedHost {
		p.mu.RLock()
		defer p.mu.RUnlock()
		if len(p.hosts) == 0 {
			return nil
		}
		response := p.pool.Get()
		host := p.hosts[response.Host()]
		if host == nil {
			return nil
		}
		return pooled{p, host, response}
	}
}

// pooled is a node that a pool has returned.
type pooled struct {
	policy   *hostPoolHostPolicy
	host     *HostInfo
	response hostpool.HostPoolResponse
}

// Info implements SelectedHost.
func (s pooled) Info() *HostInfo { return s.host }

// Mark implements SelectedHost.
func (s pooled) Mark(err error) {
	s.policy.mu.RLock()
	defer s.policy.mu.RUnlock()
	if s.policy.hosts[s.host.ConnectAddress().String()] != nil {
		s.response.Mark(err)
	}
}
