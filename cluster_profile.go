// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"time"
)

// This file holds what a query or batch may say beside its statement that is rarely said: policies, timeout, observers, and profiles, which
// name a set of such settings.

// Profile is a named set of settings for queries and batches (ClusterConfig.Profiles). A zero field leaves the setting as it is, so that a
// profile cannot ask for consistency Any, nor take idempotence back: set that on the query.
type Profile struct {
	Consistency                Consistency
	SerialConsistency          Consistency // Serial or LocalSerial
	RetryPolicy                RetryPolicy
	SpeculativeExecutionPolicy SpeculativeExecutionPolicy
	RequestTimeout             time.Duration // see Query.SetRequestTimeout
	PageSize                   int           // rows; negative: no paging. Of queries only.
	Idempotent                 bool          // true marks the statements idempotent
}

// policies are the settings of a request that most requests share with their session. They do not change: a setter makes others.
type policies struct {
	retry         RetryPolicy
	speculative   SpeculativeExecutionPolicy // nil: none
	queryObserver QueryObserver
	batchObserver BatchObserver
	timeout       time.Duration // 0: ClusterConfig.Timeout, unless the context has a deadline
	fault         error         // why the request can't run
}

// newPolicies returns those that cfg asks for.
func newPolicies(cfg *ClusterConfig) *policies {
	p := &policies{retry: cfg.RetryPolicy, speculative: speculative(cfg.SpeculativeExecutionPolicy)}
	p.queryObserver, p.batchObserver = cfg.QueryObserver, cfg.BatchObserver
	if p.retry == nil {
		p.retry = DefaultRetryPolicy{}
	}
	return p
}

// speculative returns p, nil when it asks for nothing.
func speculative(p SpeculativeExecutionPolicy) SpeculativeExecutionPolicy {
	if _, none := p.(NonSpeculativeExecution); none {
		return nil
	}
	return p
}

// change replaces the settings by a copy that set has changed.
func (o *options) change(set func(p *policies)) {
	p := *o.how
	set(&p)
	o.how = &p
}

// apply brings in the settings of a profile.
func (o *options) apply(s *Session, name string) *Profile {
	p, ok := s.cfg.Profiles[name]
	o.change(func(how *policies) {
		if how.fault = nil; !ok {
			how.fault = fmt.Errorf("%w: %q", ErrNoProfile, name)
		}
		if p.RetryPolicy != nil {
			how.retry = p.RetryPolicy
		}
		if p.SpeculativeExecutionPolicy != nil {
			how.speculative = speculative(p.SpeculativeExecutionPolicy)
		}
		if p.RequestTimeout != 0 {
			how.timeout = p.RequestTimeout
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

// check returns what is wrong with the profile, empty when nothing is.
func (p *Profile) check() string {
	switch {
	case int(p.Consistency) >= len(consistencyNames):
		return fmt.Sprintf("Consistency is %v", p.Consistency)
	case p.SerialConsistency != 0 && !p.SerialConsistency.IsSerial():
		return fmt.Sprintf("SerialConsistency is %v", p.SerialConsistency)
	case p.RequestTimeout < 0:
		return fmt.Sprintf("RequestTimeout is %v", p.RequestTimeout)
	}
	return ""
}

// Profile gives the query the settings of ClusterConfig.Profiles[name]; what is set afterwards overrides them. A name that is not there
// is an error when the query runs: ErrNoProfile.
func (q *Query) Profile(name string) *Query {
	if p := q.apply(q.session, name); p.PageSize != 0 {
		q.pageSize = p.PageSize
	}
	return q
}

// RetryPolicy sets the policy that decides whether the query is sent again; nil: the session's.
func (q *Query) RetryPolicy(r RetryPolicy) *Query { q.setRetry(q.session, r); return q }

// SetSpeculativeExecutionPolicy sets the policy of speculative execution, which applies if the query is idempotent; nil: none.
func (q *Query) SetSpeculativeExecutionPolicy(p SpeculativeExecutionPolicy) *Query {
	q.change(func(how *policies) { how.speculative = speculative(p) })
	return q
}

// SetRequestTimeout bounds each attempt to get an answer, whether or not the context has a deadline; the context bounds all attempts
// together. 0: ClusterConfig.Timeout, where the context has no deadline. It does not bound the preparation of the statement.
func (q *Query) SetRequestTimeout(d time.Duration) *Query {
	q.change(func(how *policies) { how.timeout = max(d, 0) })
	return q
}

// GetRequestTimeout returns what SetRequestTimeout set, or a profile; 0 when neither did.
func (q *Query) GetRequestTimeout() time.Duration { return q.how.timeout }

// Observer sets who is told of the query's attempts; nil: nobody.
func (q *Query) Observer(o QueryObserver) *Query {
	q.change(func(how *policies) { how.queryObserver = o })
	return q
}

// Profile is Query.Profile for a batch.
func (b *Batch) Profile(name string) *Batch { b.apply(b.session, name); return b }

// RetryPolicy sets the policy that decides whether the batch is sent again; nil: the session's.
func (b *Batch) RetryPolicy(r RetryPolicy) *Batch { b.setRetry(b.session, r); return b }

// SpeculativeExecutionPolicy sets the policy of speculative execution, which applies if the batch is idempotent; nil: none.
func (b *Batch) SpeculativeExecutionPolicy(p SpeculativeExecutionPolicy) *Batch {
	b.change(func(how *policies) { how.speculative = speculative(p) })
	return b
}

// SetRequestTimeout is Query.SetRequestTimeout for a batch.
func (b *Batch) SetRequestTimeout(d time.Duration) *Batch {
	b.change(func(how *policies) { how.timeout = max(d, 0) })
	return b
}

// GetRequestTimeout returns what SetRequestTimeout set, or a profile; 0 when neither did.
func (b *Batch) GetRequestTimeout() time.Duration { return b.how.timeout }

// Observer sets who is told of the batch's attempts; nil: nobody.
func (b *Batch) Observer(o BatchObserver) *Batch {
	b.change(func(how *policies) { how.batchObserver = o })
	return b
}

func (o *options) setRetry(s *Session, r RetryPolicy) {
	if r == nil {
		r = s.how.retry
	}
	o.change(func(how *policies) { how.retry = r })
}
