// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/errtext"
)

// The options of requests that queries and batches share.

// options are the options that Query and Batch share.
type options struct {
	consistency       cql.Consistency
	serialConsistency cql.Consistency
	idempotent        bool
	selectsIdempotent bool // a SELECT is idempotent although it is not marked
	serverTimestamps  bool
	hasTimestamp      bool
	timestamp         int64
	nowInSeconds      int32
	hasNowInSeconds   bool
	keyspace          string
	hostID            cql.UUID
	payload           map[string][]byte
	tracer            Tracer
	warned            func(warnings []string)
	policies          *policies
}

// warn calls the function for warnings if an answer has some.
func (o *options) warn(a *answer) {
	if o.warned != nil && len(a.env.Warnings) > 0 {
		o.warned(a.env.Warnings)
	}
}

// idText returns the text of the id of a node, empty for zero.
func idText(id cql.UUID) string {
	if id == (cql.UUID{}) {
		return ""
	}
	return id.String()
}

// policies are the settings of a request that most requests share with their session. They are immutable: a setter
// makes a copy.
type policies struct {
	retry       RetryPolicy
	speculative SpeculativeExecutionPolicy // nil means none
	observer    Observer                   // nil means none
	timeout     time.Duration              // 0 means ClusterConfig.Timeout, unless the context has a deadline
	total       time.Duration              // of all attempts; 0 means no bound
	fault       error                      // returned by the verb in place of running the request; nil means none
}

// newPolicies returns the policies of requests that do not set their own.
func newPolicies(cfg *ClusterConfig) *policies {
	d := &cfg.Defaults
	p := &policies{
		retry: d.RetryPolicy, speculative: speculative(d.SpeculativeExecutionPolicy), observer: d.Observer,
		timeout: d.RequestTimeout, total: d.TotalTimeout,
	}
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
func (o *options) apply(cfg *ClusterConfig, name string) *Profile {
	p, ok := cfg.Profiles[name]
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
		if p.Observer != nil {
			set.observer = p.Observer
		}
		if p.RequestTimeout != 0 {
			set.timeout = p.RequestTimeout
		}
		if p.TotalTimeout != 0 {
			set.total = p.TotalTimeout
		}
	})
	if p.Consistency != 0 {
		o.consistency = p.Consistency
	}
	if p.SerialConsistency != 0 {
		o.serialConsistency = p.SerialConsistency
	}
	o.idempotent = o.idempotent || p.Idempotent
	o.selectsIdempotent = o.selectsIdempotent && !p.DisableSelectIdempotence
	o.serverTimestamps = o.serverTimestamps || p.ServerTimestamps
	return &p
}

func (o *options) setRetry(usual *policies, r RetryPolicy) {
	if r == nil {
		r = usual.retry
	}
	o.change(func(set *policies) { set.retry = r })
}
