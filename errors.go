// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/stats"
)

// Errors of sessions and connections. Package cql has the errors of servers.

// Errors of a session and its connections.
var (
	// ErrNotFound means that a verb that reads one row found none. Verbs return ErrNotFound itself.
	ErrNotFound = errors.New("vecql: not found: the result has no row")
	// ErrTooManyRows means that OneRow found more than one row.
	ErrTooManyRows = errors.New("vecql: the result of OneRow has more than one row")
	// ErrSessionClosed means that the session was closed before or during the call.
	ErrSessionClosed = errors.New("vecql: session is closed")
	// ErrConnectionClosed means that the connection was closed before the response arrived. The request may have been
	// executed.
	ErrConnectionClosed = conn.ErrClosed
	// ErrNoConnections means that no node of the request's query plan has an open connection.
	ErrNoConnections = errors.New("vecql: no connection to any node")
	// ErrNoConnectionsStarted means that NewSession opened no connection to any node. The wrapped errors are the
	// causes.
	ErrNoConnectionsStarted = errors.New("vecql: no connection could be made to any contact point")
	// ErrNoHosts means that ClusterConfig.Hosts is empty, or that HostFilter and HostSelectionPolicy exclude all nodes.
	ErrNoHosts = errors.New("vecql: no contact points")
	// ErrNoRoute means that a node cannot be dialed, because system.client_routes has no complete row with its host id and
	// one of the connection ids of ClusterConfig.Nodes.ClientRoutes.
	ErrNoRoute = errors.New("vecql: no client route to the node")
	// ErrTimeoutNoResponse means that the server did not respond within the query's timeout or ClusterConfig.Timeout.
	// The request may have been executed.
	ErrTimeoutNoResponse = conn.ErrTimeout
	// ErrNoStreams means that all stream ids of a connection were in use and none became free in time.
	ErrNoStreams = conn.ErrNoStreams
	// ErrNodeBusy means that a node is so far behind with its answers that the request would have timed out. The request
	// was not sent to it.
	ErrNodeBusy = conn.ErrNodeBusy
	// ErrThrottled means that a request waited for ClusterConfig.Limits.Throttle until its context or timeout ended, or
	// that the queue was full. The request was not sent.
	ErrThrottled = errors.New("vecql: too many requests in flight")
	// ErrNoProfile means that the profile of a query or batch is not in ClusterConfig.Profiles.
	ErrNoProfile = errors.New("vecql: no such profile in ClusterConfig.Profiles")
	// ErrNoKeyspace means that metadata was requested for a keyspace without a name.
	ErrNoKeyspace = errors.New("vecql: read metadata of a keyspace: its name is empty")
	// ErrKeyspaceDoesNotExist means that the cluster has no keyspace of that name.
	ErrKeyspaceDoesNotExist = errors.New("vecql: keyspace does not exist")
	// ErrNoTable means that the keyspace has no table of that name.
	ErrNoTable = errors.New("vecql: table does not exist")
	// ErrNoMetadata means that the session does not cache the metadata (ClusterConfig.Schema.Metadata), or that no node
	// returned it.
	ErrNoMetadata = errors.New("vecql: no metadata available")
	// ErrUseStmt means that a query is a USE statement, which would change one connection of many. Set
	// ClusterConfig.Keyspace or Query.Keyspace.
	ErrUseStmt = errors.New("vecql: USE is not allowed, set ClusterConfig.Keyspace or Query.Keyspace")
	// ErrTooManyStmts means that a batch has more than BatchSizeMaximum statements.
	ErrTooManyStmts = frame.ErrTooManyStmts
	// ErrTooManyValues means that a statement has more than 65535 bound values.
	ErrTooManyValues = frame.ErrTooManyValues
	// ErrValueCount means that the number of values differs from the number of bind markers, or that a name has no
	// marker.
	ErrValueCount = errors.New("vecql: values do not match the bind markers")
	// ErrColumnCount means that the number of destinations differs from the number of columns of the result.
	ErrColumnCount = errors.New("vecql: destinations do not match the columns")
	// ErrFrameTooBig means that a request body exceeds 256 MiB (native_protocol_v5.spec, section 2.4.1.5).
	ErrFrameTooBig = frame.ErrTooBig
	// ErrStatementChanged means that the values of a request were encoded for a statement that is no longer valid: a
	// table or a type was altered or created again, or the node returns another id for the statement. The attempt was not
	// executed. The session itself encodes a request once more; requests for further pages and EncodedRows return the
	// error instead.
	ErrStatementChanged = errors.New("vecql: the prepared statement has changed: bind the values again")
	// ErrUnsupported means that the negotiated protocol version does not support an option of the request.
	ErrUnsupported = frame.ErrUnsupported
	// ErrSchemaAgreement means that the nodes did not agree on the schema in time.
	ErrSchemaAgreement = errors.New("vecql: nodes did not agree on the schema in time")
)

// A URIError means that ParseURI cannot use a URI. Its text has neither the URI nor the password.
type URIError struct {
	Setting string // the parameter, or contact_points; empty for the URI as a whole
	Err     error
}

func (e *URIError) Error() string {
	if e.Setting == "" {
		return fmt.Sprintf("vecql: %v", e.Err)
	}
	return fmt.Sprintf("vecql: the setting %s of the uri: %v", e.Setting, e.Err)
}

// Unwrap returns Err.
func (e *URIError) Unwrap() error { return e.Err }

// A PeerError means that another server answers at the address of a node: a server of another cluster, or another node
// of the same cluster. The session closed the connection before it carried a request.
type PeerError struct {
	Address string // host:port
	Want    Peer   // a zero field means any
	Got     Peer   // a zero field means unknown
}

// A Peer identifies the server at the other end of a connection.
type Peer struct {
	ClusterName string
	HostID      cql.UUID
}

// WrongCluster reports whether the server belongs to another cluster.
func (e *PeerError) WrongCluster() bool {
	return e.Want.ClusterName != "" && e.Got.ClusterName != "" && e.Got.ClusterName != e.Want.ClusterName
}

// wrongNode reports whether the server is another node, of any cluster.
func (e *PeerError) wrongNode() bool {
	return e.Want.HostID != (cql.UUID{}) && e.Got.HostID != (cql.UUID{}) && e.Got.HostID != e.Want.HostID
}

func (e *PeerError) Error() string {
	if e.WrongCluster() {
		return fmt.Sprintf("vecql: connection to %s refused: node %v of cluster %q answers at an address of cluster %q "+
			"(a renamed cluster needs a new session)", e.Address, e.Got.HostID, e.Got.ClusterName, e.Want.ClusterName)
	}
	return fmt.Sprintf("vecql: connection to %s refused: node %v of cluster %q answers at the address of node %v "+
		"(behind a load balancer set ClusterConfig.Nodes.LoadBalanced)", e.Address, e.Got.HostID, e.Got.ClusterName, e.Want.HostID)
}

// A MemoryBudgetError means that a request waited for ClusterConfig.Limits.MemoryBudget until its context or timeout
// ended. The request was not sent. Sizes are in bytes; InFlight and Held are as in [stats.Memory], at the end of the
// wait.
type MemoryBudgetError struct {
	Budget         int64
	Size           int64 // of the request and the answer to expect
	InFlight, Held int64
	Waited         time.Duration
	Err            error // of the context; nil means that the timeout ended the wait
}

func (e *MemoryBudgetError) Error() string {
	text := fmt.Sprintf("vecql: no room in the memory budget for %v: %d bytes of %d are in flight, %d are held by open rows, "+
		"the request needs %d", errtext.Round(e.Waited), e.InFlight, e.Budget, e.Held, e.Size)
	if e.Err != nil {
		text += ": " + errtext.Of(e.Err)
	}
	return text
}

// Unwrap returns Err.
func (e *MemoryBudgetError) Unwrap() error { return e.Err }

// A RequestFailure is the error of a failed request: the error of its last attempt, with the request, the node of that
// attempt, the number of attempts and their time. errors.Is and errors.As unwrap it, also to the error of a context.
type RequestFailure struct {
	Err       error
	Statement string         // of a batch the first one; Error prints at most 100 characters
	Host      netip.AddrPort // the node of the last attempt; the zero value means that there was none
	Attempts  int            // on a connection
	Elapsed   time.Duration  // from the call of the verb, or from the start of a page, to the failure
	request   string         // what was done with Statement, such as "prepare"
	applied   bool
}

func (e *RequestFailure) Error() string {
	var b strings.Builder
	b.WriteString(errtext.Prefix)
	if e.Statement != "" {
		fmt.Fprintf(&b, "%s %q: ", e.request, shortened(e.Statement))
	}
	b.WriteString(errtext.Of(e.Err))
	b.WriteString(" (")
	if e.Host.IsValid() {
		fmt.Fprintf(&b, "node %s, ", e.Host)
	}
	attempts := "attempts"
	if e.Attempts == 1 {
		attempts = "attempt"
	}
	fmt.Fprintf(&b, "%d %s, %v)", e.Attempts, attempts, errtext.Round(e.Elapsed))
	return b.String()
}

// Unwrap returns Err.
func (e *RequestFailure) Unwrap() error { return e.Err }

// maxStatement is the number of characters of a statement in the text of an error.
const maxStatement = 100

// shortened returns the start of a statement on one line.
func shortened(stmt string) string {
	line := strings.Join(strings.Fields(stmt[:min(len(stmt), 10*maxStatement)]), " ")
	if runes := []rune(line); len(runes) > maxStatement {
		return string(runes[:maxStatement]) + "…"
	}
	return line
}

// MayHaveApplied reports whether the server may have executed the request that failed with err, an error that a verb of
// this package returned. False means that the request was not sent, or that the server refused it before executing
// anything.
func MayHaveApplied(err error) bool {
	var f *RequestFailure
	var u *cql.UnmarshalError
	switch {
	case err == nil, errors.As(err, &u): // the request succeeded; decoding its rows failed
		return true
	case errors.As(err, &f):
		return f.applied
	}
	return false // every request that reached a connection failed with a RequestFailure
}

// attemptMayHaveApplied reports what MayHaveApplied does, of one attempt on a connection.
func attemptMayHaveApplied(err error) bool {
	var n *conn.NotSentError
	var r *refusedError
	var s interface {
		error
		MayHaveApplied() bool
	}
	switch {
	case errors.As(err, &n), errors.As(err, &r):
		return false
	case errors.As(err, &s):
		return s.MayHaveApplied()
	}
	return true
}

// refusedError means that the node refused the request as unprepared, so did not execute it, and that preparing the
// statement again failed.
type refusedError struct{ err error }

func (e *refusedError) Error() string { return e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }

// A RowError means that executing a statement with a row of a batch failed; [MayHaveApplied] reports whether the row
// may have been written.
type RowError struct {
	Row int // in the batch
	Err error
}

func (e *RowError) Error() string {
	return fmt.Sprintf("vecql: execute row %d of a batch: %s", e.Row, errtext.Of(e.Err))
}

// Unwrap returns Err.
func (e *RowError) Unwrap() error { return e.Err }

// Classes of request errors: the basis of retry decisions and of counters.

var classOfCode = map[cql.Code]stats.ErrorClass{
	cql.CodeProtocol:        stats.ClassInvalid,
	cql.CodeCredentials:     stats.ClassInvalid,
	cql.CodeSyntax:          stats.ClassInvalid,
	cql.CodeUnauthorized:    stats.ClassInvalid,
	cql.CodeInvalid:         stats.ClassInvalid,
	cql.CodeConfig:          stats.ClassInvalid,
	cql.CodeAlreadyExists:   stats.ClassInvalid,
	cql.CodeFunctionFailure: stats.ClassInvalid,
	cql.CodeUnavailable:     stats.ClassUnavailable,
	cql.CodeOverloaded:      stats.ClassOverloaded,
	cql.CodeBootstrapping:   stats.ClassBootstrapping,
	cql.CodeTruncate:        stats.ClassTruncate,
	cql.CodeReadTimeout:     stats.ClassReadTimeout,
	cql.CodeWriteTimeout:    stats.ClassWriteTimeout,
	cql.CodeReadFailure:     stats.ClassReadFailure,
	cql.CodeWriteFailure:    stats.ClassWriteFailure,
	cql.CodeCDCWriteFailure: stats.ClassWriteFailure,
	cql.CodeCASWriteUnknown: stats.ClassCASWriteUnknown,
}

// ErrorClassOf returns the class of an error that a verb of this package returned or a retry policy received.
func ErrorClassOf(err error) stats.ErrorClass {
	var limit *cql.RateLimitError
	var server *cql.ServerError
	var protocol *cql.ProtocolError
	var memory *MemoryBudgetError
	switch {
	case errors.Is(err, ErrThrottled), errors.As(err, &memory): // before the error of an earlier attempt
		return stats.ClassThrottled
	case errors.Is(err, conn.ErrClosed), errors.Is(err, ErrNoConnections), errors.Is(err, ErrSessionClosed):
		// Before the cause of such an error: a violation of the protocol on another stream, a refused login, a timeout
		// of the driver itself.
		return stats.ClassConnection
	case errors.As(err, &protocol): // it may wrap an error of the server that the driver did not expect
		return stats.ClassProtocol
	case errors.As(err, &limit):
		return stats.ClassRateLimit
	case errors.As(err, &server):
		if class, ok := classOfCode[server.Code]; ok {
			return class
		}
		return stats.ClassServer
	case errors.Is(err, conn.ErrNoStreams), errors.Is(err, conn.ErrNodeBusy):
		return stats.ClassThrottled
	case errors.Is(err, conn.ErrTimeout):
		return stats.ClassTimeout
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return stats.ClassCanceled
	}
	return stats.ClassOther
}
