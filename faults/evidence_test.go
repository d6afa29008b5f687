// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"net"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/fakecql"
)

// Figures of the tests that have a load: `make evidence` prints them, a line for each case.

// evidence logs the figures of a case.
func evidence(t testing.TB, name, format string, args ...any) {
	t.Helper()
	t.Logf("evidence: %s: %s", name, fmt.Sprintf(format, args...))
}

// String returns the numbers of requests and failures, and the second in which the last request began that failed.
func (o *outcome) String() string {
	requests, last := 0, "none"
	for second, took := range o.took {
		requests += len(took)
		if o.failed[second] > 0 {
			last = fmt.Sprint(second)
		}
	}
	return fmt.Sprintf("%d requests, %d failures, second of the last one: %s", requests, len(o.errs), last)
}

// TestHalfDeadNode has one of three nodes half-dead for half a minute, with low and medium rates. Idempotent requests
// do not fail. A few others fail, those that were sent before the node was seen to lag.
func TestHalfDeadNode(t *testing.T) {
	faults := []struct {
		name   string
		change func(h *halfDead, cfg *vecql.ClusterConfig)
	}{
		{"trickle", func(h *halfDead, _ *vecql.ClusterConfig) {
			h.Wrap = func(n *fakecql.Node, client net.Conn) net.Conn {
				if n == h.Nodes[1] {
					return slowLine{client, &h.sick}
				}
				return client
			}
		}},
		{"OPTIONS only", func(h *halfDead, _ *vecql.ClusterConfig) {
			h.On(func(r *fakecql.Request) bool { return r.Node == h.Nodes[1] && h.sick.Load() })
		}},
		{"black hole", func(h *halfDead, _ *vecql.ClusterConfig) { h.pause() }},
	}
	for _, fault := range faults {
		for _, idempotent := range []bool{true, false} {
			for _, rate := range []int{30, 200} {
				name := fmt.Sprintf("%s, idempotent %v, %d requests/s", fault.name, idempotent, rate)
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						h := newHalfDead(t, func(h *halfDead, cfg *vecql.ClusterConfig) {
							cfg.Defaults.Idempotent = idempotent
							fault.change(h, cfg)
						})
						require.Empty(t, h.load(t, rate, 1).errs)
						h.sick.Store(true)
						if fault.name == "black hole" {
							h.Nodes[1].Change(func(n *fakecql.Node) { n.Silent = true })
						}
						o := h.load(t, rate, 30)
						evidence(t, name, "%v", o)
						h.sick.Store(false)
						close(h.well)
						if idempotent {
							require.Empty(t, o.errs)
							return
						}
						require.LessOrEqual(t, o.failed[0], 6, "two on each connection, and those of the first 10 ms")
						require.Len(t, o.errs, o.failed[0], "none fails after the first second")
					})
				})
			}
		}
	}
}
