// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"sync/atomic"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// The events of a session for a HostSelectionPolicy of the program.

// A PickingPolicy is a HostSelectionPolicy of the program, without what differs between the modules.
type PickingPolicy[H any] interface {
	HostStateNotifier[H]
	SetPartitioner
	KeyspaceChanged(KeyspaceUpdateEvent)
}

// A Picker executes a HostSelectionPolicy of the program (vecql.HostPicker): it passes the events of a session and each
// request to the policy.
type Picker[H any] struct {
	policy  PickingPolicy[H]
	hostOf  func(*cql.Host) H
	pick    func(context.Context, vecql.RouteInfo) vecql.NextHost
	started atomic.Bool
	done    chan struct{} // closed when started is final: events wait for it
}

// NewPicker returns a Picker that waits for Start. pick returns the nodes of a request, in the order of the policy.
func NewPicker[H any](
	policy PickingPolicy[H], hostOf func(*cql.Host) H, pick func(context.Context, vecql.RouteInfo) vecql.NextHost,
) *Picker[H] {
	return &Picker[H]{policy: policy, hostOf: hostOf, pick: pick, done: make(chan struct{})}
}

// Pick implements vecql.HostPicker. Until the policy has the nodes of the session, they have vecql's order.
func (p *Picker[H]) Pick(ctx context.Context, r vecql.RouteInfo, nodes []*cql.Host) vecql.NextHost {
	if !p.started.Load() {
		return vecql.HostsInOrder(nodes...)
	}
	return p.pick(ctx, r)
}

// Start calls init and passes the nodes of s to the policy, then calls keyspaces, which passes keyspaces to it. The
// policy gets the calls that the API makes when a session starts: a node is added, and is up once it has a connection.
// nil means that the session did not start.
func (p *Picker[H]) Start(s *vecql.Session, init, keyspaces func()) {
	defer close(p.done)
	if s == nil {
		return
	}
	init()
	nodes := s.GetHosts()
	if len(nodes) > 0 {
		p.policy.SetPartitioner(nodes[0].Partitioner)
	}
	p.add(nodes)
	for _, node := range nodes {
		if s.IsUp(node) {
			p.policy.HostUp(p.hostOf(node))
		}
	}
	keyspaces()
	p.started.Store(true)
}

// add passes nodes to the policy, all of them at once if it has a method AddHosts.
func (p *Picker[H]) add(nodes []*cql.Host) {
	hosts := Each(nodes, p.hostOf)
	if all, ok := p.policy.(interface{ AddHosts(hosts []H) }); ok {
		all.AddHosts(hosts)
		return
	}
	for _, host := range hosts {
		p.policy.AddHost(host)
	}
}

// StartKeyspace passes the keyspace of a session to the policy, unless it has none.
func (p *Picker[H]) StartKeyspace(keyspace string) {
	if keyspace != "" {
		p.policy.KeyspaceChanged(KeyspaceUpdateEvent{Keyspace: keyspace})
	}
}

// Tier implements vecql.HostSelectionPolicy: the policy orders the nodes, so they are all equally near.
func (p *Picker[H]) Tier(*cql.Host) int { return 0 }

// NodeChanged passes a change of a node to the policy.
func (p *Picker[H]) NodeChanged(c vecql.NodeChange) {
	switch c.Kind {
	case vecql.NodeAdded:
		p.tell(p.policy.AddHost, c.Host)
	case vecql.NodeRemoved:
		p.tell(p.policy.RemoveHost, c.Host)
	case vecql.NodeUp:
		p.tell(p.policy.HostUp, c.Host)
	case vecql.NodeDown:
		p.tell(p.policy.HostDown, c.Host)
	}
}

func (p *Picker[H]) tell(method func(H), node *cql.Host) {
	if <-p.done; p.started.Load() {
		method(p.hostOf(node))
	}
}

// SchemaChanged passes a change of a keyspace to the policy, and ignores changes of other objects.
func (p *Picker[H]) SchemaChanged(c vecql.SchemaChange) {
	old, _ := c.Old.(*cql.KeyspaceMetadata)
	now, _ := c.New.(*cql.KeyspaceMetadata)
	switch {
	case old != nil && now != nil:
		p.keyspaceChanged(now, "UPDATED")
	case now != nil:
		p.keyspaceChanged(now, "CREATED")
	case old != nil:
		p.keyspaceChanged(old, "DROPPED")
	}
}

func (p *Picker[H]) keyspaceChanged(k *cql.KeyspaceMetadata, change string) {
	if <-p.done; p.started.Load() {
		p.policy.KeyspaceChanged(KeyspaceUpdateEvent{Keyspace: k.Name, Change: change})
	}
}

// A Selection is a module's SelectedHost. H is its *HostInfo.
type Selection[H any] interface {
	Info() H
	Mark(error)
}

// Selected returns vecql's iterator of the nodes of next, a module's NextHost. Nodes that no session has are left out.
// plain returns the API's error for one of vecql.
func Selected[S Selection[*H], N ~func() S, H any](next N, hosts *Hosts[H], plain func(error) error) vecql.NextHost {
	return func() vecql.SelectedHost {
		if next == nil {
			return vecql.SelectedHost{}
		}
		for s := next(); any(s) != nil; s = next() {
			if n := hosts.Node(s.Info()); n != nil {
				return vecql.SelectedHost{Host: n, Mark: func(err error) { s.Mark(plain(err)) }}
			}
		}
		return vecql.SelectedHost{}
	}
}

// A Chosen is the Selection of a policy of the API.
type Chosen[H any] struct {
	host H
	mark func(error) // nil means that marks are ignored
}

// Choose returns the Selection of a node. mark receives the outcome of the attempt; nil means that it is ignored.
func Choose[H any](host H, mark func(error)) Chosen[H] { return Chosen[H]{host, mark} }

// Info implements SelectedHost.
func (c Chosen[H]) Info() H { return c.host }

// Mark implements SelectedHost.
func (c Chosen[H]) Mark(err error) {
	if c.mark != nil {
		c.mark(err)
	}
}

// A Routed is a request with its route, as a HostSelectionPolicy of the program receives it. The type of a module that
// embeds it has the other methods of the request.
type Routed[H any] struct {
	request interface{ Keyspace() string }
	route   vecql.RouteInfo
	hosts   *Hosts[H]
}

// NewRouted returns a request with its route.
func NewRouted[H any](request interface{ Keyspace() string }, route vecql.RouteInfo, hosts *Hosts[H]) Routed[H] {
	return Routed[H]{request, route, hosts}
}

// RouteOf returns the route.
func RouteOf[H any](r *Routed[H]) vecql.RouteInfo { return r.route }

// GetRoutingKey returns the serialized partition key, nil if it is unknown.
func (r *Routed[H]) GetRoutingKey() ([]byte, error) { return r.route.RoutingKey, nil }

// Keyspace returns the keyspace of the table, else of the request.
func (r *Routed[H]) Keyspace() string {
	if r.route.Keyspace != "" {
		return r.route.Keyspace
	}
	return r.request.Keyspace()
}

// Table returns the table.
func (r *Routed[H]) Table() string { return r.route.Table }

func (r *Routed[H]) replicas() []*H { return r.hosts.All(r.route.Replicas) }

// A Placed is a request whose replicas a token-aware policy asks for. H is a module's *HostInfo. Its method keeps other
// packages from implementing the interfaces that embed it, as in gocql.
type Placed[H any] interface {
	// replicas returns the replicas of the request's partition, nil if they are unknown.
	replicas() []H
}

// requestKey is the key under which the context of a request has its query or batch, for a HostSelectionPolicy of the
// program.
type requestKey struct{}

// WithRequest returns the context of a request, a module's query or batch.
func WithRequest(ctx context.Context, request any) context.Context {
	return context.WithValue(ctx, requestKey{}, request)
}

// RequestOf returns the query or batch of a context, nil for a request of Session.Vecql.
func RequestOf(ctx context.Context) any { return ctx.Value(requestKey{}) }
