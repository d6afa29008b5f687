// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"net/netip"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Bodies of responses (native_protocol_v5.spec, section 4.2), except RESULT and ERROR. All results are copies. Bytes
// after the last field are ignored, as section 4.2 requires.

// envelope contains the parts of a response besides its message.
type envelope struct {
	tracingID cql.UUID
	traced    bool
	warnings  []string
	payload   map[string][]byte // copies
}

// noParts is the envelope of responses without parts before their message. Nothing writes to it.
var noParts = &envelope{}

// readEnvelope reads the parts before the message that the header's flags announce: tracing id, warnings, custom
// payload, in that order (section 4). body is not compressed. The Reader is at the message.
func readEnvelope(flags byte, body []byte) (*envelope, wire.Reader, error) {
	r := wire.NewReader(body)
	if flags&(wire.FlagTracing|wire.FlagWarning|wire.FlagCustomPayload) == 0 {
		return noParts, r, nil
	}
	e := &envelope{}
	e.readParts(&r, flags)
	if err := malformed("frame", &r); err != nil {
		return noParts, r, err
	}
	return e, r, nil
}

// readParts reads the parts before the message.
func (e *envelope) readParts(r *wire.Reader, flags byte) {
	if flags&wire.FlagTracing != 0 {
		e.tracingID, e.traced = r.UUID(), true
	}
	if flags&wire.FlagWarning != 0 {
		e.warnings = r.StringList()
	}
	if flags&wire.FlagCustomPayload != 0 {
		e.payload = r.BytesMap()
		for k, v := range e.payload {
			e.payload[k] = bytes.Clone(v)
		}
	}
}

// parseSupported reads SUPPORTED (section 4.2.4): the possible values of each option.
func parseSupported(r *wire.Reader) (map[string][]string, error) {
	options := r.StringMultimap()
	if err := malformed("SUPPORTED", r); err != nil {
		return nil, err
	}
	return options, nil
}

// parseAuthenticate reads AUTHENTICATE (section 4.2.3): the class name of the server's authenticator.
func parseAuthenticate(r *wire.Reader) (string, error) {
	class := r.String()
	return class, malformed("AUTHENTICATE", r)
}

// parseAuthToken reads AUTH_CHALLENGE and AUTH_SUCCESS (section 4.2.7 and 4.2.8): a token, nil when it is null.
func parseAuthToken(r *wire.Reader) ([]byte, error) {
	token := bytes.Clone(r.Bytes())
	return token, malformed("authentication token", r)
}

// The types of EVENT (section 4.2.6), as REGISTER names them.
const (
	eventTopology = "TOPOLOGY_CHANGE"
	eventStatus   = "STATUS_CHANGE"
	eventSchema   = "SCHEMA_CHANGE"
	eventGraceful = "GRACEFUL_DISCONNECT" // of CEP-59
)

// statusEvent reports a node as UP or DOWN.
type statusEvent struct {
	change string
	addr   netip.AddrPort
}

// topologyEvent reports a node as NEW_NODE or REMOVED_NODE.
type topologyEvent struct {
	change string
	addr   netip.AddrPort
}

// schemaEvent reports what was CREATED, UPDATED or DROPPED. name and args depend on target: KEYSPACE has neither, TABLE
// and TYPE have a name, FUNCTION and AGGREGATE have both. An unknown target, from a later specification, leaves all
// fields but change and target empty.
type schemaEvent struct {
	change, target string
	keyspace, name string
	args           []string // CQL types
}

// String returns the change for texts, such as "CREATED TABLE shop.items".
func (e *schemaEvent) String() string {
	name := e.keyspace
	if e.name != "" {
		name += "." + e.name
	}
	return e.change + " " + e.target + " " + name
}

// shutdownEvent announces that the server will close the connection.
type shutdownEvent struct{}

// parseEvent reads EVENT (section 4.2.6): a statusEvent, topologyEvent, schemaEvent or shutdownEvent, nil for an
// unknown type of event.
func parseEvent(r *wire.Reader) (any, error) {
	var event any
	switch r.String() {
	case eventStatus:
		event = statusEvent{change: r.String(), addr: r.Inet()}
	case eventTopology:
		event = topologyEvent{change: r.String(), addr: r.Inet()}
	case eventSchema:
		event = readSchemaEvent(r)
	case eventGraceful:
		event = shutdownEvent{}
	}
	if err := malformed("EVENT", r); err != nil {
		return nil, err
	}
	return event, nil
}

// readSchemaEvent reads <change_type><target><options>, which an EVENT and a RESULT of kind Schema_change share.
func readSchemaEvent(r *wire.Reader) schemaEvent {
	e := schemaEvent{change: r.String(), target: r.String()}
	switch e.target {
	case "KEYSPACE":
		e.keyspace = r.String()
	case "TABLE", "TYPE":
		e.keyspace, e.name = r.String(), r.String()
	case "FUNCTION", "AGGREGATE":
		e.keyspace, e.name = r.String(), r.String()
		e.args = r.StringList()
	}
	return e
}
