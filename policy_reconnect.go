// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"time"
)

// This file says how long the driver waits before it tries a node again that it could not connect to.

// ReconnectionPolicy decides when a node that could not be reached is tried again. The session waits up to half less than the interval, at
// random, so that clients of a restarted node do not all come back at once; an event that the node is up ends the wait. Its methods are
// called on background goroutines of the session, several at once. A policy of another kind than those of this package must not keep state
// of one node: it serves all.
type ReconnectionPolicy interface {
	// GetInterval returns the wait before retry number currentRetry, counted from 0. Less than 10 ms counts as 10 ms.
	GetInterval(currentRetry int) time.Duration
	// GetMaxRetries returns after how many retries the node is left alone until an event or the next reading of the system tables
	// (ClusterConfig.ReconnectInterval) speaks of it; then it is given as many again. 0 means no limit, a negative number no retry.
	GetMaxRetries() int
}

// ConstantReconnectionPolicy waits the same time before each retry.
type ConstantReconnectionPolicy struct {
	MaxRetries int           // see ReconnectionPolicy.GetMaxRetries
	Interval   time.Duration // 0: 1 s
}

// GetInterval implements ReconnectionPolicy.
func (p ConstantReconnectionPolicy) GetInterval(int) time.Duration {
	if p.Interval <= 0 {
		return time.Second
	}
	return p.Interval
}

// GetMaxRetries implements ReconnectionPolicy.
func (p ConstantReconnectionPolicy) GetMaxRetries() int { return p.MaxRetries }

// ExponentialReconnectionPolicy waits InitialInterval before the first retry, and twice as long before each further one up to MaxInterval.
// Its zero value is the default.
type ExponentialReconnectionPolicy struct {
	MaxRetries      int           // see ReconnectionPolicy.GetMaxRetries
	InitialInterval time.Duration // 0: 100 ms
	MaxInterval     time.Duration // 0: 5 s
}

// GetInterval implements ReconnectionPolicy.
func (p ExponentialReconnectionPolicy) GetInterval(currentRetry int) time.Duration {
	wait, most := p.InitialInterval, p.MaxInterval
	if wait <= 0 {
		wait = reconnectMin
	}
	if most <= 0 {
		most = max(reconnectMax, wait)
	}
	for range currentRetry {
		if wait >= most/2 {
			return most
		}
		wait *= 2
	}
	return min(wait, most)
}

// GetMaxRetries implements ReconnectionPolicy.
func (p ExponentialReconnectionPolicy) GetMaxRetries() int { return p.MaxRetries }

// NoReconnectionPolicy leaves a node that could not be reached alone until an event or the next reading of the system tables speaks of it.
type NoReconnectionPolicy struct{}

// GetInterval implements ReconnectionPolicy.
func (NoReconnectionPolicy) GetInterval(int) time.Duration { return time.Second }

// GetMaxRetries implements ReconnectionPolicy.
func (NoReconnectionPolicy) GetMaxRetries() int { return -1 }

// The bounds on what a policy says.
const (
	reconnectLeast = 10 * time.Millisecond
	// A refused login is tried again after this long, and after twice that, up to the maximum: servers lock accounts, and it takes a
	// person to change a password.
	loginMin = 10 * time.Second
	loginMax = time.Minute
)

// reconnectWait returns how long to wait before retry number retry, from 0, and whether there is one. A panic of the policy is taken for
// the default.
func reconnectWait(p ReconnectionPolicy, retry int) (wait time.Duration, again bool) {
	defer func() {
		if recover() != nil {
			wait, again = ExponentialReconnectionPolicy{}.GetInterval(retry), true
		}
	}()
	if limit := p.GetMaxRetries(); limit < 0 || limit > 0 && retry >= limit {
		return 0, false
	}
	return max(p.GetInterval(retry), reconnectLeast), true
}

// loginWait is reconnectWait after a refused login.
func loginWait(retry int) time.Duration {
	return ExponentialReconnectionPolicy{InitialInterval: loginMin, MaxInterval: loginMax}.GetInterval(retry)
}

// controlWait returns how long the control connection waits where an interval of wait is due: longer, in proportion, after a refused login.
func controlWait(wait time.Duration, err error) time.Duration {
	var login *loginError
	if errors.As(err, &login) {
		wait *= loginMax / reconnectMax
	}
	return jittered(wait)
}
