// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// This file holds the policies that decide whether a failed request is sent again. Above all of them stands one rule, which the session
// keeps (Session.judge): a statement that is not marked idempotent and may have been executed is not sent again, whatever a policy says.

// RetryType says what becomes of a request after an attempt that failed.
type RetryType uint16

// What a policy may decide. The zero value is the safe one.
const (
	// Rethrow ends the request with the attempt's error.
	Rethrow RetryType = iota
	// Retry sends it again to the same node, over any of its connections.
	Retry
	// RetryNextHost sends it to the next node of its route. After the last one the request ends with the attempt's error; where the
	// policy also asks for a wait, the route is walked again from its start.
	RetryNextHost
	// Ignore ends the request as if it had succeeded with no rows.
	Ignore
)

// RetryPolicy decides whether a request is sent again. It is a value without state of its own: one may serve any number of sessions and
// requests at once. It is called on the goroutine that made the request (of a speculative execution: on that one's), under no lock. A panic
// in it ends the request with an error.
type RetryPolicy interface {
	// Decide is called after each attempt that reached a node and failed, unless ctx, which is the request's, has ended. Attempts of which
	// no byte left the driver are not judged: the request goes on along its route.
	Decide(ctx context.Context, a Attempt) Decision
}

// Attempt is one sending of a request that failed.
type Attempt struct {
	Number      int // of the attempts that were judged so far, from 1
	Err         error
	Class       ErrorClass  // of Err
	Consistency Consistency // that it was sent with
	WriteType   string      // of a write timeout or write failure: SIMPLE, BATCH, UNLOGGED_BATCH, COUNTER, BATCH_LOG, CAS, VIEW or CDC
	Idempotent  bool        // the statement is marked so
	// MayHaveApplied says that this attempt, or one before it, may have been executed. Unless Idempotent, nothing but Rethrow and Ignore
	// has an effect then.
	MayHaveApplied bool
	LWT            bool // it is known to be a lightweight transaction
	Batch          bool
	Host           *HostInfo // the node that it was sent to
}

// Decision is what a policy wants. The zero value ends the request.
type Decision struct {
	Type RetryType
	// Wait is the time before the request is sent again: a random one between its half and all of it, so that clients do not come back all
	// at once. The context ends it.
	Wait time.Duration
	// Consistency is that of all further attempts, if SetConsistency.
	Consistency    Consistency
	SetConsistency bool
}

// maxAttempts is how often the default policy has a request sent; maxRetries bounds any policy.
const (
	maxAttempts = 5
	maxRetries  = 100
)

// A node that refuses requests for its load is given this long after the first refusal, twice as long after each further one.
const (
	overloadWait    = 25 * time.Millisecond
	overloadWaitMax = time.Second
)

// DefaultRetryPolicy is used where none is set. It sends a request 5 times at most:
//   - on the next node after BOOTSTRAPPING, after the first UNAVAILABLE, and if it is idempotent after OVERLOADED, a server error, a
//     truncate error, any timeout between nodes, further UNAVAILABLE, or a connection that broke;
//   - on the same node after a first read timeout where enough replicas answered and only the data is missing;
//   - after OVERLOADED and a rate limit (if idempotent, or refused by the coordinator) with growing waits, from 25 ms.
//
// It does not send again what the server did not answer in time, nor a write that failed on a replica.
type DefaultRetryPolicy struct{}

// Decide implements RetryPolicy.
func (DefaultRetryPolicy) Decide(_ context.Context, a Attempt) Decision {
	if a.Number >= maxAttempts {
		return Decision{}
	}
	wait := min(overloadWait<<(a.Number-1), overloadWaitMax)
	var timeout *RequestErrReadTimeout
	switch {
	case a.Class == ClassBootstrapping:
		return Decision{Type: RetryNextHost}
	case a.Class == ClassRateLimit && (a.Idempotent || !a.MayHaveApplied):
		return Decision{Type: Retry, Wait: wait} // the limit is the partition's: no other coordinator has a higher one
	case a.Class == ClassUnavailable && a.Number == 1:
		return Decision{Type: RetryNextHost} // another coordinator may see more replicas alive
	case a.Class == ClassReadTimeout && a.Number == 1 && errors.As(a.Err, &timeout) &&
		timeout.Received >= timeout.BlockFor && timeout.DataPresent == 0:
		return Decision{Type: Retry} // enough replicas answered, only the one with the data did not: its digest mates are awake
	case !a.Idempotent:
		return Decision{}
	}
	switch a.Class {
	case ClassOverloaded:
		return Decision{Type: RetryNextHost, Wait: wait}
	case ClassConnection, ClassServer, ClassTruncate, ClassReadTimeout, ClassWriteTimeout, ClassUnavailable:
		return Decision{Type: RetryNextHost}
	}
	return Decision{}
}

// SimpleRetryPolicy sends a request again on the next node, NumRetries times at most. Requests that the server would refuse again (syntax,
// rights) are not sent again. NumRetries 0: never.
type SimpleRetryPolicy struct {
	NumRetries int
}

// Decide implements RetryPolicy.
func (p SimpleRetryPolicy) Decide(_ context.Context, a Attempt) Decision {
	if a.Number > p.NumRetries || a.Class == ClassInvalid {
		return Decision{}
	}
	return Decision{Type: RetryNextHost}
}

// ExponentialBackoffRetryPolicy is SimpleRetryPolicy with waits: Min before the first repetition, twice as long before each further one, Max
// at most. Zero: 100 ms and 10 s.
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
	most := cmp.Or(p.Max, 10*time.Second)
	d.Wait = cmp.Or(p.Min, 100*time.Millisecond)
	for i := 1; i < a.Number && d.Wait < most; i++ {
		d.Wait *= 2
	}
	d.Wait = min(d.Wait, most)
	return d
}

// DowngradingConsistencyRetryPolicy sends a request again with the consistencies of its list, one after the other: it gives up what the
// program asked for rather than the request. What it does follows the error:
//   - UNAVAILABLE: the same node, if at least one replica is alive;
//   - a read timeout: the same node;
//   - a write timeout: of a SIMPLE, BATCH or COUNTER write that reached at least one replica: the request counts as done; of an
//     UNLOGGED_BATCH: the same node;
//   - requests that the server would refuse again, and a rate limit: no repetition;
//   - anything else: the next node.
type DowngradingConsistencyRetryPolicy struct {
	ConsistencyLevelsToTry []Consistency
}

// Decide implements RetryPolicy.
func (p DowngradingConsistencyRetryPolicy) Decide(_ context.Context, a Attempt) Decision {
	if a.Number > len(p.ConsistencyLevelsToTry) {
		return Decision{}
	}
	var unavailable *RequestErrUnavailable
	var timeout *RequestErrWriteTimeout
	d := Decision{Type: RetryNextHost, Consistency: p.ConsistencyLevelsToTry[a.Number-1], SetConsistency: true}
	switch a.Class {
	case ClassInvalid, ClassRateLimit:
		return Decision{}
	case ClassReadTimeout:
		d.Type = Retry
	case ClassUnavailable:
		if d.Type = Retry; !errors.As(a.Err, &unavailable) || unavailable.Alive == 0 {
			return Decision{}
		}
	case ClassWriteTimeout:
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

// RetryableQuery is what a LegacyRetryPolicy sees of a request.
type RetryableQuery interface {
	// Attempts returns how often the request was judged, from 1.
	Attempts() int
	// SetConsistency sets the consistency of further attempts.
	SetConsistency(c Consistency)
	// GetConsistency returns the consistency of the last attempt.
	GetConsistency() Consistency
	// Context returns the request's context.
	Context() context.Context
}

// LegacyRetryPolicy is the shape of gocql's retry policies: whether to try again, and where, in two calls.
type LegacyRetryPolicy interface {
	Attempt(q RetryableQuery) bool
	GetRetryType(err error) RetryType
}

// AdaptRetryPolicy makes p a RetryPolicy. A p that sleeps in Attempt sleeps to the end, whatever happens to the request's context: a
// Decision with a Wait does not.
func AdaptRetryPolicy(p LegacyRetryPolicy) RetryPolicy { return adaptedRetryPolicy{p} }

type adaptedRetryPolicy struct{ policy LegacyRetryPolicy }

func (p adaptedRetryPolicy) Decide(ctx context.Context, a Attempt) Decision {
	q := retryableQuery{ctx: ctx, attempts: a.Number, consistency: a.Consistency}
	if !p.policy.Attempt(&q) {
		return Decision{}
	}
	return Decision{Type: p.policy.GetRetryType(a.Err), Consistency: q.consistency, SetConsistency: q.consistency != a.Consistency}
}

type retryableQuery struct {
	ctx         context.Context
	attempts    int
	consistency Consistency
}

func (q *retryableQuery) Attempts() int                { return q.attempts }
func (q *retryableQuery) SetConsistency(c Consistency) { q.consistency = c }
func (q *retryableQuery) GetConsistency() Consistency  { return q.consistency }
func (q *retryableQuery) Context() context.Context     { return q.ctx }

// jittered returns a random duration between the half of d and d.
func jittered(d time.Duration) time.Duration {
	return d - time.Duration(rand.Int64N(int64(d/2)+1))
}

// decide asks a policy, whose panic is an error.
func decide(ctx context.Context, p RetryPolicy, a Attempt) (d Decision, err error) {
	defer recovered(&err)
	return p.Decide(ctx, a), nil
}

// writeTypeOf returns the write type that an error names, empty when it names none.
func writeTypeOf(err error) string {
	var timeout *RequestErrWriteTimeout
	var failure *RequestErrWriteFailure
	switch {
	case errors.As(err, &timeout):
		return timeout.WriteType
	case errors.As(err, &failure):
		return failure.WriteType
	}
	return ""
}
