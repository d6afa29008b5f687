// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/vecql/vecql/internal/tablet"
	"github.com/vecql/vecql/internal/wire"
)

// This file learns ScyllaDB's tablets: a node that is sent a request for a tablet of which it has no replica on that shard says in the
// answer's custom payload where the replicas are (scylladb docs/dev/protocol-extensions.md; docs/dev/tablets-routing-v2.md).

// The keys of the custom payload.
const (
	payloadTabletsV1 = "tablets-routing-v1"
	payloadTabletsV2 = "tablets-routing-v2"
)

const (
	maxTablets  = 1 << 20 // of a session: beyond that no new ones are learnt. 100,000 are many.
	maxReplicas = 64      // of a tablet
	maxShard    = 1 << 12 // of a node, above any that exists
)

// routing is what a session keeps for its routes from one snapshot to the next.
type routing struct {
	rules   routeRules
	tablets tablet.Map
	learnt  atomic.Uint64 // tablets that answers told of
	refused atomic.Uint64 // those that made no sense, or came in too large numbers
	limit   int           // of tablets; 0: maxTablets
}

var errTablet = errors.New("vecql: malformed tablet")

// parseTablet reads tuple<bigint, bigint, list<tuple<uuid, int>>>, with a bigint behind it in version 2. What comes after that is ignored.
func parseTablet(payload []byte, version int) (*tablet.Tablet, error) {
	r := wire.NewReader(payload)
	t := &tablet.Tablet{First: tabletLong(&r), Last: tabletLong(&r)}
	list := wire.NewReader(r.Bytes())
	if version >= 2 {
		t.Version = tabletLong(&r)
	}
	n := list.Count(4 + 2*4 + 16 + 4)
	if err := errors.Join(r.Err(), list.Err()); err != nil {
		return nil, fmt.Errorf("%w: %w", errTablet, err)
	}
	if t.First >= t.Last {
		return nil, fmt.Errorf("%w: from %d to %d", errTablet, t.First, t.Last)
	}
	if n == 0 || n > maxReplicas {
		return nil, fmt.Errorf("%w: %d replicas", errTablet, n)
	}
	t.Replicas = make([]tablet.Replica, n)
	for i := range t.Replicas {
		pair := wire.NewReader(list.Bytes())
		host, shard := pair.Bytes(), wire.NewReader(pair.Bytes())
		replica := tablet.Replica{Shard: shard.Int()}
		if copy(replica.Host[:], host) != len(replica.Host) || len(host) != len(replica.Host) || shard.Len() != 0 {
			pair.Fail(wire.ErrLength)
		}
		if err := errors.Join(list.Err(), pair.Err(), shard.Err()); err != nil {
			return nil, fmt.Errorf("%w: replica %d: %w", errTablet, i, err)
		}
		if replica.Shard < 0 || replica.Shard >= maxShard {
			return nil, fmt.Errorf("%w: shard %d", errTablet, replica.Shard)
		}
		for _, other := range t.Replicas[:i] {
			if other.Host == replica.Host {
				return nil, fmt.Errorf("%w: two replicas on host %v", errTablet, UUID(replica.Host))
			}
		}
		t.Replicas[i] = replica
	}
	return t, nil
}

// tabletLong reads a bigint that is not NULL.
func tabletLong(r *wire.Reader) int64 {
	b := r.Bytes()
	in := wire.NewReader(b)
	v := in.Long()
	if r.Err() == nil && len(b) != 8 {
		r.Fail(fmt.Errorf("%w: a bigint of %d bytes", wire.ErrLength, len(b)))
	}
	return v
}

// learnTablet remembers the tablet that an answer to a request for target told of, if it did. One that makes no sense is counted and
// otherwise ignored: it must cover the request's partition, and its replicas must be on members of the cluster.
func (t *topology) learnTablet(target *routeTarget, payload map[string][]byte) {
	version := 2
	hint, ok := payload[payloadTabletsV2]
	if !ok {
		version = 1
		hint, ok = payload[payloadTabletsV1]
	}
	if !ok || t.routing == nil || !target.hasToken || target.table == "" {
		return // a request whose partition is not known learns nothing
	}
	if err := t.checkTablet(target, hint, version); err != nil {
		t.routing.refused.Add(1)
		return
	}
	t.routing.learnt.Add(1)
}

func (t *topology) checkTablet(target *routeTarget, hint []byte, version int) error {
	found, err := parseTablet(hint, version)
	if err != nil {
		return err
	}
	if !found.Covers(target.token) {
		return fmt.Errorf("%w: from %d to %d for token %d", errTablet, found.First, found.Last, target.token)
	}
	for _, replica := range found.Replicas {
		if t.nodeByID(replica.Host) == nil && !t.barred[replica.Host] { // it may be a node that the system tables did not tell of yet
			return fmt.Errorf("%w: host %v is not known", errTablet, UUID(replica.Host))
		}
	}
	// What takes the place of a tablet that is known takes no more room.
	known := &t.routing.tablets
	if limit := cmp.Or(t.routing.limit, maxTablets); known.Len() >= limit && known.Lookup(target.keyspace, target.table, target.token) == nil {
		return fmt.Errorf("%w: there are %d already", errTablet, limit)
	}
	known.Add(target.keyspace, target.table, found)
	return nil
}

// forgetTablets drops what a change of the schema makes wrong: the tablets of a table that is gone or made anew, and those of a keyspace
// whose replication may have changed. Servers correct who asks a node without a replica, not who knows too few replicas.
func (r *routing) forgetTablets(e schemaEvent) {
	switch {
	case e.target == "KEYSPACE":
		r.tablets.RemoveKeyspace(e.keyspace)
	case e.target == "TABLE" && e.change != "UPDATED":
		r.tablets.RemoveTable(e.keyspace, e.name)
	}
}

// followTablets drops the tablets that a new snapshot shows to be wrong: those of nodes and of keyspaces that are gone.
func (t *topology) followTablets(old *topology) {
	if t.routing.tablets.Len() == 0 {
		return
	}
	for _, n := range old.nodes {
		if t.nodeByID(n.info.id) == nil && !t.barred[n.info.id] {
			t.routing.tablets.RemoveHost(n.info.id)
		}
	}
	for id := range old.barred {
		if t.nodeByID(id) == nil && !t.barred[id] {
			t.routing.tablets.RemoveHost(id)
		}
	}
	t.routing.tablets.RetainKeyspaces(t.hasKeyspace)
}

func (t *topology) hasKeyspace(name string) bool {
	_, ok := t.keyspaces[name]
	return ok
}

// appendTabletBlock appends the byte that ends every EXECUTE on a connection with TABLETS_ROUTING_V2, and no other: in the upper half the
// number of a block of four bits, from the least significant of the tablet's version, in the lower half that block as the session knows it.
// The number is a random one: one that went on from each request to the next could be the same for a tablet every time, in a program that
// asks for its partitions in turns, and a node would never find out what the session has missed. Where the tablet is not known any byte will
// do; it is that of version 0.
func (t *topology) appendTabletBlock(dst []byte, target *routeTarget) []byte {
	var version uint64
	var i uint32
	if t.routing != nil {
		i = rand.Uint32() % 16
		if target.hasToken {
			if found := t.routing.tablets.Lookup(target.keyspace, target.table, target.token); found != nil {
				version = uint64(found.Version)
			}
		}
	}
	return append(dst, byte(i<<4)|byte(version>>(4*i)&0xF))
}
