// SPDX-License-Identifier: Apache-2.0

//go:build v2

package behavior

import (
	"fmt"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// The names of the API that scenarios use, of v2.
type (
	clusterConfig         = gocql.ClusterConfig
	session               = gocql.Session
	query                 = gocql.Query
	batch                 = gocql.Batch
	iter                  = gocql.Iter
	hostInfo              = gocql.HostInfo
	hostPolicy            = gocql.HostSelectionPolicy
	executableQuery       = gocql.ExecutableStatement
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

// attempts returns 0: a query of v2 does not count them.
func attempts(*query) int { return 0 }

func attemptsOfBatch(*batch) int { return 0 }

// extra are the fields of an observed attempt that only one API has.
func extra(o observedQuery) string { return fmt.Sprintf(" query=%v", o.Query != nil) }

// quiet leaves the lines of the log out.
func quiet(cfg *clusterConfig) { cfg.Logger = gocql.NewLogger(gocql.LogLevelNone) }

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
