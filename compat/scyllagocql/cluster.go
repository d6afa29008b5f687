// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"time"

	"github.com/gocql/gocql/internal/eventbus"
	api "github.com/vecql/vecql/compat/api"
)

// ClusterConfig. config.go translates it to vecql's.

// A ClusterConfig configures sessions. The package comment lists the fields without effect.
type ClusterConfig struct {
	BatchObserver                 BatchObserver
	Dialer                        Dialer
	ApplicationInfo               ApplicationInfo
	DNSResolver                   DNSResolver
	Logger                        StdLogger
	HostDialer                    HostDialer
	StreamObserver                StreamObserver
	FrameHeaderObserver           FrameHeaderObserver
	ConnectObserver               ConnectObserver
	QueryObserver                 QueryObserver
	AddressTranslator             AddressTranslator
	HostFilter                    HostFilter
	Compressor                    Compressor
	Authenticator                 Authenticator
	PoolConfig                    PoolConfig
	RetryPolicy                   RetryPolicy // nil means SimpleRetryPolicy with 3 retries
	ConvictionPolicy              ConvictionPolicy
	ReconnectionPolicy            ReconnectionPolicy
	InitialReconnectionPolicy     ReconnectionPolicy // of the attempts to connect the session
	WarningsHandlerBuilder        WarningHandlerBuilder
	SslOpts                       *SslOptions
	AuthProvider                  func(h *HostInfo) (Authenticator, error)
	ClientRoutesConfig            *ClientRoutesConfig
	DriverVersion                 string
	DriverName                    string
	Keyspace                      string
	CQLVersion                    string
	Hosts                         []string
	WriteCoalesceWaitTime         time.Duration
	WriteTimeout                  time.Duration
	SocketKeepalive               time.Duration
	ReconnectInterval             time.Duration
	MaxWaitSchemaAgreement        time.Duration
	ProtoVersion                  int
	MaxRequestsPerConn            int
	Timeout                       time.Duration // of an attempt; 0 means none
	MetadataSchemaRequestTimeout  time.Duration
	ConnectTimeout                time.Duration // of the opening of a connection; 0 means none
	Port                          int           // 0 means the port of Hosts, else 9042
	NumConns                      int
	MaxExcessShardConnectionsRate float32
	MaxPreparedStmts              int
	PageSize                      int
	MaxRoutingKeyInfo             int
	ReadTimeout                   time.Duration
	SerialConsistency             Consistency
	Consistency                   Consistency
	Events                        struct {
		DisableNodeStatusEvents bool
		DisableTopologyEvents   bool
		DisableSchemaEvents     bool
	}
	DefaultIdempotence           bool
	DefaultTimestamp             bool
	DisableSkipMetadata          bool
	DisableShardAwarePort        bool
	DisableInitialHostLookup     bool
	IgnorePeerAddr               bool
	DisableDriverConfigReporting bool
	EventBusConfig               eventbus.EventBusConfig
}

// NewCluster returns a configuration with these contact points and the defaults of this API.
func NewCluster(hosts ...string) *ClusterConfig {
	return &ClusterConfig{
		Hosts: hosts, CQLVersion: "3.0.0", Timeout: 11 * time.Second, ConnectTimeout: time.Minute,
		ReadTimeout: 11 * time.Second, WriteTimeout: 11 * time.Second, MaxExcessShardConnectionsRate: 2, NumConns: 2,
		Consistency: Quorum, MaxPreparedStmts: 1000, MaxRoutingKeyInfo: 1000, PageSize: 5000, DefaultTimestamp: true,
		DriverName: driverName, MaxWaitSchemaAgreement: time.Minute, ReconnectInterval: time.Minute,
		ConvictionPolicy:             &SimpleConvictionPolicy{},
		ReconnectionPolicy:           &ConstantReconnectionPolicy{MaxRetries: 3, Interval: time.Second},
		InitialReconnectionPolicy:    &NoReconnectionPolicy{},
		SocketKeepalive:              15 * time.Second,
		WriteCoalesceWaitTime:        200 * time.Microsecond,
		MetadataSchemaRequestTimeout: time.Minute,
		DisableSkipMetadata:          true,
		WarningsHandlerBuilder:       DefaultWarningHandlerBuilder,
		Logger:                       &api.DefaultLogger{},
		DNSResolver:                  NewSimpleDNSResolver(false),
		EventBusConfig:               eventbus.EventBusConfig{InputEventsQueueSize: 10240},
	}
}

// driverName is the default DriverName, which has no effect.
const driverName = "ScyllaDB GoCQL Driver"

// A ClusterOption changes a configuration.
type ClusterOption func(*ClusterConfig)

// WithOptions applies options.
func (cfg *ClusterConfig) WithOptions(opts ...ClusterOption) *ClusterConfig {
	for _, opt := range opts {
		opt(cfg)
	}
	return cfg
}

// CreateSessionNonBlocking connects to the cluster in the background. See NewSessionNonBlocking.
func (cfg *ClusterConfig) CreateSessionNonBlocking() (*Session, error) {
	return NewSessionNonBlocking(*cfg)
}

// An ApplicationInfo sets options of STARTUP: APPLICATION_NAME, APPLICATION_VERSION and CLIENT_ID. Other options have
// no effect.
type ApplicationInfo interface {
	UpdateStartupOptions(map[string]string)
}

// StaticApplicationInfo is an ApplicationInfo.
type StaticApplicationInfo struct{ name, version, clientID string }

// NewStaticApplicationInfo returns an ApplicationInfo. An empty value sets no option.
func NewStaticApplicationInfo(name, version, clientID string) *StaticApplicationInfo {
	return &StaticApplicationInfo{name, version, clientID}
}

// UpdateStartupOptions implements ApplicationInfo.
func (i *StaticApplicationInfo) UpdateStartupOptions(opts map[string]string) {
	for key, value := range map[string]string{
		applicationName: i.name, applicationVersion: i.version, clientID: i.clientID,
	} {
		if value != "" {
			opts[key] = value
		}
	}
}

// The options of STARTUP that describe an application.
const (
	applicationName    = "APPLICATION_NAME"
	applicationVersion = "APPLICATION_VERSION"
	clientID           = "CLIENT_ID"
)
