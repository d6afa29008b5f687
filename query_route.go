// SPDX-License-Identifier: Apache-2.0

package vecql

import "context"

// The routing of queries and batches, without running them.

// Route returns the routing of the query as its values are now. It prepares the statement if it is not in the session's
// cache, encodes the values, and sends nothing else. Replicas are those of the partition under
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

// Route returns the routing of the batch, which is that of its first statement with a partition key. See Query.Route.
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
