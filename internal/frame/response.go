// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"net/netip"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Bodies of responses (native_protocol_v5.spec, section 4.2), except RESULT and ERROR. All results are copies. Bytes
// after the last field are ignored, as section 4.2 requires.

// Envelope contains the parts of a response besides its message.
type Envelope struct {
	TracingID cql.UUID
	Traced    bool
	Warnings  []string
	Payload   map[string][]byte // copies
}

// NoParts is the envelope of responses without parts before their message. Nothing writes to it.
var NoParts = &Envelope{}

// ReadEnvelope reads the parts before the message that the header's flags announce: tracing id, warnings, custom
// payload, in that order (section 4). body is not compressed. The Reader is at the message.
func ReadEnvelope(flags byte, body []byte) (*Envelope, wire.Reader, error) {
	r := wire.NewReader(body)
	if flags&(wire.FlagTracing|wire.FlagWarning|wire.FlagCustomPayload) == 0 {
		return NoParts, r, nil
	}
	e := &Envelope{}
	e.readParts(&r, flags)
	if err := malformed("frame", &r); err != nil {
		return NoParts, r, err
	}
	return e, r, nil
}

// readParts reads the parts before the message.
func (e *Envelope) readParts(r *wire.Reader, flags byte) {
	if flags&wire.FlagTracing != 0 {
		e.TracingID, e.Traced = r.UUID(), true
	}
	if flags&wire.FlagWarning != 0 {
		e.Warnings = r.StringList()
	}
	if flags&wire.FlagCustomPayload != 0 {
		e.Payload = r.BytesMap()
		for k, v := range e.Payload {
			e.Payload[k] = bytes.Clone(v)
		}
	}
}

// ParseSupported reads SUPPORTED (section 4.2.4): the possible values of each option.
func ParseSupported(r *wire.Reader) (map[string][]string, error) {
	options := r.StringMultimap()
	if err := malformed("SUPPORTED", r); err != nil {
		return nil, err
	}
	return options, nil
}

// ParseAuthenticate reads AUTHENTICATE (section 4.2.3): the class name of the server's authenticator.
func ParseAuthenticate(r *wire.Reader) (string, error) {
	class := r.String()
	return class, malformed("AUTHENTICATE", r)
}

// ParseAuthToken reads AUTH_CHALLENGE and AUTH_SUCCESS (section 4.2.7 and 4.2.8): a token, nil when it is null.
func ParseAuthToken(r *wire.Reader) ([]byte, error) {
	token := bytes.Clone(r.Bytes())
	return token, malformed("authentication token", r)
}

// The types of EVENT (section 4.2.6), as REGISTER names them.
const (
	EventTopology = "TOPOLOGY_CHANGE"
	EventStatus   = "STATUS_CHANGE"
	EventSchema   = "SCHEMA_CHANGE"
	EventGraceful = "GRACEFUL_DISCONNECT"  // of CEP-59
	EventRoutes   = "CLIENT_ROUTES_CHANGE" // of ScyllaDB
)

// StatusEvent reports a node as UP or DOWN.
type StatusEvent struct {
	Change string
	Addr   netip.AddrPort
}

// TopologyEvent reports a node as NEW_NODE, REMOVED_NODE or MOVED_NODE.
type TopologyEvent struct {
	Change string
	Addr   netip.AddrPort
}

// SchemaEvent reports what was CREATED, UPDATED or DROPPED. name and args depend on target: KEYSPACE has neither, TABLE
// and TYPE have a name, FUNCTION and AGGREGATE have both. An unknown target, from a later specification, leaves all
// fields but change and target empty.
type SchemaEvent struct {
	Change, Target string
	Keyspace, Name string
	args           []string // CQL types
}

// String returns the change for texts, such as "CREATED TABLE shop.items".
func (e *SchemaEvent) String() string {
	name := e.Keyspace
	if e.Name != "" {
		name += "." + e.Name
	}
	return e.Change + " " + e.Target + " " + name
}

// RoutesEvent reports that rows of ScyllaDB's system.client_routes were inserted, updated or deleted: the only Change
// is UPDATE_NODES (scylladb docs/dev/protocol-extensions.md).
type RoutesEvent struct {
	Change        string
	ConnectionIDs []string
	HostIDs       []string // of the same length: the rows are pairs
}

// ShutdownEvent announces that the server will close the connection.
type ShutdownEvent struct{}

// ParseEvent reads EVENT (section 4.2.6): a StatusEvent, TopologyEvent, SchemaEvent, RoutesEvent or ShutdownEvent, nil
// for an unknown type of event.
func ParseEvent(r *wire.Reader) (any, error) {
	var event any
	switch r.String() {
	case EventStatus:
		event = StatusEvent{Change: r.String(), Addr: r.Inet()}
	case EventTopology:
		event = TopologyEvent{Change: r.String(), Addr: r.Inet()}
	case EventSchema:
		event = readSchemaEvent(r)
	case EventGraceful:
		event = ShutdownEvent{}
	case EventRoutes:
		event = RoutesEvent{Change: r.String(), ConnectionIDs: r.StringList(), HostIDs: r.StringList()}
	}
	if err := malformed("EVENT", r); err != nil {
		return nil, err
	}
	return event, nil
}

// readSchemaEvent reads <change_type><target><options>, which an EVENT and a RESULT of kind Schema_change share.
func readSchemaEvent(r *wire.Reader) SchemaEvent {
	e := SchemaEvent{Change: r.String(), Target: r.String()}
	switch e.Target {
	case "KEYSPACE":
		e.Keyspace = r.String()
	case "TABLE", "TYPE":
		e.Keyspace, e.Name = r.String(), r.String()
	case "FUNCTION", "AGGREGATE":
		e.Keyspace, e.Name = r.String(), r.String()
		e.args = r.StringList()
	}
	return e
}
