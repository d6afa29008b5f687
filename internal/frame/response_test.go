// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/internal/wire"
)

// Tests of response bodies, except RESULT and ERROR.

// parsers of all responses except RESULT and ERROR, by the prefix of the names of their bodies in testdata.
var parsers = map[string]func(r *wire.Reader) (any, error){
	"supported":    func(r *wire.Reader) (any, error) { return ParseSupported(r) },
	"authenticate": func(r *wire.Reader) (any, error) { return ParseAuthenticate(r) },
	"auth token":   func(r *wire.Reader) (any, error) { return ParseAuthToken(r) },
	"event":        ParseEvent,
}

func TestParseResponses(t *testing.T) {
	golden := readHexBodies(t, "responses.hex")
	for _, row := range []struct {
		parser, name string
		want         any
	}{
		{"supported", "supported", map[string][]string{"COMPRESSION": {"lz4", "snappy"}, "CQL_VERSION": {"3.4.7"}}},
		{"authenticate", "authenticate", "org.apache.cassandra.auth.PasswordAuthenticator"},
		{"auth token", "auth token", []byte{1, 2, 3}},
		{"auth token", "auth token null", []byte(nil)},
		{"event", "event status", StatusEvent{"DOWN", netip.MustParseAddrPort("192.0.2.1:9042")}},
		{"event", "event topology", TopologyEvent{"NEW_NODE", netip.MustParseAddrPort("[2001:db8::1]:19046")}},
		{"event", "event keyspace", SchemaEvent{Change: "CREATED", Target: "KEYSPACE", Keyspace: "ks"}},
		{"event", "event table", SchemaEvent{Change: "UPDATED", Target: "TABLE", Keyspace: "ks", Name: "t"}},
		{"event", "event type", SchemaEvent{Change: "DROPPED", Target: "TYPE", Keyspace: "ks", Name: "u"}},
		{"event", "event function", SchemaEvent{"CREATED", "FUNCTION", "ks", "f", []string{"int", "text"}}},
		{"event", "event aggregate", SchemaEvent{"CREATED", "AGGREGATE", "ks", "g", []string{}}},
		{"event", "event client routes", RoutesEvent{"UPDATE_NODES", []string{"a", "b"}, []string{"2d5bf1a6", "77e1"}}},
		{"event", "event schema unknown target", SchemaEvent{Change: "CREATED", Target: "ROLE"}},
		{"event", "event unknown", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			body := golden[row.name]
			require.NotEmpty(t, body)
			r := wire.NewReader(body)
			got, err := parsers[row.parser](&r)
			require.NoError(t, err)
			clear(body) // the result is not a part of body
			require.Equal(t, row.want, got)

			body = readHexBodies(t, "responses.hex")[row.name]
			requirePrefixesFail(t, body, func(r *wire.Reader) error { _, err := parsers[row.parser](r); return err })
		})
	}
}

func TestParseEnvelope(t *testing.T) {
	tracing := []byte("0123456789abcdef")
	warnings := []byte{0, 2, 0, 1, 'w', 0, 0}
	payload := []byte{0, 2, 0, 1, 'k', 0, 0, 0, 1, 'v', 0, 1, 'n', 0xFF, 0xFF, 0xFF, 0xFF}
	join := func(parts ...[]byte) (b []byte) {
		for _, p := range parts {
			b = append(b, p...)
		}
		return b
	}
	id := cql.UUID(tracing)
	pairs := map[string][]byte{"k": []byte("v"), "n": nil}
	for _, row := range []struct {
		name  string
		flags byte
		head  []byte
		want  Envelope
	}{
		{"nothing", 0, nil, Envelope{}},
		{"compression and beta do not affect the body", wire.FlagCompressed | wire.FlagBeta, nil, Envelope{}},
		{"tracing", wire.FlagTracing, tracing, Envelope{TracingID: id, Traced: true}},
		{"warnings", wire.FlagWarning, warnings, Envelope{Warnings: []string{"w", ""}}},
		{"payload", wire.FlagCustomPayload, payload, Envelope{Payload: pairs}},
		{
			"all", wire.FlagTracing | wire.FlagWarning | wire.FlagCustomPayload, join(tracing, warnings, payload),
			Envelope{TracingID: id, Traced: true, Warnings: []string{"w", ""}, Payload: pairs},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			body := join(row.head, []byte("message"))
			got, r, err := ReadEnvelope(row.flags, body)
			require.NoError(t, err)
			require.Equal(t, "message", string(r.Rest()))
			clear(body)
			require.Equal(t, &row.want, got)
			for n := range row.head {
				_, _, err := ReadEnvelope(row.flags, row.head[:n])
				var p *cql.ProtocolError
				require.ErrorAs(t, err, &p, "%d bytes", n)
			}
		})
	}
}

// TestParseResponsesLyingLengths checks that the allocations of a parser are bounded by the length of its input, not by
// the lengths declared in it.
func TestParseResponsesLyingLengths(t *testing.T) {
	for _, row := range []struct {
		name, parser string
		body         []byte
	}{
		{"keys", "supported", []byte{0xFF, 0xFF, 0, 0}},
		{"values", "supported", []byte{0, 1, 0, 0, 0xFF, 0xFF}},
		{"token", "auth token", []byte{0x7F, 0xFF, 0xFF, 0xFF}},
		{"arguments", "event", []byte("\x00\x0dSCHEMA_CHANGE\x00\x00\x00\x08FUNCTION\x00\x00\x00\x00\xFF\xFF")},
	} {
		t.Run(row.name, func(t *testing.T) {
			var err error
			n := leak.Allocated(func() { r := wire.NewReader(row.body); _, err = parsers[row.parser](&r) })
			var p *cql.ProtocolError
			require.ErrorAs(t, err, &p)
			require.Less(t, n, uint64(64<<10))
		})
	}
}
