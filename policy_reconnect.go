// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"time"

	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/conn"
)

// Reconnection: how long the driver waits before it dials a node again.

// A ReconnectionPolicy decides when a node that could not be reached is dialed again. The session shortens the wait at
// random by up to half, so that the clients of a restarted node do not return all at once. An UP event of the node ends
// the wait. Background goroutines of the session call the methods, several at once. One policy serves all nodes: a
// policy outside this package must not keep the state of one node.
type ReconnectionPolicy interface {
	// GetInterval returns the wait before retry number currentRetry, counted from 0. Less than 10 ms counts as 10 ms.
	GetInterval(currentRetry int) time.Duration
	// GetMaxRetries returns the number of retries. After the last one the session does not dial the node until an event or
	// the next reading of the system tables (ClusterConfig.Nodes.ReconnectInterval) names the node; then the count starts
	// over. 0 means no limit, a negative number no retry.
	GetMaxRetries() int
}

// A ConstantReconnectionPolicy waits the same time before each retry.
type ConstantReconnectionPolicy struct {
	MaxRetries int           // see ReconnectionPolicy.GetMaxRetries
	Interval   time.Duration // 0 means 1 s
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

// An ExponentialReconnectionPolicy is exponential backoff: InitialInterval before the first retry, doubled before each
// further one up to MaxInterval. The zero value is the default policy.
type ExponentialReconnectionPolicy struct {
	MaxRetries      int           // see ReconnectionPolicy.GetMaxRetries
	InitialInterval time.Duration // 0 means 100 ms
	MaxInterval     time.Duration // 0 means 5 s
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
	return background.Exponential(wait, most, currentRetry)
}

// GetMaxRetries implements ReconnectionPolicy.
func (p ExponentialReconnectionPolicy) GetMaxRetries() int { return p.MaxRetries }

// A NoReconnectionPolicy does not dial a node again until an event or the next reading of the system tables names it.
type NoReconnectionPolicy struct{}

// GetInterval implements ReconnectionPolicy.
func (NoReconnectionPolicy) GetInterval(int) time.Duration { return time.Second }

// GetMaxRetries implements ReconnectionPolicy.
func (NoReconnectionPolicy) GetMaxRetries() int { return -1 }

// Bounds on the intervals of a policy.
const (
	reconnectLeast = 10 * time.Millisecond
	// Exponential backoff after a refused login: servers lock accounts, and only a person can change a password.
	loginMin = 10 * time.Second
	loginMax = time.Minute
)

// reconnectWait returns the wait before retry number retry, counted from 0, and reports whether that retry takes place.
// If the policy panics, reconnectWait uses the default policy.
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

// controlWait returns the wait of the control connection in place of the interval wait, longer in proportion after a
// refused login.
func controlWait(wait time.Duration, err error) time.Duration {
	var login *conn.LoginError
	if errors.As(err, &login) {
		wait *= loginMax / reconnectMax
	}
	return background.Jitter(wait)
}
