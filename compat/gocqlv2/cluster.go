// SPDX-License-Identifier: Apache-2.0

package gocql

import "time"

// ClusterConfig and its parts. cluster_convert.go makes vecql's configuration of it.

// MetadataCacheMode sets how much of the schema a session caches.
type MetadataCacheMode int

// The cache modes.
const (
	Full MetadataCacheMode = iota
	KeyspaceOnly
	Disabled
)

// MetadataConfig sets how much of the schema a session caches, and its listeners.
type MetadataConfig struct {
	CacheMode            MetadataCacheMode
	HostListener         HostListenersConfig
	SchemaListener       SchemaListenersConfig
	SessionReadyListener SessionReadyListener
}

// HostListenersConfig holds the listeners for nodes.
type HostListenersConfig struct {
	HostStateChangeListener HostStatusChangeListener
	TopologyChangeListener  TopologyChangeListener
}

// SchemaListenersConfig holds the listeners for the schema.
type SchemaListenersConfig struct {
	KeyspaceChangeListener  KeyspaceChangeListener
	TableChangeListener     TableChangeListener
	UserTypeChangeListener  UserTypeChangeListener
	FunctionChangeListener  FunctionChangeListener
	AggregateChangeListener AggregateChangeListener
}

// A ClusterConfig configures sessions. Fields that vecql does not need are accepted and not used: ConvictionPolicy,
// MaxRoutingKeyInfo and WriteCoalesceWaitTime.
type ClusterConfig struct {
	Hosts                    []string      // contact points, host or host:port
	CQLVersion               string        // default "3.0.0"
	ProtoVersion             int           // 3 to 5; 3 means 4. Default 0, the highest that the cluster supports
	Timeout                  time.Duration // of each attempt; 0 means none
	ConnectTimeout           time.Duration // of dialing and the handshake
	WriteTimeout             time.Duration // of a write to a socket; 0 means Timeout
	Port                     int           // default 9042
	Keyspace                 string
	NumConns                 int // connections to each node, default 2
	Consistency              Consistency
	Compressor               Compressor
	Authenticator            Authenticator
	AuthProvider             func(h *HostInfo) (Authenticator, error)
	RetryPolicy              RetryPolicy // of idempotent requests; nil means no retry
	ConvictionPolicy         ConvictionPolicy
	ReconnectionPolicy       ReconnectionPolicy
	SocketKeepalive          time.Duration
	MaxPreparedStmts         int
	MaxRoutingKeyInfo        int
	PageSize                 int // rows; 0 means no paging
	SerialConsistency        Consistency
	SslOpts                  *SslOptions
	DefaultTimestamp         bool // requests carry the client's clock
	PoolConfig               PoolConfig
	ReconnectInterval        time.Duration
	MaxWaitSchemaAgreement   time.Duration
	HostFilter               HostFilter
	AddressTranslator        AddressTranslator
	IgnorePeerAddr           bool
	DisableInitialHostLookup bool
	Events                   struct {
		DisableNodeStatusEvents bool
		DisableTopologyEvents   bool
		DisableSchemaEvents     bool
	}
	DisableSkipMetadata   bool
	QueryObserver         QueryObserver
	BatchObserver         BatchObserver
	ConnectObserver       ConnectObserver
	FrameHeaderObserver   FrameHeaderObserver
	StreamObserver        StreamObserver
	DefaultIdempotence    bool
	WriteCoalesceWaitTime time.Duration
	Dialer                Dialer
	HostDialer            HostDialer
	Logger                StructuredLogger // nil means none
	Tracer                Tracer
	NextPagePrefetch      float64
	RegisteredTypes       *RegisteredTypes
	Metadata              MetadataConfig
}

// NewCluster returns a configuration with the API's defaults.
func NewCluster(hosts ...string) *ClusterConfig {
	return &ClusterConfig{
		Hosts:                  hosts,
		CQLVersion:             "3.0.0",
		Timeout:                11 * time.Second,
		ConnectTimeout:         11 * time.Second,
		Port:                   9042,
		NumConns:               2,
		Consistency:            Quorum,
		MaxPreparedStmts:       1000,
		MaxRoutingKeyInfo:      1000,
		PageSize:               5000,
		DefaultTimestamp:       true,
		MaxWaitSchemaAgreement: time.Minute,
		ReconnectInterval:      time.Minute,
		ConvictionPolicy:       &SimpleConvictionPolicy{},
		ReconnectionPolicy:     &ConstantReconnectionPolicy{MaxRetries: 3, Interval: time.Second},
		WriteCoalesceWaitTime:  200 * time.Microsecond,
		NextPagePrefetch:       0.25,
	}
}
