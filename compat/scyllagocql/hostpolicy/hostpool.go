// SPDX-License-Identifier: Apache-2.0

// Package hostpolicy has host selection policies.
package hostpolicy

import (
	"sync"

	"github.com/gocql/gocql"
	"github.com/hailocab/go-hostpool"
)

// Host selection by a host pool, which learns from the outcome of requests.

// hostPoolHostPolicy is the policy of HostPool. Nodes have their addresses as names in the pool.
type hostPoolHostPolicy struct {
	pool  hostpool.HostPool
	mu    sync.RWMutex
	hosts map[string]*gocql.HostInfo
}

// HostPool sends requests to the nodes that hp returns.
func HostPool(hp hostpool.HostPool) gocql.HostSelectionPolicy {
	return &hostPoolHostPolicy{pool: hp, hosts: make(map[string]*gocql.HostInfo)}
}

func (p *hostPoolHostPolicy) Init(*gocql.Session)                       {}
func (p *hostPoolHostPolicy) Reset()                                    {}
func (p *hostPoolHostPolicy) IsOperational(*gocql.Session) error        { return nil }
func (p *hostPoolHostPolicy) SetPartitioner(string)                     {}
func (p *hostPoolHostPolicy) KeyspaceChanged(gocql.KeyspaceUpdateEvent) {}
func (p *hostPoolHostPolicy) IsLocal(*gocql.HostInfo) bool              { return true }
func (p *hostPoolHostPolicy) HostUp(host *gocql.HostInfo)               { p.AddHost(host) }
func (p *hostPoolHostPolicy) HostDown(host *gocql.HostInfo)             { p.RemoveHost(host) }

// SetHosts replaces the nodes.
func (p *hostPoolHostPolicy) SetHosts(hosts []*gocql.HostInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hosts = make(map[string]*gocql.HostInfo, len(hosts))
	for _, h := range hosts {
		p.hosts[h.ConnectAddress().String()] = h
	}
	p.setNames()
}

// AddHost implements HostStateNotifier.
func (p *hostPoolHostPolicy) AddHost(host *gocql.HostInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name := host.ConnectAddress().String(); p.hosts[name] == nil {
		p.hosts[name] = host
		p.setNames()
	}
}

// RemoveHost implements HostStateNotifier.
func (p *hostPoolHostPolicy) RemoveHost(host *gocql.HostInfo) {
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
func (p *hostPoolHostPolicy) Pick(gocql.ExecutableQuery) gocql.NextHost {
	return func() gocql.SelectedHost {
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
	host     *gocql.HostInfo
	response hostpool.HostPoolResponse
}

// Info implements SelectedHost.
func (s pooled) Info() *gocql.HostInfo { return s.host }

// Token implements SelectedHost.
func (pooled) Token() gocql.Token { return nil }

// Mark implements SelectedHost.
func (s pooled) Mark(err error) {
	s.policy.mu.RLock()
	defer s.policy.mu.RUnlock()
	if s.policy.hosts[s.host.ConnectAddress().String()] != nil {
		s.response.Mark(err)
	}
}
