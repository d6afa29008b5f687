// SPDX-License-Identifier: Apache-2.0

package behavior

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vecql/vecql/cqltest"
)

// The calls of a HostSelectionPolicy of the program.

// recorder is a HostSelectionPolicy that records its calls.
type recorder struct {
	hostPolicy
	mu    sync.Mutex
	calls []string
}

func (r *recorder) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, fmt.Sprintf(format, args...))
}

func (r *recorder) Init(s *session)            { r.add("Init %v", s != nil); r.hostPolicy.Init(s) }
func (r *recorder) SetPartitioner(name string) { r.add("SetPartitioner %s", name) }
func (r *recorder) AddHost(h *hostInfo)        { r.add("AddHost %v", h.IsUp()); r.hostPolicy.AddHost(h) }
func (r *recorder) RemoveHost(h *hostInfo)     { r.add("RemoveHost"); r.hostPolicy.RemoveHost(h) }
func (r *recorder) HostUp(h *hostInfo)         { r.add("HostUp %v", h.IsUp()); r.hostPolicy.HostUp(h) }
func (r *recorder) HostDown(h *hostInfo)       { r.add("HostDown"); r.hostPolicy.HostDown(h) }
func (r *recorder) KeyspaceChanged(e keyspaceEvent) {
	r.add("KeyspaceChanged %s %q", e.Keyspace, e.Change)
}

// Pick records the statement's keyspace and table.
func (r *recorder) Pick(q executableQuery) nextHost {
	key, err := q.GetRoutingKey()
	r.add("Pick %s %q %v", q.Keyspace(), key, err)
	return r.hostPolicy.Pick(q)
}

// take returns the calls since the last take, equal ones as one with their number. Calls of connections come in any
// order, so the calls are sorted.
func (r *recorder) take(wait time.Duration) string {
	time.Sleep(wait)
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := map[string]int{}
	for _, call := range r.calls {
		counts[call]++
	}
	first := ""
	if len(r.calls) > 0 {
		first = r.calls[0]
	}
	var lines []string
	for call, n := range counts {
		lines = append(lines, fmt.Sprintf("%s ×%d", call, n))
	}
	slices.Sort(lines)
	r.calls = nil
	return "first " + first + ": " + strings.Join(lines, ", ")
}

// bulk is a recorder that takes all hosts at once.
type bulk struct{ *recorder }

// AddHosts is called in place of AddHost.
func (b bulk) AddHosts(hosts []*hostInfo) {
	b.add("AddHosts %d", len(hosts))
	for _, h := range hosts {
		b.hostPolicy.AddHost(h)
	}
}

const settled = 700 * time.Millisecond

func TestPolicyOfTheProgram(t *testing.T) {
	start := func(keyspace string, wrap func(*recorder) hostPolicy) (*cqltest.Cluster, *session, *recorder) {
		c, r := cluster(t, 3), &recorder{hostPolicy: roundRobin()}
		s := open(t, c, func(cfg *clusterConfig) {
			cfg.Keyspace = keyspace
			cfg.PoolConfig.HostSelectionPolicy = wrap(r)
		})
		return c, s, r
	}
	plain := func(r *recorder) hostPolicy { return r }
	compare(t, []scenario{
		{"start", func() string { _, _, r := start("shop", plain); return r.take(settled) }},
		{"start without a keyspace", func() string { _, _, r := start("", plain); return r.take(settled) }},
		{"start with AddHosts", func() string {
			_, _, r := start("shop", func(r *recorder) hostPolicy { return bulk{r} })
			return r.take(settled)
		}},
		{"hosts at the first request", func() string {
			_, s, r := start("shop", plain)
			err := s.Query("SELECT id FROM items").Exec()
			return kind(err) + fmt.Sprint(strings.Contains(r.take(0), "HostUp"))
		}},
		{"a request", func() string {
			_, s, r := start("shop", plain)
			err := s.Query(insert, 1, "a").Exec()
			r.take(settled)
			err2 := s.Query(insert, 1, "a").Exec()
			return kind(err) + kind(err2) + r.take(0)
		}},
		{"a change of the schema", func() string {
			c, s, r := start("shop", plain)
			r.take(settled)
			if err := c.Exec("CREATE KEYSPACE more WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"); err != nil {
				return err.Error()
			}
			got := r.take(3 * settled)
			if err := c.Exec("CREATE TABLE shop.more (id int PRIMARY KEY)"); err != nil {
				return err.Error()
			}
			return got + r.take(3*settled) + fmt.Sprint(s.Closed())
		}},
	}, policyDifferences)
}
