// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
)

// Log records of a session, and the addresses that it tries.

// logTo makes a session log to b, at every level. Read b when the session is closed.
func logTo(b *bytes.Buffer) func(*ClusterConfig) {
	return func(cfg *ClusterConfig) {
		cfg.Logger = slog.New(slog.NewJSONHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
}

// logged returns the records as "LEVEL message". It requires that each node is host:port.
func logged(t *testing.T, b *bytes.Buffer) []string {
	t.Helper()
	var list []string
	for d := json.NewDecoder(b); d.More(); {
		var record map[string]any
		require.NoError(t, d.Decode(&record))
		list = append(list, record["level"].(string)+" "+record["msg"].(string))
		if node, ok := record["node"]; ok {
			_, err := netip.ParseAddrPort(node.(string))
			require.NoError(t, err)
		}
		if id, ok := record["host_id"]; ok {
			_, err := cql.ParseUUID(id.(string))
			require.NoError(t, err)
		}
	}
	return list
}

func TestLogOfALostNode(t *testing.T) {
	var b bytes.Buffer
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c, logTo(&b))
		poolOf(s, c.Nodes[1]).pick().Close(conn.ErrClosed)
		time.Sleep(time.Minute)
		c.Nodes[1].Stop()
		time.Sleep(time.Minute)
		c.Nodes[1].Start()
		time.Sleep(time.Minute)
		s.Close()
	})
	require.Equal(t, []string{
		"WARN node lost", "INFO node reached again",
		"WARN node lost", "WARN node not reached", "INFO node reached again",
	}, logged(t, &b))
}

func TestLogOfTheControlConnection(t *testing.T) {
	var b bytes.Buffer
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c, logTo(&b))
		s.control.current().Close(conn.ErrClosed)
		time.Sleep(time.Minute)
		s.Close()
	})
	require.Equal(t, []string{"INFO control connection lost", "INFO control connection"}, logged(t, &b))
}

// TestCloseLogsNothing closes sessions while they connect, read the system tables, or look for a control connection.
func TestCloseLogsNothing(t *testing.T) {
	for wait := range 20 {
		var b bytes.Buffer
		bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
			c.On(func(r *fakecql.Request) bool { // answers take 1 ms of virtual time
				time.Sleep(time.Millisecond)
				return false
			})
			s := sessionOn(c, logTo(&b), func(cfg *ClusterConfig) { cfg.Pool.NumConns = 3 })
			if wait%2 == 0 {
				s.control.refreshSoon()
				time.Sleep(eventDelay)
			} else {
				s.control.take().Close(conn.ErrClosed)
				s.control.lostWake <- struct{}{}
			}
			time.Sleep(time.Duration(wait) * time.Millisecond / 2)
			s.Close()
		})
		require.NotContains(t, b.String(), "WARN")
	}
}

// TestContactsAreDistinct has a node that is connected and is a contact point as well.
func TestContactsAreDistinct(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		addrs, err := s.contacts(t.Context())
		require.NoError(t, err)
		require.ElementsMatch(t, []string{c.Nodes[0].Addr(), c.Nodes[1].Addr()}, addrs)
	})
}
