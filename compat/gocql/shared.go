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

// What the editions of the API declare alike. Package api describes the types that are its own.

// Connections and nodes.
type (
	Authenticator         = api.Authenticator
	PasswordAuthenticator = api.PasswordAuthenticator
	Compressor            = compat.BlockCompressor
	SnappyCompressor      = api.SnappyCompressor
	Dialer                = api.Dialer
	DialedHost            = api.DialedHost
	HostDialer            = api.HostDialer[*HostInfo]
	SslOptions            = api.SslOptions
	AddressTranslator     = api.AddressTranslator
	AddressTranslatorFunc = api.AddressTranslatorFunc
	HostFilter            = api.HostFilter[*HostInfo]
	HostFilterFunc        = api.HostFilterFunc[*HostInfo]
	StdLogger             = api.StdLogger
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
	RetryType                     = api.RetryType
	RetryPolicy                   = api.RetryPolicy[RetryableQuery]
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

// DataCentreHostFilter accepts the nodes of a data center.
func DataCentreHostFilter(dataCentre string) HostFilter {
	return api.FilterDataCenter[*HostInfo](dataCentre)
}

// WhiteListHostFilter accepts the nodes at the given addresses or names, which may have a port that is ignored. It
// panics if a name cannot be resolved.
func WhiteListHostFilter(hosts ...string) HostFilter {
	f, _, err := api.FilterAddresses(hosts, api.ConnectAddressOf[*HostInfo])
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

// Errors.
type (
	RequestError   = api.RequestError
	ErrProtocol    = api.ErrProtocol
	ErrorMap       = api.ErrorMap
	Error          = api.Error
	MarshalError   = api.MarshalError
	UnmarshalError = api.UnmarshalError
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
func UUIDFromBytes(input []byte) (UUID, error) { return api.UUIDFromBytes(input) }

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

// dialect is the meaning of values in this API (package compat).
var dialect = compat.V1

// A Duration is a value of the CQL type duration.
type Duration = cql.Duration

// unsetColumn is the type of UnsetValue.
type unsetColumn = cql.Unset

// UnsetValue as a bound value leaves the column as it is on the server.
var UnsetValue = unsetColumn{}

// NamedValue binds value to the bind marker :name.
func NamedValue(name string, value any) any { return cql.NamedValue(name, value) }

// Marshal encodes value as a cell of the type info. It returns nil for NULL.
func Marshal(info TypeInfo, value any) ([]byte, error) {
	data, err := dialect.Marshal(toCQL(info), value)
	return data, plain(err)
}

// Unmarshal decodes a cell of the type info into value, a pointer. data is nil for NULL.
func Unmarshal(info TypeInfo, data []byte, value any) error {
	return plain(dialect.Unmarshal(toCQL(info), data, value))
}

// protoVersionOfValues is the version of the protocol that the TypeInfo of a method of the program has. The encoding of
// values is the same in versions 4 and 5.
const protoVersionOfValues = 4

// init registers the interfaces of values, so that those which encode and decode themselves do so at every depth.
func init() {
	api.RegisterCodec(func(info cql.TypeInfo) TypeInfo { return fromCQL(info, protoVersionOfValues) })
}

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

// An Iter reads the rows of a result, in this API's meaning (compat.Rows).
type Iter struct{ iter }

type iter = api.Iter[HostInfo, ColumnInfo]

// Scanner returns a Scanner of the remaining rows, nil for nil.
func (it *Iter) Scanner() Scanner {
	if it == nil {
		return nil
	}
	return it.iter.Scanner()
}

// ShuffleReplicas spreads the requests of a partition over its replicas.
func ShuffleReplicas() func(*tokenAwareHostPolicy) {
	return func(p *tokenAwareHostPolicy) { api.OrderOf(&p.aware).Shuffle = true }
}

// NonLocalReplicasFallback tries remote replicas before the nodes of the fallback.
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

// Version returns the release of the server.
func (h *HostInfo) Version() cassVersion { return api.ReleaseOf[cassVersion](&h.host) }

// IsUp reports whether State is NodeUp.
func (h *HostInfo) IsUp() bool { return h != nil && h.State() == NodeUp }
