// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"net/netip"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// ERROR bodies (native_protocol_v5.spec, section 4.2.1 and 8; v4 where it differs).

// ParseError reads the error at r. It returns a *cql.ServerError for an unknown code or a code without fields, and a
// *ProtocolError for a malformed body. rateLimitCode is ScyllaDB's code for its rate limit error
// (SCYLLA_RATE_LIMIT_ERROR); 0 means that it was not negotiated.
func ParseError(r *wire.Reader, version byte, rateLimitCode int32) error {
	base := cql.ServerError{Code: cql.Code(r.Int()), Message: r.String()}
	var e error
	if rateLimitCode != 0 && base.Code == cql.Code(rateLimitCode) {
		e = &cql.RateLimitError{ServerError: base, OpType: r.Byte(), RejectedByCoordinator: r.Byte() != 0}
	} else {
		e = readErrorFields(r, version, base)
	}
	if err := malformed("ERROR", r); err != nil {
		return err
	}
	return e
}

// readErrorFields reads the fields after code and message of an ERROR body (native_protocol_v5.spec, section 8) and
// returns the error type of the code. A code without fields of its own returns base.
func readErrorFields(r *wire.Reader, version byte, base cql.ServerError) error {
	switch base.Code {
	case cql.CodeUnavailable:
		return &cql.UnavailableError{
			ServerError: base, Consistency: cql.Consistency(r.Short()), Required: int(r.Int()),
			Alive: int(r.Int()),
		}
	case cql.CodeWriteTimeout:
		e := &cql.WriteTimeoutError{ServerError: base}
		e.Consistency, e.Received, e.BlockFor = readReceived(r)
		e.WriteType = r.String()
		if version >= V5 && e.WriteType == "CAS" && r.Len() > 0 { // Cassandra sends it for contention only
			e.Contentions = int(r.Short())
		}
		return e
	case cql.CodeReadTimeout:
		e := &cql.ReadTimeoutError{ServerError: base}
		e.Consistency, e.Received, e.BlockFor = readReceived(r)
		e.DataPresent = r.Byte()
		return e
	case cql.CodeReadFailure:
		e := &cql.ReadFailureError{ServerError: base}
		e.Consistency, e.Received, e.BlockFor = readReceived(r)
		e.NumFailures, e.ReasonMap = readFailures(r, version)
		e.DataPresent = r.Byte() != 0
		return e
	case cql.CodeWriteFailure:
		e := &cql.WriteFailureError{ServerError: base}
		e.Consistency, e.Received, e.BlockFor = readReceived(r)
		e.NumFailures, e.ReasonMap = readFailures(r, version)
		e.WriteType = r.String()
		return e
	case cql.CodeFunctionFailure:
		return &cql.FunctionFailureError{
			ServerError: base, Keyspace: r.String(), Function: r.String(),
			ArgTypes: r.StringList(),
		}
	case cql.CodeCDCWriteFailure:
		return &cql.CDCWriteFailureError{ServerError: base}
	case cql.CodeCASWriteUnknown:
		e := &cql.CASWriteUnknownError{ServerError: base}
		e.Consistency, e.Received, e.BlockFor = readReceived(r)
		return e
	case cql.CodeAlreadyExists:
		return &cql.AlreadyExistsError{ServerError: base, Keyspace: r.String(), Table: r.String()}
	case cql.CodeUnprepared:
		return &cql.UnpreparedError{ServerError: base, StatementID: bytes.Clone(r.ShortBytes())}
	}
	return &base
}

// readReceived reads <cl><received><blockfor>.
func readReceived(r *wire.Reader) (c cql.Consistency, received, blockFor int) {
	return cql.Consistency(r.Short()), int(r.Int()), int(r.Int())
}

// readFailures reads <reasonmap> in v5 and <numfailures> in v4.
func readFailures(r *wire.Reader, version byte) (int, map[netip.Addr]uint16) {
	if version < V5 {
		return int(r.Int()), nil
	}
	n := r.Count(1 + 4 + 2) // an [inetaddr] of IPv4 and a [short]
	reasons := make(map[netip.Addr]uint16, n)
	for range n {
		addr := r.InetAddr()
		reasons[addr] = r.Short()
	}
	return n, reasons
}
