// SPDX-License-Identifier: Apache-2.0

//go:build !v2

package behavior

import (
	"fmt"

	"github.com/gocql/gocql"
)

// The names of the API that scenarios use, of v1.7 and the fork.
type (
	clusterConfig         = gocql.ClusterConfig
	session               = gocql.Session
	query                 = gocql.Query
	batch                 = gocql.Batch
	iter                  = gocql.Iter
	hostInfo              = gocql.HostInfo
	hostPolicy            = gocql.HostSelectionPolicy
	executableQuery       = gocql.ExecutableQuery
	nextHost              = gocql.NextHost
	keyspaceEvent         = gocql.KeyspaceUpdateEvent
	observedQuery         = gocql.ObservedQuery
	observedBatch         = gocql.ObservedBatch
	retryPolicy           = gocql.RetryPolicy
	retryableQuery        = gocql.RetryableQuery
	retryType             = gocql.RetryType
	consistency           = gocql.Consistency
	typeInfo              = gocql.TypeInfo
	queryInfo             = gocql.QueryInfo
	simpleRetry           = gocql.SimpleRetryPolicy
	backoffRetry          = gocql.ExponentialBackoffRetryPolicy
	passwordAuthenticator = gocql.PasswordAuthenticator
	downgradeRetry        = gocql.DowngradingConsistencyRetryPolicy
)

var (
	newCluster = gocql.NewCluster
	roundRobin = gocql.RoundRobinHostPolicy
	marshal    = gocql.Marshal
	unmarshal  = gocql.Unmarshal
	parseUUID  = gocql.ParseUUID
	uuidFrom   = gocql.UUIDFromBytes
)

const loggedBatch = gocql.LoggedBatch

// attempts returns the attempts of a query.
func attempts(q *query) int { return q.Attempts() }

func attemptsOfBatch(b *batch) int { return b.Attempts() }

// extra are the fields of an observed attempt that only one API has.
func extra(observedQuery) string { return "" }

// quiet leaves the lines of the log out.
func quiet(cfg *clusterConfig) { cfg.Logger = silent{} }

// silent is a logger.
type silent struct{}

func (silent) Print(...any)          {}
func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

// filterScenarios ask the filters of nodes about a node without an address.
func filterScenarios() []scenario {
	var scenarios []scenario
	for name, filter := range map[string]gocql.HostFilter{
		"addresses": gocql.WhiteListHostFilter("127.0.0.1"), "data center": gocql.DataCentreHostFilter("dc"),
		"all": gocql.AcceptAllFilter(), "none": gocql.DenyAllFilter(),
	} {
		scenarios = append(scenarios, scenario{"filter of " + name, func() string { return fmt.Sprint(filter.Accept(&hostInfo{})) }})
	}
	return scenarios
}

// sentinels are the errors that programs compare, by name.
var sentinels = map[string]error{
	"ErrNoHosts": gocql.ErrNoHosts, "ErrNoConnectionsStarted": gocql.ErrNoConnectionsStarted,
	"ErrHostQueryFailed": gocql.ErrHostQueryFailed, "ErrTimeoutNoResponse": gocql.ErrTimeoutNoResponse,
	"ErrConnectionClosed": gocql.ErrConnectionClosed, "ErrNoStreams": gocql.ErrNoStreams, "ErrNotFound": gocql.ErrNotFound,
	"ErrUnavailable": gocql.ErrUnavailable, "ErrUnsupported": gocql.ErrUnsupported, "ErrTooManyStmts": gocql.ErrTooManyStmts,
	"ErrUseStmt": gocql.ErrUseStmt, "ErrSessionClosed": gocql.ErrSessionClosed, "ErrNoConnections": gocql.ErrNoConnections,
	"ErrNoKeyspace": gocql.ErrNoKeyspace, "ErrKeyspaceDoesNotExist": gocql.ErrKeyspaceDoesNotExist,
	"ErrNoMetadata": gocql.ErrNoMetadata, "ErrFrameTooBig": gocql.ErrFrameTooBig, "ErrUnknownRetryType": gocql.ErrUnknownRetryType,
	"ErrorUDTUnavailable": gocql.ErrorUDTUnavailable, "ErrCannotFindHost": gocql.ErrCannotFindHost,
	"ErrHostAlreadyExists": gocql.ErrHostAlreadyExists, "ErrTooManyTimeouts": gocql.ErrTooManyTimeouts,
	"ErrQueryArgLength": gocql.ErrQueryArgLength,
}
