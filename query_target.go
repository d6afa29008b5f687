// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"time"
)

// Targets: the nodes that serve the partition of encoded rows, for programs that distribute rows themselves, such as
// package bulk.

// maxOtherTargets bounds the targets of a row whose replicas are unknown.
const maxOtherTargets = 3

// Targets appends to dst the connected replicas of the partition of the rows, the nearest ones only, in the order of a
// query plan. If the replicas are unknown, Targets appends up to three of the nearest nodes. If the statement does not
// bind the whole partition key, or a HostPicker selects the nodes, Targets appends nothing.
func (r *EncodedRows) Targets(dst []Replica) []Replica {
	if !r.hasToken || r.query.session.picks() { // the HostPicker selects the node of each attempt
		return dst
	}
	s, stmt := r.query.session, r.stmt
	target := planTarget{
		token: r.token, hasToken: true, lwt: stmt.lwt || r.query.consistency.IsSerial(), host: r.query.hostID,
		now: time.Now(), start: s.start.Add(startStep), consistency: r.query.consistency,
	}
	target.keyspace, target.table = stmt.table()
	var plan queryPlan
	s.topo.Load().startPlan(&plan, &target)
	return plan.appendTargets(dst)
}

// appendTargets appends the first nodes of the plan that have a connection: nodes of one rank, and either replicas or
// other nodes.
func (p *queryPlan) appendTargets(dst []Replica) []Replica {
	var first *node
	for count := 0; ; {
		at := p.next()
		n := at.node
		if n == nil || first != nil && (n.rank != first.rank || p.isReplica(n) != p.isReplica(first)) {
			return dst
		}
		shard := at.shard
		if shard < 0 {
			shard = n.pool.shardOf(p.token)
		}
		if n.pool.pickShard(shard) == nil {
			continue
		}
		if first == nil {
			first = n
		}
		dst = append(dst, Replica{HostID: n.info.ID, Shard: int(shard)})
		if count++; count == maxOtherTargets && !p.isReplica(n) || p.isLeader(n) {
			return dst
		}
	}
}

// Route returns the routing of the query as its values are now. It prepares the statement if it is not in the session's
// cache, encodes the values, and sends nothing else. The replicas store the partition under
// every HostSelectionPolicy.
func (q *Query) Route(ctx context.Context) (RouteInfo, error) {
	c := q.session.newCall(&q.options)
	defer c.release()
	if err := q.configure(c, nil); err != nil {
		return RouteInfo{}, err
	}
	c.observer = nil
	if !q.isUnprepared(&q.record) {
		if _, _, err := q.encodeValues(ctx, c, &q.record); err != nil {
			return RouteInfo{}, err
		}
		c.keepKey(&c.bound)
	}
	return q.session.routeInfo(ctx, c), nil
}

// Route returns the routing of the batch: its first statement with a partition key decides it. See Query.Route.
func (b *Batch) Route(ctx context.Context) (RouteInfo, error) {
	c := b.session.newCall(&b.options)
	defer c.release()
	first, err := b.encode(ctx, c)
	if err != nil {
		return RouteInfo{}, err
	}
	if first != nil {
		c.keepKey(first)
	}
	return b.session.routeInfo(ctx, c), nil
}
