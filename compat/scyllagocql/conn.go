// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"time"
)

// Connections, which this API exports although no function of it returns one.

// A ConnConfig has the settings of connections. No function takes one.
type ConnConfig struct {
	Dialer         Dialer
	Logger         StdLogger
	Authenticator  Authenticator
	Compressor     Compressor
	HostDialer     HostDialer
	AuthProvider   func(h *HostInfo) (Authenticator, error)
	CQLVersion     string
	ConnectTimeout time.Duration
	ReadTimeout    time.Duration
	WriteTimeout   time.Duration
	ProtoVersion   int
	Keepalive      time.Duration
}

// A ConnInterface can be closed. No function takes one.
type ConnInterface interface {
	Close()
}

// A ConnPicker would select the connection of a request. No function takes one.
type ConnPicker interface {
	Pick(Token, ExecutableQuery) *Conn
	Put(*Conn) error
	Remove(conn *Conn)
	InFlight() int
	Size() (int, int)
	Close()
	NextShard() (shardID, nrShards int)
	GetConnectionCount() int
	GetExcessConnectionCount() int
	GetShardCount() int
}
