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

//compat:copy gocqlv2 scyllagocql

// What the editions of the API declare alike. Package api describes the types that are its own.

// Connections and nodes.
type (
	Authenticator         = api.Authenticator
	PasswordAuthenticator = api.PasswordAuthenticator
	Compressor            = compat.BlockCompressor
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
	// A RetryPolicy decides whether and where a request that failed is sent again. Whatever a policy decides, a request
	// that may have been executed is sent again only if it is idempotent.
	RetryPolicy = api.RetryPolicy[RetryableQuery]
	// A RetryableQuery is a request as a RetryPolicy sees it.
	RetryableQuery = api.RetryableQuery[Consistency]
	// SimpleRetryPolicy retries on the next node, at most NumRetries times.
	SimpleRetryPolicy = api.SimpleRetryPolicy[RetryableQuery]
	// ExponentialBackoffRetryPolicy retries as SimpleRetryPolicy does, with exponential backoff.
	ExponentialBackoffRetryPolicy = api.ExponentialBackoffRetryPolicy[RetryableQuery]
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

// A ColumnKind is the role of a column in its table.
type ColumnKind int

// String returns the name of the kind.
func (c ColumnKind) String() string { return api.ColumnKindText(c) }

// The kinds of columns.
const (
	ColumnUnkownKind ColumnKind = iota
	ColumnPartitionKey
	ColumnClusteringKey
	ColumnRegular
	ColumnCompact
	ColumnStatic
)

// The option ids.
const (
	TypeCustom    Type = 0x0000
	TypeAscii     Type = 0x0001
	TypeBigInt    Type = 0x0002
	TypeBlob      Type = 0x0003
	TypeBoolean   Type = 0x0004
	TypeCounter   Type = 0x0005
	TypeDecimal   Type = 0x0006
	TypeDouble    Type = 0x0007
	TypeFloat     Type = 0x0008
	TypeInt       Type = 0x0009
	TypeText      Type = 0x000A
	TypeTimestamp Type = 0x000B
	TypeUUID      Type = 0x000C
	TypeVarchar   Type = 0x000D
	TypeVarint    Type = 0x000E
	TypeTimeUUID  Type = 0x000F
	TypeInet      Type = 0x0010
	TypeDate      Type = 0x0011
	TypeTime      Type = 0x0012
	TypeSmallInt  Type = 0x0013
	TypeTinyInt   Type = 0x0014
	TypeDuration  Type = 0x0015
	TypeList      Type = 0x0020
	TypeMap       Type = 0x0021
	TypeSet       Type = 0x0022
	TypeUDT       Type = 0x0030
	TypeTuple     Type = 0x0031
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

// A Duration is a value of the CQL type duration.
type Duration = cql.Duration

// unsetColumn is the type of UnsetValue.
type unsetColumn = cql.Unset

// UnsetValue as a bound value leaves the column as it is on the server.
var UnsetValue = unsetColumn{}

// NamedValue binds value to the bind marker :name.
func NamedValue(name string, value any) any { return cql.NamedValue(name, value) }

// Version returns the release of the server.
func (h *HostInfo) Version() cassVersion { return api.ReleaseOf[cassVersion](&h.host) }

// IsUp reports whether State is NodeUp.
func (h *HostInfo) IsUp() bool { return h != nil && h.State() == NodeUp }

type host = api.Host

func newHosts() *api.Hosts[HostInfo] {
	return api.NewHosts(func(h *HostInfo) *api.Host { return &h.host })
}

// UnmarshalCQL implements Unmarshaler.
func (v *cassVersion) UnmarshalCQL(info TypeInfo, data []byte) error { return v.Set(string(data)) }

// Before reports whether v is older than the release.
func (v cassVersion) Before(major, minor, patch int) bool {
	return api.Before(v.Major, v.Minor, v.Patch, major, minor, patch)
}

// AtLeast reports whether v is the release or newer.
func (v cassVersion) AtLeast(major, minor, patch int) bool { return !v.Before(major, minor, patch) }

// A Conn stands for a connection. No function returns one. The methods of a Conn that a program makes return an error
// or zero.
type Conn = api.Conn[Query]

// A ConnErrorHandler would be called for errors of connections. No function takes one.
type ConnErrorHandler interface {
	HandleError(conn *Conn, err error, closed bool)
}

// A PoolConfig configures the selection of nodes.
type PoolConfig struct {
	HostSelectionPolicy HostSelectionPolicy // nil means RoundRobinHostPolicy
}

// CreateSession connects to the cluster.
func (cfg *ClusterConfig) CreateSession() (*Session, error) { return NewSession(*cfg) }
