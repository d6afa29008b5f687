// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"io"
	"net/netip"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/internal/wire"
)

// Faults 9, 13 and 15 on one connection: headers with a wrong length, unknown events, servers of other versions.

// TestFault09LyingHeader sends headers with a length of 256 MiB, more, or below zero, followed by a few bytes.
func TestFault09LyingHeader(t *testing.T) {
	for name, m := range map[string]struct {
		length []byte
		want   string
	}{
		"256 MiB":          {[]byte{0x10, 0, 0, 0}, io.ErrUnexpectedEOF.Error()},
		"above 256 MiB":    {[]byte{0x10, 0, 0, 1}, "frame header"},
		"2^31-1":           {[]byte{0x7F, 0xFF, 0xFF, 0xFF}, "frame header"},
		"a negative count": {[]byte{0xFF, 0, 0, 0}, "frame header"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &fakecql.Server{Version: 4, Handle: func(p *fakecql.Conn, h wire.Header, _ []byte) {
					_, _ = p.Conn.Write(append(append([]byte{0x84, 0, 0, byte(h.Stream), 8}, m.length...), 1, 2, 3))
					_ = p.Conn.Close()
				}}
				c := connectInMemory(t, s)
				var err error
				n := leak.Allocated(func() { _, err = c.ask(context.Background(), "question") })
				require.ErrorIs(t, err, ErrClosed)
				require.ErrorContains(t, err, m.want)
				require.True(t, mayHaveLeft(err))
				require.Less(t, n, uint64(4*readStep))
				endConn(c, s)
			})
		})
	}
}

// TestFault13Events checks that events with an unknown type, change or target, or with trailing bytes, are dropped or
// delivered in part, and that a truncated event or another message closes the connection.
func TestFault13Events(t *testing.T) {
	address := fakecql.Message([]byte{4, 127, 0, 0, 1}, fakecql.Ints(9042))
	known := netip.MustParseAddrPort("127.0.0.1:9042")
	synctest.Test(t, func(t *testing.T) {
		s := &fakecql.Server{Version: 5, Handle: func(p *fakecql.Conn, h wire.Header, body []byte) {
			for _, event := range [][]byte{
				fakecql.Message(5, "OTHER"), fakecql.Message(5, "OTHER", "with fields"),
				fakecql.Message(13, "STATUS_CHANGE", 5, "ASIDE", address),
				fakecql.Message(13, "STATUS_CHANGE", 2, "UP", address, "more"),
				fakecql.Message(13, "SCHEMA_CHANGE", 7, "CREATED", 4, "ROLE", "what"),
			} {
				p.Reply(-1, fakecql.OpEvent, event)
			}
			fakecql.Echo(p, h, body)
		}}
		var got []any
		c := connectInMemory(t, s, func(cfg *Config) { cfg.OnEvent = func(e any) { got = append(got, e) } })
		_, err := c.ask(context.Background(), "question")
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, []any{
			frame.StatusEvent{Change: "ASIDE", Addr: known},
			frame.StatusEvent{Change: "UP", Addr: known},
			frame.SchemaEvent{Change: "CREATED", Target: "ROLE"},
		}, got)
		endConn(c, s)
	})
	for name, frame := range map[string]func(p *fakecql.Conn){
		"cut off": func(p *fakecql.Conn) { p.Reply(-1, fakecql.OpEvent, fakecql.Message(13, "STATUS_CHANGE", 2, "UP", 0)) },
		"an invalid port": func(p *fakecql.Conn) {
			p.Reply(-1, fakecql.OpEvent, fakecql.Message(13, "STATUS_CHANGE", 2, "UP", address[:5], fakecql.Ints(-1)))
		},
		"no event":        func(p *fakecql.Conn) { p.Reply(-1, fakecql.OpResult, fakecql.Ints(1)) },
		"another version": func(p *fakecql.Conn) { _, _ = p.Conn.Write([]byte{0x83, 0, 0, 0, 8, 0, 0, 0, 0}) },
		"a request":       func(p *fakecql.Conn) { _, _ = p.Conn.Write([]byte{4, 0, 0, 0, 7, 0, 0, 0, 0}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &fakecql.Server{Version: 4, Handle: func(p *fakecql.Conn, _ wire.Header, _ []byte) { frame(p) }}
				c := connectInMemory(t, s)
				_, err := c.ask(context.Background(), "question")
				var broken *cql.ProtocolError
				require.ErrorIs(t, err, ErrClosed)
				require.ErrorAs(t, err, &broken)
				require.True(t, mayHaveLeft(err))
				endConn(c, s)
			})
		})
	}
}

// TestFault15OtherVersionLater: an answer in another version after the handshake ends the connection.
func TestFault15OtherVersionLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuse := func(p *fakecql.Conn, h wire.Header, _ []byte) {
			body := fakecql.Message(fakecql.Ints(int32(cql.CodeProtocol)), fakecql.AppendString(nil, "no"))
			b := make([]byte, wire.HeaderSize)
			wire.PutHeader(b, wire.Header{Version: 3, Response: true, Stream: h.Stream, Length: len(body)})
			_, _ = p.Conn.Write(append(b, body...))
		}
		s := &fakecql.Server{Version: 4, Handle: refuse}
		c := connectInMemory(t, s)
		_, err := c.ask(context.Background(), "question")
		var broken *cql.ProtocolError
		require.ErrorAs(t, err, &broken)
		require.True(t, c.Closed())
		endConn(c, s)
	})
}
