// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"net"
	"time"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// ClusterConfig, and its translation to vecql's.

// A ClusterConfig configures sessions. The package comment lists the fields without effect.
type ClusterConfig struct {
	Hosts                    []string
	CQLVersion               string
	ProtoVersion             int
	Timeout                  time.Duration // of an attempt; 0 means none
	ConnectTimeout           time.Duration // of the opening of a connection; 0 means none
	WriteTimeout             time.Duration
	Port                     int
	Keyspace                 string
	NumConns                 int
	Consistency              Consistency
	Compressor               Compressor
	Authenticator            Authenticator
	AuthProvider             func(h *HostInfo) (Authenticator, error)
	RetryPolicy              RetryPolicy // nil means no retries
	ConvictionPolicy         ConvictionPolicy
	ReconnectionPolicy       ReconnectionPolicy
	SocketKeepalive          time.Duration
	MaxPreparedStmts         int
	MaxRoutingKeyInfo        int
	PageSize                 int
	SerialConsistency        SerialConsistency
	SslOpts                  *SslOptions
	DefaultTimestamp         bool
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
	Logger                StdLogger
}

// NewCluster returns a configuration with these contact points and the defaults of this API.
func NewCluster(hosts ...string) *ClusterConfig {
	return &ClusterConfig{
		Hosts: hosts, CQLVersion: "3.0.0", Timeout: 11 * time.Second, ConnectTimeout: 11 * time.Second, Port: 9042,
		NumConns: 2, Consistency: Quorum, MaxPreparedStmts: 1000, MaxRoutingKeyInfo: 1000, PageSize: 5000,
		DefaultTimestamp: true, MaxWaitSchemaAgreement: time.Minute, ReconnectInterval: time.Minute,
		ConvictionPolicy:      &SimpleConvictionPolicy{},
		ReconnectionPolicy:    &ConstantReconnectionPolicy{MaxRetries: 3, Interval: time.Second},
		WriteCoalesceWaitTime: 200 * time.Microsecond,
	}
}

// config returns the configuration of vecql. It sets s.picker.
func (s *Session) config() (*vecql.ClusterConfig, error) {
	cfg := &s.cfg
	if cfg.Authenticator != nil && cfg.AuthProvider != nil {
		return nil, errors.New("gocql: ClusterConfig has both an Authenticator and an AuthProvider")
	}
	c := s.common(cfg.Hosts)
	c.Defaults.RetryPolicy = vecql.SimpleRetryPolicy{} // none: a query brings its own
	c.Nodes.AddressTranslator = api.AdaptTranslator(cfg.AddressTranslator)
	if c.Logger = api.AdaptLogger(Logger); cfg.Logger != nil {
		c.Logger = api.AdaptLogger(cfg.Logger)
	}
	if err := s.configureDialing(c); err != nil {
		return nil, err
	}
	s.configurePolicy(c)
	return c, nil
}

// configureDialing sets how connections are opened. A HostDialer of the program also does TLS.
func (s *Session) configureDialing(c *vecql.ClusterConfig) (err error) {
	cfg := &s.cfg
	switch {
	case cfg.HostDialer != nil:
		c.Pool.HostDialer = api.AdaptHostDialer(cfg.HostDialer, s.hosts.Of)
		return nil
	case cfg.Dialer != nil:
		c.Pool.Dialer = cfg.Dialer
	case cfg.SocketKeepalive > 0:
		c.Pool.Dialer = &net.Dialer{KeepAlive: cfg.SocketKeepalive}
	}
	c.TLS, err = api.TLSConfig(cfg.SslOpts)
	return err
}

// observers returns the observers of the configuration.
func (s *Session) observers() api.Observers[*HostInfo] {
	return api.Observers[*HostInfo]{
		HostOf: s.hosts.Of, Plain: plain, Connect: s.cfg.ConnectObserver, Frame: s.cfg.FrameHeaderObserver,
		Stream: s.cfg.StreamObserver,
	}
}
