// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"

	"github.com/vecql/vecql/cql"
)

// States of pools and connections, and the causes of the end of connections.

// A PoolState is the state of the connections to a node. A pool that is connecting, is waiting or has given up may have
// some connections: Node.Connections is their number.
type PoolState uint8

// States of a pool.
const (
	PoolOpen       PoolState = iota // no connection is missing
	PoolConnecting                  // a missing connection is being dialed
	PoolWaiting                     // backoff: a missing connection is dialed at Node.NextDial
	PoolGaveUp                      // ReconnectionPolicy allows no further attempt until the node is named again
	PoolClosed                      // the session is closed, or the node has left
)

// String returns "open", "connecting", "waiting", "gave_up" or "closed".
func (s PoolState) String() string {
	switch s {
	case PoolOpen:
		return "open"
	case PoolConnecting:
		return "connecting"
	case PoolWaiting:
		return "waiting"
	case PoolGaveUp:
		return "gave_up"
	default:
		return "closed"
	}
}

// MarshalText implements encoding.TextMarshaler: the text of String.
func (s PoolState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *PoolState) UnmarshalText(text []byte) error { return setNamed(s, text, PoolClosed) }

// A ConnState is the state of a connection.
type ConnState uint8

// States of a connection.
const (
	ConnOpen     ConnState = iota // takes requests
	ConnSurplus                   // takes no request: its shard had enough connections
	ConnDraining                  // takes no further request, and closes when those in flight have ended
)

// String returns "open", "surplus" or "draining".
func (s ConnState) String() string {
	switch s {
	case ConnOpen:
		return "open"
	case ConnSurplus:
		return "surplus"
	default:
		return "draining"
	}
}

// MarshalText implements encoding.TextMarshaler: the text of String.
func (s ConnState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *ConnState) UnmarshalText(text []byte) error { return setNamed(s, text, ConnDraining) }

// An EndCause is the cause of the end of a connection.
type EndCause uint8

// The causes. The driver itself ends connections for the causes from EndClosed to EndShutdown.
const (
	EndOther     EndCause = iota // an error not named below, such as a panic in a Compressor
	EndClosed                    // the session was closed
	EndRemoved                   // the node has left the cluster, or HostFilter or policy exclude it
	EndMoved                     // the node has another address
	EndResharded                 // the node has another number of shards
	EndSurplus                   // the shard had enough connections
	EndOrphans                   // too many canceled requests had no response
	EndHeartbeat                 // the server answered nothing, a heartbeat included
	EndControl                   // a control connection: the system tables were not read, or another contact was faster
	EndShutdown                  // the server announced that it stops
	EndPeer                      // the server closed or reset the connection
	EndNetwork                   // another error of the network
	EndProtocol                  // the server violated the protocol
	endCauses
)

var endCauseNames = [endCauses]string{
	"other", "closed", "removed", "moved", "resharded", "surplus", "orphans", "heartbeat", "control", "shutdown",
	"peer", "network", "protocol",
}

// String returns the name in lower case, suitable as the label of a metric.
func (c EndCause) String() string {
	if c < endCauses {
		return endCauseNames[c]
	}
	return endCauseNames[EndOther]
}

// MarshalText implements encoding.TextMarshaler: the text of String.
func (c EndCause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *EndCause) UnmarshalText(text []byte) error { return setNamed(c, text, endCauses-1) }

// setNamed sets v to the value of that name, of those up to last.
func setNamed[T interface {
	~uint8
	String() string
}](v *T, text []byte, last T,
) error {
	for named := T(0); named <= last; named++ {
		if named.String() == string(text) {
			*v = named
			return nil
		}
	}
	return fmt.Errorf("stats: %w: no %T has the name %q", cql.ErrConversion, *v, text)
}
