// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"math"
	"time"
)

// Policies without a module's types, and the interfaces of host selection.

// A HostStateNotifier receives the changes of the nodes of a session.
type HostStateNotifier[H any] interface {
	AddHost(host H)
	RemoveHost(host H)
	HostUp(host H)
	HostDown(host H)
}

// A SetPartitioner receives the name of the partitioner of the cluster.
type SetPartitioner interface {
	SetPartitioner(partitioner string)
}

// A SetHosts receives the nodes of a cluster. No function takes one.
type SetHosts[H any] interface {
	SetHosts(hosts []H)
}

// A KeyspaceUpdateEvent is a change of a keyspace: CREATED, UPDATED or DROPPED, or empty for the keyspace of the
// session at its start.
type KeyspaceUpdateEvent struct {
	Keyspace string
	Change   string
}

// A HostTierer is a HostSelectionPolicy that sorts nodes into tiers; tier 0 is the nearest.
type HostTierer[H any] interface {
	HostTier(host H) uint
	MaxHostTier() uint
}

// A ReadyPolicy ends the wait for further nodes when a session of gocql starts. No session of vecql asks it.
type ReadyPolicy interface {
	Ready() bool
}

// NoReconnectionPolicy makes one attempt.
type NoReconnectionPolicy struct{}

// GetInterval implements ReconnectionPolicy.
func (c *NoReconnectionPolicy) GetInterval(currentRetry int) time.Duration { return 0 }

// GetMaxRetries implements ReconnectionPolicy.
func (c *NoReconnectionPolicy) GetMaxRetries() int { return 1 }

// ConstantReconnectionPolicy waits the same time before each attempt.
type ConstantReconnectionPolicy struct {
	MaxRetries int
	Interval   time.Duration
}

// GetInterval implements ReconnectionPolicy.
func (c *ConstantReconnectionPolicy) GetInterval(currentRetry int) time.Duration { return c.Interval }

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

// A ConvictionPolicy would decide when a node is down. No session asks it: a node is down when no connection to it
// takes requests.
type ConvictionPolicy[H any] interface {
	AddFailure(error error, host H) bool
	Reset(host H)
}

// SimpleConvictionPolicy is a ConvictionPolicy.
type SimpleConvictionPolicy[H any] struct{}

// AddFailure implements ConvictionPolicy.
func (e *SimpleConvictionPolicy[H]) AddFailure(error error, host H) bool { return true }

// Reset implements ConvictionPolicy.
func (e *SimpleConvictionPolicy[H]) Reset(host H) {}

// NonSpeculativeExecution executes a request once.
type NonSpeculativeExecution struct{}

// Attempts implements SpeculativeExecutionPolicy.
func (sp NonSpeculativeExecution) Attempts() int { return 0 }

// Delay implements SpeculativeExecutionPolicy. A ticker needs a positive duration.
func (sp NonSpeculativeExecution) Delay() time.Duration { return 1 }
