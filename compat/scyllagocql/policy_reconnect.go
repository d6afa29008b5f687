// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"math"
	"time"
)

// Reconnection and conviction of nodes.

// A ReconnectionPolicy sets the waits before further attempts to reach a node. After GetMaxRetries the next attempt is
// made after ReconnectInterval.
type ReconnectionPolicy interface {
	GetInterval(currentRetry int) time.Duration
	GetMaxRetries() int
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
type ConvictionPolicy interface {
	AddFailure(error error, host *HostInfo) bool
	Reset(host *HostInfo)
}

// SimpleConvictionPolicy is a ConvictionPolicy.
type SimpleConvictionPolicy struct{}

// AddFailure implements ConvictionPolicy.
func (e *SimpleConvictionPolicy) AddFailure(error error, host *HostInfo) bool { return true }

// Reset implements ConvictionPolicy.
func (e *SimpleConvictionPolicy) Reset(host *HostInfo) {}
