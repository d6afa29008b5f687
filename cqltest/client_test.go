// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"bufio"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A client that sends exactly the frames that a test specifies.

type testClient struct {
	t           testing.TB
	sock        net.Conn
	src         *bufio.Reader
	in          io.Reader
	version     byte
	compression string
	framed      bool
	stream      int16
	started     bool
}

// message is a frame from a node.
type message struct {
	header
	body []byte
}

// dial connects and sends nothing.
func dial(t testing.TB, c *Cluster, addr string, version byte) *testClient {
	t.Helper()
	sock, err := c.Dialer().DialContext(context.Background(), "tcp", addr)
	require.NoError(t, err)
	return newTestClient(t, sock, version)
}

func newTestClient(t testing.TB, sock net.Conn, version byte) *testClient {
	t.Cleanup(func() { _ = sock.Close() })
	_ = sock.SetDeadline(time.Now().Add(10 * time.Second))
	tc := &testClient{t: t, sock: sock, src: bufio.NewReader(sock), version: version}
	tc.in = tc.src
	return tc
}

// connect dials and sends STARTUP; options are alternating keys and values.
func connect(t testing.TB, c *Cluster, n *Node, version byte, options ...string) *testClient {
	t.Helper()
	tc := dial(t, c, n.Addr().String(), version)
	tc.startup(OpReady, options...)
	return tc
}

func (tc *testClient) startup(want Opcode, options ...string) message {
	tc.t.Helper()
	options = append([]string{"CQL_VERSION", "3.0.0"}, options...)
	body := appendShort(nil, len(options)/2)
	for i, s := range options {
		body = appendString(body, s)
		if s == "COMPRESSION" {
			tc.compression = options[i+1]
		}
	}
	compression := tc.compression
	tc.compression = ""
	tc.send(OpStartup, 0, body)
	tc.compression = compression
	m := tc.read()
	require.Equal(tc.t, want, m.op, "%q", m.body)
	if tc.version >= 5 && want != OpError {
		tc.framed = true
		tc.in = &segmentReader{src: tc.src, lz4: tc.compression == "lz4"}
	}
	return m
}

// bytes returns a request as bytes on the wire.
func (tc *testClient) bytes(op Opcode, flags byte, body []byte) []byte {
	tc.stream++
	if tc.version < 5 && tc.compression != "" {
		flags |= flagCompressed
		body = compressBody(tc.compression, body)
	}
	b := appendFrame(nil, header{version: tc.version, flags: flags, stream: tc.stream, op: op}, body)
	b[0] &^= responseBit
	if tc.framed {
		b = appendSegments(nil, b, tc.compression == "lz4")
	}
	return b
}

func (tc *testClient) send(op Opcode, flags byte, body []byte) int16 {
	tc.t.Helper()
	_, err := tc.sock.Write(tc.bytes(op, flags, body))
	require.NoError(tc.t, err)
	return tc.stream
}

func (tc *testClient) tryRead() (message, error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(tc.in, head[:]); err != nil {
		return message{}, err
	}
	m := message{header: parseHeader(head[:])}
	m.body = make([]byte, m.length)
	if _, err := io.ReadFull(tc.in, m.body); err != nil {
		return m, err
	}
	if m.flags&flagCompressed != 0 {
		var err error
		if m.body, err = decompressBody(tc.compression, m.body, 1<<28); err != nil {
			return m, err
		}
	}
	return m, nil
}

func (tc *testClient) read() message {
	tc.t.Helper()
	m, err := tc.tryRead()
	require.NoError(tc.t, err)
	return m
}

// call sends a request and returns its answer.
func (tc *testClient) call(op Opcode, flags byte, body []byte) message {
	tc.t.Helper()
	stream := tc.send(op, flags, body)
	m := tc.read()
	require.Equal(tc.t, stream, m.stream)
	return m
}

// appendParams appends <query_parameters> with positional values.
func (tc *testClient) appendParams(dst []byte, cl uint16, flags int32, values ...string) []byte {
	dst = appendShort(dst, int(cl))
	if len(values) > 0 {
		flags |= paramValues
	}
	if tc.version >= 5 {
		dst = appendInt(dst, flags)
	} else {
		dst = append(dst, byte(flags))
	}
	if len(values) > 0 {
		dst = appendShort(dst, len(values))
		for _, v := range values {
			dst = appendBytes(dst, []byte(v))
		}
	}
	return dst
}

func (tc *testClient) queryBody(text string, values ...string) []byte {
	return tc.appendParams(append(appendInt(nil, int32(len(text))), text...), clOne, 0, values...)
}

func (tc *testClient) query(text string, values ...string) message {
	tc.t.Helper()
	return tc.call(OpQuery, 0, tc.queryBody(text, values...))
}

// prepare returns the id, and with ids the result metadata id.
func (tc *testClient) prepare(text string, ids bool) (id, resultID []byte) {
	tc.t.Helper()
	body := append(appendInt(nil, int32(len(text))), text...)
	if tc.version >= 5 {
		body = appendInt(body, 0)
	}
	m := tc.call(OpPrepare, 0, body)
	require.Equal(tc.t, OpResult, m.op, "%q", m.body)
	r := reader{b: m.body}
	require.EqualValues(tc.t, 4, r.int())
	if id = r.shortBytes(); ids {
		resultID = r.shortBytes()
	}
	return id, resultID
}

// executeBody returns the body of EXECUTE; a nil resultID means no metadata ids.
func (tc *testClient) executeBody(id, resultID []byte, flags int32, values ...string) []byte {
	body := appendShortBytes(nil, id)
	if resultID != nil {
		body = appendShortBytes(body, resultID)
	}
	return tc.appendParams(body, clOne, flags, values...)
}

// errorCode returns the code of an ERROR.
func (m message) errorCode(t testing.TB) int32 {
	t.Helper()
	require.Equal(t, OpError, m.op, "%q", m.body)
	r := reader{b: m.body}
	return r.int()
}

// rowsMessage is a RESULT of rows.
type rowsMessage struct {
	flags   int32
	columns int
	paging  []byte
	newID   []byte
	names   []string
	cells   [][]byte
}

func (m message) rows(t testing.TB) rowsMessage {
	t.Helper()
	require.Equal(t, OpResult, m.op, "%q", m.body)
	r := reader{b: m.body}
	require.EqualValues(t, 2, r.int())
	res := rowsMessage{flags: r.int(), columns: int(r.int())}
	if res.flags&metaMorePages != 0 {
		res.paging = r.bytes()
	}
	if res.flags&metaChanged != 0 {
		res.newID = r.shortBytes()
	}
	if res.flags&metaNone == 0 {
		global := res.flags&metaGlobalTable != 0
		if global {
			r.string()
			r.string()
		}
		for range res.columns {
			if !global {
				r.string()
				r.string()
			}
			res.names = append(res.names, r.string())
			switch r.short() { // collections of system tables
			case 0x21:
				r.short()
				r.short()
			case 0x20, 0x22:
				r.short()
			}
		}
	}
	for n := int(r.int()) * res.columns; n > 0; n-- {
		res.cells = append(res.cells, r.bytes())
	}
	require.NoError(t, r.err)
	require.Empty(t, r.b)
	return res
}
