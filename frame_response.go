// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"net/netip"

	"github.com/vecql/vecql/internal/wire"
)

// This file reads the bodies of responses (native_protocol_v5.spec, section 4.2) but RESULT and ERROR, which have files of their own.
// Nothing returned here is a part of the body. Bytes behind the last field are ignored, as the specification asks (section 4.2).

// envelope is what a response says beside its message.
type envelope struct {
	header    wire.Header
	tracingID UUID
	traced    bool
	warnings  []string
	payload   map[string][]byte // copies
}

// parseEnvelope reads what the header's flags put before the message: tracing id, warnings, custom payload, in that order (section 4).
// The Reader returned stands at the message. body is not compressed.
func parseEnvelope(h wire.Header, body []byte) (envelope, wire.Reader, error) {
	e := envelope{header: h}
	r := wire.NewReader(body)
	if h.Flags&wire.FlagTracing != 0 {
		e.tracingID, e.traced = r.UUID(), true
	}
	if h.Flags&wire.FlagWarning != 0 {
		e.warnings = r.StringList()
	}
	if h.Flags&wire.FlagCustomPayload != 0 {
		e.payload = r.BytesMap()
		for k, v := range e.payload {
			e.payload[k] = bytes.Clone(v)
		}
	}
	if err := malformed("frame", &r); err != nil {
		return envelope{header: h}, r, err
	}
	return e, r, nil
}

// parseSupported reads SUPPORTED (section 4.2.4): for each option the values it may have.
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
)

// statusEvent says that a node went UP or DOWN.
type statusEvent struct {
	change string
	addr   netip.AddrPort
}

// topologyEvent says that a node is a NEW_NODE or a REMOVED_NODE.
type topologyEvent struct {
	change string
	addr   netip.AddrPort
}

// schemaEvent says what was CREATED, UPDATED or DROPPED. name and args depend on target: KEYSPACE has neither, TABLE and TYPE have a
// name, FUNCTION and AGGREGATE have both. A target from a later specification leaves all but change and target empty.
type schemaEvent struct {
	change, target string
	keyspace, name string
	args           []string // CQL types
}

// parseEvent reads EVENT (section 4.2.6): a statusEvent, topologyEvent or schemaEvent, nil for a type of event that it does not know.
func parseEvent(r *wire.Reader) (any, error) {
	var event any
	switch r.String() {
	case eventStatus:
		event = statusEvent{change: r.String(), addr: r.Inet()}
	case eventTopology:
		event = topologyEvent{change: r.String(), addr: r.Inet()}
	case eventSchema:
		event = readSchemaEvent(r)
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
