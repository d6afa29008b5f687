// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"net/netip"
	"time"

	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/hooks"
)

// The attempts of a call, as observers see them.

// observation reports the attempts of a call: to the observer of its query or batch, or to a speculation or a log,
// whose owner reports them later.
type observation struct {
	request     observed // the query or batch, with its observer, or
	observer    Observer
	speculation *speculation // of an execution on a goroutine other than the caller's, or
	log         *attemptLog  // of a PREPARE, which several calls may share
	n           int
	hosts       []hostSeen
}

// observed is a *Query or a *Batch.
type observed interface {
	// describe sets what the request knows of its attempts.
	describe(a *ObservedAttempt)
}

// hostSeen is the total of a request's attempts on one node.
type hostSeen struct {
	host    netip.AddrPort
	metrics HostMetrics
}

// attemptLog stores the attempts of a call.
type attemptLog []attemptRecord

// attemptRecord is the outcome of an attempt.
type attemptRecord struct {
	node         *node
	began, ended time.Time
	rows         int
	err          error
}

// record reports an attempt.
func (o *observation) record(ctx context.Context, s *core, a attemptRecord) {
	if o.speculation != nil {
		o.speculation.addRecord(a)
		return
	}
	if o.log != nil {
		*o.log = append(*o.log, a)
		return
	}
	seen := ObservedAttempt{
		Request: o.request, Start: a.began, End: a.ended, Rows: a.rows, Host: a.node.info, Metrics: o.count(a), Err: a.err,
		Attempt: o.n,
	}
	o.n++
	defer s.caught("observer")
	o.request.describe(&seen)
	o.observer(ctx, seen)
}

// count adds an attempt to the totals of its node and returns them.
func (o *observation) count(a attemptRecord) HostMetrics {
	i := 0
	for ; i < len(o.hosts) && o.hosts[i].host != a.node.info.Address; i++ {
	}
	if i == len(o.hosts) {
		o.hosts = append(o.hosts, hostSeen{host: a.node.info.Address})
	}
	m := &o.hosts[i].metrics
	m.Attempts++
	m.TotalLatency += a.ended.Sub(a.began)
	return *m
}

// observeExchange is transmit with the hook of the session.
func (s *sender) observeExchange(ctx context.Context, link *conn.Conn, c *call) error {
	ended := s.exchangeBegins(ctx, link)
	err := s.transmit(ctx, link, c)
	if ended == nil {
		return err
	}
	defer s.caught("observer")
	answer := hooks.Answer{Start: c.req.Began}
	if err == nil {
		answer.Header = &c.answer.resp.Header
	}
	ended(answer)
	return err
}

// exchangeBegins calls the hook of the session.
func (s *sender) exchangeBegins(ctx context.Context, link *conn.Conn) (ended func(hooks.Answer)) {
	defer s.caught("observer")
	return s.hook(ctx, s.hostAt(link.Addr()))
}
