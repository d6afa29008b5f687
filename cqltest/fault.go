// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// This file holds faults: which requests and connections they meet, and what happens to those.

// Fault says which requests something happens to, and what. The zero value of a field of the first group matches everything, that of a
// field of the second one changes nothing. A request meets the first Fault that matches it, in the order of Inject.
type Fault struct {
	// Which requests.

	Node      *Node  // those that come to this node
	Op        Opcode // of this opcode; 0 (which no request has): any
	Statement string // whose text contains this: of QUERY and PREPARE, of the statement that EXECUTE names, or of any in a BATCH
	// Match, when not nil, decides about those that the other fields match. It is called on the connection's goroutine.
	Match func(Request) bool
	Skip  int // so many matching requests pass unharmed first
	Times int // then so many meet the fault; 0: all

	// What happens before the request is executed.

	Forget bool          // the node forgets all its prepared statements
	Before time.Duration // it waits for so long; other requests of the connection go on
	// CloseRequestAfter closes the connection when so many bytes of the request (its frame, 1 or more) have been read: it is not executed.
	// Only Node and Op match such a fault, since there is no text yet.
	CloseRequestAfter int

	// What it is answered with. Unless Execute is set, a request that meets Error, Answer or Drop is not executed.

	Execute bool    // executes the request although the answer is another one
	Drop    bool    // no answer
	Error   *Error  // an ERROR
	Answer  *Answer // any message
	// EmptyPage answers a QUERY or EXECUTE with a page of no rows that has more pages behind it: the real one comes next.
	EmptyPage bool
	// SkipMetadata answers with rows without metadata, whether the client asked for that or not, and whatever id it sent.
	SkipMetadata bool
	// PadPagingState makes the paging state of the answer longer by so many bytes.
	PadPagingState int

	// What happens to the answer, whatever it is.

	Warnings []string          // are added
	Payload  map[string][]byte // custom payload, is added
	Trace    bool              // a tracing id, although none was asked for
	Edit     func(*Answer)     // changes it in any way, before it is compressed and framed

	Delay  time.Duration   // the answer comes so much later; others of the connection overtake it
	Jitter time.Duration   // and later by a random time below this
	Until  <-chan struct{} // and not before this is closed, or has a value for each answer

	Twice  bool  // the same answer a second time
	Stream int16 // is added to the stream id of the answer

	// Segments cuts the answer into segments (v5) with payloads of these sizes, where a server would not; the last one takes the rest.
	Segments []int
	Corrupt  Corruption          // damages the answer on the wire
	Wire     func([]byte) []byte // changes its bytes on the wire: frame, or segments of the answer alone
	Split    int                 // sends it in pieces of so many bytes

	// Close closes the connection when the first CloseAfter bytes of the answer (on the wire) are sent.
	Close      bool
	CloseAfter int
}

// Corruption is a way to damage an answer on the wire.
type Corruption int

// The ways. Those of segments do nothing to a connection that has none (v4).
const (
	Intact              Corruption = iota
	SegmentHeader                  // one bit of a segment's header: CRC24 does not match
	SegmentPayload                 // one bit of a segment's payload: CRC32 does not match
	SegmentBlock                   // an LZ4 block that can't be decompressed, with right checksums
	SegmentUncompressed            // a segment that claims another length after decompression, with right checksums
	FrameVersion                   // the version of the frame's header
	FrameLength                    // a body of 2^31-1 bytes, as the frame's header says
	CompressedBody                 // v4: a compressed body that is none
)

// Answer is a message that a Fault sends or changes.
type Answer struct {
	Op   Opcode
	Body []byte // of the message, after what Trace, Warnings and Payload say

	Trace    *[16]byte
	Warnings []string
	Payload  map[string][]byte

	Flags   byte // are added to those that the fields above mean
	Version byte // of the frame's header; 0: that of the connection
	Stream  int16
}

// Request is what a Fault's Match and Config.OnRequest see.
type Request struct {
	Node      *Node
	Conn      uint64 // ConnInfo.ID
	Shard     int    // of the connection
	Op        Opcode
	Stream    int16
	Statement string // text; those of a BATCH joined by "; "
	Prepared  bool   // EXECUTE of a statement that the node knows
	Paged     bool   // asks for a page that is not the first

	// What a driver that knows the cluster could have known: the token, when the request is of one partition in a replicated keyspace, and
	// whether it came to a replica, and there to the shard that owns the token.
	HasToken  bool
	Token     int64
	OnReplica bool
	OnShard   bool
}

// Rule is a Fault in force.
type Rule struct {
	fault   Fault
	matched atomic.Int64
	hits    atomic.Int64
	remove  func()
}

// Hits returns how many requests have met the fault.
func (r *Rule) Hits() int { return int(r.hits.Load()) }

// Remove ends it. Answers that it delays still come late.
func (r *Rule) Remove() { r.remove() }

// Inject puts a fault in force until it has happened Times times or its Rule is removed.
func (c *Cluster) Inject(f Fault) *Rule {
	r := &Rule{fault: f}
	r.remove = func() { c.rules.remove(r) }
	c.rules.add(r)
	return r
}

// ClearFaults removes all faults of requests and connections.
func (c *Cluster) ClearFaults() {
	c.rules.clear()
	c.connRules.clear()
}

// list is a list that is read without a lock.
type list[T any] struct {
	mu sync.Mutex
	p  atomic.Pointer[[]*T]
}

func (l *list[T]) all() []*T {
	if p := l.p.Load(); p != nil {
		return *p
	}
	return nil
}

func (l *list[T]) add(x *T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := append(slices.Clone(l.all()), x)
	l.p.Store(&next)
}

func (l *list[T]) remove(x *T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := slices.DeleteFunc(slices.Clone(l.all()), func(y *T) bool { return x == y })
	l.p.Store(&next)
}

func (l *list[T]) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.p.Store(nil)
}

// hit counts a match and reports whether it is one of those that the fault is for.
func hit(matched, hits *atomic.Int64, skip, times int) bool {
	n := matched.Add(1) - int64(skip)
	if n <= 0 || times > 0 && n > int64(times) {
		return false
	}
	hits.Add(1)
	return true
}

// faultOf returns the fault that a request meets, nil for none.
func (c *Cluster) faultOf(req *request) *Fault {
	for _, r := range c.rules.all() {
		f := &r.fault
		if f.CloseRequestAfter > 0 || f.Node != nil && f.Node != req.conn.node || f.Op != 0 && f.Op != req.head.op ||
			f.Statement != "" && !strings.Contains(req.text, f.Statement) {
			continue
		}
		if f.Match != nil && !f.Match(req.info()) {
			continue
		}
		if hit(&r.matched, &r.hits, f.Skip, f.Times) {
			return f
		}
	}
	return nil
}

// cutOf returns after how many bytes of the frame with this header the connection is to be closed; 0: not at all.
func (c *Cluster) cutOf(n *Node, h header) int {
	for _, r := range c.rules.all() {
		f := &r.fault
		if f.CloseRequestAfter > 0 && (f.Node == nil || f.Node == n) && (f.Op == 0 || f.Op == h.op) && hit(&r.matched, &r.hits, f.Skip, f.Times) {
			return f.CloseRequestAfter
		}
	}
	return 0
}

// replaces reports whether the fault answers in the request's place.
func (f *Fault) replaces() bool { return f.Drop || f.Error != nil || f.Answer != nil || f.EmptyPage }

func (f *Fault) wait() time.Duration {
	d := f.Delay
	if f.Jitter > 0 {
		d += rand.N(f.Jitter)
	}
	return d
}

// ConnFault says which connections something happens to, below TLS and frames, from their first byte on.
type ConnFault struct {
	Node  *Node // those to this node; nil: to any
	Skip  int   // so many connections pass unharmed first
	Times int   // then so many meet the fault; 0: all

	Refuse            bool          // closed at once
	Silent            bool          // accepted, but nothing is read or written
	CloseAfterRead    int           // closed when so many bytes have been read; 0: never
	CloseAfterWritten int           // closed when so many bytes have been written; 0: never
	Split             int           // reads and writes move so many bytes at most; 0: any
	Latency           time.Duration // each read waits for so long
}

// ConnRule is a ConnFault in force.
type ConnRule struct {
	fault         ConnFault
	matched, hits atomic.Int64
	remove        func()
}

// Hits returns how many connections have met the fault.
func (r *ConnRule) Hits() int { return int(r.hits.Load()) }

// Remove ends it for connections to come.
func (r *ConnRule) Remove() { r.remove() }

// InjectConn puts a fault of connections in force.
func (c *Cluster) InjectConn(f ConnFault) *ConnRule {
	r := &ConnRule{fault: f}
	r.remove = func() { c.connRules.remove(r) }
	c.connRules.add(r)
	return r
}

func (c *Cluster) connFaultOf(n *Node) *ConnFault {
	for _, r := range c.connRules.all() {
		if (r.fault.Node == nil || r.fault.Node == n) && hit(&r.matched, &r.hits, r.fault.Skip, r.fault.Times) {
			return &r.fault
		}
	}
	return nil
}
