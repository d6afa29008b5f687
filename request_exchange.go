// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"time"

	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/frame"
)

// One attempt of a call on one connection.

// attempt makes one attempt and reports it; before is the number of attempts before it. made is false if throttle or
// memory budget did not admit it. It releases the throttle and the memory in flight first, because an observer may
// itself send requests.
func (s *sender) attempt(ctx context.Context, link *conn.Conn, n *node, c *call, before int) (made bool, err error) {
	var acquired int64
	if s.throttle != nil || s.memory != nil {
		if acquired, err = s.admitAttempt(ctx, c); err != nil {
			return false, err
		}
	}
	if before > 0 {
		c.req.Began = time.Now()
	}
	began := c.req.Began
	if c.isOutdated() {
		err = &conn.NotSentError{Err: ErrStatementChanged}
	} else if err = s.exchange(ctx, link, c); err != nil {
		err = s.prepareAndSend(ctx, link, c, err)
	}
	if s.throttle != nil {
		s.throttle.Release()
	}
	if s.memory != nil {
		s.releaseMemory(c, acquired, err)
	}
	stripe := s.counters.of(c.stripe)
	stripe.bytesOut.Add(uint64(len(c.req.Body.B)))
	if err == nil {
		stripe.bytesIn.Add(uint64(len(c.answer.resp.Body.B)))
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
func (s *sender) admitAttempt(ctx context.Context, c *call) (acquired int64, err error) {
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
		c.req.Began = time.Now()
	}
	return acquired, nil
}

// observe passes an attempt to the observer.
func (c *call) observe(ctx context.Context, s *sender, n *node, began time.Time, err error) {
	c.observer.record(ctx, s.core, attemptRecord{
		node: n, began: began, ended: time.Now(), rows: c.answer.res.Rows.RowCount, err: err,
	})
}

// timeout returns the timeout of an attempt. 0 means that only ctx bounds it.
func (c *call) timeout(ctx context.Context, def time.Duration) time.Duration {
	if c.req.Timeout > 0 {
		return c.req.Timeout
	}
	if _, ok := ctx.Deadline(); ok {
		return 0
	}
	return def
}

// within returns the context that bounds the call as a whole. The caller calls end after the answer. def is the bound
// of each attempt that has no other, also under the new deadline.
func (c *call) within(ctx context.Context, def time.Duration) (_ context.Context, end context.CancelFunc) {
	total := c.policies.total
	if total == 0 {
		return ctx, func() {}
	}
	c.req.Timeout = c.timeout(ctx, def)
	return context.WithTimeout(ctx, total)
}

// exchange sends a request on a connection and parses the response into c.answer, which must be zero.
func (s *sender) exchange(ctx context.Context, conn *conn.Conn, c *call) error {
	a := c.answer
	var err error
	if s.hook != nil {
		err = s.observeExchange(ctx, conn, c)
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
		a.resp.Body.Release()
		*a = answer{}
	} else if a.env.Payload != nil {
		s.storeTablet(s.topo.Load(), c, a.env.Payload)
	}
	return err
}

// transmit sends the call on a connection in the encoding of the connection. It stores the response in c.answer.
func (s *sender) transmit(ctx context.Context, conn *conn.Conn, c *call) error {
	f := &conn.Features
	translate := c.encoding.hasID != f.MetadataID
	if c.req.Op != frame.OpExecute || !translate && !f.TabletsV2 {
		return conn.Call(ctx, &c.req, &c.answer.resp)
	}
	return s.transmitCopy(ctx, conn, c, translate)
}

// transmitCopy sends a copy of the body: translated, or with a tablet block.
func (s *sender) transmitCopy(ctx context.Context, link *conn.Conn, c *call, translate bool) error {
	f := &link.Features
	req := c.req
	body, start := c.req.Body.B, c.encoding.message
	req.Body = conn.GetBuffer(len(body) + 3)
	defer req.Body.Release()
	req.Body.B = append(req.Body.B[:0], body[:start]...)
	var err error
	if translate {
		req.Body.B, err = frame.TranslateExecute(req.Body.B, body[start:], c.encoding.hasID, f.MetadataID)
	} else {
		req.Body.B = append(req.Body.B, body[start:]...)
	}
	if err != nil {
		return &conn.NotSentError{Err: err}
	}
	if f.TabletsV2 {
		req.Body.B = s.appendTabletBlock(req.Body.B, c)
	}
	return link.Call(ctx, &req, &c.answer.resp)
}
