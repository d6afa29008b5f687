// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"time"
)

// Connections, which v1.7 and the fork export although no function of them returns one.

// errNoConn means that a program used a Conn that it made itself.
var errNoConn = errors.New("gocql: a Conn cannot be used: vecql does not export its connections")

// A Conn stands for a connection. No function returns one. The methods of a Conn that a program makes return an error
// or zero. Q is a module's Query.
type Conn[Q any] struct {
	_ []byte // not comparable, as in gocql
}

// Address returns "".
func (c *Conn[Q]) Address() string { return "" }

// AvailableStreams returns 0.
func (c *Conn[Q]) AvailableStreams() int { return 0 }

// Close does nothing.
func (c *Conn[Q]) Close() {}

// Closed returns true.
func (c *Conn[Q]) Closed() bool { return true }

// Pick returns nil.
func (c *Conn[Q]) Pick(qry *Q) *Conn[Q] { return nil }

// Read returns an error.
func (c *Conn[Q]) Read(p []byte) (n int, err error) { return 0, errNoConn }

// Write returns an error.
func (c *Conn[Q]) Write(p []byte) (n int, err error) { return 0, errNoConn }

// UseKeyspace returns an error.
func (c *Conn[Q]) UseKeyspace(keyspace string) error { return errNoConn }

// ConnConfig is the ConnConfig of v1.7 and v2: the settings of connections. H is a module's *HostInfo, C its
// Compressor, A its Authenticator, L the type of its logger.
type ConnConfig[H, C, A, L any] struct {
	ProtoVersion   int
	CQLVersion     string
	Timeout        time.Duration
	WriteTimeout   time.Duration
	ConnectTimeout time.Duration
	Dialer         Dialer
	HostDialer     HostDialer[H]
	Compressor     C
	Authenticator  A
	AuthProvider   func(h H) (A, error)
	Keepalive      time.Duration
	Logger         L
}
