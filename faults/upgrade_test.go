// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// Fault 53: a cluster that is being upgraded.

// oldNodes dials nodes. Some close connections of protocol v5.
type oldNodes struct {
	old     map[string]bool // by address
	refused atomic.Int32
}

func (o *oldNodes) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil || !o.old[addr] {
		return conn, err
	}
	return &oldNode{Conn: conn, of: o}, nil
}

type oldNode struct {
	net.Conn
	of *oldNodes
}

func (c *oldNode) Write(b []byte) (int, error) {
	if b[0] == 5 {
		c.of.refused.Add(1)
		return 0, errors.Join(c.Close(), net.ErrClosed)
	}
	return c.Conn.Write(b)
}

// TestFault53RollingUpgrade: a session starts while the nodes of a cluster are upgraded from Cassandra 3, at a node
// that speaks v5 already. All nodes must be connected, in the version that they share.
func TestFault53RollingUpgrade(t *testing.T) {
	for name, m := range map[string]struct {
		release string
		change  func(*vecql.ClusterConfig)
		version int
		up      int
	}{
		"Cassandra 3.11": {"3.11.19", nil, 4, 3},
		"Cassandra 4":    {"4.1.0-beta1", nil, 5, 3},
		"unknown":        {"", nil, 5, 3},
		"configured":     {"3.11.19", func(cfg *vecql.ClusterConfig) { cfg.Protocol.Version = 5 }, 5, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := cqlCluster(t, cqltest.Config{})
			dialer := &oldNodes{old: map[string]bool{}}
			hosts := c.Hosts()
			for _, host := range hosts[1:] {
				dialer.old[host] = strings.HasPrefix(m.release, "3")
			}
			c.EditSystem(func(n *cqltest.Node, table string, rows []cqltest.Row) []cqltest.Row {
				for _, row := range rows {
					if table == "peers_v2" || table == "local" && n != c.Node(0) {
						row["release_version"] = m.release
					}
				}
				return rows
			})
			s := cqlSession(t, c, func(cfg *vecql.ClusterConfig) {
				cfg.Hosts, cfg.Pool.Dialer = hosts[:1], dialer
				if m.change != nil {
					m.change(cfg)
				}
			})
			require.Equal(t, m.version, s.ProtoVersion())
			up := 0
			for _, h := range s.GetHosts() {
				if s.IsUp(h) {
					up++
				}
			}
			require.Equal(t, m.up, up)
			if m.version == 4 {
				require.Zero(t, dialer.refused.Load())
			}
		})
	}
}
