// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/errtext"
)

// Rarely set settings of queries and batches: policies, timeouts, observers and profiles.

// A Profile is a named set of settings for queries and batches (ClusterConfig.Profiles). A zero field leaves the
// setting unchanged: a profile can set neither consistency Any nor Idempotent to false. Set these on the query.
type Profile struct {
	Consistency                cql.Consistency
	SerialConsistency          cql.Consistency // Serial or LocalSerial
	RetryPolicy                RetryPolicy
	SpeculativeExecutionPolicy SpeculativeExecutionPolicy
	RequestTimeout             time.Duration // see Query.RequestTimeout
	PageSize                   int           // rows; negative means no paging. Queries only.
	Idempotent                 bool          // true marks the statements idempotent
}

// policies are the settings of a request that most requests share with their session. They are immutable: a setter
// makes a copy.
type policies struct {
	retry       RetryPolicy
	speculative SpeculativeExecutionPolicy // nil means none
	observer    Observer                   // nil means none
	timeout     time.Duration              // 0 means ClusterConfig.Timeout, unless the context has a deadline
	fault       error                      // returned by the verb in place of running the request; nil means none
}

// newPolicies returns the policies of cfg.
func newPolicies(cfg *ClusterConfig) *policies {
	p := &policies{retry: cfg.RetryPolicy, speculative: speculative(cfg.SpeculativeExecutionPolicy)}
	p.observer = cfg.Observer
	if p.retry == nil {
		p.retry = DefaultRetryPolicy{}
	}
	return p
}

// speculative returns p. nil means no speculative execution.
func speculative(p SpeculativeExecutionPolicy) SpeculativeExecutionPolicy {
	if _, none := p.(NonSpeculativeExecution); none {
		return nil
	}
	return p
}

// change calls set on a copy of the policies and stores the copy.
func (o *options) change(set func(p *policies)) {
	p := *o.policies
	set(&p)
	o.policies = &p
}

// apply stores the settings of a profile in o and returns the profile.
func (o *options) apply(s *Session, name string) *Profile {
	p, ok := s.cfg.Profiles[name]
	o.change(func(set *policies) {
		if set.fault = nil; !ok {
			set.fault = errtext.Errorf("%w: %q", ErrNoProfile, name)
		}
		if p.RetryPolicy != nil {
			set.retry = p.RetryPolicy
		}
		if p.SpeculativeExecutionPolicy != nil {
			set.speculative = speculative(p.SpeculativeExecutionPolicy)
		}
		if p.RequestTimeout != 0 {
			set.timeout = p.RequestTimeout
		}
	})
	if p.Consistency != 0 {
		o.consistency = p.Consistency
	}
	if p.SerialConsistency != 0 {
		o.serialConsistency = p.SerialConsistency
	}
	o.idempotent = o.idempotent || p.Idempotent
	return &p
}

// check describes the first invalid field of the profile. Empty means that the profile is valid.
func (p *Profile) check() string {
	switch {
	case p.Consistency > cql.LocalOne:
		return fmt.Sprintf("Consistency is %v, not a consistency level", p.Consistency)
	case p.SerialConsistency != 0 && !p.SerialConsistency.IsSerial():
		return fmt.Sprintf("SerialConsistency is %v, must be SERIAL or LOCAL_SERIAL", p.SerialConsistency)
	case p.RequestTimeout < 0:
		return fmt.Sprintf("RequestTimeout is %v, must not be negative", p.RequestTimeout)
	}
	return ""
}

// Profile applies the settings of ClusterConfig.Profiles[name] to the query. Later setters override them. If there is
// no such profile, running the query returns ErrNoProfile.
func (q *Query) Profile(name string) *Query {
	if p := q.apply(q.session, name); p.PageSize != 0 {
		q.pageSize = p.PageSize
	}
	return q
}

// RetryPolicy sets the policy that decides whether a failed attempt of the query is retried; nil means the session's.
func (q *Query) RetryPolicy(r RetryPolicy) *Query { q.setRetry(q.session, r); return q }

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

// Observer sets the observer of the query's attempts; nil means none.
func (q *Query) Observer(o Observer) *Query {
	q.change(func(set *policies) { set.observer = o })
	return q
}

// Profile is Query.Profile for a batch.
func (b *Batch) Profile(name string) *Batch { b.apply(b.session, name); return b }

// RetryPolicy sets the policy that decides whether a failed attempt of the batch is retried; nil means the session's.
func (b *Batch) RetryPolicy(r RetryPolicy) *Batch { b.setRetry(b.session, r); return b }

// SpeculativeExecutionPolicy sets the policy of speculative execution, which applies if the batch is idempotent; nil
// means none.
func (b *Batch) SpeculativeExecutionPolicy(p SpeculativeExecutionPolicy) *Batch {
	b.change(func(set *policies) { set.speculative = speculative(p) })
	return b
}

// RequestTimeout is Query.RequestTimeout for a batch.
func (b *Batch) RequestTimeout(d time.Duration) *Batch {
	b.change(func(set *policies) { set.timeout = max(d, 0) })
	return b
}

// GetRequestTimeout returns the timeout set by RequestTimeout or a profile; 0 means none.
func (b *Batch) GetRequestTimeout() time.Duration { return b.policies.timeout }

// Observer sets the observer of the batch's attempts; nil means none.
func (b *Batch) Observer(o Observer) *Batch {
	b.change(func(set *policies) { set.observer = o })
	return b
}

func (o *options) setRetry(s *Session, r RetryPolicy) {
	if r == nil {
		r = s.defaultPolicies.retry
	}
	o.change(func(set *policies) { set.retry = r })
}
