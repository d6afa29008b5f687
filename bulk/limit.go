// SPDX-License-Identifier: Apache-2.0

package bulk

import "time"

// The limit of requests in flight on one target: additive increase, multiplicative decrease (as in TCP).

const (
	firstLimit   = 16
	baseEpoch    = 5 * time.Second // the base is the minimum of the last two epochs
	probeShare   = 4               // the limit is divided by it at the start of an epoch
	minSamples   = 16              // between two decreases for latency
	latencyRatio = 3               // latencies above latencyRatio times the base, plus latencySlack, decrease the limit
	latencySlack = 2 * time.Millisecond
	// leastLimit is the least limit that latencies alone lead to. A node that is busy with fewer requests spends a quarter
	// more on each row, for the changes between its threads, than one that always has a next request.
	leastLimit = firstLimit
)

// A limiter adapts the limit of one target. The latency is a moving average. The base is the least latency of the last
// ten seconds: a node that has become slower for good gets a new base.
type limiter struct {
	limit     float64
	most      float64
	threshold float64 // below it the limit grows by one with each response, which doubles it in each round trip

	latency float64    // moving average, in ns; 0 means none yet
	least   [2]float64 // of this epoch and of the last one, in ns; 0 means none yet
	epoch   time.Time  // start of this epoch
	cut     time.Time  // of the last decrease; requests that began before it do not change the limit
	samples int        // since cut
}

func newLimiter(most int) limiter {
	return limiter{limit: float64(min(firstLimit, most)), most: float64(most), threshold: float64(most)}
}

// succeed records a response. full means that the limit was reached, so that a higher one would have been used.
func (l *limiter) succeed(began, now time.Time, full bool) {
	took := float64(now.Sub(began))
	if l.latency == 0 {
		l.latency = took
	}
	l.latency += (took - l.latency) / minSamples
	l.samples++
	l.measure(began, now)
	slow := l.latency > latencyRatio*l.base()+float64(latencySlack)
	switch {
	case slow && l.samples >= minSamples && began.After(l.cut):
		l.decrease(now, max(.7*l.limit, min(l.limit, leastLimit)))
	case !full || began.Before(l.cut):
	case l.limit < l.threshold:
		l.limit = min(l.limit+1, l.most)
	default:
		l.limit = min(l.limit+1/l.limit, l.most)
	}
}

// fail records that the target did not handle a request that began then.
func (l *limiter) fail(began, now time.Time) {
	if took := float64(now.Sub(began)); took > l.latency {
		l.latency += (took - l.latency) / minSamples
	}
	if began.After(l.cut) {
		l.decrease(now, .5*l.limit)
	}
}

func (l *limiter) decrease(now time.Time, limit float64) {
	l.limit = max(1, limit)
	l.threshold, l.cut, l.samples = l.limit, now, 0
}

// measure records the latency of a request for the base, and begins a new epoch if it is time for one. The limit is
// then a quarter, at least leastLimit, for a short while, since the base would rise without end if it were only
// measured under load.
func (l *limiter) measure(began, now time.Time) {
	if l.epoch.IsZero() {
		l.epoch = began
	}
	if now.Sub(l.epoch) >= baseEpoch {
		l.least[1], l.least[0], l.epoch = l.least[0], 0, now
		l.threshold, l.limit, l.cut = l.limit, max(l.limit/probeShare, min(l.limit, leastLimit)), now
	}
	if took := float64(now.Sub(began)); !began.Before(l.epoch) && (l.least[0] == 0 || took < l.least[0]) {
		l.least[0] = took
	}
}

// base returns the latency to compare with, the least one of this epoch and the last.
func (l *limiter) base() float64 {
	switch {
	case l.least[1] == 0:
		return l.least[0]
	case l.least[0] == 0:
		return l.least[1]
	}
	return min(l.least[0], l.least[1])
}
