// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"net"

	api "github.com/vecql/vecql/compat/api"
)

//compat:copy gocqlv2

// Connections, which this API exports although no function of it returns one.

// A ConnConfig has the settings of connections. No function takes one.
type ConnConfig api.ConnConfig[*HostInfo, Compressor, Authenticator, StdLogger]

// JoinHostPort returns addr with a port: its own, else the given one.
func JoinHostPort(addr string, port int) string { return api.JoinHostPort(addr, port) }

// LookupIP returns the addresses of a host.
func LookupIP(host string) ([]net.IP, error) { return net.LookupIP(host) }
