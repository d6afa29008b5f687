// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// The setters of a query and their getters.

// Consistency sets the consistency of the request.
func (q *Query) Consistency(c cql.Consistency) *Query { q.consistency = c; return q }

// SerialConsistency sets the consistency of the Paxos phase of a conditional request: Serial or LocalSerial.
func (q *Query) SerialConsistency(c cql.Consistency) *Query { q.serialConsistency = c; return q }

// Idempotent sets whether the statement is safe to execute twice. The session then retries it even if its outcome is
// unknown. The default is true for a SELECT and false for other statements (Profile.Idempotent and
// DisableSelectIdempotence change it).
func (q *Query) Idempotent(v bool) *Query {
	q.idempotent, q.selectsIdempotent = v, v
	return q
}

// ServerTimestamps sets whether the coordinator rather than the client sets the write time
// (Profile.ServerTimestamps).
func (q *Query) ServerTimestamps(v bool) *Query { q.serverTimestamps = v; return q }

// Timestamp sets the write time, in microseconds since the epoch.
func (q *Query) Timestamp(microseconds int64) *Query {
	q.timestamp, q.hasTimestamp = microseconds, true
	return q
}

// NowInSeconds sets the current time that the server assumes, in seconds since the epoch (protocol v5), for tests of
// TTLs.
func (q *Query) NowInSeconds(seconds int32) *Query {
	q.nowInSeconds, q.hasNowInSeconds = seconds, true
	return q
}

// Keyspace sets the keyspace of this request (protocol v5); empty means the session's.
func (q *Query) Keyspace(keyspace string) *Query { q.keyspace = keyspace; return q }

// HostID sends the request only to the node with that cql.Host.ID; zero means any node. If there is no such node, the
// request fails with ErrNoConnections.
func (q *Query) HostID(id cql.UUID) *Query { q.hostID = id; return q }

// GetHostID returns the host id set by HostID; zero means any node.
func (q *Query) GetHostID() cql.UUID { return q.hostID }

// CustomPayload sets the custom payload of the request (protocol v4 and later).
func (q *Query) CustomPayload(payload map[string][]byte) *Query { q.payload = payload; return q }

// Trace enables server-side tracing of the request and passes the tracing id to t.
func (q *Query) Trace(t Tracer) *Query { q.tracer = t; return q }

// RoutingKey sets the serialized partition key for routing; empty means none. It is needed only if the statement does
// not bind the whole key, e.g. because a part of it is a literal.
func (q *Query) RoutingKey(key []byte) *Query { q.routingKey = key; return q }

// RoutingToken sets the token that routes the query, for a statement that does not bind the partition key: for a
// SELECT of a token range, the end of the range. The nodes that store the token are tried first.
func (q *Query) RoutingToken(token int64) *Query { q.routingToken = &token; return q }

// PageSize sets the number of rows in a page; 0 or less means no paging.
func (q *Query) PageSize(n int) *Query { q.pageSize = n; return q }

// GetPageSize returns the number of rows in a page; 0 or less means no paging.
func (q *Query) GetPageSize() int { return q.pageSize }

// PageState sets the page at which the result begins, a token that Iter.PageState returned for the same statement; the
// empty token, nil or not, means the first page. It also limits the result to that one page: the caller requests the
// next page by its own token.
func (q *Query) PageState(state cql.PageToken) *Query {
	q.pageState, q.manualPaging = state, true
	return q
}

// Prefetch sets the share of the current page, 0 to 1, that is left when the next page is requested; negative means at
// the end of the page.
func (q *Query) Prefetch(share float64) *Query { q.prefetch = share; return q }

// SkipMetadata sets whether the server may omit the metadata of results that the driver has cached. Default true; false
// makes the server send it with every page.
func (q *Query) SkipMetadata(v bool) *Query { q.skipMetadata = v; return q }

// GetKeyspace returns the keyspace in effect: the query's, else the session's; empty means none.
func (q *Query) GetKeyspace() string { return cmp.Or(q.keyspace, q.session.cfg.Keyspace) }

// GetConsistency returns the consistency.
func (q *Query) GetConsistency() cql.Consistency { return q.consistency }

// GetSerialConsistency returns the serial consistency. ok is false if none is set and the server's default applies.
func (q *Query) GetSerialConsistency() (c cql.Consistency, ok bool) {
	return q.serialConsistency, q.serialConsistency != 0
}

// GetIdempotent reports whether the query is idempotent: marked so, or a SELECT (see Idempotent).
func (q *Query) GetIdempotent() bool {
	return q.idempotent || q.selectsIdempotent && cqltext.IsSelect(q.stmt)
}

// Profile applies the settings of ClusterConfig.Profiles[name] to the query. Later setters override them. If there is
// no such profile, running the query returns ErrNoProfile.
func (q *Query) Profile(name string) *Query {
	p := q.apply(&q.session.cfg, name)
	if p.PageSize != 0 {
		q.pageSize = p.PageSize
	}
	if p.Prefetch != 0 {
		q.prefetch = p.Prefetch
	}
	return q
}

// RetryPolicy sets the policy that decides whether a failed attempt of the query is retried; nil means the session's.
func (q *Query) RetryPolicy(r RetryPolicy) *Query { q.setRetry(q.session.defaultPolicies, r); return q }

// SpeculativeExecutionPolicy sets the policy of speculative execution, which applies if the query is idempotent; nil
// means none.
func (q *Query) SpeculativeExecutionPolicy(p SpeculativeExecutionPolicy) *Query {
	q.change(func(set *policies) { set.speculative = speculative(p) })
	return q
}

// RequestTimeout bounds each attempt of the query, whether or not the context has a deadline; the context bounds all
// attempts together. 0 means ClusterConfig.Timeout for a context without a deadline. RequestTimeout does not bound the
// preparation of the statement.
func (q *Query) RequestTimeout(d time.Duration) *Query {
	q.change(func(set *policies) { set.timeout = max(d, 0) })
	return q
}

// GetRequestTimeout returns the timeout set by RequestTimeout or a profile; 0 means none.
func (q *Query) GetRequestTimeout() time.Duration { return q.policies.timeout }

// TotalTimeout bounds the request as a whole, each page of a result: the preparation of the statement, all attempts,
// and the waits between them, beside the bound of each attempt. The error is then context.DeadlineExceeded. 0 means no
// bound but the deadline of the context.
func (q *Query) TotalTimeout(d time.Duration) *Query {
	q.change(func(set *policies) { set.total = max(d, 0) })
	return q
}

// OnWarnings sets a function that receives the warnings of the server with each answer that has some, also of verbs
// without an Iter. A goroutine that requests the next page may call it. nil means none.
func (q *Query) OnWarnings(f func(warnings []string)) *Query {
	q.warned = f
	return q
}

// Observer sets the observer of the query's attempts; nil means none.
func (q *Query) Observer(o Observer) *Query {
	q.change(func(set *policies) { set.observer = o })
	return q
}
