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

// Tests of ERROR bodies.

const testRateLimitCode = 0x4321

func TestParseError(t *testing.T) {
	golden := readHexBodies(t, "errors.hex")
	base := func(c cql.Code) cql.ServerError { return cql.ServerError{Code: c, Message: "boom"} }
	v4addr, v6addr := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	rows := map[string]struct {
		versions []byte
		want     error
	}{
		"server":       {[]byte{3, 4, 5}, &cql.ServerError{Code: cql.CodeServer, Message: "boom"}},
		"unknown code": {[]byte{3, 4, 5}, &cql.ServerError{Code: 0x7FFF, Message: "boom"}},
		"unavailable":  {[]byte{3, 4, 5}, &cql.UnavailableError{ServerError: base(cql.CodeUnavailable), Consistency: cql.LocalQuorum, Required: 2, Alive: 1}},
		"write timeout": {[]byte{3, 4, 5}, &cql.WriteTimeoutError{
			ServerError: base(cql.CodeWriteTimeout), Consistency: cql.Quorum, Received: 1,
			BlockFor: 2, WriteType: "SIMPLE",
		}},
		"write timeout cas v4": {[]byte{3, 4}, &cql.WriteTimeoutError{
			ServerError: base(cql.CodeWriteTimeout), Consistency: cql.Serial, Received: 1,
			BlockFor: 2, WriteType: "CAS",
		}},
		"write timeout cas v5": {[]byte{5}, &cql.WriteTimeoutError{
			ServerError: base(cql.CodeWriteTimeout), Consistency: cql.Serial, Received: 1,
			BlockFor: 2, WriteType: "CAS", Contentions: 7,
		}},
		"read timeout": {[]byte{3, 4, 5}, &cql.ReadTimeoutError{ServerError: base(cql.CodeReadTimeout), Consistency: cql.Quorum, Received: 1, BlockFor: 2, DataPresent: 1}},
		"read failure v4": {[]byte{4}, &cql.ReadFailureError{
			ServerError: base(cql.CodeReadFailure), Consistency: cql.Quorum, Received: 1,
			BlockFor: 2, NumFailures: 3, DataPresent: true,
		}},
		"read failure v5": {[]byte{5}, &cql.ReadFailureError{
			ServerError: base(cql.CodeReadFailure), Consistency: cql.Quorum, Received: 1, BlockFor: 2, NumFailures: 2, DataPresent: false,
			ReasonMap: map[netip.Addr]uint16{v4addr: 1, v6addr: 2},
		}},
		"function failure": {[]byte{3, 4, 5}, &cql.FunctionFailureError{ServerError: base(cql.CodeFunctionFailure), Keyspace: "ks", Function: "f", ArgTypes: []string{"int"}}},
		"write failure v4": {[]byte{4}, &cql.WriteFailureError{
			ServerError: base(cql.CodeWriteFailure), Consistency: cql.Quorum, Received: 1,
			BlockFor: 2, NumFailures: 3, WriteType: "BATCH",
		}},
		"write failure v5":  {[]byte{5}, &cql.WriteFailureError{ServerError: base(cql.CodeWriteFailure), Consistency: cql.Quorum, Received: 1, BlockFor: 2, NumFailures: 1, WriteType: "BATCH", ReasonMap: map[netip.Addr]uint16{v4addr: 1}}},
		"cdc write failure": {[]byte{3, 4, 5}, &cql.CDCWriteFailureError{ServerError: base(cql.CodeCDCWriteFailure)}},
		"cas write unknown": {[]byte{3, 4, 5}, &cql.CASWriteUnknownError{ServerError: base(cql.CodeCASWriteUnknown), Consistency: cql.Serial, Received: 1, BlockFor: 2}},
		"already exists":    {[]byte{3, 4, 5}, &cql.AlreadyExistsError{ServerError: base(cql.CodeAlreadyExists), Keyspace: "ks", Table: ""}},
		"unprepared":        {[]byte{3, 4, 5}, &cql.UnpreparedError{ServerError: base(cql.CodeUnprepared), StatementID: []byte("id")}},
		"rate limit":        {[]byte{3, 4, 5}, &cql.RateLimitError{ServerError: base(testRateLimitCode), OpType: 1, RejectedByCoordinator: true}},
	}
	for name := range golden {
		require.Contains(t, rows, name, "golden without a test")
	}
	for name, row := range rows {
		for _, version := range row.versions {
			t.Run(name, func(t *testing.T) {
				parse := func(r *wire.Reader) error { return ParseError(r, version, testRateLimitCode) }
				body := append([]byte(nil), golden[name]...)
				r := wire.NewReader(body)
				got := parse(&r)
				clear(body)
				require.Equal(t, row.want, got)
				var server *cql.ServerError
				require.ErrorAs(t, got, &server)
				require.Equal(t, "boom", server.Message)
				require.ErrorIs(t, got, server.Code)

				r = wire.NewReader(append(golden[name][:len(golden[name]):len(golden[name])], 0xDE, 0xAD))
				require.Equal(t, row.want, parse(&r), "trailing bytes are ignored")
				for n := range golden[name] {
					if name == "write timeout cas v5" && n == len(golden[name])-2 {
						continue // without contentions, see TestFault54ShortError
					}
					r := wire.NewReader(golden[name][:n:n])
					var p *cql.ProtocolError
					require.ErrorAs(t, parse(&r), &p, "%d bytes", n)
				}
			})
		}
	}
}

// TestParseErrorCodesWithoutFields parses all other codes as *ServerError.
func TestParseErrorCodesWithoutFields(t *testing.T) {
	for _, c := range []cql.Code{
		cql.CodeProtocol, cql.CodeCredentials, cql.CodeOverloaded, cql.CodeBootstrapping, cql.CodeTruncate, cql.CodeSyntax,
		cql.CodeUnauthorized, cql.CodeInvalid, cql.CodeConfig,
	} {
		body, err := wire.AppendString(wire.AppendInt(nil, int32(c)), "boom")
		require.NoError(t, err)
		r := wire.NewReader(body)
		require.Equal(t, &cql.ServerError{Code: c, Message: "boom"}, ParseError(&r, V4, 0))
	}
}

// TestParseErrorRateLimitNotNegotiated parses the code as unknown, and code 0 as a server error.
func TestParseErrorRateLimitNotNegotiated(t *testing.T) {
	golden := readHexBodies(t, "errors.hex")
	r := wire.NewReader(golden["rate limit"])
	require.Equal(t, &cql.ServerError{Code: testRateLimitCode, Message: "boom"}, ParseError(&r, V4, 0))
	r = wire.NewReader(golden["server"])
	require.Equal(t, &cql.ServerError{Code: cql.CodeServer, Message: "boom"}, ParseError(&r, V4, 0))
}

func TestParseErrorLyingReasonMap(t *testing.T) {
	body := readHexBodies(t, "errors.hex")["read failure v5"]
	body[4+2+4+2+4+4] = 0x7F // the count
	var err error
	n := leak.Allocated(func() { r := wire.NewReader(body); err = ParseError(&r, V5, 0) })
	require.ErrorIs(t, err, wire.ErrLength)
	require.Less(t, n, uint64(64<<10))
}
