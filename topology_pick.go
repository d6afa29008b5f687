// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"slices"

	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/errtext"
)

// Query plans of a HostPicker: the program selects the node of each attempt.

// picking describes a request to a HostPicker, beyond its planTarget.
type picking struct {
	ctx        context.Context
	statement  string
	routingKey []byte // nil means unknown
	idempotent bool
	prepare    bool
}

// pickedNodes are the nodes that a HostPicker selects for one request.
type pickedNodes struct {
	next NextHost
	left int   // calls of next that may follow; 0 after its end
	err  error // a panic of the program
}

// pick calls a HostPicker for the plan p of target.
func pick(picker HostPicker, p *queryPlan, target *planTarget) *pickedNodes {
	picked := &pickedNodes{left: maxRetries + len(p.topo.usable)}
	info, ctx := p.routeInfo(target), context.Background()
	if target.picking != nil {
		ctx = target.picking.ctx
	}
	picked.call(func() { picked.next = picker.Pick(ctx, info, slices.Clone(p.topo.hosts)) })
	if picked.next == nil {
		picked.left = 0
	}
	return picked
}

// routeInfo describes the request of target, whose replicas p has.
func (p *queryPlan) routeInfo(target *planTarget) RouteInfo {
	info := RouteInfo{
		Keyspace: target.keyspace, Table: target.table, Token: target.token, HasToken: target.hasToken, LWT: target.lwt,
	}
	if r := target.picking; r != nil {
		info.Statement, info.RoutingKey, info.Idempotent, info.Prepare = r.statement, r.routingKey, r.idempotent, r.prepare
	}
	for i := range p.replicas() {
		info.Replicas = append(info.Replicas, p.replica(i).info)
	}
	return info
}

// call calls code of the program. A panic ends the plan, as no next node is set.
func (p *pickedNodes) call(f func()) {
	defer func() {
		if p.err != nil {
			p.err = errtext.Errorf("HostPicker: %w", p.err)
		}
	}()
	defer background.Recover(&p.err)
	f()
}

// nextPicked returns the next node of the HostPicker.
func (p *queryPlan) nextPicked() candidate {
	for p.picked.left > 0 {
		var selected SelectedHost
		p.picked.left--
		p.picked.call(func() { selected = p.picked.next() })
		if selected.Host == nil {
			p.picked.left = 0
			return candidate{}
		}
		if n := p.topo.nodeByID(selected.Host.ID); n != nil && n.rank >= 0 {
			return candidate{node: n, shard: p.tabletShard(n), mark: selected.Mark}
		}
	}
	return candidate{}
}
