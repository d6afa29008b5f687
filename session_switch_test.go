// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vecql/vecql/internal/wire"
)

// This file holds a fake cluster without sockets: its connections are pipes in memory, so that it may run in a bubble of testing/synctest,
// where hours pass at once.

// switchCluster is a fakeCluster that is dialled through it.
type switchCluster struct {
	*fakeCluster
	down  []atomic.Bool // nodes that refuse
	dials []atomic.Int64
}

func newSwitchCluster(t testing.TB, version byte, n int) *switchCluster {
	t.Helper()
	c := &switchCluster{
		fakeCluster: &fakeCluster{t: t, version: version, port: 9042, prepared: map[string]preparedSpec{}, sent: map[string]int{}, prepares: map[string]int{}},
		down:        make([]atomic.Bool, n), dials: make([]atomic.Int64, n),
	}
	for i := range n {
		node := &fakeNode{
			cluster: c.fakeCluster, ip: fmt.Sprintf("10.0.0.%d", i+1), id: UUID{0xFA, byte(i + 1)}, token: fmt.Sprint(int64(i) << 60), schema: UUID{1},
		}
		node.server = &testServer{version: version, handle: node.handle}
		c.nodes = append(c.nodes, node)
	}
	c.peers = c.nodes
	return c
}

// DialContext implements Dialer.
func (c *switchCluster) DialContext(_ context.Context, _, addr string) (net.Conn, error) {
	for i, n := range c.nodes {
		if n.addr() != addr {
			continue
		}
		c.dials[i].Add(1)
		if c.down[i].Load() {
			return nil, &net.OpError{Op: "dial", Net: "pipe", Err: syscall.ECONNREFUSED}
		}
		ours, theirs := net.Pipe()
		n.server.wg.Go(func() { n.server.serve(theirs) })
		return ours, nil
	}
	return nil, &net.OpError{Op: "dial", Net: "pipe", Err: syscall.EHOSTUNREACH}
}

// session returns a session, which the caller closes.
func (c *switchCluster) session(change ...func(*ClusterConfig)) *Session {
	c.t.Helper()
	cfg := c.config()
	cfg.Dialer = c
	for _, f := range change {
		f(cfg)
	}
	s, err := cfg.CreateSession()
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// stop ends a node: it refuses, and its connections break.
func (c *switchCluster) stop(node int) {
	c.down[node].Store(true)
	c.nodes[node].server.stop()
}

// close ends all nodes.
func (c *switchCluster) close() {
	for i := range c.nodes {
		c.stop(i)
	}
}

// eventBody returns the body of an EVENT.
func eventBody(kind string, fields ...any) []byte {
	b := mustString(nil, kind)
	for _, f := range fields {
		switch f := f.(type) {
		case string:
			b = mustString(b, f)
		case net.IP: // an [inet] on port 9042
			b = append(b, byte(len(f)))
			b = wire.AppendInt(append(b, f...), 9042)
		}
	}
	return b
}

// push sends an EVENT over the connection on which the node was asked for events.
func (p *testPeer) push(body []byte) { p.reply(-1, opEvent, body) }

// awaitRegister returns the peer of the control connection, and the hook that finds it.
func registered(hook func(*fakeRequest) bool) (*atomic.Pointer[testPeer], func(*fakeRequest) bool) {
	var peer atomic.Pointer[testPeer]
	return &peer, func(r *fakeRequest) bool {
		if r.op == opRegister {
			peer.Store(r.peer)
		}
		return hook != nil && hook(r)
	}
}

// within waits until f is true, at most 5 s, and reports it.
func within(f func() bool) bool {
	for range 5000 {
		if f() {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}
