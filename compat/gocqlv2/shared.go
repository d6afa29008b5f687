// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
	api "github.com/vecql/vecql/compat/api"
)

// The names that the editions of the API share: most are those of package api.

// Connections and nodes.
type (
	// An Authenticator answers the authentication of a server.
	Authenticator = vecql.Authenticator
	// A Compressor compresses frames (v4) or segments (v5).
	Compressor = compat.AppendCompressor
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
	// RetryableQuery describes a request to a RetryPolicy.
	RetryableQuery = api.RetryableQuery[Consistency]
	// SimpleRetryPolicy sends a request again to the next node, at most NumRetries times.
	SimpleRetryPolicy = api.SimpleRetryPolicy[RetryableQuery]
	// ExponentialBackoffRetryPolicy is SimpleRetryPolicy with exponential backoff from Min to Max. Attempt sleeps.
	ExponentialBackoffRetryPolicy = api.ExponentialBackoffRetryPolicy[RetryableQuery]
	// RetryType is the decision of a RetryPolicy.
	RetryType = api.RetryType
	// A RetryPolicy decides whether and where a failed request is sent again.
	RetryPolicy = api.RetryPolicy[RetryableQuery]
)

// The decisions of a RetryPolicy. Ignore ends the request as a success without rows.
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

// DataCenterHostFilter accepts the nodes of a data center.
func DataCenterHostFilter(dataCenter string) HostFilter {
	return api.FilterDataCenter[*HostInfo](dataCenter)
}

// DataCentreHostFilter is DataCenterHostFilter.
//
// Deprecated: use DataCenterHostFilter.
func DataCentreHostFilter(dataCenter string) HostFilter { return DataCenterHostFilter(dataCenter) }

// WhiteListHostFilter accepts the nodes at the given hosts. Names are resolved during this call. It panics if none can
// be resolved.
func WhiteListHostFilter(hosts ...string) HostFilter {
	f, resolved, err := api.FilterAddresses[*HostInfo](hosts)
	if resolved == 0 {
		panic(fmt.Errorf("gocql: WhiteListHostFilter: no host of %q can be resolved: %w", hosts, err))
	}
	return f
}

// LookupIP returns the addresses of a host.
func LookupIP(host string) ([]net.IP, error) { return net.LookupIP(host) }

// Errors of sessions, requests and metadata.
var (
	ErrNotFound             = api.ErrNotFound
	ErrUnsupported          = api.ErrUnsupported
	ErrTooManyStmts         = api.ErrTooManyStmts
	ErrUseStmt              = api.ErrUseStmt
	ErrSessionClosed        = api.ErrSessionClosed
	ErrNoConnections        = api.ErrNoConnections
	ErrNoKeyspace           = api.ErrNoKeyspace
	ErrKeyspaceDoesNotExist = api.ErrKeyspaceDoesNotExist
	ErrNoMetadata           = api.ErrNoMetadata
	ErrNoHosts              = api.ErrNoHosts
	ErrNoConnectionsStarted = api.ErrNoConnectionsStarted
	ErrTimeoutNoResponse    = api.ErrTimeoutNoResponse
	ErrConnectionClosed     = api.ErrConnectionClosed
	ErrNoStreams            = api.ErrNoStreams
	ErrFrameTooBig          = api.ErrFrameTooBig
)

// Errors that no verb returns.
var (
	ErrUnavailable       = api.ErrUnavailable
	ErrHostQueryFailed   = api.ErrHostQueryFailed
	ErrTooManyTimeouts   = api.ErrTooManyTimeouts
	ErrQueryArgLength    = api.ErrQueryArgLength
	ErrCannotFindHost    = api.ErrCannotFindHost
	ErrHostAlreadyExists = api.ErrHostAlreadyExists
	ErrUnknownRetryType  = api.ErrUnknownRetryType
	ErrorUDTUnavailable  = api.ErrorUDTUnavailable
)

// The codes of ERROR frames (native_protocol_v5.spec, section 8).
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

// NewErrProtocol returns an ErrProtocol with a formatted text.
func NewErrProtocol(format string, args ...any) error { return api.NewErrProtocol(format, args...) }

// The variants of a UUID.
const (
	VariantNCSCompat = vecql.VariantNCSCompat
	VariantIETF      = vecql.VariantIETF
	VariantMicrosoft = vecql.VariantMicrosoft
	VariantFuture    = vecql.VariantFuture
)

// UUIDFromBytes returns the UUID of 16 bytes.
func UUIDFromBytes(input []byte) (UUID, error) { return vecql.UUIDFromBytes(input) }

// MustRandomUUID is RandomUUID but panics if the system has no randomness.
func MustRandomUUID() UUID { return vecql.MustRandomUUID() }

// RandomUUID returns a random UUID (version 4).
func RandomUUID() (UUID, error) { return vecql.RandomUUID() }

// TimeUUID returns a UUID of the current time (version 1).
func TimeUUID() UUID { return vecql.TimeUUID() }

// MinTimeUUID returns the smallest time UUID of time t in the order of servers.
func MinTimeUUID(t time.Time) UUID { return vecql.MinTimeUUID(t) }

// MaxTimeUUID returns the largest time UUID of time t in the order of servers.
func MaxTimeUUID(t time.Time) UUID { return vecql.MaxTimeUUID(t) }

// UUIDFromTime returns a UUID of time t (version 1).
func UUIDFromTime(t time.Time) UUID { return vecql.UUIDFromTime(t) }

// TimeUUIDWith returns the version 1 UUID of a timestamp, clock and node.
func TimeUUIDWith(t int64, clock uint32, node []byte) UUID { return vecql.TimeUUIDWith(t, clock, node) }

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

// The types of batches.
const (
	LoggedBatch   BatchType = 0
	UnloggedBatch BatchType = 1
	CounterBatch  BatchType = 2
)

// BatchSizeMaximum is the maximum number of statements in a batch.
const BatchSizeMaximum = vecql.BatchSizeMaximum
