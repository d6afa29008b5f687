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
	"github.com/vecql/vecql/cql"
)

// What the editions of the API declare alike. Package api describes the types that are its own.

// Connections and nodes.
type (
	Authenticator         = cql.Authenticator
	Compressor            = compat.AppendCompressor
	Dialer                = api.Dialer
	DialedHost            = api.DialedHost
	HostDialer            = api.HostDialer[*HostInfo]
	SslOptions            = api.SslOptions
	AddressTranslator     = api.AddressTranslator
	AddressTranslatorFunc = api.AddressTranslatorFunc
	HostFilter            = api.HostFilter[*HostInfo]
	HostFilterFunc        = api.HostFilterFunc[*HostInfo]
)

// Observers.
type (
	ObservedConnect       = api.ObservedConnect[*HostInfo]
	ConnectObserver       = api.ConnectObserver[*HostInfo]
	ObservedFrameHeader   = api.ObservedFrameHeader[*HostInfo]
	FrameHeaderObserver   = api.FrameHeaderObserver[*HostInfo]
	ObservedStream        = api.ObservedStream[*HostInfo]
	StreamObserver        = api.StreamObserver[*HostInfo]
	StreamObserverContext = api.StreamObserverContext[*HostInfo]
	Tracer                = vecql.Tracer
)

// Policies.
type (
	HostStateNotifier             = api.HostStateNotifier[*HostInfo]
	SetPartitioner                = api.SetPartitioner
	SetHosts                      = api.SetHosts[*HostInfo]
	KeyspaceUpdateEvent           = api.KeyspaceUpdateEvent
	HostTierer                    = api.HostTierer[*HostInfo]
	ReadyPolicy                   = api.ReadyPolicy
	ReconnectionPolicy            = vecql.ReconnectionPolicy
	ConstantReconnectionPolicy    = api.ConstantReconnectionPolicy
	ExponentialReconnectionPolicy = api.ExponentialReconnectionPolicy
	ConvictionPolicy              = api.ConvictionPolicy[*HostInfo]
	SimpleConvictionPolicy        = api.SimpleConvictionPolicy[*HostInfo]
	SpeculativeExecutionPolicy    = vecql.SpeculativeExecutionPolicy
	NonSpeculativeExecution       = api.NonSpeculativeExecution
	SimpleSpeculativeExecution    = vecql.SimpleSpeculativeExecution
	RetryableQuery                = api.RetryableQuery[Consistency]
	SimpleRetryPolicy             = api.SimpleRetryPolicy[RetryableQuery]
	ExponentialBackoffRetryPolicy = api.ExponentialBackoffRetryPolicy[RetryableQuery]
	RetryType                     = api.RetryType
	RetryPolicy                   = api.RetryPolicy[RetryableQuery]
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
	Marshaler      = api.Marshaler[TypeInfo]
	Unmarshaler    = api.Unmarshaler[TypeInfo]
	UDTMarshaler   = api.UDTMarshaler[TypeInfo]
	UDTUnmarshaler = api.UDTUnmarshaler[TypeInfo]
	RowData        = api.RowData
	ColumnInfo     = api.ColumnInfo[TypeInfo]
	Scanner        = api.Scanner
)

// TupleColumnName returns the key of element n of the tuple column c in the maps of MapScan and SliceMap.
func TupleColumnName(c string, n int) string { return api.TupleColumnName(c, n) }

// WrapTLS does the TLS handshake of a client on conn. A config without a name of the server gets the name in addr. A
// nil config means no TLS.
func WrapTLS(ctx context.Context, conn net.Conn, addr string, tlsConfig *tls.Config) (*DialedHost, error) {
	return api.WrapTLS(ctx, conn, addr, tlsConfig)
}

// IdentityTranslator returns every address unchanged.
func IdentityTranslator() AddressTranslator {
	return AddressTranslatorFunc(func(addr net.IP, port int) (net.IP, int) { return addr, port })
}

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
	f, resolved, err := api.FilterAddresses(hosts, api.ConnectAddressOf[*HostInfo])
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

// Errors.
type (
	RequestError   = api.RequestError
	ErrProtocol    = api.ErrProtocol
	ErrorMap       = api.ErrorMap
	Error          = api.Error
	MarshalError   = api.MarshalError
	UnmarshalError = api.UnmarshalError
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
	VariantNCSCompat = cql.VariantNCSCompat
	VariantIETF      = cql.VariantIETF
	VariantMicrosoft = cql.VariantMicrosoft
	VariantFuture    = cql.VariantFuture
)

// UUIDFromBytes returns the UUID of 16 bytes.
func UUIDFromBytes(input []byte) (UUID, error) { return api.UUIDFromBytes(input) }

// MustRandomUUID is RandomUUID but panics if the system has no randomness.
func MustRandomUUID() UUID { return cql.MustRandomUUID() }

// RandomUUID returns a random UUID (version 4).
func RandomUUID() (UUID, error) { return cql.RandomUUID() }

// TimeUUID returns a UUID of the current time (version 1).
func TimeUUID() UUID { return cql.TimeUUID() }

// MinTimeUUID returns the smallest time UUID of time t in the order of servers.
func MinTimeUUID(t time.Time) UUID { return cql.MinTimeUUID(t) }

// MaxTimeUUID returns the largest time UUID of time t in the order of servers.
func MaxTimeUUID(t time.Time) UUID { return cql.MaxTimeUUID(t) }

// UUIDFromTime returns a UUID of time t (version 1).
func UUIDFromTime(t time.Time) UUID { return cql.UUIDFromTime(t) }

// TimeUUIDWith returns the version 1 UUID of a timestamp, clock and node.
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

// The types of batches.
const (
	LoggedBatch   BatchType = 0
	UnloggedBatch BatchType = 1
	CounterBatch  BatchType = 2
)

// BatchSizeMaximum is the maximum number of statements in a batch.
const BatchSizeMaximum = vecql.BatchSizeMaximum

// A HostSelectionPolicy selects the nodes of requests. It belongs to one session.
type HostSelectionPolicy interface {
	HostStateNotifier
	SetPartitioner
	KeyspaceChanged(KeyspaceUpdateEvent)
	// Init is called before the other methods.
	Init(*Session)
	IsLocal(host *HostInfo) bool
	// Pick returns an iterator of the nodes to try for a request.
	Pick(ExecutableQuery) NextHost
}

// A NextHost returns the next node to try, nil after the last one.
type NextHost func() SelectedHost

// A SelectedHost is a node that a policy has picked for a request.
type SelectedHost interface {
	Info() *HostInfo
	// Mark is called with the error of the attempt on the node, nil for a success.
	Mark(error)
}

// choose returns a SelectedHost.
func choose(host *HostInfo, mark func(error)) SelectedHost { return api.Choose(host, mark) }

// tieredPolicy sorts nodes into tiers and goes round-robin in each.
type tieredPolicy struct{ *api.Tiers[*HostInfo] }

// Init implements HostSelectionPolicy.
func (p tieredPolicy) Init(*Session) {}

// Pick implements HostSelectionPolicy.
func (p tieredPolicy) Pick(ExecutableQuery) NextHost { return api.NextUp(p.Plan(), choose) }

// RoundRobinHostPolicy spreads requests evenly over all nodes.
func RoundRobinHostPolicy() HostSelectionPolicy {
	return &roundRobinHostPolicy{tieredPolicy{api.RoundRobin[*HostInfo]()}}
}

// The types of policies have the names of the API: programs print them, and compare them in tests.
type (
	roundRobinHostPolicy struct{ tieredPolicy }
	dcAwareRR            struct{ tieredPolicy }
	rackAwareRR          struct{ tieredPolicy }
)

// DCAwareRoundRobinPolicy prefers the nodes of a data center.
func DCAwareRoundRobinPolicy(localDC string) HostSelectionPolicy {
	return &dcAwareRR{tieredPolicy{api.DCAware[*HostInfo](localDC)}}
}

// RackAwareRoundRobinPolicy prefers the nodes of a rack, then the nodes of its data center.
func RackAwareRoundRobinPolicy(localDC string, localRack string) HostSelectionPolicy {
	return &rackAwareRR{tieredPolicy{api.RackAware[*HostInfo](localDC, localRack)}}
}

// SingleHostReadyPolicy is p with a Ready that is true once a node is up.
func SingleHostReadyPolicy(p HostSelectionPolicy) *singleHostReadyPolicy {
	return &singleHostReadyPolicy{p, api.NewReadiness(p)}
}

// singleHostReadyPolicy is a policy that is ready once a node is up.
type singleHostReadyPolicy struct {
	HostSelectionPolicy
	readiness
}

type readiness = api.Readiness

// HostUp implements HostStateNotifier.
func (p *singleHostReadyPolicy) HostUp(host *HostInfo) {
	p.HostSelectionPolicy.HostUp(host)
	api.SetUp(&p.readiness)
}

// The consistency levels.
const (
	Any         = cql.Any
	One         = cql.One
	Two         = cql.Two
	Three       = cql.Three
	Quorum      = cql.Quorum
	All         = cql.All
	LocalQuorum = cql.LocalQuorum
	EachQuorum  = cql.EachQuorum
	Serial      = cql.Serial
	LocalSerial = cql.LocalSerial
	LocalOne    = cql.LocalOne
)

// ParseConsistency returns the level named s, in any case. It panics if there is none: see ParseConsistencyWrapper.
func ParseConsistency(s string) Consistency { return api.Must(ParseConsistencyWrapper(s)) }

// ParseConsistencyWrapper returns the level named s, in any case.
func ParseConsistencyWrapper(s string) (consistency Consistency, err error) {
	return cql.ParseConsistency(s)
}

// ShuffleReplicas spreads the requests of one partition over its replicas.
func ShuffleReplicas() func(*tokenAwareHostPolicy) {
	return func(p *tokenAwareHostPolicy) { api.OrderOf(&p.aware).Shuffle = true }
}

// NonLocalReplicasFallback tries remote replicas before local nodes that are not replicas.
func NonLocalReplicasFallback() func(policy *tokenAwareHostPolicy) {
	return func(p *tokenAwareHostPolicy) { api.OrderOf(&p.aware).NonLocal = true }
}

// TokenAwareHostPolicy sends a request to the replicas of its partition first, then to the nodes of fallback.
func TokenAwareHostPolicy(fallback HostSelectionPolicy, opts ...func(*tokenAwareHostPolicy)) HostSelectionPolicy {
	p := &tokenAwareHostPolicy{aware: api.NewTokenAware[*HostInfo](fallback, false), fallback: fallback}
	for _, opt := range opts {
		opt(p)
	}
	return p
}
