// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// One connection. A goroutine reads frames and executes them in order, except long ones (handover.go). Answers are
// queued; the goroutine that finds no other one writing writes the whole queue.

const (
	readBuffer = 64 << 10
	// maxJoined is the size of output up to which answers are copied together, to be written at once.
	maxJoined = 64 << 10
	// maxPending is the number of queued bytes at which the connection reads no more requests, because its client does
	// not read answers.
	maxPending = 8 << 20
	// lingerTime is how long a closing connection continues to read and drop bytes. Closing a socket with unread bytes
	// resets it, and the client would lose the last answers.
	lingerTime = 200 * time.Millisecond
)

// conn is the server's end of a connection.
type conn struct {
	node    *Node
	cluster *Cluster
	id      uint64
	raw     net.Conn // without TLS
	sock    net.Conn
	aware   bool
	shard   int
	local   netip.AddrPort
	remote  netip.AddrPort
	done    chan struct{}
	once    sync.Once
	src     *bufio.Reader
	in      io.Reader // source of frames
	counts  counts
	begun   time.Time
	linger  atomic.Bool // drops what is read
	turn    turn

	handshake // its results

	infoMu sync.Mutex // guards handshake for info; only the reading goroutine writes it

	mu      sync.Mutex
	room    sync.Cond
	items   []item
	pending int
	writing bool
	closed  bool
	framed  bool // output queued from now on goes into segments
}

// item is a piece of queued output.
type item struct {
	b     []byte
	room  *[]byte // the pooled buffer of b, nil if there is none
	seg   bool    // b are frames to be put into segments
	fixed bool    // nothing is appended to b
	split int     // bytes per write; 0 means all
	close bool    // closes the connection after b
}

// release returns the pooled buffer, after b was written or copied.
func (it *item) release() {
	if it.room != nil {
		*it.room = it.b
		putBuffer(it.room)
		it.b, it.room = nil, nil
	}
}

// serve accepts a connection.
func (n *Node) serve(sock net.Conn, aware bool) {
	c := &conn{
		node: n, cluster: n.cluster, id: n.cluster.nextConn.Add(1), raw: sock, sock: sock, aware: aware,
		done:  make(chan struct{}),
		begun: n.cluster.now(),
	}
	c.room.L = &c.mu
	c.turn.endWake = make(chan struct{}, 1)
	c.local = addrPort(sock.LocalAddr())
	c.remote = addrPort(sock.RemoteAddr())
	if f := n.cluster.connFaultOf(n); f != nil {
		if f.Refuse {
			_ = sock.Close()
			return
		}
		c.raw = &faultyConn{Conn: sock, fault: f, done: c.done}
		c.sock = c.raw
	}
	n.mu.Lock()
	if !n.up.Load() {
		n.mu.Unlock()
		_ = sock.Close()
		return
	}
	c.shard = n.chooseShard(c)
	n.conns[c] = struct{}{}
	n.mu.Unlock()
	n.cluster.wg.Go(c.run)
}

// addrPort returns the address and port of a TCP address, and zero for any other one.
func addrPort(a net.Addr) netip.AddrPort {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	p := t.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}

// chooseShard returns the shard of a new connection: the one that the source port selects on the shard-aware port, else
// the one with the fewest connections. Callers hold n.mu.
func (n *Node) chooseShard(c *conn) int {
	shards := n.shardCount()
	if shards == 1 {
		return 0
	}
	if c.aware && !n.cluster.cfg.Scylla.NAT {
		return int(c.remote.Port()) % shards
	}
	busy := make([]int, shards)
	for o := range n.conns {
		busy[o.shard%shards]++
	}
	if c.aware { // behind address translation the source port is arbitrary
		return int(mix(n.turn.Add(1)) % uint64(shards))
	}
	first := int(n.turn.Add(1)) % shards
	best := first
	for k := range shards {
		if s := (first + k) % shards; busy[s] < busy[best] {
			best = s
		}
	}
	return best
}

// run reads and executes frames until the connection ends.
func (c *conn) run() {
	if c.open() {
		c.readOn()
	} else {
		c.close()
	}
}

// open prepares the connection for reading, after the handshake of TLS. It reports whether the connection is open.
func (c *conn) open() bool {
	users, cfg := c.cluster.security()
	c.users = users
	if cfg != nil {
		if !c.waitForGate() {
			return false
		}
		t := tls.Server(c.raw, cfg)
		if err := t.HandshakeContext(c.cluster.ctx); err != nil {
			return false
		}
		c.sock = t
	}
	c.src = bufio.NewReaderSize(gatedReader{c}, readBuffer)
	c.in = c.src
	return true
}

// readOn reads and executes frames until the connection ends, or until a long request of its own has ended, while
// another goroutine reads. At the end of the connection it closes it.
func (c *conn) readOn() {
	for {
		h, body, more := c.readFrame()
		if !more {
			break
		}
		if body != nil && !c.serveFrame(h, body) {
			return
		}
	}
	defer c.close()
	c.flush()
	c.mu.Lock()
	for c.writing && !c.closed { // another goroutine writes the last answers
		c.room.Wait()
	}
	c.mu.Unlock()
}

// close closes the connection at once.
func (c *conn) close() {
	c.once.Do(func() {
		close(c.done)
		c.mu.Lock()
		c.closed = true
		c.items, c.pending = nil, 0
		c.room.Broadcast()
		c.mu.Unlock()
		c.node.mu.Lock()
		delete(c.node.conns, c)
		c.node.mu.Unlock()
		_ = c.raw.Close()
	})
}

// waitForGate blocks while the node is paused, and reports whether the connection is still open.
func (c *conn) waitForGate() bool {
	for gate := c.node.gate(); gate != nil; gate = c.node.gate() {
		select {
		case <-gate:
		case <-c.done:
			return false
		}
		if !c.node.paused.Load() {
			break
		}
	}
	return true
}

// gatedReader reads from the socket. It flushes queued answers before each read, because the read may block.
type gatedReader struct{ c *conn }

// Read sends the pending responses before it blocks, since the client may wait for them. It waits while too many
// responses are pending and while the node is paused.
func (g gatedReader) Read(p []byte) (int, error) {
	c := g.c
	c.flush()
	c.mu.Lock()
	for c.pending > maxPending && !c.closed {
		c.room.Wait()
	}
	c.mu.Unlock()
	if !c.waitForGate() {
		return 0, net.ErrClosed
	}
	n, err := c.sock.Read(p)
	if !c.waitForGate() { // the node may have been paused during the read
		return 0, net.ErrClosed
	}
	return n, err
}

// readFrame reads one frame. It reports whether the connection continues. body is nil for a frame that was answered.
func (c *conn) readFrame() (h header, body []byte, more bool) {
	var head [headerSize]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return h, nil, c.readFailed(err)
	}
	if c.linger.Load() {
		return h, nil, c.drain()
	}
	h = parseHeader(head[:])
	if e := c.checkHeader(h); e != nil {
		c.sendClosing(h, e)
		return h, nil, c.drain()
	}
	if len(c.cluster.rules.all()) > 0 {
		if n := c.cluster.cutOf(c.node, h); n > 0 {
			_, _ = io.CopyN(io.Discard, c.in, int64(min(max(n-headerSize, 0), int(h.length))))
			return h, nil, false
		}
	}
	if int64(h.length) > int64(c.cluster.cfg.MaxRequest) {
		if _, err := io.CopyN(io.Discard, c.in, int64(h.length)); err != nil {
			return h, nil, c.readFailed(err)
		}
		e := invalid("Request is too big: length %d exceeds maximum allowed length %d.", h.length, c.cluster.cfg.MaxRequest)
		c.send(h.stream, &Answer{Op: OpError, Body: appendError(nil, e, c.wireVersion(h), false)})
		return h, nil, true
	}
	body, err := readBody(c.in, int(h.length))
	if err != nil {
		return h, nil, c.readFailed(err)
	}
	return h, body, true
}

// readBody reads n bytes. It allocates as they arrive, so that a header alone cannot make it allocate n bytes.
func readBody(in io.Reader, n int) ([]byte, error) {
	const step = 1 << 20
	body := make([]byte, min(n, step))
	for done := 0; ; {
		k, err := io.ReadFull(in, body[done:])
		if done += k; err != nil {
			return nil, err
		}
		if done == n {
			return body, nil
		}
		body = append(body, make([]byte, min(n-done, max(step, done)))...)
	}
}

// readFailed answers err where the client can read the answer, and returns false.
func (c *conn) readFailed(err error) bool {
	var damaged *segmentError
	if errors.As(err, &damaged) {
		c.sendClosing(header{}, protocolError("%v", err))
		return c.drain()
	}
	return false
}

// drain reads and drops bytes for lingerTime, so that the client can read the last answer.
func (c *conn) drain() bool {
	c.flush()
	_ = c.raw.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.Copy(io.Discard, c.raw)
	return false
}

// sendClosing sends an ERROR and closes the connection after it.
func (c *conn) sendClosing(h header, e *Error) {
	version := c.wireVersion(h)
	frame := appendFrame(nil, header{version: version, stream: h.stream, op: OpError}, appendError(nil, e, version, false))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(item{b: frame, seg: c.framed, fixed: true, close: true})
}

// add queues output. Callers hold c.mu.
func (c *conn) add(it item) {
	if c.closed {
		return
	}
	c.pending += len(it.b)
	if k := len(c.items) - 1; k >= 0 && c.items[k].joins(&it) {
		c.items[k].b = append(c.items[k].b, it.b...)
		it.release()
		return
	}
	c.items = append(c.items, it)
}

// joins reports whether next can be appended to it.
func (it *item) joins(next *item) bool {
	return !it.fixed && !next.fixed && it.seg == next.seg && len(it.b)+len(next.b) <= maxJoined
}

// push queues a frame that answers no request, without waiting for the client to read it.
func (c *conn) push(frame []byte) {
	c.mu.Lock()
	c.add(item{b: frame, seg: c.framed})
	c.mu.Unlock()
	c.flushLater()
}

// flushLater flushes on another goroutine, unless a goroutine is already writing.
func (c *conn) flushLater() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writing || c.closed || len(c.items) == 0 {
		return
	}
	c.writing = true
	c.cluster.wg.Go(c.write)
}

// flush writes the queue, unless a goroutine is already writing.
func (c *conn) flush() {
	c.mu.Lock()
	if c.writing || c.closed || len(c.items) == 0 {
		c.mu.Unlock()
		return
	}
	c.writing = true
	c.mu.Unlock()
	c.write()
}

// write writes until the queue is empty. The caller has set c.writing.
func (c *conn) write() {
	for {
		open := c.waitForGate()
		c.mu.Lock()
		items := c.items
		c.items = nil
		if !open || c.closed || len(items) == 0 {
			c.writing = false
			c.room.Broadcast()
			c.mu.Unlock()
			return
		}
		c.pending = 0
		c.room.Broadcast()
		c.mu.Unlock()
		for i := range items {
			if !c.writeItem(&items[i]) {
				c.mu.Lock()
				c.writing = false
				c.room.Broadcast()
				c.mu.Unlock()
				return
			}
		}
	}
}

// writeItem writes one item and reports whether the connection continues.
func (c *conn) writeItem(it *item) bool {
	defer it.release()
	b := it.b
	if it.seg {
		room := getBuffer()
		defer putBuffer(room)
		*room = appendSegments((*room)[:0], b, c.compression == "lz4")
		b = *room
	}
	step := len(b)
	if it.split > 0 {
		step = it.split
	}
	for len(b) > 0 {
		n := min(step, len(b))
		if _, err := c.sock.Write(b[:n]); err != nil {
			c.close()
			return false
		}
		b = b[n:]
	}
	if !it.close {
		return true
	}
	c.linger.Store(true)
	c.mu.Lock()
	c.items, c.pending = nil, 0
	c.mu.Unlock()
	half, ok := c.raw.(halfCloser)
	if !ok || half.CloseWrite() != nil {
		c.close()
		return false
	}
	_ = c.raw.SetReadDeadline(time.Now().Add(lingerTime))
	return false
}

// segmentError means that a segment is damaged, after which no frame can be found.
type segmentError struct{ err error }

func (e *segmentError) Error() string { return e.err.Error() }
func (e *segmentError) Unwrap() error { return e.err }

// segmentReader yields the payloads of the segments of src.
type segmentReader struct {
	src  *bufio.Reader
	lz4  bool
	rest []byte
	room []byte // of the segment that rest is in, unless it was compressed
	err  error
}

// Read returns the payloads of segments as one stream of bytes.
func (s *segmentReader) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		if s.rest, s.err = s.next(); s.err != nil {
			return 0, s.err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next reads a segment and returns its payload. Errors of the framing are segmentErrors.
func (s *segmentReader) next() ([]byte, error) {
	var room [lz4SegmentHead]byte
	head := room[:segmentHeadSize(s.lz4)]
	if _, err := io.ReadFull(s.src, head); err != nil {
		return nil, err
	}
	seg, err := parseSegmentHead(head)
	if err != nil {
		return nil, &segmentError{err}
	}
	b := slices.Grow(s.room[:0], seg.length+segmentTrailer)[:seg.length+segmentTrailer]
	s.room = b
	if _, err := io.ReadFull(s.src, b); err != nil {
		return nil, err
	}
	payload, err := seg.open(b)
	if err != nil {
		return nil, &segmentError{err}
	}
	return payload, nil
}
