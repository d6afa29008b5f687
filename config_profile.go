// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"time"

	"github.com/vecql/vecql/cql"
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
