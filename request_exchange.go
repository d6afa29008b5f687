// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"time"

	"github.com/vecql/vecql/internal/frame"
)

// One attempt of a call on one connection.

// attempt makes one attempt and reports it; before is the number of attempts before it. made is false if throttle or
// memory budget did not admit it. It releases the throttle and the memory in flight first, because an observer may
// itself send requests.
func (s *Session) attempt(ctx context.Context, conn *conn, n *node, c *call, before int) (made bool, err error) {
	var acquired int64
	if s.throttle != nil || s.memory != nil {
		if acquired, err = s.admitAttempt(ctx, c); err != nil {
			return false, err
		}
	}
	if before > 0 {
		c.req.began = time.Now()
	}
	began := c.req.began
	if c.isOutdated() {
		err = &notSentError{ErrStatementChanged}
	} else if err = s.exchange(ctx, conn, c); err != nil {
		err = s.prepareAndSend(ctx, conn, c, err)
	}
	if s.throttle != nil {
		s.throttle.Release()
	}
	if s.memory != nil {
		s.releaseMemory(c, acquired, err)
	}
	stripe := s.counters.of(c)
	stripe.bytesOut.Add(uint64(len(c.req.body.b)))
	if err == nil {
		stripe.bytesIn.Add(uint64(len(c.answer.body.b)))
		c.answer.node, c.answer.attempts = n, before+1
	} else {
		s.counters.errors[ErrorClassOf(err)].Add(1)
	}
	if c.observer != nil {
		c.observe(ctx, s, n, began, err)
	}
	return true, err
}

// admitAttempt waits until memory budget and throttle admit the attempt. It returns the memory acquired. The budget is
// first: a request that waits for pages of the program must not occupy a place of the throttle.
func (s *Session) admitAttempt(ctx context.Context, c *call) (acquired int64, err error) {
	var waited, throttled bool
	if s.memory != nil {
		acquired, waited, err = s.acquireMemory(ctx, c)
	}
	if err == nil && s.throttle != nil {
		throttled, err = s.throttle.Acquire(ctx, c.timeout(ctx, s.cfg.Timeout))
		if err != nil && s.memory != nil {
			s.memory.Release(acquired)
		}
	}
	if err != nil {
		s.counters.errors[ErrorClassOf(err)].Add(1)
		return 0, err
	}
	if waited || throttled {
		c.req.began = time.Now()
	}
	return acquired, nil
}

// observe passes an attempt to the observer.
func (c *call) observe(ctx context.Context, s *Session, n *node, began time.Time, err error) {
	c.observer.record(ctx, s, attemptRecord{
		node: n, began: began, ended: time.Now(), rows: c.answer.res.Rows.RowCount, err: err,
	})
}

// timeout returns the timeout of an attempt. 0 means that only ctx bounds it.
func (c *call) timeout(ctx context.Context, def time.Duration) time.Duration {
	if c.req.timeout > 0 {
		return c.req.timeout
	}
	if _, ok := ctx.Deadline(); ok {
		return 0
	}
	return def
}

// exchange sends a request on a connection and parses the response into c.answer, which must be zero.
func (s *Session) exchange(ctx context.Context, conn *conn, c *call) error {
	a := c.answer
	var err error
	if s.observesStreams() {
		err = s.observeStream(ctx, conn, c)
	} else {
		err = s.transmit(ctx, conn, c)
	}
	if err != nil {
		return err
	}
	if err = a.parse(c, conn); err == nil && a.res.Kind == frame.ResultRows {
		err = a.useMetadata(c)
	}
	if err != nil {
		a.body.release()
		*a = answer{}
	} else if a.env.Payload != nil {
		s.storeTablet(s.topo.Load(), c, a.env.Payload)
	}
	return err
}

// transmit sends the call on a connection in the encoding of the connection. It stores the response in c.answer.
func (s *Session) transmit(ctx context.Context, conn *conn, c *call) error {
	f := &conn.features
	translate := c.encoding.hasID != f.metadataID
	if c.req.op != frame.OpExecute || !translate && !f.tabletsV2 {
		return conn.call(ctx, &c.req, &c.answer.response)
	}
	return s.transmitCopy(ctx, conn, c, translate)
}

// transmitCopy sends a copy of the body: translated, or with a tablet block.
func (s *Session) transmitCopy(ctx context.Context, conn *conn, c *call, translate bool) error {
	f := &conn.features
	req := c.req
	body, start := c.req.body.b, c.encoding.message
	req.body = getBuffer(len(body) + 3)
	defer req.body.release()
	req.body.b = append(req.body.b[:0], body[:start]...)
	var err error
	if translate {
		req.body.b, err = frame.TranslateExecute(req.body.b, body[start:], c.encoding.hasID, f.metadataID)
	} else {
		req.body.b = append(req.body.b, body[start:]...)
	}
	if err != nil {
		return &notSentError{err: err}
	}
	if f.tabletsV2 {
		req.body.b = s.appendTabletBlock(req.body.b, c)
	}
	return conn.call(ctx, &req, &c.answer.response)
}
