// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"net"
	"time"

	api "github.com/vecql/vecql/compat/api"
)

// Connections, which this API exports although no function of it returns one.

// errNoConn means that a program used a Conn that it made itself.
var errNoConn = errors.New("gocql: a Conn cannot be used: vecql does not export its connections")

// A Conn stands for a connection. No function returns one. The methods of a Conn that a program makes return an error
// or zero.
type Conn struct {
	_ []byte // not comparable, as in gocql
}

// Address returns "".
func (c *Conn) Address() string { return "" }

// AvailableStreams returns 0.
func (c *Conn) AvailableStreams() int { return 0 }

// Close does nothing.
func (c *Conn) Close() {}

// Closed returns true.
func (c *Conn) Closed() bool { return true }

// Pick returns nil.
func (c *Conn) Pick(qry *Query) *Conn { return nil }

// Read returns an error.
func (c *Conn) Read(p []byte) (n int, err error) { return 0, errNoConn }

// Write returns an error.
func (c *Conn) Write(p []byte) (n int, err error) { return 0, errNoConn }

// UseKeyspace returns an error.
func (c *Conn) UseKeyspace(keyspace string) error { return errNoConn }

// A ConnConfig has the settings of connections. No function takes one.
type ConnConfig struct {
	ProtoVersion   int
	CQLVersion     string
	Timeout        time.Duration
	WriteTimeout   time.Duration
	ConnectTimeout time.Duration
	Dialer         Dialer
	HostDialer     HostDialer
	Compressor     Compressor
	Authenticator  Authenticator
	AuthProvider   func(h *HostInfo) (Authenticator, error)
	Keepalive      time.Duration
	Logger         StdLogger
}

// A ConnErrorHandler would be called for errors of connections. No function takes one.
type ConnErrorHandler interface {
	HandleError(conn *Conn, err error, closed bool)
}

// TimeoutLimit has no effect.
//
// Deprecated: as in gocql.
var TimeoutLimit int64

// JoinHostPort returns addr with a port: its own, else the given one.
func JoinHostPort(addr string, port int) string { return api.JoinHostPort(addr, port) }

// LookupIP returns the addresses of a host.
func LookupIP(host string) ([]net.IP, error) { return net.LookupIP(host) }
