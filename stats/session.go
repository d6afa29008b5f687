// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"slices"
	"time"
)

// Session has the counters of a session since its start, and a snapshot of its nodes. The counters are read one by one:
// while requests are in flight they may be slightly inconsistent with each other.
type Session struct {
	// Requests counts the requests of verbs, one for each page and batch. A PREPARE does not count, nor does a verb whose
	// PREPARE has failed: no request follows.
	Requests uint64
	Failed   uint64                // of Requests: those that returned an error
	Errors   map[ErrorClass]uint64 // failed attempts by class; attempts that lost to a faster execution are ClassCanceled
	Retries  uint64                // attempts that the retry policy requested
	Moved    uint64                // attempts of idempotent requests that left a silent node for the next one
	// SpeculativeExecutions counts executions after the first one of a request, SpeculativeWins those that responded
	// first.
	SpeculativeExecutions uint64
	SpeculativeWins       uint64
	// BytesOut and BytesIn are the bytes of request and response bodies, uncompressed, counted per attempt.
	BytesOut uint64
	BytesIn  uint64
	// PreparedHits counts lookups that found a prepared statement, PreparedMisses those that did not, PreparedAgain the
	// statements prepared again because a node had evicted them.
	PreparedHits   uint64
	PreparedMisses uint64
	PreparedAgain  uint64
	// TabletHints counts responses with the tablet of a partition, which ScyllaDB sends when a request reaches the
	// wrong node. TabletHintsRefused counts invalid hints and those beyond a million tablets.
	TabletHints, TabletHintsRefused uint64
	// ConnectionsOpened counts opened connections, the control connection included. ConnectionsLost counts those that
	// broke, ConnectionsFailed failed attempts to open one. ConnectionsEnded counts all that were opened and have ended,
	// by cause.
	ConnectionsOpened uint64
	ConnectionsLost   uint64
	ConnectionsFailed uint64
	ConnectionsEnded  map[EndCause]uint64
	// WrongPeers counts failed attempts at whose address another cluster or node answered: see PeerError.
	WrongPeers uint64
	// Waiting is the number of requests in the queue of ClusterConfig.Limits.Throttle.
	Waiting int
	Memory  Memory
	Control Control
	Nodes   []Node // ordered by host id
}

// Memory is the use of ClusterConfig.Limits.MemoryBudget. Sizes are in bytes. Without a budget nothing is counted. An
// answer counts with the memory of its body, mostly less than twice its length; answers of up to 4 KiB do not count.
type Memory struct {
	Budget int64 // 0 means none
	// InFlight is the memory of requests that were sent and of their answers, expected or arriving.
	InFlight int64
	// Held is the memory of answers that have arrived: pages of open rows, pages requested ahead, and answers that a verb
	// is reading. It ends when the rows move to the next page or are closed, and with each batch of columns.
	Held int64
	// Peak is the largest sum of InFlight and Held since the start.
	Peak    int64
	Waiting int    // requests that are waiting for memory
	Waits   uint64 // requests that have waited, those that are waiting included
	// Waited is the time that requests have waited, without those that are waiting.
	Waited time.Duration
	// Overdrawn counts requests that were sent beyond the budget because no memory held was released for a second.
	Overdrawn uint64
}

// Timeouts returns the number of attempts without a response in time.
func (s *Session) Timeouts() uint64 { return s.Errors[ClassTimeout] }

// Control is a snapshot of the control connection, on which the session reads the system tables.
type Control struct {
	Node     string    // host:port; empty means that there is no control connection
	LastRead time.Time // when the system tables were last read: the age of the session's view of the cluster
	Err      error     // of the last attempt to read them or to connect; nil after a success
}

// Node is a snapshot of one node.
type Node struct {
	Address     string // host:port
	HostID      string
	DataCenter  string
	Rack        string
	State       PoolState
	NextDial    time.Time // of a pool that is waiting, else zero
	LastError   error     // of the last attempt to connect, or the end of the last connection; nil after a success
	LastEnd     End
	Connections int    // open
	InFlight    int    // requests without a response, orphans included
	Orphans     int    // requests canceled or timed out that still have no response
	Silent      int    // connections that answer no request; other connections and nodes are preferred
	Conns       []Conn // those that are surplus or draining too; ordered by shard, then by age
	// Latency is the distribution of the latencies of attempts that the node has answered, from the start of the attempt
	// to the arrival of the answer. The waits for a stream id and for the socket are included. Attempts without an answer
	// are not counted. An answer counts even if its caller has left.
	Latency Histogram
}

// An End is the end of the connection to a node that has ended last. The zero value means that there was none.
type End struct {
	At    time.Time
	Cause EndCause
	Err   error
}

// Serves reports whether a connection of the node takes requests and answers them.
func (n *Node) Serves() bool {
	return slices.ContainsFunc(n.Conns, func(c Conn) bool { return c.State == ConnOpen && !c.Silent })
}

// Conn is a snapshot of one connection.
type Conn struct {
	Local      string // host:port; empty means unknown
	Remote     string // host:port of the node; the shard-aware port is not shown
	Shard      int    // -1 means a node without shards
	State      ConnState
	Opened     time.Time
	LastAnswer time.Time // to a request; before the first one the time of opening
	InFlight   int       // requests without a response, orphans included
	Orphans    int       // requests canceled or timed out that still have no response
	Limit      int       // bound of InFlight while most answers come too late; 0 means none
	Silent     bool      // answers no request
}
