// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"math"
	"time"

	"github.com/vecql/vecql"
)

// Policies of reconnection, conviction and speculative execution.

// A ReconnectionPolicy sets the delays between attempts to reach a node.
type ReconnectionPolicy = vecql.ReconnectionPolicy

// ConstantReconnectionPolicy waits Interval before each of MaxRetries attempts.
type ConstantReconnectionPolicy struct {
	MaxRetries int
	Interval   time.Duration
}

// GetInterval implements ReconnectionPolicy.
func (c *ConstantReconnectionPolicy) GetInterval(int) time.Duration { return c.Interval }

// GetMaxRetries implements ReconnectionPolicy.
func (c *ConstantReconnectionPolicy) GetMaxRetries() int { return c.MaxRetries }

// ExponentialReconnectionPolicy is exponential backoff from InitialInterval to MaxInterval.
type ExponentialReconnectionPolicy struct {
	MaxRetries      int
	InitialInterval time.Duration
	MaxInterval     time.Duration
}

// GetInterval implements ReconnectionPolicy.
func (e *ExponentialReconnectionPolicy) GetInterval(currentRetry int) time.Duration {
	most := e.MaxInterval
	if most < e.InitialInterval {
		most = math.MaxInt16 * time.Second
	}
	return backoff(e.InitialInterval, most, currentRetry)
}

// GetMaxRetries implements ReconnectionPolicy.
func (e *ExponentialReconnectionPolicy) GetMaxRetries() int { return e.MaxRetries }

// A ConvictionPolicy is not used: the state of a node is that of its connections.
type ConvictionPolicy interface {
	AddFailure(error error, host *HostInfo) bool
	Reset(host *HostInfo)
}

// SimpleConvictionPolicy is the ConvictionPolicy of NewCluster.
type SimpleConvictionPolicy struct{}

// AddFailure implements ConvictionPolicy.
func (e *SimpleConvictionPolicy) AddFailure(error, *HostInfo) bool { return true }

// Reset implements ConvictionPolicy.
func (e *SimpleConvictionPolicy) Reset(*HostInfo) {}

type (
	// A SpeculativeExecutionPolicy sends a slow idempotent request to further nodes.
	SpeculativeExecutionPolicy = vecql.SpeculativeExecutionPolicy
	// SimpleSpeculativeExecution starts NumAttempts further executions, one after each TimeoutDelay.
	SimpleSpeculativeExecution = vecql.SimpleSpeculativeExecution
)

// NonSpeculativeExecution executes a request once.
type NonSpeculativeExecution struct{}

// Attempts returns 0.
func (sp NonSpeculativeExecution) Attempts() int { return 0 }

// Delay returns a delay that a ticker takes.
func (sp NonSpeculativeExecution) Delay() time.Duration { return 1 }
