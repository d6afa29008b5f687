// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/frame"
)

// TestUpHintsAreBounded: a peer announces more nodes than there can be, each of them twice.
func TestUpHintsAreBounded(t *testing.T) {
	hints := 0
	c := &control{onEvent: func(any) { hints++ }, refreshWake: make(chan struct{}, 1)}
	announce := func() {
		for i := range 2 * maxUpHints {
			addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 9042)
			c.event(frame.StatusEvent{Change: "UP", Addr: addr})
			c.event(frame.StatusEvent{Change: "UP", Addr: addr})
		}
	}
	for n := 1; n <= 2; n++ {
		announce()
		require.Equal(t, n*maxUpHints, hints)
		due := c.takeDue()
		require.True(t, due.view)
		require.Len(t, due.up, maxUpHints)
	}
}

// TestUpIsReportedTwice: an UP event is reported at once, and again after the view that may have a new node.
func TestUpIsReportedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		views := 0
		var reports []int // views read before
		c := &control{
			refresh: time.Hour, timeout: time.Minute, conn: &conn.Conn{},
			lostWake: make(chan struct{}, 1), refreshWake: make(chan struct{}, 1),
			readView: func(context.Context, *conn.Conn) (clusterView, error) {
				mu.Lock()
				defer mu.Unlock()
				views++
				return clusterView{}, nil
			},
			admit:  func(*clusterView) error { return nil },
			onView: func(clusterView) {},
			onEvent: func(any) {
				mu.Lock()
				defer mu.Unlock()
				reports = append(reports, views)
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		c.wg.Add(1)
		go c.run(ctx)
		up := frame.StatusEvent{Change: "UP", Addr: netip.MustParseAddrPort("10.0.0.1:9042")}
		for range 3 {
			c.event(up)
		}
		time.Sleep(2 * eventDelay)
		c.event(up)
		time.Sleep(2 * eventDelay)
		cancel()
		c.wg.Wait()
		require.Equal(t, []int{0, 1, 1, 2}, reports)
	})
}

// TestViewsReportChanges: a view with another schema version than the last one reports that something has changed. A
// new connection reports that something may have changed.
func TestViewsReportChanges(t *testing.T) {
	var events []frame.SchemaEvent
	settled := 0
	c := &control{
		onView: func(clusterView) {}, onSchema: func(e frame.SchemaEvent) { events = append(events, e) }, settled: func() { settled++ },
	}
	one, two := clusterView{schema: cql.UUID{1}}, clusterView{schema: cql.UUID{2}}
	c.gotView(one, true)
	c.gotView(one, true)
	c.gotView(one, false)
	c.gotView(two, false)
	c.heard = true // the event of the change has arrived
	c.gotView(one, false)
	changed := frame.SchemaEvent{Change: "UPDATED"}
	require.Equal(t, []frame.SchemaEvent{changed, {}, changed}, events)
	require.Equal(t, len(events), settled)
}

// TestEventsLost reads view and schema again after events were lost.
func TestEventsLost(t *testing.T) {
	var changes []frame.SchemaEvent
	c := &control{onSchema: func(e frame.SchemaEvent) { changes = append(changes, e) }, refreshWake: make(chan struct{}, 1)}
	c.event(conn.EventsLost{})
	require.Equal(t, []frame.SchemaEvent{{}}, changes, "anything may have changed")
	require.True(t, c.takeDue().view)
	require.Len(t, c.refreshWake, 1)
}

// TestTimeoutOfCall returns the timeout of the request, else none if the context has a deadline, else the default.
func TestTimeoutOfCall(t *testing.T) {
	bounded, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	c := &call{}
	require.Equal(t, 3*time.Second, c.timeout(t.Context(), 3*time.Second))
	require.Zero(t, c.timeout(bounded, 3*time.Second))
	c.req.Timeout = time.Minute
	require.Equal(t, time.Minute, c.timeout(bounded, 3*time.Second))

	// An attempt after a silent connection has what is left of the time.
	c.req.Began = time.Now().Add(-45 * time.Second)
	c.spend(t.Context(), time.Hour)
	require.InDelta(t, 15, c.req.Timeout.Seconds(), 10)
	c.req.Began = time.Now().Add(-time.Hour)
	c.spend(t.Context(), time.Hour)
	require.Equal(t, conn.TickInterval, c.req.Timeout)
}
