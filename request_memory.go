// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"time"

	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/queue"
)

// The memory budget of a session: what an attempt acquires before it is sent. The buffers of responses count themselves
// (internal/conn/buffer.go). queue.Budget has the rules, and the reason why every wait ends.
//
// An attempt acquires its body and the answer to expect, and is in flight until its answer is there. The answer itself
// never waits. If the answer is larger than expected, the reader of the connection counts the difference when it knows
// the length of the frame. At the end of the attempt, before any code of the program runs, the answer becomes held
// memory: until the verb returns, or until the Iter releases the page.

// unknownShare is the part of the budget that an answer may have whose size is unknown: a few such requests at a time,
// until the first answer.
const unknownShare = 8

// acquireMemory waits until the memory budget admits the attempt.
func (s *sender) acquireMemory(ctx context.Context, c *call) (size int64, waited bool, err error) {
	c.req.Expected = s.expectedAnswer(&c.callState)
	size = int64(cap(c.req.Body.B)) + c.req.Expected
	took, err := s.memory.Acquire(ctx, size, c.paged, c.timeout(ctx, s.cfg.Timeout))
	if errors.Is(err, queue.ErrClosed) {
		err = ErrSessionClosed
	} else if err != nil {
		err = s.memoryError(err, size, took)
	}
	return size, took > 0, err
}

// memoryError returns the error of an attempt that the memory budget did not admit.
func (s *sender) memoryError(err error, size int64, waited time.Duration) error {
	use := s.memory.Usage()
	failure := &MemoryBudgetError{
		Budget: s.memory.Limit(), Size: size, InFlight: use.InFlight, Held: use.Held, Waited: waited,
	}
	if !errors.Is(err, queue.ErrFull) {
		failure.Err = err
	}
	return failure
}

// releaseMemory ends the part in flight of an attempt that has ended with err.
func (s *sender) releaseMemory(c *call, acquired int64, err error) {
	if err != nil {
		s.memory.Release(acquired)
		return
	}
	body := c.answer.resp.Body
	if c.req.Op == frame.OpExecute {
		c.stmts[0].noteAnswer(body.MemorySize())
	}
	body.Hold(s.memory, acquired)
}

// expectedAnswer returns the memory of the answer to expect.
func (s *sender) expectedAnswer(c *callState) int64 {
	if c.req.Op != frame.OpExecute {
		return 0
	}
	return s.expectedPage(c.stmts[0])
}

// expectedPage returns the memory of a statement's answer to expect.
func (s *sender) expectedPage(stmt *statement) int64 {
	size := stmt.answerSize.Load()
	switch {
	case size > conn.SmallBody:
		return size
	case size == 0 && len(stmt.result.Load().Columns) > 0:
		return s.memory.Limit() / unknownShare
	}
	return 0
}

// memoryFull reports whether an attempt of the call would wait for the memory budget.
func (s *sender) memoryFull(c *callState) bool {
	return s.memory != nil && s.memory.Full(int64(cap(c.req.Body.B))+s.expectedAnswer(c), c.paged)
}

// pageFull reports whether the request for a further page would wait for the memory budget. stmt is nil for a query
// that is not prepared.
func (s *sender) pageFull(stmt *statement) bool {
	if s.memory == nil {
		return false
	}
	var size int64
	if stmt != nil {
		size = s.expectedPage(stmt)
	}
	return s.memory.Full(size, true)
}
