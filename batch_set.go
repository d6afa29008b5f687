// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"slices"
	"time"

	"github.com/vecql/vecql/cql"
)

// The setters of a batch and their getters.

// Consistency sets the consistency of the request.
func (b *Batch) Consistency(c cql.Consistency) *Batch { b.consistency = c; return b }

// SerialConsistency sets the consistency of the Paxos phase of a conditional batch: Serial or LocalSerial.
func (b *Batch) SerialConsistency(c cql.Consistency) *Batch { b.serialConsistency = c; return b }

// Idempotent marks the batch safe to execute twice. The session then retries it even if its outcome is unknown.
func (b *Batch) Idempotent(v bool) *Batch { b.idempotent = v; return b }

// ServerTimestamps sets whether the coordinator rather than the client sets the write time
// (Profile.ServerTimestamps).
func (b *Batch) ServerTimestamps(v bool) *Batch { b.serverTimestamps = v; return b }

// Timestamp sets the write time, in microseconds since the epoch.
func (b *Batch) Timestamp(microseconds int64) *Batch {
	b.timestamp, b.hasTimestamp = microseconds, true
	return b
}

// NowInSeconds sets the current time that the server assumes, in seconds since the epoch (protocol v5), for tests of
// TTLs.
func (b *Batch) NowInSeconds(seconds int32) *Batch {
	b.nowInSeconds, b.hasNowInSeconds = seconds, true
	return b
}

// Keyspace sets the keyspace of this request (protocol v5); empty means the session's.
func (b *Batch) Keyspace(keyspace string) *Batch { b.keyspace = keyspace; return b }

// HostID sends the batch only to the node with that cql.Host.ID; zero means any node. If there is no such node, the
// batch fails with ErrNoConnections.
func (b *Batch) HostID(id cql.UUID) *Batch { b.hostID = id; return b }

// GetHostID returns the host id set by HostID; zero means any node.
func (b *Batch) GetHostID() cql.UUID { return b.hostID }

// CustomPayload sets the custom payload of the request (protocol v4 and later).
func (b *Batch) CustomPayload(payload map[string][]byte) *Batch { b.payload = payload; return b }

// Trace enables server-side tracing of the request and passes the tracing id to t.
func (b *Batch) Trace(t Tracer) *Batch { b.tracer = t; return b }

// GetKeyspace returns the keyspace in effect: the batch's, else the session's; empty means none.
func (b *Batch) GetKeyspace() string { return cmp.Or(b.keyspace, b.session.cfg.Keyspace) }

// GetConsistency returns the consistency.
func (b *Batch) GetConsistency() cql.Consistency { return b.consistency }

// GetSerialConsistency returns the serial consistency. ok is false if none is set and the server's default applies.
func (b *Batch) GetSerialConsistency() (c cql.Consistency, ok bool) {
	return b.serialConsistency, b.serialConsistency != 0
}

// GetIdempotent reports whether the batch or each of its statements is marked idempotent.
func (b *Batch) GetIdempotent() bool {
	return b.idempotent || len(b.Entries) > 0 && !slices.ContainsFunc(b.Entries, func(e BatchEntry) bool {
		return !e.Idempotent
	})
}

// Profile applies the settings of ClusterConfig.Profiles[name] to the batch: see Query.Profile.
func (b *Batch) Profile(name string) *Batch { b.apply(&b.session.cfg, name); return b }

// RetryPolicy sets the policy that decides whether a failed attempt of the batch is retried; nil means the session's.
func (b *Batch) RetryPolicy(r RetryPolicy) *Batch { b.setRetry(b.session.defaultPolicies, r); return b }

// SpeculativeExecutionPolicy sets the policy of speculative execution, which applies if the batch is idempotent; nil
// means none.
func (b *Batch) SpeculativeExecutionPolicy(p SpeculativeExecutionPolicy) *Batch {
	b.change(func(set *policies) { set.speculative = speculative(p) })
	return b
}

// RequestTimeout bounds each attempt of the batch: see Query.RequestTimeout.
func (b *Batch) RequestTimeout(d time.Duration) *Batch {
	b.change(func(set *policies) { set.timeout = max(d, 0) })
	return b
}

// TotalTimeout bounds the request as a whole: see Query.TotalTimeout.
func (b *Batch) TotalTimeout(d time.Duration) *Batch {
	b.change(func(set *policies) { set.total = max(d, 0) })
	return b
}

// OnWarnings sets a function that receives the warnings of the server: see Query.OnWarnings.
func (b *Batch) OnWarnings(f func(warnings []string)) *Batch { b.warned = f; return b }

// GetRequestTimeout returns the timeout set by RequestTimeout or a profile; 0 means none.
func (b *Batch) GetRequestTimeout() time.Duration { return b.policies.timeout }

// Observer sets the observer of the batch's attempts; nil means none.
func (b *Batch) Observer(o Observer) *Batch {
	b.change(func(set *policies) { set.observer = o })
	return b
}
