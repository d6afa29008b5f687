// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"maps"
	"net"
	"slices"
	"sync"
)

// Host selection by a host pool, which learns from the outcome of requests. The modules adapt package go-hostpool,
// which this module does not import.

// A HostPool is a pool that selects nodes by their addresses. R is its response.
type HostPool[R PoolResponse] interface {
	Get() R
	SetHosts(names []string)
}

// A PoolResponse is a selected name. Mark receives the outcome of the request.
type PoolResponse interface {
	Host() string
	Mark(err error)
}

// Pooled are the nodes of a pool. It is embedded in the policies of the modules.
type Pooled[H interface {
	comparable
	ConnectAddress() net.IP
}, R PoolResponse] struct {
	pool  HostPool[R]
	mu    sync.RWMutex
	hosts map[string]H // by address
}

// NewPooled returns the nodes of a pool.
func NewPooled[H interface {
	comparable
	ConnectAddress() net.IP
}, R PoolResponse](pool HostPool[R]) Pooled[H, R] {
	return Pooled[H, R]{pool: pool, hosts: make(map[string]H)}
}

// SetPartitioner implements SetPartitioner.
func (p *Pooled[H, R]) SetPartitioner(string) {}

// KeyspaceChanged implements HostSelectionPolicy.
func (p *Pooled[H, R]) KeyspaceChanged(KeyspaceUpdateEvent) {}

// IsLocal returns true.
func (p *Pooled[H, R]) IsLocal(H) bool { return true }

// SetHosts replaces the nodes.
func (p *Pooled[H, R]) SetHosts(hosts []H) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hosts = make(map[string]H, len(hosts))
	for _, h := range hosts {
		p.hosts[h.ConnectAddress().String()] = h
	}
	p.setNames()
}

// AddHost implements HostStateNotifier.
func (p *Pooled[H, R]) AddHost(host H) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name := host.ConnectAddress().String(); !p.has(name) {
		p.hosts[name] = host
		p.setNames()
	}
}

// RemoveHost implements HostStateNotifier.
func (p *Pooled[H, R]) RemoveHost(host H) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name := host.ConnectAddress().String(); p.has(name) {
		delete(p.hosts, name)
		p.setNames()
	}
}

// HostUp implements HostStateNotifier.
func (p *Pooled[H, R]) HostUp(host H) { p.AddHost(host) }

// HostDown implements HostStateNotifier.
func (p *Pooled[H, R]) HostDown(host H) { p.RemoveHost(host) }

// has reports whether the pool has a node. Callers hold p.mu.
func (p *Pooled[H, R]) has(name string) bool {
	_, ok := p.hosts[name]
	return ok
}

// setNames passes the names of the nodes to the pool. Callers hold p.mu.
func (p *Pooled[H, R]) setNames() { p.pool.SetHosts(slices.Collect(maps.Keys(p.hosts))) }

// PickPooled returns an iterator of the nodes that the pool selects. It has no end. choose makes a module's
// SelectedHost of a node and of what receives the outcome of the request.
func PickPooled[S any, H interface {
	comparable
	ConnectAddress() net.IP
}, R PoolResponse](p *Pooled[H, R], choose func(host H, mark func(error)) S) func() S {
	return func() (none S) {
		p.mu.RLock()
		defer p.mu.RUnlock()
		if len(p.hosts) == 0 {
			return none
		}
		response := p.pool.Get()
		name := response.Host()
		if !p.has(name) {
			return none
		}
		return choose(p.hosts[name], func(err error) {
			p.mu.RLock()
			defer p.mu.RUnlock()
			if p.has(name) {
				response.Mark(err)
			}
		})
	}
}
