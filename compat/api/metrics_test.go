// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
)

func TestMetricsAddTheAttemptsOfAllNodes(t *testing.T) {
	var m Metrics
	require.False(t, m.Used())
	require.Zero(t, m.Latency())
	before, of := m.Observe("a", 1, 10)
	require.Equal(t, 0, before)
	require.Equal(t, HostMetrics{1, 10}, of)
	before, of = m.Observe("b", 2, 20)
	require.Equal(t, 1, before)
	require.Equal(t, HostMetrics{2, 20}, of)
	before, of = m.Observe("a", 1, 30)
	require.Equal(t, 3, before)
	require.Equal(t, HostMetrics{2, 40}, of)
	for range 2 { // an unknown node has no sum
		_, of = m.Observe("", 1, 5)
		require.Equal(t, HostMetrics{1, 5}, of)
	}
	m.Count(3, 29)
	require.Equal(t, 9, m.Attempts())
	require.EqualValues(t, 11, m.Latency(), "99 ns in 9 attempts")
	require.True(t, m.Used())

	m.Reset()
	require.Zero(t, m.Attempts())
	require.Zero(t, m.Latency())
	require.True(t, m.Used(), "the query was executed before")
	_, of = m.Observe("a", 1, 1)
	require.Equal(t, HostMetrics{1, 1}, of)
}

func TestQueryIsUsedOnceItWasExecutedOrRouted(t *testing.T) {
	var m Metrics
	m.Reset()
	require.False(t, m.Used())
	m.Use()
	require.True(t, m.Used())
	m.Reset()
	require.True(t, m.Used())
}

func TestMetricsOfALiteralAreEmpty(t *testing.T) {
	var c counted[host]
	require.False(t, c.metrics.Used())
	require.Zero(t, c.Attempts())
	require.Zero(t, c.Latency())
	c.Cancel()
}

func TestProgramAddsAttempts(t *testing.T) {
	c := counted[host]{&Metrics{}}
	h := newHost(HostRecord{Connect: net.IPv4(10, 0, 0, 1), PortNumber: 9042})
	require.Equal(t, "10.0.0.1:9042", AddressOf(h))
	require.Empty(t, AddressOf[host](nil))
	c.AddAttempts(2, h)
	c.AddLatency(30, h)
	require.Equal(t, 2, c.Attempts())
	require.EqualValues(t, 15, c.Latency())
	_, of := c.metrics.Observe("10.0.0.1:9042", 1, 1)
	require.Equal(t, HostMetrics{3, 31}, of)
	c.AddAttempts(1, nil)
	require.Equal(t, 4, c.Attempts())
}

func TestMetricsOfANodeAreInNanoseconds(t *testing.T) {
	require.Equal(t, &HostMetrics{2, 3000}, NewHostMetrics(vecql.HostMetrics{Attempts: 2, TotalLatency: 3000}))
}
