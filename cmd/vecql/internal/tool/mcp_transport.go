// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The transport of mcp: standard input and output, whose end does not cancel the calls before it.

// A stdioTransport is an mcp.Transport. The package mcp cancels the calls under way when it reads the end of the input;
// this transport holds the end back until they are answered.
type stdioTransport struct {
	in  io.Reader
	out io.Writer
}

// Connect implements mcp.Transport.
func (t *stdioTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := (&mcp.IOTransport{Reader: io.NopCloser(t.in), Writer: openWriter{t.out}}).Connect(ctx)
	return &stdioConn{Connection: c, closed: make(chan struct{})}, err
}

// A stdioConn is the connection of a stdioTransport.
type stdioConn struct {
	mcp.Connection
	closing sync.Once
	closed  chan struct{} // closed by Close

	mu       sync.Mutex
	open     int           // calls without an answer
	answered chan struct{} // closed when open is 0; nil while nothing waits
}

// Read implements mcp.Connection.
func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if r, ok := message.(*jsonrpc.Request); ok && r.IsCall() {
		c.mu.Lock()
		c.open++
		c.mu.Unlock()
	}
	if err != nil {
		select {
		case <-c.whenAnswered():
		case <-c.closed:
		case <-ctx.Done():
		}
	}
	return message, err
}

// whenAnswered returns a channel that is closed when all calls are answered.
func (c *stdioConn) whenAnswered() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	answered := make(chan struct{})
	if c.open == 0 {
		close(answered)
	} else {
		c.answered = answered
	}
	return answered
}

// Write implements mcp.Connection.
func (c *stdioConn) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if _, ok := message.(*jsonrpc.Response); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open--; c.open == 0 && c.answered != nil {
			close(c.answered)
			c.answered = nil
		}
	}
	return err
}

// Close implements mcp.Connection.
func (c *stdioConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

// An openWriter is standard output, which the end of the protocol leaves open.
type openWriter struct{ io.Writer }

// Close implements io.Closer.
func (openWriter) Close() error { return nil }
