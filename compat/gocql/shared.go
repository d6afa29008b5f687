// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
	api "github.com/vecql/vecql/compat/api"
)

// The names that the editions of the API share.

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
