// SPDX-License-Identifier: Apache-2.0

package stats

// An ErrorClass is the class of an attempt's error.
type ErrorClass uint8

// The classes. Errors of a server are classified by their code (native_protocol_v5.spec, section 8).
const (
	// any error not named below, such as a value that cannot be encoded or a policy that panicked
	ClassOther           ErrorClass = iota
	ClassThrottled                  // not sent, or too late: ErrThrottled, MemoryBudgetError, ErrNoStreams, ErrNodeBusy
	ClassCanceled                   // the caller's context ended
	ClassTimeout                    // the server did not respond in time: ErrTimeoutNoResponse
	ClassConnection                 // no connection, or the connection broke
	ClassProtocol                   // the response cannot be parsed
	ClassInvalid                    // refused permanently: syntax, permissions, a missing table, a failing function
	ClassUnavailable                // too few replicas are alive
	ClassOverloaded                 // the coordinator is overloaded
	ClassRateLimit                  // ScyllaDB's per-partition rate limit
	ClassBootstrapping              // the coordinator is still bootstrapping
	ClassTruncate                   // a TRUNCATE failed
	ClassReadTimeout                // too few replicas answered a read in time
	ClassWriteTimeout               // too few replicas acknowledged a write in time; it may still be applied
	ClassReadFailure                // replicas failed a read
	ClassWriteFailure               // replicas failed a write, or the CDC log is full
	ClassCASWriteUnknown            // a lightweight transaction with an unknown outcome
	ClassServer                     // any other error of a server
	classes
)

var classNames = [classes]string{
	"other", "throttled", "canceled", "timeout", "connection", "protocol", "invalid", "unavailable", "overloaded",
	"rate_limit", "bootstrapping", "truncate", "read_timeout", "write_timeout", "read_failure", "write_failure",
	"cas_write_unknown", "server",
}

// String returns the name in lower case with underscores, suitable as the label of a metric.
func (c ErrorClass) String() string {
	if c < classes {
		return classNames[c]
	}
	return classNames[ClassOther]
}
