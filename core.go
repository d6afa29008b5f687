// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime/debug"
	"sync/atomic"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/flight"
	"github.com/vecql/vecql/internal/queue"
	"github.com/vecql/vecql/stats"
)

// The part of a session that both of its halves use: the cluster, which knows the nodes, and the sender, which sends
// requests to them.

// core is the state that the cluster and the sender of a session share.
type core struct {
	cfg         ClusterConfig
	id          cql.UUID // sent in STARTUP by all connections of the session
	log         *slog.Logger
	version     byte        // negotiated by the first connection
	metadataIDs atomic.Bool // the last connection opened has ScyllaDB's SCYLLA_USE_METADATA_ID
	topo        atomic.Pointer[topology]
	routing     routing
	routes      *clientRoutes // nil means none: nodes are dialed at their addresses
	statements  *flight.Cache[statement]
	memory      *queue.Budget // nil means none
	counters    counters
	ctx         context.Context // ends with the session: dialing and background work
	cancel      context.CancelFunc
	closed      atomic.Bool
}

// caught recovers from a panic in the program's code and logs it. It must be deferred.
func (k *core) caught(whose string) {
	if v := recover(); v != nil {
		k.log.Error("panic in the program's "+whose, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
	}
}

// hostAt is hostOf for the text of an address.
func (k *core) hostAt(addr string) *cql.Host {
	if k.routes != nil {
		if id, found := k.routes.idAt(addr); found {
			if n := k.topo.Load().nodeByID(id); n != nil {
				return n.info
			}
		}
	}
	at, _ := netip.ParseAddrPort(addr) // zero for a host name
	return k.hostOf(at)
}

// hostOf returns the node at an address, or a Host that has only the address.
func (k *core) hostOf(at netip.AddrPort) *cql.Host {
	for _, n := range k.topo.Load().nodes {
		if n.info.Address == at {
			return n.info
		}
	}
	return &cql.Host{Address: at}
}

// noteFeatures stores the features of the connection opened last.
func (k *core) noteFeatures(f *conn.Features) {
	if k.metadataIDs.Load() != f.MetadataID {
		k.metadataIDs.Store(f.MetadataID)
	}
}

// hasMetadataID reports whether EXECUTE has result metadata ids on v4.
func (k *core) hasMetadataID() bool { return k.metadataIDs.Load() }

func (k *core) observeConnect(o ObservedConnect) {
	defer k.caught("observer")
	k.cfg.Pool.ConnectObserver(o)
}

// counters count what Stats returns. Those that every request updates are striped; sums are taken when they are read.
type counters struct {
	stripes [stripes]stripe
	errors  [stats.ClassServer + 1]atomic.Uint64

	failed, retries, moved, speculations, speculationWins atomic.Uint64
	prepares, preparesAgain                               atomic.Uint64
	opened, lost, connectFailures, wrongPeers             atomic.Uint64
	ended                                                 [stats.EndProtocol + 1]atomic.Uint64
}

// of returns the stripe of a call.
func (k *counters) of(call uint32) *stripe { return &k.stripes[call%stripes] }

// stripe is one copy of the striped counters. It fills two cache lines, since processors fetch them in pairs.
type stripe struct {
	requests, preparedHits, bytesOut, bytesIn atomic.Uint64
	_                                         [128 - 4*8]byte
}

// stripes is the number of stripes: a power of 2, about the number of processors of a busy machine. Counters that every
// request increments are striped, so that processors do not contend for one cache line; counters of rare events are
// not.
const stripes = 16

var nextStripe atomic.Uint32
