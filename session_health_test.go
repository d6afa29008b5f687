// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/fakecql"
)

// Health of a session.

func TestReadyWaitsForNodes(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		c.Nodes[2].Stop()
		s := sessionOn(c)
		require.True(t, s.Health().Serving)
		require.False(t, s.Health().Ready)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := s.Ready(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Regexp(t, `^vecql: wait for the nodes: context deadline exceeded: node `+c.Nodes[2].Addr()+
			` is not connected \((waiting|connecting)\): .*refused$`, err.Error())
		go func() {
			time.Sleep(time.Minute)
			c.Nodes[2].Start()
		}()
		began := time.Now()
		require.NoError(t, s.Ready(t.Context()))
		require.GreaterOrEqual(t, time.Since(began), time.Minute)
		require.True(t, s.Health().Ready)
		c.Nodes[1].Stop()
		time.Sleep(time.Second)
		ended := make(chan error, 1)
		go func() { ended <- s.Ready(context.Background()) }()
		time.Sleep(time.Second)
		s.Close()
		require.ErrorIs(t, <-ended, ErrSessionClosed)
		require.ErrorIs(t, s.Ready(context.Background()), ErrSessionClosed)
		require.False(t, s.Health().Serving)
	})
}

func TestReadyWaitsForLocalNodesOnly(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		c.Nodes[1].DC = "far"
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.HostSelectionPolicy = DCAwarePolicy{DataCenter: "dc1"}
		})
		c.Nodes[1].Stop()
		time.Sleep(time.Second)
		require.NoError(t, s.Ready(t.Context()))
		h := s.Health()
		require.True(t, h.Ready)
		require.True(t, h.Nodes[0].Local)
		require.False(t, h.Nodes[1].Local)
		require.False(t, h.Nodes[1].Serving)
	})
}

func TestHealthOfSilentNodes(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		conn := poolOf(s, c.Nodes[1]).pick()
		conn.SetSilent(true)
		h := s.Health()
		require.Equal(t, 1, h.Nodes[1].Silent)
		require.False(t, h.Nodes[1].Serving)
		require.Contains(t, h.String(), "node "+c.Nodes[1].Addr()+" does not: silent")
		ended := make(chan error, 1)
		go func() { ended <- s.Ready(context.Background()) }()
		time.Sleep(time.Second)
		conn.SetSilent(false)
		require.NoError(t, <-ended)
	})
}

func TestHealthAsText(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Pool.ReconnectionPolicy = NoReconnectionPolicy{} })
		require.Equal(t, "2 of 2 nodes serve, control connection: "+c.Nodes[0].Addr(), s.Health().String())
		c.Nodes[1].Stop()
		time.Sleep(time.Second)
		h := s.Health()
		require.Regexp(t, `^1 of 2 nodes serve, control connection: `+c.Nodes[0].Addr()+`; node `+c.Nodes[1].Addr()+
			` does not: gave_up, .*refused$`, h.String())
		data, err := json.Marshal(h)
		require.NoError(t, err)
		var got map[string]any
		require.NoError(t, json.Unmarshal(data, &got))
		require.Equal(t, true, got["serving"])
		require.Equal(t, false, got["ready"])
		require.Equal(t, c.Nodes[0].Addr(), got["control"].(map[string]any)["node"])
		nodes := got["nodes"].([]any)
		require.NotContains(t, nodes[0], "last_error")
		down := nodes[1].(map[string]any)
		require.Equal(t, "gave_up", down["state"])
		require.Equal(t, c.Nodes[1].Addr(), down["node"])
		require.NotEmpty(t, down["last_error"])
		require.NotContains(t, down, "next_dial")
	})
}
