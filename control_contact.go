// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"time"

	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/stats"
)

// The choice of the node of the control connection: a staggered race of the contacts, as RFC 8305 has it for addresses.

// contactDelay is the wait for a contact before the next one is dialed as well. A silent contact costs no more.
const contactDelay = 250 * time.Millisecond

// contact is the outcome of an attempt to reach an address: an open connection and the cluster read from it, or an
// error.
type contact struct {
	addr string
	conn *conn.Conn
	view clusterView
	err  error
}

// connect dials the contacts in order, each at most contactDelay after the one before, until one responds, and reads
// the cluster from it. Each has c.timeout.
func (c *control) connect(ctx context.Context) error {
	addrs, err := c.contacts(ctx)
	if err != nil {
		return err
	}
	race, cancel := context.WithCancel(ctx)
	arrived := make(chan contact)
	running := 0
	defer func() {
		cancel()
		c.closeLosers(arrived, running)
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var errs []error
	for running > 0 || len(addrs) > 0 {
		select {
		case <-timer.C:
			if len(addrs) > 0 {
				addr := addrs[0]
				addrs, running = addrs[1:], running+1
				c.wg.Go(func() { arrived <- c.reachContact(race, addr) })
				timer.Reset(contactDelay)
			}
		case at := <-arrived:
			running--
			if at.err == nil {
				at.err = c.install(ctx, at)
			}
			if at.err == nil {
				return nil
			}
			errs = append(errs, errtext.Errorf("node %s: %w", at.addr, at.err))
			timer.Reset(0)
		case <-ctx.Done():
			return errtext.Join(append(errs, ctx.Err())...)
		}
	}
	return errtext.Join(errs...)
}

// closeLosers closes the connections of n attempts that are still under way.
func (c *control) closeLosers(arrived <-chan contact, n int) {
	if n == 0 {
		return
	}
	c.wg.Go(func() {
		for range n {
			if at := <-arrived; at.conn != nil {
				at.conn.Close(&conn.EndError{Cause: stats.EndControl, Err: errContactLost})
			}
		}
	})
}

// errContactLost closes the connection to a contact that responded after another one.
var errContactLost = errors.New("another contact point responded first")

// reachContact connects to an address and reads the cluster.
func (c *control) reachContact(ctx context.Context, addr string) contact {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	at := contact{addr: addr}
	if at.conn, at.err = c.dial(ctx, addr, c.event, c.closed); at.err != nil {
		return at
	}
	if at.view, at.err = c.readView(ctx, at.conn); at.err != nil {
		at.conn.Close(&conn.EndError{Cause: stats.EndControl, Err: at.err})
		at.conn = nil
	}
	return at
}

// install makes the connection the control connection and passes its view on. After an error it closes the connection.
func (c *control) install(ctx context.Context, at contact) error {
	err := c.admit(&at.view)
	if err == nil {
		err = ctx.Err() // the program's filter and policy may have been slow
	}
	if err != nil {
		at.conn.Close(&conn.EndError{Cause: stats.EndControl, Err: err})
		return err
	}
	c.mu.Lock()
	c.conn, c.last = at.conn, at.addr
	c.mu.Unlock()
	if at.conn.Closed() { // closed ignores a connection that is not stored yet
		c.closed(at.conn, conn.ErrClosed)
	}
	c.gotView(at.view, true)
	return nil
}
