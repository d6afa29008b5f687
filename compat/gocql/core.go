// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

//compat:copy scyllagocql

// What sessions of v1.7 and the fork have in common.

type (
	defaults = api.Defaults[Consistency, RetryPolicy]
	core     = api.SessionV1[RetryPolicy, Consistency, HostInfo, ColumnInfo]
)

// setCore sets what the queries and batches of the session need.
func (s *Session) setCore() {
	cfg := &s.cfg
	s.core = core{
		Results: &api.Results[HostInfo, ColumnInfo]{
			Dialect: dialect, Hosts: s.hosts, Failure: func(err error, _ bool) error { return plain(err) },
			Columns: func(columns []cql.ColumnInfo) []ColumnInfo { return fromColumns(columns, s.proto()) },
		},
		Defaults: &s.defaults, Started: s.started, Plain: plain,
		Keyspace: cfg.Keyspace, Timeout: cfg.Timeout, Idempotent: cfg.DefaultIdempotence,
		Serial: cql.Consistency(cfg.SerialConsistency), Timestamps: cfg.DefaultTimestamp,
	}
	if s.picker != nil {
		s.core.Pick = s.pick
	}
	api.InitDefaults(&s.defaults, cfg.Consistency, api.Rare[RetryPolicy]{
		Retry: cfg.RetryPolicy, Observer: cfg.QueryObserver, PageSize: cfg.PageSize, AllMetadata: cfg.DisableSkipMetadata,
	})
}

// v1 returns what the queries and batches of the session need, nil for nil.
func (s *Session) v1() *core {
	if s == nil {
		return nil
	}
	return &s.core
}

// common returns the configuration of vecql, of the fields that v1.7 and the fork share.
func (s *Session) common(hosts []string) *vecql.ClusterConfig {
	cfg := &s.cfg
	c := &vecql.ClusterConfig{
		Hosts: hosts, Port: cfg.Port, Keyspace: cfg.Keyspace, Timeout: api.OrNever(cfg.Timeout),
		ConnectTimeout: api.OrNever(cfg.ConnectTimeout),
		Nodes: vecql.NodesConfig{
			ReconnectInterval: cfg.ReconnectInterval, DisableInitialHostLookup: cfg.DisableInitialHostLookup,
			HostFilter: api.AdaptHostFilter(cfg.HostFilter, s.hosts.Of),
		},
		Pool:   vecql.PoolConfig{NumConns: cfg.NumConns},
		Schema: vecql.SchemaConfig{MaxWaitAgreement: cfg.MaxWaitSchemaAgreement},
		Limits: vecql.LimitsConfig{MaxPreparedStmts: cfg.MaxPreparedStmts},
		Protocol: vecql.ProtocolConfig{
			Version:    max(cfg.ProtoVersion, 4), // servers that know an older version know version 4 too
			CQLVersion: cfg.CQLVersion, Events: vecql.EventsConfig(cfg.Events),
		},
	}
	if cfg.ReconnectionPolicy != nil {
		c.Pool.ReconnectionPolicy = cfg.ReconnectionPolicy
	}
	s.observers().Configure(c)
	c.Authenticator, c.AuthProvider = api.AdaptAuthentication(cfg.Authenticator, cfg.AuthProvider, s.hosts.Of)
	if cfg.Compressor != nil {
		c.Compressor = compat.AdaptBlockCompressor(cfg.Compressor)
	}
	return c
}

// SnappyCompressor is the Snappy block format.
type SnappyCompressor = api.SnappyCompressor
