// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"errors"
	"fmt"

	"github.com/vecql/vecql"
)

// The position of a scan within a token range.

// A Part is an unread token range: the tokens above Start, up to and including End. The first Skip rows of the token
// Start+1 have been read, the others have not.
type Part struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
	Skip  int64 `json:"skip,omitempty"`
}

// valid reports whether the part has tokens and a possible position.
func (p Part) valid() bool { return p.Start < p.End && p.Skip >= 0 }

// width returns the number of tokens.
func (p Part) width() float64 { return float64(uint64(p.End) - uint64(p.Start)) }

// cut returns the halves of the part. ok is false for a part of one token.
func (p Part) cut() (lower, upper Part, ok bool) {
	halves := vecql.TokenRange{Start: p.Start, End: p.End}.Split(2)
	if len(halves) < 2 {
		return p, Part{}, false
	}
	middle := halves[0].End
	return Part{p.Start, middle, p.Skip}, Part{Start: middle, End: p.End}, true
}

// errOrder means that a page has rows of another range, or rows that are not in the order of their tokens. A position
// in such a result would be wrong.
var errOrder = errors.New("rows are not in the order of their tokens")

// A cursor follows the rows of a part from page to page.
type cursor struct {
	part Part  // as it was when the cursor was at its start
	last int64 // the token of the last row
	seen int64 // the number of rows of that token so far, dropped ones included; 0 before the first row
}

func newCursor(p Part) cursor { return cursor{part: p} }

// toDrop returns the number of rows that are still to be dropped, at most: rows of the token part.Start+1 that were
// read before. A row of another token ends them, since the partition may have fewer rows by now.
func (c *cursor) toDrop() int64 {
	switch {
	case c.seen == 0:
		return c.part.Skip
	case c.last == c.part.Start+1:
		return max(c.part.Skip-c.seen, 0)
	}
	return 0
}

// pass moves the cursor over a page. It returns the number of rows at the start of the page that were read before, and
// the position after the page.
func (c *cursor) pass(tokens []int64) (dropped int, rest Part, err error) {
	for _, t := range tokens {
		switch {
		case t <= c.part.Start || t > c.part.End:
			return 0, Part{}, fmt.Errorf("%w: token %d is not above %d up to %d", errOrder, t, c.part.Start, c.part.End)
		case c.seen == 0 || t > c.last:
			c.last, c.seen = t, 1
		case t == c.last:
			c.seen++
		default:
			return 0, Part{}, fmt.Errorf("%w: token %d follows %d", errOrder, t, c.last)
		}
		if t == c.part.Start+1 && c.seen <= c.part.Skip {
			dropped++
		}
	}
	// c.last is above part.Start, so that this does not overflow
	return dropped, Part{Start: c.last - 1, End: c.part.End, Skip: c.seen}, nil
}
