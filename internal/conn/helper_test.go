// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/leak"
)

// Helpers for tests with connections to the scripted server of internal/fakecql.

// BuffersHeld returns the number of unreleased pooled buffers, in builds that count them.
func BuffersHeld() int64 { return outstanding.Load() }

// testConfigOf returns a configuration for connections to s.
func testConfigOf(s *fakecql.Server) *Config {
	var d net.Dialer
	return &Config{
		Dial:    func(ctx context.Context, addr string) (net.Conn, error) { return d.DialContext(ctx, "tcp", addr) },
		Version: s.Version, Compressor: s.Compressor, Timeout: 10 * time.Second, ConnectTimeout: 10 * time.Second,
		Logger: slog.New(slog.DiscardHandler),
	}
}

// connectTo returns a connection to s over a socket. It is closed at the end of the test, which fails if the connection
// leaves a goroutine or buffer.
func connectTo(t testing.TB, s *fakecql.Server, change ...func(*Config)) *Conn {
	t.Helper()
	if s.Handle == nil {
		s.Handle = fakecql.Echo
	}
	addr := s.Listen(t)
	leak.Require(t, BuffersHeld)
	cfg := testConfigOf(s)
	for _, f := range change {
		f(cfg)
	}
	c, err := Dial(context.Background(), cfg, addr)
	require.NoError(t, err)
	t.Cleanup(func() {
		c.Close(ErrDrained)
		<-c.tasks.Done()
	})
	return c
}

// connectInMemory returns an in-memory connection to s. The caller closes it with endConn.
func connectInMemory(t testing.TB, s *fakecql.Server, change ...func(*Config)) *Conn {
	t.Helper()
	c, err := dialInMemory(s, change...)
	require.NoError(t, err)
	return c
}

func dialInMemory(s *fakecql.Server, change ...func(*Config)) (*Conn, error) {
	if s.Handle == nil {
		s.Handle = fakecql.Echo
	}
	cfg := testConfigOf(s)
	cfg.Dial = func(context.Context, string) (net.Conn, error) {
		client, server := fakecql.NewPipe()
		s.Accept(server)
		return client, nil
	}
	for _, f := range change {
		f(cfg)
	}
	return Dial(context.Background(), cfg, "127.0.0.1:9042")
}

// endConn closes a connection, waits for its goroutines, and stops its server.
func endConn(c *Conn, s *fakecql.Server) {
	c.Close(ErrDrained)
	<-c.tasks.Done()
	s.Stop()
}

// mayHaveLeft reports whether a byte of the request that failed with err may have been written to the socket.
func mayHaveLeft(err error) bool {
	var n *NotSentError
	return !errors.As(err, &n)
}

// ask sends body as a request and returns the body of the response.
func (c *Conn) ask(ctx context.Context, body string) (string, error) {
	b := GetBuffer(len(body))
	copy(b.B, body)
	defer b.Release()
	resp, err := c.RoundTrip(ctx, &Request{Op: frame.OpQuery, Body: b})
	if err != nil {
		return "", err
	}
	defer resp.Body.Release()
	return string(resp.Body.B), nil
}
