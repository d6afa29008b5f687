// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// This file holds fault 21: nodes that are restarted one after the other. Most other faults of the topology are in pool_test.go.

// TestFault21RollingRestart: six nodes are restarted in turn, while idempotent reads go on whose partitions have three replicas. None may
// fail, and every node must serve again after its return, though it has forgotten what was prepared.
func TestFault21RollingRestart(t *testing.T) {
	const stmt, nodes, workers = "SELECT id FROM ks.t WHERE id = ?", 6, 12
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster(t, protoV5, nodes)
		columns := []ColumnInfo{col("id", tBigint)}
		c.prepare(stmt, preparedSpec{bind: columns, pk: []int{0}, result: columns, resultID: "m"})
		var mu sync.Mutex
		prepared, hits := map[*fakeNode]bool{}, map[*fakeNode]int{}
		c.on(func(r *fakeRequest) bool {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case strings.Contains(r.stmt, "FROM system_schema.keyspaces"):
				options := NewMapType(tText, tText)
				r.rows(fakeResult{columns: []ColumnInfo{col("keyspace_name", tText), col("replication", options)}, cells: [][]byte{
					cellOf(tText, "ks"), cellOf(options, map[string]string{"class": "SimpleStrategy", "replication_factor": "3"}),
				}})
			case r.op == opPrepare:
				prepared[r.node] = true
				return false
			case r.op == opExecute && !prepared[r.node]:
				r.unprepared(statementID(stmt))
			case r.op == opExecute:
				hits[r.node]++
				res := fakeResult{columns: columns, cells: r.values}
				time.AfterFunc(5*time.Millisecond, func() { r.rows(res) }) // many are under way when a node goes away
			default:
				return false
			}
			return true
		})
		s := c.session(func(cfg *ClusterConfig) { cfg.DefaultIdempotence = true })
		time.Sleep(time.Second)
		ctx, cancel := context.WithCancel(context.Background())
		var done, failed atomic.Int64
		var load sync.WaitGroup
		for w := range workers {
			load.Go(func() {
				for key := int64(w); ctx.Err() == nil; key += workers {
					var got int64
					if err := s.Query(stmt, key).Scan(&got); err != nil || got != key {
						failed.Add(1)
						t.Errorf("read of %d: got %d, %v", key, got, err)
						return
					}
					done.Add(1)
					time.Sleep(time.Duration(key%11) * time.Millisecond)
				}
			})
		}
		for _, n := range c.nodes {
			time.Sleep(time.Second/4 + 333*time.Microsecond)
			n.stop()
			mu.Lock()
			prepared[n] = false
			mu.Unlock()
			before := done.Load()
			time.Sleep(time.Second)
			require.Greater(t, done.Load()-before, int64(workers*40), "the others serve")
			mu.Lock()
			hits[n] = 0
			mu.Unlock()
			n.start()
			c.event(eventStatus, "UP", n.inet())
			began := time.Now()
			require.True(t, within(func() bool {
				mu.Lock()
				defer mu.Unlock()
				return hits[n] > 100
			}), "%s serves again", n.ip)
			require.Less(t, time.Since(began), 3*time.Second)
		}
		cancel()
		load.Wait()
		require.Zero(t, failed.Load())
		t.Logf("%d reads, %d attempts that were repeated", done.Load(), s.Stats().Retries)
		require.Positive(t, s.Stats().Retries, "some were under way")
	})
}
