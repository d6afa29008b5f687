// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// fake returns a cluster of one node in memory.
func fake(t testing.TB) (*Cluster, *fakeDB, *Node) {
	c, db := startFake(t, Config{Network: InMemory, Nodes: 1})
	return c, db, c.Node(0)
}

func TestFaultMatching(t *testing.T) {
	c, db, n := fake(t)
	tc := connect(t, c, n, 4)
	id, _ := tc.prepare("PUT ?, ?", false)
	failed := func() bool { return tc.call(OpExecute, 0, tc.executeBody(id, nil, 0, "k", "v")).op == OpError }
	rule := c.Inject(Fault{Op: OpExecute, Statement: "PUT", Skip: 1, Times: 2, Error: &Error{Code: CodeOverloaded}})
	var got []bool
	for range 5 {
		got = append(got, failed())
	}
	require.Equal(t, []bool{false, true, true, false, false}, got)
	require.Equal(t, 2, rule.Hits())
	require.Equal(t, 3, db.count("PUT ?, ?"), "failed requests are not executed")
	rule.Remove()
	rule = c.Inject(Fault{Statement: "PUT", Times: 1, Error: &Error{Code: CodeOverloaded}})
	for range 2 {
		again, _ := tc.prepare("PUT ?, ?", false)
		require.Equal(t, id, again, "Statement selects executions")
	}
	require.True(t, failed())
	require.False(t, failed())
	require.Equal(t, 1, rule.Hits())
	rule.Remove()
	rule = c.Inject(Fault{Op: OpPrepare, Statement: "PUT", Error: &Error{Code: CodeOverloaded}})
	require.False(t, failed())
	require.Equal(t, OpError, tc.call(OpPrepare, 0, append(appendInt(nil, 8), "PUT ?, ?"...)).op)
	rule.Remove()
	for name, f := range map[string]Fault{
		"statement": {Statement: "GET"}, "op": {Op: OpQuery}, "node": {Node: &Node{}}, "match": {Match: func(r Request) bool { return r.Op != OpExecute }},
	} {
		f.Error = &Error{Code: CodeServer}
		rule := c.Inject(f)
		require.False(t, failed(), name)
		rule.Remove()
	}
	c.Inject(Fault{Execute: true, Error: &Error{Code: CodeWriteTimeout, WriteType: "SIMPLE"}})
	before := db.count("PUT ?, ?")
	require.True(t, failed())
	require.Equal(t, before+1, db.count("PUT ?, ?"), "Execute")
	body := append([]byte{0}, appendShort(nil, 1)...)
	body = append(body, 1)
	body = appendShortBytes(body, id)
	body = appendBytes(appendBytes(appendShort(body, 2), []byte("k")), []byte("v"))
	batch := tc.appendParams(body, clOne, 0)
	require.Equal(t, OpError, tc.call(OpBatch, 0, batch).op)
	c.ClearFaults()
	require.False(t, failed())
	require.Equal(t, OpResult, tc.call(OpBatch, 0, batch).op)
	n.Forget()
	require.Equal(t, CodeUnprepared, tc.call(OpBatch, 0, batch).errorCode(t))
	tc.prepare("PUT ?, ?", false)
	c.Inject(Fault{Op: OpExecute, Forget: true, Times: 1})
	require.True(t, failed())
}

func TestFaultAnswers(t *testing.T) {
	for _, version := range []byte{4, 5} {
		c, _, n := fake(t)
		tc := connect(t, c, n, version)
		tc.query("PUT ?, ?", "k", "v")
		get := tc.queryBody("GET ?", "k")
		inject := func(f Fault) { f.Times, f.Op = 1, OpQuery; c.Inject(f) }

		inject(Fault{Warnings: []string{"careful"}, Trace: true, Payload: map[string][]byte{"p": {1}}})
		m := tc.call(OpQuery, 0, get)
		require.Equal(t, flagTracing|flagWarning|flagPayload, m.flags)
		require.Equal(t, fromHex(t, "0001 0007 6361726566756c 0001 0001 70 00000001 01"), m.body[16:16+21])
		inject(Fault{Error: &Error{Code: CodeOverloaded}, Warnings: []string{"x"}})
		m = tc.call(OpQuery, 0, get)
		require.Equal(t, OpError, m.op)
		require.Equal(t, flagWarning, m.flags)

		inject(Fault{Twice: true})
		stream := tc.send(OpQuery, 0, get)
		require.Equal(t, stream, tc.read().stream)
		require.Equal(t, stream, tc.read().stream)

		inject(Fault{Stream: 100})
		stream = tc.send(OpQuery, 0, get)
		require.Equal(t, stream+100, tc.read().stream)

		inject(Fault{Answer: &Answer{Op: 0x55, Body: []byte("any"), Flags: 0x40}})
		m = tc.call(OpQuery, 0, get)
		require.Equal(t, message{header{version, true, 0x40, tc.stream, 0x55, 3}, []byte("any")}, m)

		inject(Fault{Edit: func(a *Answer) { a.Body = append(a.Body, "trailing"...) }})
		require.True(t, bytes.HasSuffix(tc.call(OpQuery, 0, get).body, []byte("trailing")))

		inject(Fault{Split: 1})
		require.Len(t, tc.call(OpQuery, 0, get).rows(t).cells, 1)

		inject(Fault{Segments: []int{1, 0, 3, 6, 2}})
		require.Len(t, tc.call(OpQuery, 0, get).rows(t).cells, 1)

		inject(Fault{SkipMetadata: true})
		require.EqualValues(t, metaNone|metaGlobalTable, tc.call(OpQuery, 0, get).rows(t).flags)

		inject(Fault{Drop: true})
		tc.send(OpQuery, 0, get)
		require.Equal(t, OpSupported, tc.call(OpOptions, 0, nil).op, "the next request is answered")

		inject(Fault{EmptyPage: true})
		rows := tc.query("LIST").rows(t)
		require.Empty(t, rows.cells)
		require.NotNil(t, rows.paging)
		list := func(paging []byte, pad int) rowsMessage {
			if pad > 0 {
				inject(Fault{PadPagingState: pad})
			}
			body := append(appendInt(nil, 4), "LIST"...)
			flags := int32(paramPageSize)
			if paging != nil {
				flags |= paramPagingState
			}
			body = appendInt(tc.appendParams(body, clOne, flags), 1)
			if paging != nil {
				body = appendBytes(body, paging)
			}
			return tc.call(OpQuery, 0, body).rows(t)
		}
		tc.query("PUT ?, ?", "l", "v")
		first := list(rows.paging, 30)
		require.Equal(t, "k", string(first.cells[0]))
		require.Greater(t, len(first.paging), 30)
		last := list(first.paging, 0)
		require.Equal(t, "l", string(last.cells[0]))
		require.Nil(t, last.paging)

		for _, e := range []*Error{
			{Code: CodeUnavailable, Required: 3, Alive: 1},
			{Code: CodeReadFailure, Failures: map[netip.Addr]uint16{memClient: 1}},
			{Code: CodeUnprepared},
			{Code: 0x7777, Extra: []byte("more")},
		} {
			inject(Fault{Error: e})
			require.Equal(t, e.Code, tc.call(OpQuery, 0, get).errorCode(t))
		}
	}
}

func TestFaultTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, db, n := fake(t)
		tc := connect(t, c, n, 4)
		tc.query("PUT ?, ?", "k", "v")
		_ = tc.sock.SetDeadline(time.Time{})
		began := time.Now()
		c.Inject(Fault{Statement: "GET", Delay: time.Minute, Times: 1})
		slow := tc.send(OpQuery, 0, tc.queryBody("GET ?", "k"))
		require.Equal(t, OpResult, tc.query("LIST").op, "other answers overtake the delayed one")
		require.Zero(t, time.Since(began))
		require.Equal(t, slow, tc.read().stream)
		require.Equal(t, time.Minute, time.Since(began))

		c.Inject(Fault{Statement: "PUT", Before: time.Minute, Times: 1})
		slow = tc.send(OpQuery, 0, tc.queryBody("PUT ?, ?", "x", "v"))
		tc.query("LIST")
		require.Equal(t, 1, db.count("PUT ?, ?"))
		require.Equal(t, slow, tc.read().stream)
		require.Equal(t, 2, db.count("PUT ?, ?"))

		until := make(chan struct{})
		c.Inject(Fault{Statement: "PUT", Until: until, Jitter: time.Second, Times: 1})
		slow = tc.send(OpQuery, 0, tc.queryBody("PUT ?, ?", "x", "v"))
		tc.query("LIST")
		require.Equal(t, 3, db.count("PUT ?, ?"))
		close(until)
		require.Equal(t, slow, tc.read().stream)

		n.Pause()
		tc.send(OpQuery, 0, tc.queryBody("PUT ?, ?", "x", "v"))
		c.Event(Event{Type: "STATUS_CHANGE", Change: "UP", Node: n.Addr()})
		synctest.Wait()
		require.Equal(t, 3, db.count("PUT ?, ?"))
		_ = tc.sock.SetReadDeadline(time.Now().Add(time.Hour))
		_, err := tc.tryRead()
		require.Error(t, err)
		_ = tc.sock.SetReadDeadline(time.Time{})
		n.Resume()
		require.Equal(t, OpResult, tc.read().op)

		c.Inject(Fault{Op: OpStartup, Before: time.Second, Delay: time.Second, Times: 1})
		began = time.Now()
		connect(t, c, n, 5)
		require.Equal(t, 2*time.Second, time.Since(began))
		c.Close()
	})
}

func TestFaultWire(t *testing.T) {
	for _, lz4 := range []bool{false, true} {
		for _, kind := range []Corruption{SegmentHeader, SegmentPayload, SegmentBlock, SegmentUncompressed, FrameVersion, FrameLength} {
			if !lz4 && (kind == SegmentBlock || kind == SegmentUncompressed) {
				continue
			}
			t.Run(fmt.Sprint("v5 ", lz4, kind), func(t *testing.T) {
				c, _, n := fake(t)
				var options []string
				if lz4 {
					options = []string{"COMPRESSION", "lz4"}
				}
				tc := connect(t, c, n, 5, options...)
				tc.query("PUT ?, ?", "k", string(make([]byte, 1000)))
				c.Inject(Fault{Statement: "GET", Corrupt: kind})
				tc.send(OpQuery, 0, tc.queryBody("GET ?", "k"))
				var head [headerSize]byte
				_, err := io.ReadFull(tc.in, head[:])
				var damaged *segmentError
				switch kind {
				case FrameVersion:
					require.NoError(t, err)
					require.EqualValues(t, 0x7E, parseHeader(head[:]).version)
				case FrameLength:
					require.NoError(t, err)
					require.EqualValues(t, 1<<31-1, parseHeader(head[:]).length)
				case SegmentBlock, SegmentUncompressed:
					require.ErrorAs(t, err, &damaged)
					require.ErrorIs(t, err, errDecompress)
				default:
					require.ErrorAs(t, err, &damaged)
				}
			})
		}
	}
	c, _, n := fake(t)
	tc := connect(t, c, n, 4, "COMPRESSION", "lz4")
	tc.query("PUT ?, ?", "k", string(make([]byte, 1000)))
	c.Inject(Fault{Statement: "GET", Corrupt: CompressedBody, Times: 1})
	tc.send(OpQuery, 0, tc.queryBody("GET ?", "k"))
	_, err := tc.tryRead()
	require.ErrorIs(t, err, errDecompress)
	c.Inject(Fault{Statement: "GET", Wire: func(b []byte) []byte { return b[:5] }, Times: 1})
	tc.send(OpQuery, 0, tc.queryBody("GET ?", "k"))
	tc.send(OpOptions, 0, nil)
	_, err = io.ReadFull(tc.src, make([]byte, 5))
	require.NoError(t, err)
	require.Equal(t, OpSupported, tc.read().op)
}

// TestFaultClose closes the connection after every number of bytes of an answer and of a request.
func TestFaultClose(t *testing.T) {
	c, db, n := fake(t)
	tc := connect(t, c, n, 5)
	tc.query("PUT ?, ?", "k", "v")
	tc.send(OpQuery, 0, tc.queryBody("GET ?", "k"))
	whole := plainSegmentHead + headerSize + len(tc.read().body) + segmentTrailer
	for at := range whole {
		tc := connect(t, c, n, 5)
		c.Inject(Fault{Statement: "GET", Close: true, CloseAfter: at, Times: 1})
		tc.send(OpQuery, 0, tc.queryBody("GET ?", "k"))
		got, err := io.ReadAll(tc.src)
		require.NoError(t, err)
		require.Len(t, got, at)
	}
	before := db.count("GET ?")
	for at := 1; at < 20; at++ {
		tc := connect(t, c, n, 4)
		rule := c.Inject(Fault{Op: OpQuery, CloseRequestAfter: at, Times: 1})
		tc.send(OpQuery, 0, tc.queryBody("GET ?", "k"))
		_, err := tc.tryRead()
		require.Error(t, err)
		require.Equal(t, 1, rule.Hits())
	}
	require.Equal(t, before, db.count("GET ?"))
}

func TestConnFaults(t *testing.T) {
	for _, network := range []Network{InMemory, Ports} {
		c, _ := startFake(t, Config{Network: network, Nodes: 1})
		n := c.Node(0)
		rule := c.InjectConn(ConnFault{Refuse: true, Times: 1, Node: n})
		tc := dial(t, c, n.Addr().String(), 4)
		_, err := tc.tryRead()
		require.Error(t, err)
		require.Equal(t, 1, rule.Hits())
		connect(t, c, n, 4)

		c.InjectConn(ConnFault{Split: 1, Latency: time.Microsecond, Times: 1})
		tc = connect(t, c, n, 5)
		require.Equal(t, OpResult, tc.query("PUT ?, ?", "k", "v").op)

		for at := 1; at < 60; at += 7 {
			c.InjectConn(ConnFault{CloseAfterWritten: at, Times: 1})
			tc := dial(t, c, n.Addr().String(), 4)
			for range 3 {
				_, _ = tc.sock.Write(tc.bytes(OpOptions, 0, nil))
			}
			got, _ := io.ReadAll(tc.src)
			require.Len(t, got, at)
			c.InjectConn(ConnFault{CloseAfterRead: at, Times: 1})
			tc = dial(t, c, n.Addr().String(), 4)
			for range 20 {
				_, _ = tc.sock.Write(tc.bytes(OpOptions, 0, nil))
			}
			answers := 0
			for ; ; answers++ {
				if _, err := tc.tryRead(); err != nil {
					break
				}
			}
			require.LessOrEqual(t, answers, at/headerSize)
		}
		c.InjectConn(ConnFault{Silent: true, Times: 1})
		tc = dial(t, c, n.Addr().String(), 4)
		tc.send(OpOptions, 0, nil)
		_ = tc.sock.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		_, err = tc.tryRead()
		var timeout interface{ Timeout() bool }
		require.True(t, errors.As(err, &timeout) && timeout.Timeout())
		c.ClearFaults()
		c.Close()
		requireNothingLeft(t)
	}
}
