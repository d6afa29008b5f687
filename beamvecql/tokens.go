// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"fmt"
	"math"
	"sync"

	"github.com/vecql/vecql/tablescan"
)

// Token intervals, the restrictions of Read, and their tracker.

// A Tokens is an interval of tokens on the ring, with an estimate of its size: the tokens after Start, up to and
// including End. With End at or before Start the interval wraps around, through the greatest token to the least one, as
// ranges of Cassandra do; with End equal to Start it is the whole ring. It is the restriction of [Read]: any token
// splits it.
type Tokens struct {
	Start, End int64
	Bytes      float64 // 0 if unknown
	Empty      bool    // the interval has no token; Start and End are meaningless
}

// wholeRing is the interval of all tokens.
var wholeRing = Tokens{Start: math.MinInt64, End: math.MinInt64}

// last returns the position of the last token. Positions are the tokens of the interval in their order on the ring,
// from 0. There may be 2^64 of them, so that their number is not representable and the last position is.
func (r Tokens) last() uint64 { return uint64(r.End) - uint64(r.Start) - 1 }

// position returns the position of a token. The position of a token outside of the interval is above last.
func (r Tokens) position(token int64) uint64 { return uint64(token) - uint64(r.Start) - 1 }

// token returns the token at a position.
func (r Tokens) token(position uint64) int64 { return int64(uint64(r.Start) + 1 + position) }

// width returns the number of tokens.
func (r Tokens) width() float64 {
	if r.Empty {
		return 0
	}
	return float64(r.last()) + 1
}

// cut cuts the interval after a position, which is below last.
func (r Tokens) cut(position uint64) (lower, upper Tokens) {
	lower, upper = r, r
	lower.End = r.token(position)
	upper.Start = lower.End
	lower.Bytes = r.Bytes * lower.width() / r.width()
	upper.Bytes = r.Bytes - lower.Bytes
	return lower, upper
}

// size returns the work of the interval for runners: its bytes, or if these are unknown the bytes of its share of a
// ring of 1 GiB, so that only an empty interval has the size 0.
func (r Tokens) size() float64 {
	if r.Bytes > 0 || r.Empty {
		return r.Bytes
	}
	return r.width() / math.MaxUint64 * (1 << 30)
}

// parts returns the interval as one or two ranges that do not wrap around, in the order of positions. They are without
// the least token, which no partition has: Cassandra stores its partitions under the greatest one (Murmur3Partitioner).
func (r Tokens) parts() []tablescan.Part {
	switch {
	case r.Empty:
		return nil
	case r.Start < r.End:
		return []tablescan.Part{{Start: r.Start, End: r.End}}
	}
	var parts []tablescan.Part
	if r.Start < math.MaxInt64 {
		parts = append(parts, tablescan.Part{Start: r.Start, End: math.MaxInt64})
	}
	if r.End > math.MinInt64 {
		parts = append(parts, tablescan.Part{Start: math.MinInt64, End: r.End})
	}
	return parts
}

// String returns the tokens.
func (r Tokens) String() string {
	if r.Empty {
		return "no tokens"
	}
	return fmt.Sprintf("tokens above %d up to %d", r.Start, r.End)
}

// A Tracker tracks the reading of a Tokens. It implements Beam's sdf.RTracker. A position is the int64 token of the
// last row of a page: a successful claim covers all tokens of the interval up to it. A token may be claimed again,
// because the rows of a partition may be on several pages. A claim beyond the interval fails without an error: a split
// has taken the tokens away, and the reader emits only the rows that are left. The restriction is done when its End was
// claimed.
//
// A Tracker is safe for use by several goroutines.
type Tracker struct {
	mu    sync.Mutex
	rest  Tokens
	begun bool   // a position was claimed
	at    uint64 // the last one that was claimed
	err   error
}

// NewTracker returns a tracker of an interval without claimed tokens.
func NewTracker(rest Tokens) *Tracker { return &Tracker{rest: rest} }

// TryClaim claims the tokens up to one, an int64.
func (t *Tracker) TryClaim(position any) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	token, ok := position.(int64)
	if !ok {
		t.err = fmt.Errorf("beamvecql: claim a position of type %T of %v: a position is an int64 token", position, t.rest)
	}
	if t.err != nil {
		return false
	}
	at := t.rest.position(token)
	if t.rest.Empty || at > t.rest.last() {
		return false
	}
	if t.begun && at < t.at {
		t.err = fmt.Errorf("beamvecql: claim token %d of %v: token %d was claimed before", token, t.rest, t.rest.token(t.at))
		return false
	}
	t.begun, t.at = true, at
	return true
}

// GetError returns the error of a claim that broke the rules.
func (t *Tracker) GetError() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// TrySplit splits the unclaimed tokens: fraction of them, rounded up, stay with the primary. With fraction 0 the
// primary is what is claimed, and the tracker is done. The residual is nil if it would have no token.
func (t *Tracker) TrySplit(fraction float64) (primary, residual any, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil || t.done() {
		return t.rest, nil, nil
	}
	keep := math.Ceil(min(max(fraction, 0), 1) * t.left()) // tokens that are not claimed
	if !t.begun && keep == 0 {
		residual, t.rest = t.rest, Tokens{Start: t.rest.Start, End: t.rest.Start, Empty: true}
		return t.rest, residual, nil
	}
	if !t.begun {
		keep--
	}
	if !(keep < 1<<64) || uint64(keep) >= t.rest.last()-t.at { // NaN is not less
		return t.rest, nil, nil
	}
	lower, upper := t.rest.cut(t.at + uint64(keep))
	t.rest = lower
	return lower, upper, nil
}

// left returns the number of unclaimed tokens. Callers hold t.mu.
func (t *Tracker) left() float64 {
	if t.begun {
		return float64(t.rest.last() - t.at)
	}
	return t.rest.width()
}

// done reports whether all tokens are claimed. Callers hold t.mu.
func (t *Tracker) done() bool { return t.rest.Empty || t.begun && t.at == t.rest.last() }

// GetProgress returns the sizes of the claimed and of the unclaimed tokens.
func (t *Tracker) GetProgress() (done, remaining float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rest.Empty {
		return 0, 0
	}
	size := t.rest.size()
	remaining = size * t.left() / t.rest.width()
	return size - remaining, remaining
}

// IsDone reports whether all tokens are claimed.
func (t *Tracker) IsDone() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err == nil && t.done()
}

// GetRestriction returns the interval, a Tokens, as the last split left it.
func (t *Tracker) GetRestriction() any {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rest
}

// IsBounded returns true: a table ends.
func (t *Tracker) IsBounded() bool { return true }
