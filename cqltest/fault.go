// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/cqltest/internal/engine"
)

// Faults: which requests and connections they match, and their effects.

// A Fault selects requests and describes what happens to them. A request meets the first Fault that matches it, in the
// order of Inject.
//
// The fields from Node to Times select requests; the zero value of one matches everything. The others are effects, and
// their zero values change nothing: Forget to CloseRequestAfter before the request is executed, Execute to
// PadPagingState on the choice of the answer, Warnings to CloseAfter on any answer. A request that meets Error, Answer
// or Drop is executed only if Execute is set.
type Fault struct {
	Node *Node  // requests to this node
	Op   Opcode // requests of this opcode; 0, which no request has, means any
	// requests that execute a statement whose text contains this: QUERY, EXECUTE of the prepared statement, BATCH with any
	// such entry; PREPARE only with Op: OpPrepare, so that a fault of a statement does not meet its preparation
	Statement string
	// Match, if not nil, is called for requests that match the other fields, on the goroutine of the request. It reports
	// whether the fault applies.
	Match func(Request) bool
	Skip  int // number of matching requests that pass unharmed first
	Times int // number of requests that meet the fault; 0 means all

	Forget bool          // the node forgets all its prepared statements
	Before time.Duration // delays the request; other requests of the connection continue
	// CloseRequestAfter closes the connection after this many bytes (1 or more) of the request's frame have been read.
	// The request is not executed. Only Node and Op can match such a fault: its text is not read yet.
	CloseRequestAfter int

	Execute bool    // executes the request despite Error, Answer or Drop
	Drop    bool    // sends no answer
	Error   *Error  // answers with an ERROR
	Answer  *Answer // answers with any message
	// EmptyPage answers a QUERY or EXECUTE with a page without rows whose paging state leads to the real page.
	EmptyPage bool
	// SkipMetadata answers with rows without metadata, regardless of the client's skip_metadata flag and metadata id.
	SkipMetadata bool
	// PadPagingState lengthens the paging state of the answer by this many bytes.
	PadPagingState int

	Warnings []string          // added to the answer's warnings
	Payload  map[string][]byte // added to the answer's custom payload
	Trace    bool              // adds a tracing id to a request without tracing
	Edit     func(*Answer)     // changes the answer before it is compressed and framed

	Delay  time.Duration   // delays the answer; other answers of the connection overtake it
	Jitter time.Duration   // adds a random delay below this
	Until  <-chan struct{} // delays the answer until this is closed or yields a value, one per answer

	Twice  bool  // sends the answer twice
	Stream int16 // added to the stream id of the answer

	// Segments cuts the answer into segments (v5) with payloads of these sizes; the last segment holds the rest.
	Segments []int
	Corrupt  Corruption          // damages the answer on the wire
	Wire     func([]byte) []byte // changes the answer's bytes on the wire: its frame, or its segments
	Split    int                 // sends the answer in pieces of this many bytes

	// Close closes the connection after the first CloseAfter bytes of the answer on the wire.
	Close      bool
	CloseAfter int
}

// A Corruption is a way to damage an answer on the wire.
type Corruption int

// The corruptions. Faults of segments do nothing on a connection without segments (v4).
const (
	Intact              Corruption = iota
	SegmentHeader                  // flips one bit of a segment's header: CRC24 does not match
	SegmentPayload                 // flips one bit of a segment's payload: CRC32 does not match
	SegmentBlock                   // replaces an LZ4 block by one that cannot be decompressed; the checksums match
	SegmentUncompressed            // makes a segment claim another uncompressed length; the checksums match
	FrameVersion                   // changes the version in the frame's header
	FrameLength                    // claims a body of 2^31-1 bytes in the frame's header
	CompressedBody                 // v4: sends an invalid compressed body
)

// An Answer is a message that a Fault sends or changes.
type Answer struct {
	Op   Opcode
	Body []byte // of the message, after tracing id, warnings and payload

	Trace    *[16]byte
	Warnings []string
	Payload  map[string][]byte

	Flags   byte // added to the flags that the fields above imply
	Version byte // in the frame's header; 0 means the connection's
	Stream  int16

	room *[]byte // the pooled buffer of Body, nil if there is none
}

// release returns the pooled buffer, after Body was copied.
func (a *Answer) release() {
	if a.room != nil {
		*a.room = a.Body
		putBuffer(a.room)
		a.Body, a.room = nil, nil
	}
}

// A Request describes a request to a Fault's Match and to Config.OnRequest.
type Request struct {
	Node      *Node
	Conn      uint64 // the ConnInfo.ID of its connection
	Shard     int    // of its connection
	Op        Opcode
	Stream    int16
	Statement string  // text; the texts of a BATCH are joined by "; "
	Prepared  bool    // an EXECUTE of a statement that the node has prepared
	Paged     bool    // asks for a page after the first
	Values    []Value // bound values, in the order of their markers; the statements of a BATCH follow each other

	// The routing that a token-aware driver could have computed: the token, if the request is for one partition of a
	// replicated keyspace, and whether the request reached a replica and the shard of the replica that owns the token.
	HasToken  bool
	Token     int64
	OnReplica bool
	OnShard   bool
}

// Value returns the bound value of this name, the first one in a BATCH.
func (r *Request) Value(name string) (v Value, ok bool) {
	i := slices.IndexFunc(r.Values, func(v Value) bool { return v.Name == name })
	if i < 0 {
		return Value{}, false
	}
	return r.Values[i], true
}

// A Value is a value that a request binds.
type Value struct {
	Name  string // of the bind marker: its column's, or of ":name"
	Type  string // in CQL
	Bytes []byte // serialized; nil means NULL or a value that is not set
	Unset bool

	typ *engine.Type // nil means that the statement is not prepared
}

// Text returns the value as a CQL literal, such as 1, 'lamp' or null. Bytes that are no value of the type are in
// hexadecimal. A value of a statement that the node has not prepared, which has no type, is "".
func (v Value) Text() string {
	if v.typ == nil {
		return ""
	}
	return v.typ.Text(v.Bytes)
}

// A Rule is a Fault in force, or one that only counts (Observe).
type Rule struct {
	fault Fault
	tally
}

// tally counts what a fault has matched and met.
type tally struct {
	remove        func()
	matched, hits atomic.Int64
	mu            sync.Mutex
	nextDone      chan struct{} // closed by the next hit; nil means that no caller waits
}

// hit counts a match and reports whether the fault applies to it.
func (t *tally) hit(skip, times int) bool {
	n := t.matched.Add(1) - int64(skip)
	if n <= 0 || times > 0 && n > int64(times) {
		return false
	}
	t.hits.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.nextDone != nil {
		close(t.nextDone)
		t.nextDone = nil
	}
	return true
}

// next returns a channel that the next hit closes.
func (t *tally) next() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.nextDone == nil {
		t.nextDone = make(chan struct{})
	}
	return t.nextDone
}

// Hits returns the number of requests or connections that have met the fault.
func (t *tally) Hits() int { return int(t.hits.Load()) }

// Wait blocks until n requests or connections have met the fault, or until ctx ends, whose cause the error wraps. A
// request has met the fault before its effects begin.
func (t *tally) Wait(ctx context.Context, n int) error {
	for {
		next := t.next()
		hits := t.Hits()
		if hits >= n {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return fmt.Errorf("cqltest: waiting for %d hits of a fault, which has %d: %w", n, hits, context.Cause(ctx))
		}
	}
}

// Remove removes the fault. Answers that it already delays still arrive late, and connections that have met it keep it.
func (t *tally) Remove() { t.remove() }

// Inject puts a fault in force until Times requests have met it or its Rule is removed.
func (c *Cluster) Inject(f Fault) *Rule { return addRule(&c.rules, f) }

func addRule(rules *list[Rule], f Fault) *Rule {
	r := &Rule{fault: f}
	r.remove = func() { rules.remove(r) }
	rules.add(r)
	return r
}

// Observe counts the requests that a fault selects, without its effects and whether or not other faults meet them. It
// does not select by CloseRequestAfter.
func (c *Cluster) Observe(f Fault) *Rule { return addRule(&c.observed, f) }

// ClearFaults removes all faults of requests and connections, and all that Observe counts.
func (c *Cluster) ClearFaults() {
	c.rules.clear()
	c.observed.clear()
	c.connRules.clear()
}

// list is a copy-on-write list: reads take no lock.
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

// faultOf returns the fault that a request meets; nil means none. It counts the request for Observe.
func (c *Cluster) faultOf(req *request) *Fault {
	for _, r := range c.observed.all() {
		if r.fault.selects(req) {
			r.hit(r.fault.Skip, r.fault.Times)
		}
	}
	for _, r := range c.rules.all() {
		if f := &r.fault; f.CloseRequestAfter <= 0 && f.selects(req) && r.hit(f.Skip, f.Times) {
			return f
		}
	}
	return nil
}

// selects reports whether the fault matches the request.
func (f *Fault) selects(req *request) bool {
	if f.Node != nil && f.Node != req.conn.node || f.Op != 0 && f.Op != req.head.op {
		return false
	}
	if f.Statement != "" && f.Op == 0 && req.head.op == OpPrepare {
		return false
	}
	return strings.Contains(req.text, f.Statement) && (f.Match == nil || f.Match(req.info()))
}

// cutOf returns the number of bytes of the frame with this header after which the connection is closed; 0 means that it
// is not.
func (c *Cluster) cutOf(n *Node, h header) int {
	for _, r := range c.rules.all() {
		f := &r.fault
		if f.CloseRequestAfter > 0 && (f.Node == nil || f.Node == n) && (f.Op == 0 || f.Op == h.op) &&
			r.hit(f.Skip, f.Times) {
			return f.CloseRequestAfter
		}
	}
	return 0
}

// replaces reports whether the fault replaces the request's own answer.
func (f *Fault) replaces() bool { return f.Drop || f.Error != nil || f.Answer != nil || f.EmptyPage }

func (f *Fault) wait() time.Duration {
	d := f.Delay
	if f.Jitter > 0 {
		d += rand.N(f.Jitter)
	}
	return d
}

// A ConnFault selects connections and describes what happens to them, below TLS and frames, from their first byte on.
type ConnFault struct {
	Node  *Node // connections to this node; nil means any
	Skip  int   // number of connections that pass unharmed first
	Times int   // number of connections that meet the fault; 0 means all

	Refuse            bool          // closes the connection at once
	Silent            bool          // accepts the connection, but reads and writes nothing
	CloseAfterRead    int           // closes the connection after this many bytes were read; 0 means never
	CloseAfterWritten int           // closes the connection after this many bytes were written; 0 means never
	Split             int           // limits each read and write to this many bytes; 0 means no limit
	Latency           time.Duration // delays each read
}

// A ConnRule is a ConnFault in force.
type ConnRule struct {
	fault ConnFault
	tally
}

// InjectConn puts a fault of connections in force until Times connections have met it or its ConnRule is removed.
func (c *Cluster) InjectConn(f ConnFault) *ConnRule {
	r := &ConnRule{fault: f}
	r.remove = func() { c.connRules.remove(r) }
	c.connRules.add(r)
	return r
}

func (c *Cluster) connFaultOf(n *Node) *ConnFault {
	for _, r := range c.connRules.all() {
		if (r.fault.Node == nil || r.fault.Node == n) && r.hit(r.fault.Skip, r.fault.Times) {
			return &r.fault
		}
	}
	return nil
}
