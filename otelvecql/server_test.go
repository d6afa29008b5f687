// SPDX-License-Identifier: Apache-2.0

package otelvecql_test

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// A server with just enough of the protocol (native_protocol_v4.spec) to start a session: one node, which responds to
// every SELECT with three rows and fails statements on demand.

// server starts a server and returns its address. While *failures is positive, statements on "flaky" fail and decrement
// it.
func server(t *testing.T, failures *int) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			wg.Go(func() { serve(c, failures) })
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return ln.Addr().String()
}

func serve(c net.Conn, failures *int) {
	head := make([]byte, wire.HeaderSize)
	for {
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		h, err := wire.ParseHeader(head)
		if err != nil {
			return
		}
		body := make([]byte, h.Length)
		if _, err := io.ReadFull(c, body); err != nil {
			return
		}
		op, out := answer(h.Opcode, body, failures)
		h.Response, h.Opcode, h.Length, h.Version = true, op, len(out), 4
		frame := make([]byte, wire.HeaderSize)
		wire.PutHeader(frame, h)
		if _, err := c.Write(append(frame, out...)); err != nil {
			return
		}
	}
}

// answer returns opcode and body of a response.
func answer(op byte, body []byte, failures *int) (byte, []byte) {
	r := wire.NewReader(body)
	switch op {
	case 0x05: // OPTIONS
		return 0x06, wire.AppendShort(nil, 0)
	case 0x01, 0x0B: // STARTUP, REGISTER
		return 0x02, nil
	case 0x07, 0x09: // QUERY, PREPARE
		stmt := r.LongString()
		if op == 0x09 {
			return 0x08, prepared(stmt)
		}
		return execute(stmt, failures)
	case 0x0A: // EXECUTE
		return execute(string(r.ShortBytes()), failures)
	case 0x0D: // BATCH
		return 0x08, wire.AppendInt(nil, 1)
	}
	return 0x00, failure(0x000A)
}

func str(b []byte, s string) []byte {
	b, _ = wire.AppendString(b, s)
	return b
}

func failure(code int32) []byte { return str(wire.AppendInt(nil, code), "secret 'literal'") }

func prepared(stmt string) []byte {
	b := str(wire.AppendInt(nil, 4), stmt)
	n := strings.Count(stmt, "?")
	b = wire.AppendInt(wire.AppendInt(wire.AppendInt(b, 0), int32(n)), 0)
	for range n {
		b = wire.AppendShort(str(str(str(b, "ks"), "t"), "v"), 9)
	}
	return wire.AppendInt(wire.AppendInt(b, 4), 0)
}

func execute(stmt string, failures *int) (byte, []byte) {
	text, list, ints := wire.AppendShort(nil, 0x0D), []byte{0, 0x22, 0, 0x0D}, wire.AppendShort(nil, 9)
	uuid := wire.AppendShort(nil, 0x0C)
	set := wire.AppendInt(nil, 1)
	set, _ = wire.AppendBytes(set, []byte("0"))
	switch {
	case strings.Contains(stmt, "system.local"):
		return 0x08, rows([]column{
			{"host_id", uuid, bytes.Repeat([]byte{7}, 16)},
			{"data_center", text, []byte("dc1")},
			{"rack", text, []byte("r")},
			{"schema_version", uuid, bytes.Repeat([]byte{1}, 16)},
			{"tokens", list, set},
			{"partitioner", text, []byte("org.apache.cassandra.dht.Murmur3Partitioner")},
		}, 1)
	case strings.Contains(stmt, "FROM system"):
		return 0x08, rows([]column{{"keyspace_name", text, nil}}, 0)
	case strings.Contains(stmt, "flaky") && *failures > 0:
		*failures--
		return 0x00, failure(0x1001)
	case strings.Contains(stmt, "wrong"):
		return 0x00, failure(0x2200)
	case strings.HasPrefix(stmt, "SELECT"):
		return 0x08, rows([]column{{"v", ints, []byte{0, 0, 0, 5}}}, 3)
	}
	return 0x08, wire.AppendInt(nil, 1)
}

type column struct {
	name string
	typ  []byte
	cell []byte
}

func rows(columns []column, n int) []byte {
	b := wire.AppendInt(wire.AppendInt(wire.AppendInt(nil, 2), 0), int32(len(columns)))
	for _, c := range columns {
		b = append(str(str(str(b, "ks"), "t"), c.name), c.typ...)
	}
	b = wire.AppendInt(b, int32(n))
	for range n {
		for _, c := range columns {
			b, _ = wire.AppendBytes(b, c.cell)
		}
	}
	return b
}
