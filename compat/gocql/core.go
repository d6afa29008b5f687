// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

//compat:copy scyllagocql

// What the queries and batches of a session need.

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
