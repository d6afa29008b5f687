// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"maps"
	"sync/atomic"

	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/placement"
	"github.com/vecql/vecql/internal/schema"
)

// The replication of keyspaces that the session itself creates, alters or drops: known when its request returns, ahead
// of the next view.

// replication holds the changes of replication that the session made itself and that no view may have yet.
type replication struct {
	count atomic.Uint64                // of changes
	later map[string]replicationChange // by keyspace: those after the last view was begun; cluster.mu guards it
}

// replicationChange is the last change of one keyspace.
type replicationChange struct {
	number   uint64              // replication.count with this change
	strategy *placement.Strategy // nil means that the keyspace was dropped
}

// carryOver applies to a view the changes that the view may lack, and forgets the others. Callers hold cluster.mu.
func (r *replication) carryOver(view *clusterView) {
	maps.DeleteFunc(r.later, func(_ string, c replicationChange) bool { return c.number <= view.changes })
	if view.keyspaces == nil {
		return // the view has no replicas
	}
	for name, c := range r.later {
		if c.strategy == nil {
			delete(view.keyspaces, name)
		} else {
			view.keyspaces[name] = *c.strategy
		}
	}
}

// placeKeyspace reads the replication of a keyspace that the session has changed from the node that made the change,
// and installs a snapshot with it: the view that follows the event is a second away, and until then requests would not
// find their replicas. After an error a view is read.
func (k *cluster) placeKeyspace(ctx context.Context, e frame.SchemaEvent, from *node) {
	if e.Target != "KEYSPACE" || k.topo.Load().placing == nil {
		return
	}
	var strategy *placement.Strategy
	if e.Change != "DROPPED" {
		ctx, cancel := context.WithTimeout(ctx, k.cfg.ConnectTimeout)
		defer cancel()
		defer context.AfterFunc(k.ctx, cancel)()
		var err error
		if strategy, err = readReplication(ctx, k.answeringConn(from.pool.pick()), e.Keyspace); err != nil {
			k.log.Warn("replication not read, reading the cluster", "keyspace", e.Keyspace, "err", err)
			k.control.refreshSoon()
			return
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed.Load() {
		return
	}
	if k.replication.later == nil {
		k.replication.later = map[string]replicationChange{}
	}
	k.replication.later[e.Keyspace] = replicationChange{k.replication.count.Add(1), strategy}
	k.topo.Store(k.topo.Load().withKeyspace(e.Keyspace, strategy))
}

// readReplication reads the replication of a keyspace, nil if there is no such keyspace.
func readReplication(ctx context.Context, conn *conn.Conn, keyspace string) (*placement.Strategy, error) {
	if conn == nil {
		return nil, ErrNoConnections
	}
	rows, err := systemQuery(ctx, conn, "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = "+
		schema.QuoteText(keyspace))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	strategy := placement.ParseStrategy(get[map[string]string](rows[0], "replication"))
	return &strategy, nil
}
