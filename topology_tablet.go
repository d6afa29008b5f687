// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"sync/atomic"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/tablet"
	"github.com/vecql/vecql/internal/wire"
)

// ScyllaDB's tablets: when a request reaches a node and shard without a replica of its tablet, the response lists the
// replicas in its custom payload (scylladb docs/dev/protocol-extensions.md; docs/dev/tablets-routing-v2.md).

// Keys of the custom payload.
const (
	payloadTabletsV1 = "tablets-routing-v1"
	payloadTabletsV2 = "tablets-routing-v2"
)

const (
	maxTablets  = 1 << 20 // of a session; further ones are not stored. 100,000 are many.
	maxReplicas = 64      // of a tablet
	maxShard    = 1 << 12 // of a node, more than any hardware has
)

// routing is the state for query plans that outlives snapshots.
type routing struct {
	rules   planRules
	tablets tablet.Map
	stored  atomic.Uint64 // tablets accepted from responses
	refused atomic.Uint64 // tablets refused as invalid or too many
	limit   int           // of tablets; 0 means maxTablets
}

var errTablet = errors.New("vecql: malformed tablet")

// parseTablet reads tuple<bigint, bigint, list<tuple<uuid, int>>>, followed by a bigint in version 2. It ignores bytes
// after that.
func parseTablet(payload []byte, version int) (*tablet.Tablet, error) {
	r := wire.NewReader(payload)
	t := &tablet.Tablet{First: tabletLong(&r), Last: tabletLong(&r)}
	list := wire.NewReader(r.Bytes())
	if version >= 2 {
		t.Version = tabletLong(&r)
	}
	if err := errors.Join(r.Err(), list.Err()); err != nil {
		return nil, errtext.Errorf("%w: %w", errTablet, err)
	}
	if t.First >= t.Last {
		return nil, errtext.Errorf("%w: from %d to %d", errTablet, t.First, t.Last)
	}
	if err := parseReplicas(t, &list); err != nil {
		return nil, err
	}
	return t, nil
}

// parseReplicas reads the replicas of t from a list<tuple<uuid, int>>.
func parseReplicas(t *tablet.Tablet, list *wire.Reader) error {
	n := list.Count(4 + 2*4 + 16 + 4)
	if err := list.Err(); err != nil {
		return errtext.Errorf("%w: %w", errTablet, err)
	}
	if n == 0 || n > maxReplicas {
		return errtext.Errorf("%w: %d replicas", errTablet, n)
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
			return errtext.Errorf("%w: replica %d: %w", errTablet, i, err)
		}
		if replica.Shard < 0 || replica.Shard >= maxShard {
			return errtext.Errorf("%w: shard %d", errTablet, replica.Shard)
		}
		for _, other := range t.Replicas[:i] {
			if other.Host == replica.Host {
				return errtext.Errorf("%w: two replicas on host %v", errTablet, cql.UUID(replica.Host))
			}
		}
		t.Replicas[i] = replica
	}
	return nil
}

// tabletLong reads a bigint that is not NULL.
func tabletLong(r *wire.Reader) int64 {
	b := r.Bytes()
	in := wire.NewReader(b)
	v := in.Long()
	if len(b) != 8 {
		r.Fail(errtext.Errorf("%w: a bigint of %d bytes", wire.ErrLength, len(b)))
	}
	return v
}

// storeTablet stores the tablet in the response to a request for target, if there is one. The tablet must cover the
// request's partition, and its replicas must be members of the cluster; otherwise it is only counted.
func (t *topology) storeTablet(target *planTarget, payload map[string][]byte) {
	version := 2
	hint, ok := payload[payloadTabletsV2]
	if !ok {
		version = 1
		hint, ok = payload[payloadTabletsV1]
	}
	if !ok || t.routing == nil || !target.hasToken || target.table == "" {
		return // a tablet needs a known partition
	}
	if err := t.addTablet(target, hint, version); err != nil {
		t.routing.refused.Add(1)
		return
	}
	t.routing.stored.Add(1)
}

// addTablet parses a server's hint and stores its tablet if the tablet covers the token of the request, has replicas
// that are known, and fits the limit of stored tablets. version is the version of the extension that sent the hint.
func (t *topology) addTablet(target *planTarget, hint []byte, version int) error {
	found, err := parseTablet(hint, version)
	if err != nil {
		return err
	}
	if !found.Covers(target.token) {
		return errtext.Errorf("%w: from %d to %d for token %d", errTablet, found.First, found.Last, target.token)
	}
	return t.keepTablet(target, found)
}

// keepTablet stores a tablet of the target's table that covers its token, unless a replica is unknown or too many
// tablets are stored.
func (t *topology) keepTablet(target *planTarget, found *tablet.Tablet) error {
	for _, replica := range found.Replicas {
		// it may be a node that was not yet in the system tables
		if t.nodeByID(replica.Host) == nil && !t.excluded[replica.Host] {
			return errtext.Errorf("%w: host %v is unknown", errTablet, cql.UUID(replica.Host))
		}
	}
	// The replacement of a stored tablet takes no more room.
	known := &t.routing.tablets
	if limit := cmp.Or(t.routing.limit, maxTablets); known.Len() >= limit &&
		known.Lookup(target.keyspace, target.table, target.token) == nil {
		return errtext.Errorf("%w: already %d tablets are stored", errTablet, limit)
	}
	known.Add(target.keyspace, target.table, found)
	return nil
}

// forgetTablets drops the tablets that a schema change invalidates: the tablets of a dropped or recreated table, and of
// a keyspace whose replication may have changed. A server sends a hint only when a request reaches a non-replica. An
// entry that lists too few replicas would never be corrected, so drop it.
func (r *routing) forgetTablets(e frame.SchemaEvent) {
	switch {
	case e.Target == "KEYSPACE":
		r.tablets.RemoveKeyspace(e.Keyspace)
	case e.Target == "TABLE" && e.Change != "UPDATED":
		r.tablets.RemoveTable(e.Keyspace, e.Name)
	}
}

// followTablets drops the tablets that a new snapshot invalidates: those on nodes, or of keyspaces, that have gone.
func (t *topology) followTablets(old *topology) {
	if t.routing.tablets.Len() == 0 {
		return
	}
	for _, n := range old.nodes {
		if t.nodeByID(n.info.ID) == nil && !t.excluded[n.info.ID] {
			t.routing.tablets.RemoveHost(n.info.ID)
		}
	}
	for id := range old.excluded {
		if t.nodeByID(id) == nil && !t.excluded[id] {
			t.routing.tablets.RemoveHost(id)
		}
	}
	t.routing.tablets.RetainKeyspaces(t.hasKeyspace)
}

func (t *topology) hasKeyspace(name string) bool {
	_, ok := t.keyspaces[name]
	return ok
}

// appendTabletBlock appends the last byte of every EXECUTE on a connection with TABLETS_ROUTING_V2. The tablet's
// version is 16 blocks of four bits. The upper half of the byte is the number of a block, counted from the least
// significant one; the lower half is that block of the version stored in the session. The number is random: with a
// counter, a program that reads its partitions in turns could send the same block of a tablet every time, and a node
// would never notice that the version is outdated. An unknown tablet has version 0; the server accepts any byte.
func (t *topology) appendTabletBlock(dst []byte, target *planTarget) []byte {
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
