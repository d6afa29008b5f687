// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/stats"
)

// Retry policies and speculative execution policies. sender.decideRetry enforces one rule above all policies: a
// statement that is not idempotent and may have been executed is not sent again.

// RetryType is the fate of a request after a failed attempt.
type RetryType uint16

// The decisions of a policy. The zero value is the safe one.
const (
	// Rethrow ends the request with the attempt's error.
	Rethrow RetryType = iota
	// Retry sends the request again to the same node, over any of its connections.
	Retry
	// RetryNextHost sends the request to the next node of its query plan. After the last node the request ends with the
	// attempt's error; if the policy also sets a wait, the plan starts over.
	RetryNextHost
	// Ignore ends the request as a success without rows.
	Ignore
)

// A RetryPolicy decides whether a request is sent again. Policies are stateless: one may serve any number of sessions
// and requests at once. Decide is called on the goroutine of the request or of its speculative execution; the driver
// holds no lock during the call. A panic in Decide ends the request with an error. The PREPARE of a statement has the
// policy of the first request that needs it, a goroutine of its own, and a context that only has the values of that
// request's.
type RetryPolicy interface {
	// Decide is called after each attempt that reached a node and failed, unless ctx, the context of the request, has
	// ended. An attempt that sent no byte needs no decision, nor does an idempotent request on a node that
	// answers nothing: the request goes to the next node of its query plan.
	Decide(ctx context.Context, a Attempt) Decision
}

// Attempt describes a failed attempt of a request.
type Attempt struct {
	Number      int // among the attempts that Decide was called for, from 1
	Err         error
	Class       stats.ErrorClass // of Err
	Consistency cql.Consistency  // of this attempt
	// of a write timeout or write failure: SIMPLE, BATCH, UNLOGGED_BATCH, COUNTER, BATCH_LOG, CAS, VIEW or CDC
	WriteType  string
	Idempotent bool // the statement is a SELECT, or marked idempotent
	// MayHaveApplied reports whether the server may have executed this attempt or an earlier one. Without Idempotent,
	// only Rethrow and Ignore then have an effect.
	MayHaveApplied bool
	LWT            bool // known to be a lightweight transaction
	Batch          bool
	Host           *cql.Host // the node of this attempt
}

// Decision is the result of a RetryPolicy. The zero value ends the request.
type Decision struct {
	Type RetryType
	// Wait is the upper bound of the wait before the next attempt. The wait is a random time between Wait/2 and Wait,
	// so that clients do not return all at once. The end of the context ends the wait.
	Wait time.Duration
	// Consistency applies to all further attempts, if SetConsistency is set.
	Consistency    cql.Consistency
	SetConsistency bool
}

// maxAttempts bounds the attempts of the default policy, maxRetries the retries of any policy.
const (
	maxAttempts = 5
	maxRetries  = 100
)

// Exponential backoff after a node has refused a request because of its load.
const (
	overloadWait    = 25 * time.Millisecond
	overloadWaitMax = time.Second
)

// DefaultRetryPolicy applies where no policy is set. It makes at most 5 attempts:
//   - on the next node after BOOTSTRAPPING and after the first UNAVAILABLE; for an idempotent request also after
//     a server error, a truncate error, any timeout between nodes, further UNAVAILABLE, or a broken connection;
//   - on the same node after a first read timeout in which enough replicas answered and only the data is missing;
//   - with exponential backoff from 25 ms, on the next node after OVERLOADED and on the same node after a rate limit,
//     if the request is idempotent or certainly was not executed;
//   - with the same backoff, on the next node, an idempotent request that replicas failed because the nodes do not know
//     the same schema or the same ring, which ends by itself, and a read that they failed without a reason, as replicas
//     do that shut down. Protocol v4 has no reasons.
//
// It does not retry after a client-side timeout, nor after other failures of replicas.
type DefaultRetryPolicy struct{}

// Decide implements RetryPolicy.
func (DefaultRetryPolicy) Decide(_ context.Context, a Attempt) Decision {
	if a.Number >= maxAttempts {
		return Decision{}
	}
	wait := min(overloadWait<<(a.Number-1), overloadWaitMax)
	var timeout *cql.ReadTimeoutError
	safe := a.Idempotent || !a.MayHaveApplied
	switch {
	case a.Class == stats.ClassBootstrapping:
		return Decision{Type: RetryNextHost}
	case a.Class == stats.ClassOverloaded && safe:
		return Decision{Type: RetryNextHost, Wait: wait}
	case a.Class == stats.ClassRateLimit && safe:
		return Decision{Type: Retry, Wait: wait} // the limit applies to the partition, on every coordinator
	case a.Class == stats.ClassUnavailable && a.Number == 1:
		return Decision{Type: RetryNextHost} // another coordinator may see more replicas alive
	case a.Class == stats.ClassReadTimeout && a.Number == 1 && errors.As(a.Err, &timeout) &&
		timeout.Received >= timeout.BlockFor && timeout.DataPresent == 0:
		return Decision{Type: Retry} // enough replicas answered; only the one that was asked for the data did not
	case !a.Idempotent:
		return Decision{}
	}
	switch a.Class {
	case stats.ClassReadFailure, stats.ClassWriteFailure:
		if endsByItself(a.Err) {
			return Decision{Type: RetryNextHost, Wait: wait}
		}
	case stats.ClassConnection, stats.ClassServer, stats.ClassTruncate, stats.ClassReadTimeout,
		stats.ClassWriteTimeout, stats.ClassUnavailable:
		return Decision{Type: RetryNextHost}
	}
	return Decision{}
}

// Reasons of replicas, by RequestFailureReason.java of Cassandra 6.0. Others name what another node would repeat.
const (
	reasonUnknown            = 0
	reasonIncompatibleSchema = 3 // a replica does not know the table as the coordinator does
	reasonInvalidRouting     = 9 // the coordinator takes another node for a replica
	reasonCoordinatorBehind  = 10
)

// endsByItself reports whether err is a failure of replicas that a later attempt may not see. A replica that shuts down
// fails reads without a reason; writes without a reason fail on full disks, for instance.
func endsByItself(err error) bool {
	var read *cql.ReadFailureError
	var write *cql.WriteFailureError
	var reasons map[netip.Addr]uint16
	switch {
	case errors.As(err, &read):
		reasons = read.ReasonMap
	case errors.As(err, &write):
		reasons = write.ReasonMap
	}
	for _, reason := range reasons {
		switch reason {
		case reasonIncompatibleSchema, reasonInvalidRouting, reasonCoordinatorBehind:
		case reasonUnknown:
			if read == nil {
				return false
			}
		default:
			return false
		}
	}
	return len(reasons) > 0
}

// SimpleRetryPolicy sends a request again on the next node, at most NumRetries times; 0 means never. A request that
// every node would refuse (syntax, permissions) is not sent again.
type SimpleRetryPolicy struct {
	NumRetries int
}

// Decide implements RetryPolicy.
func (p SimpleRetryPolicy) Decide(_ context.Context, a Attempt) Decision {
	if a.Number > p.NumRetries || a.Class == stats.ClassInvalid {
		return Decision{}
	}
	return Decision{Type: RetryNextHost}
}

// ExponentialBackoffRetryPolicy retries as SimpleRetryPolicy does, and waits exponentially longer: Min before the first
// retry, doubled before each further one up to Max. The zero values mean 100 ms and 10 s.
type ExponentialBackoffRetryPolicy struct {
	NumRetries int
	Min, Max   time.Duration
}

// Decide implements RetryPolicy.
func (p ExponentialBackoffRetryPolicy) Decide(ctx context.Context, a Attempt) Decision {
	d := SimpleRetryPolicy{NumRetries: p.NumRetries}.Decide(ctx, a)
	if d.Type == Rethrow {
		return d
	}
	first, longest := p.bounds()
	d.Wait = background.Exponential(first, longest, a.Number-1)
	return d
}

// bounds returns the first and the longest wait.
func (p ExponentialBackoffRetryPolicy) bounds() (first, longest time.Duration) {
	return cmp.Or(p.Min, 100*time.Millisecond), cmp.Or(p.Max, 10*time.Second)
}

// DowngradingConsistencyRetryPolicy retries with the consistencies of its list, one after the other. It trades the
// requested consistency for success. The decision depends on the error:
//   - UNAVAILABLE: the same node, if at least one replica is alive;
//   - a read timeout: the same node;
//   - a write timeout of a SIMPLE, BATCH or COUNTER write that reached at least one replica: the request succeeds;
//   - a write timeout of an UNLOGGED_BATCH: the same node;
//   - a request that every node would refuse, and a rate limit: no retry;
//   - any other error: the next node.
type DowngradingConsistencyRetryPolicy struct {
	ConsistencyLevelsToTry []cql.Consistency
}

// Decide implements RetryPolicy.
func (p DowngradingConsistencyRetryPolicy) Decide(_ context.Context, a Attempt) Decision {
	if a.Number > len(p.ConsistencyLevelsToTry) {
		return Decision{}
	}
	var unavailable *cql.UnavailableError
	var timeout *cql.WriteTimeoutError
	d := Decision{Type: RetryNextHost, Consistency: p.ConsistencyLevelsToTry[a.Number-1], SetConsistency: true}
	switch a.Class {
	case stats.ClassInvalid, stats.ClassRateLimit:
		return Decision{}
	case stats.ClassReadTimeout:
		d.Type = Retry
	case stats.ClassUnavailable:
		if d.Type = Retry; !errors.As(a.Err, &unavailable) || unavailable.Alive == 0 {
			return Decision{}
		}
	case stats.ClassWriteTimeout:
		switch a.WriteType {
		case "SIMPLE", "BATCH", "COUNTER":
			if !errors.As(a.Err, &timeout) || timeout.Received == 0 {
				return Decision{}
			}
			return Decision{Type: Ignore}
		case "UNLOGGED_BATCH":
			d.Type = Retry
		default:
			return Decision{}
		}
	}
	return d
}

// askRetryPolicy calls a policy and returns a panic in it as an error.
func askRetryPolicy(ctx context.Context, p RetryPolicy, a Attempt) (d Decision, err error) {
	defer background.Recover(&err)
	return p.Decide(ctx, a), nil
}

// writeTypeOf returns the write type of an error, empty when the error has none.
func writeTypeOf(err error) string {
	var timeout *cql.WriteTimeoutError
	var failure *cql.WriteFailureError
	switch {
	case errors.As(err, &timeout):
		return timeout.WriteType
	case errors.As(err, &failure):
		return failure.WriteType
	}
	return ""
}

// A SpeculativeExecutionPolicy sets the number and the delay of further executions of a request while no response has
// arrived. It applies only to idempotent statements. A session starts at most a hundred executions that do not respond
// first, and one more for every five requests: such executions only add to the load of a slow cluster. Both methods are
// called once per request, on its goroutine.
type SpeculativeExecutionPolicy interface {
	// Attempts returns the number of executions besides the first one; 0 means none.
	Attempts() int
	// Delay returns the wait before each further execution.
	Delay() time.Duration
}

// NonSpeculativeExecution executes a request once.
type NonSpeculativeExecution struct{}

// Attempts implements SpeculativeExecutionPolicy.
func (NonSpeculativeExecution) Attempts() int { return 0 }

// Delay implements SpeculativeExecutionPolicy.
func (NonSpeculativeExecution) Delay() time.Duration { return 0 }

// SimpleSpeculativeExecution starts at most NumAttempts further executions, one after each TimeoutDelay. A delay near
// the 99th percentile of the latency adds about one request in a hundred.
type SimpleSpeculativeExecution struct {
	NumAttempts  int
	TimeoutDelay time.Duration
}

// Attempts implements SpeculativeExecutionPolicy.
func (p *SimpleSpeculativeExecution) Attempts() int { return p.NumAttempts }

// Delay implements SpeculativeExecutionPolicy.
func (p *SimpleSpeculativeExecution) Delay() time.Duration { return p.TimeoutDelay }

// maxSpeculative bounds the executions besides the first one.
const maxSpeculative = 16

// askSpeculativePolicy calls a policy and returns a panic in it as an error.
func askSpeculativePolicy(p SpeculativeExecutionPolicy) (attempts int, delay time.Duration, err error) {
	defer background.Recover(&err)
	return min(p.Attempts(), maxSpeculative), p.Delay(), nil
}
