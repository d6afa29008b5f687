// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"fmt"
	"net/netip"
)

// This file holds every error that the package exports but those of the server's ERROR frames, which are in errors_server.go.

// Errors of a session and its connections.
var (
	// ErrNotFound is returned by the verbs that want one row when there is none.
	ErrNotFound = errors.New("vecql: not found")
	// ErrSessionClosed is returned by every call on a session after Close.
	ErrSessionClosed = errors.New("vecql: session is closed")
	// ErrConnectionClosed says that the connection ended before the answer came. The request may have been executed.
	ErrConnectionClosed = errors.New("vecql: connection is closed")
	// ErrNoConnections is returned when no node that may serve the request has an open connection.
	ErrNoConnections = errors.New("vecql: no connection to any node")
	// ErrNoConnectionsStarted is returned by CreateSession when no contact point could be reached.
	ErrNoConnectionsStarted = errors.New("vecql: no connection could be made to any contact point")
	// ErrNoHosts is returned by CreateSession when ClusterConfig.Hosts is empty, or the HostFilter and HostSelectionPolicy leave no node.
	ErrNoHosts = errors.New("vecql: no contact points")
	// ErrTimeoutNoResponse is returned when the server did not answer within the query's timeout or ClusterConfig.Timeout. The
	// request may have been executed.
	ErrTimeoutNoResponse = errors.New("vecql: no answer from the server in time")
	// ErrNoStreams is returned when all stream ids of a connection are in use and none became free in time.
	ErrNoStreams = errors.New("vecql: no stream id is free")
	// ErrThrottled is returned for a request that ClusterConfig.Throttle held back until its time was over, or that came when too many were
	// held back already. It was not sent.
	ErrThrottled = errors.New("vecql: too many requests in flight")
	// ErrNoProfile is returned for a query or batch with a profile that ClusterConfig.Profiles does not have.
	ErrNoProfile = errors.New("vecql: no such profile")
	// ErrNoKeyspace is returned where a keyspace is needed and none is set.
	ErrNoKeyspace = errors.New("vecql: no keyspace given")
	// ErrKeyspaceDoesNotExist is returned for the metadata of a keyspace that the cluster does not have.
	ErrKeyspaceDoesNotExist = errors.New("vecql: keyspace does not exist")
	// ErrNoTable is returned for the metadata of a table that the keyspace does not have.
	ErrNoTable = errors.New("vecql: table does not exist")
	// ErrNoMetadata is returned for metadata that the session does not keep (MetadataConfig), or that no node could or would give.
	ErrNoMetadata = errors.New("vecql: no metadata available")
	// ErrUseStmt is returned for a USE statement: it would change one connection of many. Set ClusterConfig.Keyspace or Query.SetKeyspace.
	ErrUseStmt = errors.New("vecql: USE is not allowed, set the keyspace of the cluster or the query")
	// ErrTooManyStmts is returned for a batch of more than BatchSizeMaximum statements.
	ErrTooManyStmts = errors.New("vecql: too many statements in a batch")
	// ErrTooManyValues is returned for a statement with more than 65535 bound values.
	ErrTooManyValues = errors.New("vecql: too many values for one statement")
	// ErrValueCount is returned when the bound values are not as many as the bind markers, or a named one has no marker.
	ErrValueCount = errors.New("vecql: values do not match the bind markers")
	// ErrFrameTooBig is returned for a request body above 256 MiB (native_protocol_v5.spec, section 2.4.1.5).
	ErrFrameTooBig = errors.New("vecql: frame is larger than 256 MiB")
	// ErrUnsupported is returned for what the negotiated protocol version can't say.
	ErrUnsupported = errors.New("vecql: not supported by the protocol version in use")
	// ErrPageReleased is returned for a Page after the loop that it came from has ended.
	ErrPageReleased = errors.New("vecql: page was released")
	// ErrSchemaAgreement is returned when the nodes did not agree on the schema in time.
	ErrSchemaAgreement = errors.New("vecql: nodes did not agree on the schema in time")
	// ErrUnset is returned for an UnsetValue where there must be a value: in a partition key or inside another value.
	ErrUnset = errors.New("unset value where a value is needed")
	// ErrNull is returned for a NULL that the Go type can't hold, or that CQL forbids (an element of a vector).
	ErrNull = errors.New("NULL where a value is needed")
	// ErrDimension is returned for a vector whose length is not the dimension of its type.
	ErrDimension = errors.New("wrong vector dimension")
	// ErrTrailing is returned for a cell with bytes left over after its value.
	ErrTrailing = errors.New("trailing bytes")
	// ErrMissing is returned for a cell that ends inside its value.
	ErrMissing = errors.New("missing bytes")
	// ErrRange is returned for a number that the other side's type can't hold. Nothing is truncated.
	ErrRange = errors.New("value out of range")
	// ErrConversion is returned for a pair of CQL type and Go type without a conversion.
	ErrConversion = errors.New("no conversion between these types")
)

// MarshalError says which value could not be encoded. Err is the reason, often one of the sentinels above.
type MarshalError struct {
	Column string   // bind marker or path of it, e.g. "embedding" or "tags[3]"; empty for a value marshalled outside of a statement
	Type   TypeInfo // CQL type
	GoType string   // Go type, e.g. "[]float32"
	Err    error
}

func (e *MarshalError) Error() string {
	return codecMessage("marshal", "into", e.Column, e.Type, e.GoType, e.Err)
}

// Unwrap returns Err.
func (e *MarshalError) Unwrap() error { return e.Err }

// UnmarshalError says which cell could not be decoded. Err is the reason, often one of the sentinels above.
type UnmarshalError struct {
	Column string   // result column; empty for a value unmarshalled outside of a result
	Type   TypeInfo // CQL type
	GoType string   // Go type of the destination, e.g. "*[]float32"
	Err    error
}

func (e *UnmarshalError) Error() string {
	return codecMessage("unmarshal", "from", e.Column, e.Type, e.GoType, e.Err)
}

// Unwrap returns Err.
func (e *UnmarshalError) Unwrap() error { return e.Err }

func codecMessage(verb, prep, column string, t TypeInfo, goType string, err error) string {
	if column != "" {
		column = fmt.Sprintf(" column %q", column)
	}
	cql := "unknown"
	if t != nil {
		cql = t.String()
	}
	return fmt.Sprintf("vecql: %s%s: %s %s %s: %v", verb, column, goType, prep, cql, err)
}

// ProtocolError says that the peer broke the protocol. The connection it came from is closed.
type ProtocolError struct {
	Message string
	Err     error // may be nil
}

func (e *ProtocolError) Error() string {
	if e.Err != nil {
		return "vecql: protocol: " + e.Message + ": " + e.Err.Error()
	}
	return "vecql: protocol: " + e.Message
}

// Unwrap returns Err.
func (e *ProtocolError) Unwrap() error { return e.Err }

// TypeError says that the text of a CQL type could not be parsed.
type TypeError struct {
	Text   string
	Offset int // in Text
	Reason string
}

func (e *TypeError) Error() string {
	text := e.Text
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return fmt.Sprintf("vecql: type %q: %s at offset %d", text, e.Reason, e.Offset)
}

// RequestFailure is what a request ended with: the last error, with the node that gave it and how often the request was sent.
// errors.Is and errors.As look through it.
type RequestFailure struct {
	Err      error
	Host     netip.AddrPort // the node of the last attempt, the zero value when none was reached
	Attempts int            // how often the request was handed to a connection
	applied  bool
}

func (e *RequestFailure) Error() string {
	msg := e.Err.Error()
	if e.Host.IsValid() {
		msg += " (node " + e.Host.String()
		if e.Attempts > 1 {
			msg += fmt.Sprintf(", attempt %d", e.Attempts)
		}
		msg += ")"
	}
	return msg
}

// Unwrap returns Err.
func (e *RequestFailure) Unwrap() error { return e.Err }

// MayHaveApplied reports whether the server may have executed the request that failed with err: false only where it certainly did
// not, because the request never left or because the server said that it refused it before doing anything. err is what a verb of this
// package returned.
func MayHaveApplied(err error) bool {
	var f *RequestFailure
	var u *UnmarshalError
	switch {
	case err == nil, errors.As(err, &u): // it succeeded; only its rows could not be read
		return true
	case errors.As(err, &f):
		return f.applied
	}
	return false // every request that reached a connection failed with a RequestFailure
}

// attemptMayHaveApplied is MayHaveApplied for the outcome of one attempt on a connection.
func attemptMayHaveApplied(err error) bool {
	var n *notSentError
	var r *refusedError
	var s RequestError
	switch {
	case errors.As(err, &n), errors.As(err, &r):
		return false
	case errors.As(err, &s):
		return s.mayHaveApplied()
	}
	return true
}

// notSentError marks an error of a connection for a request of which no byte was handed to the socket: sending it again is safe.
type notSentError struct{ err error }

func (e *notSentError) Error() string { return e.err.Error() + " (request not sent)" }
func (e *notSentError) Unwrap() error { return e.err }

// refusedError marks what went wrong after a node had refused a request because it did not know its statement: it was not executed.
type refusedError struct{ err error }

func (e *refusedError) Error() string { return e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }
