// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vecql/vecql"
)

// blockOn makes requests of a text block until the returned channel is closed.
func blockOn(c *Cluster, text string) chan struct{} {
	release := make(chan struct{})
	c.Inject(Fault{Match: func(r Request) bool {
		if strings.Contains(r.Statement, text) {
			<-release
		}
		return false
	}})
	return release
}

// TestLongRequestDelaysNoOther requires that requests behind a long one of the same connection are answered meanwhile,
// and that fast requests keep their order.
func TestLongRequestDelaysNoOther(t *testing.T) {
	for _, version := range []byte{4, 5} {
		synctest.Test(t, func(t *testing.T) {
			c, _, n := fake(t)
			tc := connect(t, c, n, version)
			_ = tc.sock.SetDeadline(time.Time{})
			release := blockOn(c, "GET")
			var slow []int16
			for range 3 {
				slow = append(slow, tc.send(OpQuery, 0, tc.queryBody("GET ?", "k")))
			}
			began := time.Now()
			require.Equal(t, OpSupported, tc.call(OpOptions, 0, nil).op)
			require.Less(t, time.Since(began), time.Second)
			var fast []int16
			for range 20 {
				fast = append(fast, tc.send(OpQuery, 0, tc.queryBody("LIST")))
			}
			for _, stream := range fast {
				require.Equal(t, stream, tc.read().stream)
			}
			close(release)
			var got []int16
			for range slow {
				got = append(got, tc.read().stream)
			}
			require.ElementsMatch(t, slow, got)
			require.Equal(t, OpResult, tc.query("LIST").op)
		})
	}
}

// TestLongRequestsAreBounded requires that a connection with very many long requests reads no more, and continues after
// them; and that a message which changes the connection waits for the long requests.
func TestLongRequestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, n := fake(t)
		tc := connect(t, c, n, 4)
		_ = tc.sock.SetDeadline(time.Time{})
		answered := make(chan Opcode, 2*maxLong)
		for _, m := range []struct {
			long int
			op   Opcode
			body []byte
			want bool // answered before the long requests
		}{
			{maxLong, OpOptions, nil, true},
			{maxLong + 1, OpOptions, nil, false},
			{1, OpRegister, appendString(appendShort(nil, 1), "SCHEMA_CHANGE"), false},
		} {
			release := blockOn(c, "GET")
			for range m.long {
				tc.send(OpQuery, 0, tc.queryBody("GET ?", "k"))
			}
			tc.send(m.op, 0, m.body)
			go func() {
				for range m.long + 1 {
					answered <- tc.read().op
				}
			}()
			time.Sleep(time.Hour)
			require.Len(t, answered, map[bool]int{true: 1}[m.want])
			close(release)
			for range m.long + 1 {
				require.NotEqual(t, OpError, <-answered)
			}
			c.ClearFaults()
		}
	})
}

// TestLongRequestEndsWithItsConnection requires that a connection which ends while a request runs leaves nothing.
func TestLongRequestEndsWithItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, n := fake(t)
		tc := connect(t, c, n, 4)
		release := blockOn(c, "GET")
		tc.send(OpQuery, 0, tc.queryBody("GET ?", "k"))
		time.Sleep(time.Second)
		require.NoError(t, tc.sock.Close())
		synctest.Wait()
		require.Empty(t, n.Conns())
		close(release)
		synctest.Wait()
		began := time.Now()
		time.Sleep(time.Hour)
		require.Equal(t, time.Hour, time.Since(began))
	})
}

// TestLongStatementKeepsItsConnection requires that the connection of a driver outlives a statement that takes longer
// than its heartbeat may take.
func TestLongStatementKeepsItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := Start(Config{Network: InMemory, Nodes: 1})
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
			CREATE TABLE ks.t (k int PRIMARY KEY)`))
		cfg := clusterConfig(c)
		cfg.Pool.NumConns, cfg.Timeout, cfg.Pool.HeartbeatInterval = 1, time.Hour, time.Second
		s, err := vecql.NewSession(t.Context(), *cfg)
		require.NoError(t, err)
		defer s.Close()
		c.Inject(Fault{Op: OpExecute, Statement: "INSERT", Match: func(Request) bool {
			time.Sleep(time.Minute)
			return false
		}})
		require.NoError(t, s.Query("INSERT INTO ks.t (k) VALUES (1)").Exec(t.Context()))
		require.Empty(t, s.Stats().ConnectionsEnded)
	})
}
