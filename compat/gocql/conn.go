// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"net"

	api "github.com/vecql/vecql/compat/api"
)

// Connections, which this API exports although no function of it returns one.

// A Conn stands for a connection. No function returns one. The methods of a Conn that a program makes return an error
// or zero.
type Conn = api.Conn[Query]

// A ConnConfig has the settings of connections. No function takes one.
type ConnConfig api.ConnConfig[*HostInfo, Compressor, Authenticator, StdLogger]

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
