// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Tests of ERROR bodies.

const testRateLimitCode = 0x4321

func TestParseError(t *testing.T) {
	golden := readHexBodies(t, "frame_errors.hex")
	base := func(c cql.Code) ServerError { return ServerError{code: c, message: "boom"} }
	v4addr, v6addr := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	rows := map[string]struct {
		versions []byte
		want     RequestError
	}{
		"server":       {[]byte{4, 5}, &ServerError{cql.CodeServer, "boom"}},
		"unknown code": {[]byte{4, 5}, &ServerError{0x7FFF, "boom"}},
		"unavailable":  {[]byte{4, 5}, &RequestErrUnavailable{base(cql.CodeUnavailable), cql.LocalQuorum, 2, 1}},
		"write timeout": {[]byte{4, 5}, &RequestErrWriteTimeout{
			ServerError: base(cql.CodeWriteTimeout), Consistency: cql.Quorum, Received: 1,
			BlockFor: 2, WriteType: "SIMPLE",
		}},
		"write timeout cas v4": {[]byte{4}, &RequestErrWriteTimeout{
			ServerError: base(cql.CodeWriteTimeout), Consistency: cql.Serial, Received: 1,
			BlockFor: 2, WriteType: "CAS",
		}},
		"write timeout cas v5": {[]byte{5}, &RequestErrWriteTimeout{
			ServerError: base(cql.CodeWriteTimeout), Consistency: cql.Serial, Received: 1,
			BlockFor: 2, WriteType: "CAS", Contentions: 7,
		}},
		"read timeout": {[]byte{4, 5}, &RequestErrReadTimeout{base(cql.CodeReadTimeout), cql.Quorum, 1, 2, 1}},
		"read failure v4": {[]byte{4}, &RequestErrReadFailure{
			ServerError: base(cql.CodeReadFailure), Consistency: cql.Quorum, Received: 1,
			BlockFor: 2, NumFailures: 3, DataPresent: true,
		}},
		"read failure v5": {[]byte{5}, &RequestErrReadFailure{
			base(cql.CodeReadFailure), cql.Quorum, 1, 2, 2, false,
			ErrorMap{v4addr: 1, v6addr: 2},
		}},
		"function failure": {[]byte{4, 5}, &RequestErrFunctionFailure{base(cql.CodeFunctionFailure), "ks", "f", []string{"int"}}},
		"write failure v4": {[]byte{4}, &RequestErrWriteFailure{
			ServerError: base(cql.CodeWriteFailure), Consistency: cql.Quorum, Received: 1,
			BlockFor: 2, NumFailures: 3, WriteType: "BATCH",
		}},
		"write failure v5":  {[]byte{5}, &RequestErrWriteFailure{base(cql.CodeWriteFailure), cql.Quorum, 1, 2, 1, "BATCH", ErrorMap{v4addr: 1}}},
		"cdc write failure": {[]byte{4, 5}, &RequestErrCDCWriteFailure{base(cql.CodeCDCWriteFailure)}},
		"cas write unknown": {[]byte{4, 5}, &RequestErrCASWriteUnknown{base(cql.CodeCASWriteUnknown), cql.Serial, 1, 2}},
		"already exists":    {[]byte{4, 5}, &RequestErrAlreadyExists{base(cql.CodeAlreadyExists), "ks", ""}},
		"unprepared":        {[]byte{4, 5}, &RequestErrUnprepared{base(cql.CodeUnprepared), []byte("id")}},
		"rate limit":        {[]byte{4, 5}, &RequestErrRateLimitReached{base(testRateLimitCode), 1, true}},
	}
	for name := range golden {
		require.Contains(t, rows, name, "golden without a test")
	}
	for name, row := range rows {
		for _, version := range row.versions {
			t.Run(name, func(t *testing.T) {
				parse := func(r *wire.Reader) error { return parseError(r, version, testRateLimitCode) }
				body := append([]byte(nil), golden[name]...)
				r := wire.NewReader(body)
				got := parse(&r)
				clear(body)
				require.Equal(t, row.want, got)
				require.Equal(t, "boom", got.(RequestError).Message())
				require.ErrorIs(t, got, cql.Code(got.(RequestError).Code()))

				r = wire.NewReader(append(golden[name][:len(golden[name]):len(golden[name])], 0xDE, 0xAD))
				require.Equal(t, row.want, parse(&r), "trailing bytes are ignored")
				for n := range golden[name] {
					if name == "write timeout cas v5" && n == len(golden[name])-2 {
						continue // without contentions, see TestFault54ShortError
					}
					r := wire.NewReader(golden[name][:n:n])
					var p *ProtocolError
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
		require.Equal(t, &ServerError{c, "boom"}, parseError(&r, protoV4, 0))
	}
}

// TestParseErrorRateLimitNotNegotiated parses the code as unknown, and code 0 as a server error.
func TestParseErrorRateLimitNotNegotiated(t *testing.T) {
	golden := readHexBodies(t, "frame_errors.hex")
	r := wire.NewReader(golden["rate limit"])
	require.Equal(t, &ServerError{testRateLimitCode, "boom"}, parseError(&r, protoV4, 0))
	r = wire.NewReader(golden["server"])
	require.Equal(t, &ServerError{cql.CodeServer, "boom"}, parseError(&r, protoV4, 0))
}

func TestParseErrorLyingReasonMap(t *testing.T) {
	body := readHexBodies(t, "frame_errors.hex")["read failure v5"]
	body[4+2+4+2+4+4] = 0x7F // the count
	var err error
	n := allocated(func() { r := wire.NewReader(body); err = parseError(&r, protoV5, 0) })
	require.ErrorIs(t, err, wire.ErrLength)
	require.Less(t, n, uint64(64<<10))
}
