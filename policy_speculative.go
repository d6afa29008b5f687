// SPDX-License-Identifier: Apache-2.0

package vecql

import "time"

// This file holds the policies of speculative execution: an idempotent request that takes long is sent to another node as well, and the
// first answer counts.

// SpeculativeExecutionPolicy says how often, and how long after the one before, a request is sent to a further node while no answer has
// come. It concerns only statements that are marked idempotent. Both methods are called once per request, on its goroutine.
type SpeculativeExecutionPolicy interface {
	// Attempts returns the number of executions beside the first one; 0: none.
	Attempts() int
	// Delay returns how long to wait before each.
	Delay() time.Duration
}

// NonSpeculativeExecution sends a request once.
type NonSpeculativeExecution struct{}

// Attempts implements SpeculativeExecutionPolicy.
func (NonSpeculativeExecution) Attempts() int { return 0 }

// Delay implements SpeculativeExecutionPolicy.
func (NonSpeculativeExecution) Delay() time.Duration { return 0 }

// SimpleSpeculativeExecution starts at most NumAttempts further executions, one after each TimeoutDelay. A delay near the 99th percentile of
// the latency costs one more request in a hundred.
type SimpleSpeculativeExecution struct {
	NumAttempts  int
	TimeoutDelay time.Duration
}

// Attempts implements SpeculativeExecutionPolicy.
func (p *SimpleSpeculativeExecution) Attempts() int { return p.NumAttempts }

// Delay implements SpeculativeExecutionPolicy.
func (p *SimpleSpeculativeExecution) Delay() time.Duration { return p.TimeoutDelay }

// maxSpeculative bounds the executions beside the first one.
const maxSpeculative = 16

// askSpeculative asks a policy, whose panic is an error.
func askSpeculative(p SpeculativeExecutionPolicy) (attempts int, delay time.Duration, err error) {
	defer recovered(&err)
	return min(p.Attempts(), maxSpeculative), p.Delay(), nil
}
