// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// The names that the editions of the API share: most are those of package api.

// Connections and nodes.
type (
	// An Authenticator answers the authentication of a server.
	Authenticator = api.Authenticator
	// PasswordAuthenticator is SASL PLAIN.
	PasswordAuthenticator = api.PasswordAuthenticator
	// A Compressor compresses the bodies of frames: "lz4" or "snappy".
	Compressor = compat.BlockCompressor
	// SnappyCompressor is the Snappy block format.
	SnappyCompressor = api.SnappyCompressor
	// A Dialer opens connections.
	Dialer = api.Dialer
	// A DialedHost is an open connection to a node.
	DialedHost = api.DialedHost
	// A HostDialer opens the connections to nodes, with TLS if it is wanted.
	HostDialer = api.HostDialer[*HostInfo]
	// SslOptions configures TLS.
	SslOptions = api.SslOptions
	// An AddressTranslator maps the address that a node announces to the address at which clients reach it.
	AddressTranslator = vecql.AddressTranslator
	// AddressTranslatorFunc adapts a function to AddressTranslator.
	AddressTranslatorFunc = vecql.AddressTranslatorFunc
	// A HostFilter selects the nodes that a session uses.
	HostFilter = api.HostFilter[*HostInfo]
	// HostFilterFunc adapts a function to HostFilter.
	HostFilterFunc = api.HostFilterFunc[*HostInfo]
	// A StdLogger receives the log of a session, one record per call.
	StdLogger = api.StdLogger
)

// Observers.
type (
	// An ObservedConnect is one attempt to open a connection.
	ObservedConnect = api.ObservedConnect[*HostInfo]
	// A ConnectObserver observes the attempts to open connections.
	ConnectObserver = api.ConnectObserver[*HostInfo]
	// An ObservedFrameHeader is the frame header of a response.
	ObservedFrameHeader = api.ObservedFrameHeader[*HostInfo]
	// A FrameHeaderObserver observes the frame headers of responses.
	FrameHeaderObserver = api.FrameHeaderObserver[*HostInfo]
	// An ObservedStream is a stream of a connection.
	ObservedStream = api.ObservedStream[*HostInfo]
	// A StreamObserver observes the streams of requests.
	StreamObserver = api.StreamObserver[*HostInfo]
	// A StreamObserverContext observes one stream.
	StreamObserverContext = api.StreamObserverContext[*HostInfo]
	// A Tracer receives the tracing ids of requests.
	Tracer = vecql.Tracer
)

// Policies.
type (
	// A HostStateNotifier receives the changes of the nodes of a session.
	HostStateNotifier = api.HostStateNotifier[*HostInfo]
	// A SetPartitioner receives the name of the partitioner of the cluster.
	SetPartitioner = api.SetPartitioner
	// A SetHosts receives the nodes of a cluster. No function takes one.
	SetHosts = api.SetHosts[*HostInfo]
	// A KeyspaceUpdateEvent is a change of a keyspace.
	KeyspaceUpdateEvent = api.KeyspaceUpdateEvent
	// A HostTierer is a HostSelectionPolicy that sorts nodes into tiers, of which 0 is the nearest.
	HostTierer = api.HostTierer[*HostInfo]
	// A ReadyPolicy would delay the start of a session. No session asks it.
	ReadyPolicy = api.ReadyPolicy
	// A ReconnectionPolicy sets the waits before further attempts to reach a node. After GetMaxRetries the next attempt
	// is made after ReconnectInterval.
	ReconnectionPolicy = vecql.ReconnectionPolicy
	// ConstantReconnectionPolicy waits the same time before each attempt.
	ConstantReconnectionPolicy = api.ConstantReconnectionPolicy
	// ExponentialReconnectionPolicy is exponential backoff from InitialInterval to MaxInterval.
	ExponentialReconnectionPolicy = api.ExponentialReconnectionPolicy
	// A ConvictionPolicy would decide when a node is down. No session asks it.
	ConvictionPolicy = api.ConvictionPolicy[*HostInfo]
	// SimpleConvictionPolicy is a ConvictionPolicy.
	SimpleConvictionPolicy = api.SimpleConvictionPolicy[*HostInfo]
	// A SpeculativeExecutionPolicy sets the number and the delay of further executions of an idempotent request.
	SpeculativeExecutionPolicy = vecql.SpeculativeExecutionPolicy
	// NonSpeculativeExecution executes a request once.
	NonSpeculativeExecution = api.NonSpeculativeExecution
	// SimpleSpeculativeExecution starts NumAttempts further executions, one after each TimeoutDelay.
	SimpleSpeculativeExecution = vecql.SimpleSpeculativeExecution
	// RetryType is the decision of a RetryPolicy.
	RetryType = api.RetryType
	// A RetryPolicy decides whether and where a failed request is sent again.
	RetryPolicy = api.RetryPolicy[RetryableQuery]
)

// The decisions of a RetryPolicy. Ignore is the same as Rethrow.
const (
	Retry         = api.Retry
	RetryNextHost = api.RetryNextHost
	Ignore        = api.Ignore
	Rethrow       = api.Rethrow
)

// The states of a node.
const (
	NodeUp   = api.NodeUp
	NodeDown = api.NodeDown
)

// Values and rows.
type (
	// A Marshaler is a value that encodes itself.
	Marshaler = api.Marshaler[TypeInfo]
	// An Unmarshaler is a destination that decodes itself.
	Unmarshaler = api.Unmarshaler[TypeInfo]
	// A UDTMarshaler is a value of a user-defined type that encodes itself field by field.
	UDTMarshaler = api.UDTMarshaler[TypeInfo]
	// A UDTUnmarshaler is a destination for a user-defined type that decodes itself field by field.
	UDTUnmarshaler = api.UDTUnmarshaler[TypeInfo]
	// A RowData holds the names of the columns of a row, with a destination for each.
	RowData = api.RowData
	// A Scanner reads the rows of an Iter in the style of database/sql.
	Scanner = api.Scanner
)

// TupleColumnName returns the key of element n of the tuple column c in the maps of MapScan and SliceMap.
func TupleColumnName(c string, n int) string { return api.TupleColumnName(c, n) }

// WrapTLS does the TLS handshake of a client on conn. If the config has no name of the server, it is that of addr. A
// nil config means no TLS.
func WrapTLS(ctx context.Context, conn net.Conn, addr string, tlsConfig *tls.Config) (*DialedHost, error) {
	return api.WrapTLS(ctx, conn, addr, tlsConfig)
}

// IdentityTranslator returns every address unchanged.
func IdentityTranslator() AddressTranslator { return vecql.IdentityTranslator() }

// AcceptAllFilter accepts every node.
func AcceptAllFilter() HostFilter { return api.FilterAll[*HostInfo](true) }

// DenyAllFilter accepts no node.
func DenyAllFilter() HostFilter { return api.FilterAll[*HostInfo](false) }

// DataCentreHostFilter accepts the nodes of a data center.
func DataCentreHostFilter(dataCentre string) HostFilter {
	return api.FilterDataCenter[*HostInfo](dataCentre)
}

// WhiteListHostFilter accepts the nodes at the given addresses or names, which may have a port that is ignored. It
// panics if a name cannot be resolved.
func WhiteListHostFilter(hosts ...string) HostFilter {
	f, _, err := api.FilterAddresses[*HostInfo](hosts)
	if err != nil {
		panic(err)
	}
	return f
}

// The sentinel errors that verbs return.
var (
	ErrNoHosts              = api.ErrNoHosts
	ErrNoConnectionsStarted = api.ErrNoConnectionsStarted
	ErrQueryArgLength       = api.ErrQueryArgLength
	ErrTimeoutNoResponse    = api.ErrTimeoutNoResponse
	ErrConnectionClosed     = api.ErrConnectionClosed
	ErrNoStreams            = api.ErrNoStreams
	ErrNotFound             = api.ErrNotFound
	ErrUnsupported          = api.ErrUnsupported
	ErrTooManyStmts         = api.ErrTooManyStmts
	ErrUseStmt              = api.ErrUseStmt
	ErrSessionClosed        = api.ErrSessionClosed
	ErrNoConnections        = api.ErrNoConnections
	ErrNoKeyspace           = api.ErrNoKeyspace
	ErrKeyspaceDoesNotExist = api.ErrKeyspaceDoesNotExist
	ErrNoMetadata           = api.ErrNoMetadata
	ErrFrameTooBig          = api.ErrFrameTooBig
	ErrUnknownRetryType     = api.ErrUnknownRetryType
)

// Sentinel errors that no verb returns.
var (
	ErrHostQueryFailed   = api.ErrHostQueryFailed
	ErrTooManyTimeouts   = api.ErrTooManyTimeouts
	ErrUnavailable       = api.ErrUnavailable
	ErrCannotFindHost    = api.ErrCannotFindHost
	ErrHostAlreadyExists = api.ErrHostAlreadyExists
	ErrorUDTUnavailable  = api.ErrorUDTUnavailable
)

// The error codes of the protocol.
const (
	ErrCodeServer          = 0x0000
	ErrCodeProtocol        = 0x000A
	ErrCodeCredentials     = 0x0100
	ErrCodeUnavailable     = 0x1000
	ErrCodeOverloaded      = 0x1001
	ErrCodeBootstrapping   = 0x1002
	ErrCodeTruncate        = 0x1003
	ErrCodeWriteTimeout    = 0x1100
	ErrCodeReadTimeout     = 0x1200
	ErrCodeReadFailure     = 0x1300
	ErrCodeFunctionFailure = 0x1400
	ErrCodeWriteFailure    = 0x1500
	ErrCodeCDCWriteFailure = 0x1600
	ErrCodeCASWriteUnknown = 0x1700
	ErrCodeSyntax          = 0x2000
	ErrCodeUnauthorized    = 0x2100
	ErrCodeInvalid         = 0x2200
	ErrCodeConfig          = 0x2300
	ErrCodeAlreadyExists   = 0x2400
	ErrCodeUnprepared      = 0x2500
)

// NewErrProtocol returns an ErrProtocol with that text.
func NewErrProtocol(format string, args ...any) error { return api.NewErrProtocol(format, args...) }

// The variants of a UUID.
const (
	VariantNCSCompat = 0
	VariantIETF      = 2
	VariantMicrosoft = 6
	VariantFuture    = 7
)

// UUIDFromBytes returns the UUID of 16 bytes.
func UUIDFromBytes(input []byte) (UUID, error) { return cql.UUIDFromBytes(input) }

// RandomUUID returns a random UUID, of version 4.
func RandomUUID() (UUID, error) { return cql.RandomUUID() }

// MustRandomUUID is RandomUUID, but panics on an error.
func MustRandomUUID() UUID { return cql.MustRandomUUID() }

// TimeUUID returns a UUID of version 1 for the current time.
func TimeUUID() UUID { return cql.TimeUUID() }

// UUIDFromTime returns a UUID of version 1 for the time t. Each call returns another UUID.
func UUIDFromTime(t time.Time) UUID { return cql.UUIDFromTime(t) }

// MinTimeUUID returns the smallest UUID of version 1 for the time t, as the bound of a range.
func MinTimeUUID(t time.Time) UUID { return cql.MinTimeUUID(t) }

// MaxTimeUUID returns the greatest UUID of version 1 for the time t, as the bound of a range.
func MaxTimeUUID(t time.Time) UUID { return cql.MaxTimeUUID(t) }

// TimeUUIDWith returns the UUID of version 1 for t, in steps of 100 ns since 1582-10-15, with the low 14 bits of clock
// and the first 6 bytes of node.
func TimeUUIDWith(t int64, clock uint32, node []byte) UUID { return cql.TimeUUIDWith(t, clock, node) }

// The kinds of columns.
const (
	ColumnUnkownKind ColumnKind = iota
	ColumnPartitionKey
	ColumnClusteringKey
	ColumnRegular
	ColumnCompact
	ColumnStatic
)

// A QueryInfo describes a prepared statement to a function that binds its values.
type QueryInfo = api.QueryInfo[ColumnInfo]

// A BatchEntry is a statement of a batch.
type BatchEntry = api.BatchEntry[ColumnInfo]

// A BatchType is the type of a batch.
type BatchType = api.BatchType

// The types of a batch.
const (
	LoggedBatch   BatchType = 0
	UnloggedBatch BatchType = 1
	CounterBatch  BatchType = 2
)

// BatchSizeMaximum is the maximum number of statements of a batch.
const BatchSizeMaximum = vecql.BatchSizeMaximum

// A UUID is a universally unique identifier.
type UUID = cql.UUID

// ParseUUID parses 32 hexadecimal digits. Dashes may stand between any two bytes.
func ParseUUID(input string) (UUID, error) { return api.ParseUUID(input) }
