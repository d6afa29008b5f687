// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"net"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// The configuration of vecql for a ClusterConfig.

// check returns the first error of a configuration that vecql does not find itself.
func (cfg *ClusterConfig) check() error {
	switch m := &cfg.Metadata; {
	case len(cfg.Hosts) == 0:
		return ErrNoHosts
	case cfg.Authenticator != nil && cfg.AuthProvider != nil:
		return errors.New("gocql: ClusterConfig: Authenticator and AuthProvider are both set")
	case cfg.SerialConsistency > 0 && !cfg.SerialConsistency.IsSerial():
		return fmt.Errorf("gocql: ClusterConfig: SerialConsistency is %v, must be SERIAL or LOCAL_SERIAL",
			cfg.SerialConsistency)
	case m.CacheMode == Disabled && m.SchemaListener != (SchemaListenersConfig{}):
		return errors.New("gocql: ClusterConfig: Metadata: listeners for the schema need a cache")
	case m.CacheMode < Full || m.CacheMode > Disabled:
		return fmt.Errorf("gocql: ClusterConfig: Metadata: CacheMode is %d", m.CacheMode)
	case m.CacheMode == KeyspaceOnly && m.SchemaListener.inKeyspaces():
		return errors.New("gocql: ClusterConfig: Metadata: listeners other than KeyspaceChangeListener need CacheMode Full")
	}
	return nil
}

// convert returns vecql's configuration of the session s.
func (s *Session) convert() (vecql.ClusterConfig, error) {
	cfg := &s.cfg
	c := vecql.ClusterConfig{
		Hosts: cfg.Hosts, Port: cfg.Port, Keyspace: cfg.Keyspace, HostSelectionPolicy: s.adaptPolicy(),
		Timeout: api.OrNever(cfg.Timeout), ConnectTimeout: api.OrNever(cfg.ConnectTimeout), Logger: newLogger(cfg.Logger),
		Defaults: vecql.Profile{
			Consistency: cfg.Consistency, SerialConsistency: cfg.SerialConsistency, ServerTimestamps: !cfg.DefaultTimestamp,
			DisableSelectIdempotence: true, Idempotent: cfg.DefaultIdempotence, RetryPolicy: never,
		},
		Nodes: vecql.NodesConfig{
			AddressTranslator: api.AdaptTranslator(cfg.AddressTranslator), LoadBalanced: true, // the API verifies no host ids
			ReconnectInterval: api.OrNever(cfg.ReconnectInterval), DisableInitialHostLookup: cfg.DisableInitialHostLookup,
		},
		Pool: vecql.PoolConfig{
			NumConns: max(cfg.NumConns, 0), ReconnectionPolicy: reconnectionPolicy(cfg.ReconnectionPolicy),
		},
		Schema: vecql.SchemaConfig{MaxWaitAgreement: max(cfg.MaxWaitSchemaAgreement, 1)},
		Limits: vecql.LimitsConfig{MaxPreparedStmts: max(cfg.MaxPreparedStmts, 0)},
		Protocol: vecql.ProtocolConfig{
			CQLVersion: cfg.CQLVersion, Version: cfg.ProtoVersion, Events: vecql.EventsConfig(cfg.Events),
		},
	}
	s.adaptMetadata(&c)
	if c.Protocol.Version == 3 {
		c.Protocol.Version = 4 // every server that has v3 and a supported release has v4 too
	}
	if cfg.Compressor != nil {
		c.Compressor = compat.AdaptAppendCompressor(cfg.Compressor)
	}
	c.Nodes.HostFilter = api.AdaptHostFilter(cfg.HostFilter, s.hosts.Of)
	s.observers().Configure(&c)
	c.Authenticator = cfg.Authenticator
	if cfg.AuthProvider != nil {
		c.AuthProvider = func(h *cql.Host) (cql.Authenticator, error) { return cfg.AuthProvider(s.hosts.Of(h)) }
	}
	return c, s.convertDialer(&c)
}

// reconnectionPolicy returns p; nil means one attempt.
func reconnectionPolicy(p ReconnectionPolicy) vecql.ReconnectionPolicy {
	if p == nil {
		return vecql.NoReconnectionPolicy{}
	}
	return p
}

// convertDialer sets the dialer and TLS. A HostDialer of the program does TLS itself.
func (s *Session) convertDialer(c *vecql.ClusterConfig) (err error) {
	cfg := &s.cfg
	if cfg.HostDialer != nil {
		c.Pool.HostDialer = api.AdaptHostDialer(cfg.HostDialer, s.hosts.Of)
		return nil
	}
	if c.TLS, err = api.TLSConfig(cfg.SslOpts); err != nil {
		return err
	}
	if c.Pool.Dialer = cfg.Dialer; c.Pool.Dialer == nil {
		d := &net.Dialer{Timeout: max(cfg.ConnectTimeout, 0)}
		if cfg.SocketKeepalive > 0 {
			d.KeepAlive = cfg.SocketKeepalive
		}
		c.Pool.Dialer = d
	}
	return nil
}

// observers returns the observers of the configuration.
func (s *Session) observers() api.Observers[*HostInfo] {
	return api.Observers[*HostInfo]{
		HostOf: s.hosts.Of, Plain: plain, Connect: s.cfg.ConnectObserver, Frame: s.cfg.FrameHeaderObserver,
		Stream: s.cfg.StreamObserver,
	}
}
