// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/internal/token"
)

// load reads and writes one table until it is stopped, with the statements of the README: SELECTs are plain, INSERTs of
// every second writer are marked as idempotent. It records acknowledged writes and the time of each read.
type load struct {
	session    *vecql.Session
	table      string
	idempotent bool // all writes

	mu      sync.Mutex
	written map[int]int // key -> last acknowledged value
	reads   []timedRead
	errs    []error
	refused int   // writes that failed
	refusal error // the last of them

	stop chan struct{}
	wg   sync.WaitGroup
}

type timedRead struct {
	at   time.Time
	took time.Duration
}

const loadKeys = 4096

func startLoad(s *vecql.Session, table string, writers, readers int) *load {
	return (&load{session: s, table: table}).start(writers, readers)
}

// startIdempotentLoad is startLoad with all writes marked as idempotent.
func startIdempotentLoad(s *vecql.Session, table string, writers, readers int) *load {
	return (&load{session: s, table: table, idempotent: true}).start(writers, readers)
}

func (l *load) start(writers, readers int) *load {
	l.written, l.stop = map[int]int{}, make(chan struct{})
	for w := range writers {
		l.wg.Go(func() { l.write(w, writers) })
	}
	for r := range readers {
		l.wg.Go(func() { l.read(r) })
	}
	return l
}

func (l *load) stopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// write writes increasing values to its keys. If a write fails, the next one follows; only acknowledged writes count.
func (l *load) write(w, writers int) {
	stmt := fmt.Sprintf("INSERT INTO %s (k, v) VALUES (?, ?)", l.table)
	for n := 1; !l.stopped(); n++ {
		for k := w; k < loadKeys && !l.stopped(); k += writers {
			err := l.session.Query(stmt, k, n).Idempotent(l.idempotent || w%2 == 0).Exec(context.Background())
			l.mu.Lock()
			if err == nil {
				l.written[k] = n
			} else {
				l.refused++
				l.refusal = err
			}
			l.mu.Unlock()
		}
	}
}

// read reads written keys. No read may fail or return a value older than the last acknowledged one.
func (l *load) read(r int) {
	stmt := fmt.Sprintf("SELECT v FROM %s WHERE k = ?", l.table)
	for k := r * 31; !l.stopped(); k++ {
		key := k % loadKeys
		l.mu.Lock()
		want := l.written[key]
		l.mu.Unlock()
		if want == 0 {
			time.Sleep(time.Millisecond)
			continue
		}
		var got int
		began := time.Now()
		err := l.session.Query(stmt, key).Scan(context.Background(), &got)
		took := time.Since(began)
		l.mu.Lock()
		l.reads = append(l.reads, timedRead{began, took})
		if err != nil {
			l.errs = append(l.errs, fmt.Errorf("read key %d at %v, took %v: %w", key, began.Format(time.TimeOnly), took, err))
		} else if got < want {
			l.errs = append(l.errs, fmt.Errorf("read key %d: got value %d after %d was acknowledged", key, got, want))
		}
		l.mu.Unlock()
	}
}

func (l *load) readCount() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.reads)
}

// median returns the median time of the reads that began in [from, to).
func (l *load) median(from, to time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	var took []time.Duration
	for _, r := range l.reads {
		if !r.at.Before(from) && r.at.Before(to) {
			took = append(took, r.took)
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// TestRollingRestart kills (kill -9) and restarts each of three nodes in turn under load, with three replicas and
// default settings. No read may fail, no acknowledged write may be lost, and five seconds after a restart reads must be
// as fast as before. -count=5 runs the test five times on one cluster.
func TestRollingRestart(t *testing.T) {
	soak.Only(t)
	if external() != nil {
		t.Skip("VECQL_TEST_HOSTS is set: the test cannot kill its nodes")
	}
	cluster := start(t, threeNodes)
	cfg := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
	cfg.Protocol.Version = cassandra.Protocol()
	cfg.Logger = slog.New(slog.NewTextHandler(testWriter{t}, nil))
	s := connect(t, cfg)
	ks := keyspace(t, s, 3)
	table := ks + ".t"
	exec(t, s, "CREATE TABLE "+table+" (k int PRIMARY KEY, v int)")
	l := startLoad(s, table, 4, 4)
	require.Eventually(t, func() bool { return l.readCount() >= 2*loadKeys }, time.Minute, 10*time.Millisecond)
	time.Sleep(5 * time.Second) // let the servers warm up
	for i, node := range cluster.Nodes {
		before := l.median(time.Now().Add(-2*time.Second), time.Now())
		require.NoError(t, node.Kill())
		killed := time.Now()
		time.Sleep(3 * time.Second)
		require.NoError(t, node.Start(t.Context()))
		back := time.Now()
		id := hostIDAt(t, s, node.Addr())
		used := usedAgain(t, s, table, id)
		time.Sleep(time.Until(back.Add(7 * time.Second)))
		after := l.median(back.Add(5*time.Second), back.Add(7*time.Second))
		t.Logf("node %d: down for %v, served requests again %v after its restart; median read %v before, %v while down, %v after", i,
			back.Sub(killed).Round(time.Millisecond), used.Sub(back).Round(time.Millisecond), before, l.median(killed, back), after)
		require.Less(t, used.Sub(back), 5*time.Second, "the restarted node served no requests for 5 s")
		require.Less(t, after, 3*before+20*time.Millisecond, "reads are slower than before")
	}
	close(l.stop)
	l.wg.Wait()
	lost := 0
	for k, want := range l.written {
		var got int
		require.NoError(t, s.Query("SELECT v FROM "+table+" WHERE k = ?", k).Scan(t.Context(), &got))
		if got < want {
			lost++
		}
	}
	t.Logf("%d reads, %d of them failed or stale; %d keys written, %d of them lost; %d writes not acknowledged", len(l.reads), len(l.errs),
		len(l.written), lost, l.refused)
	require.Empty(t, l.errs)
	require.Zero(t, lost)
}

// hostIDAt returns the id of the host at addr.
func hostIDAt(t *testing.T, s *vecql.Session, addr string) string {
	t.Helper()
	for _, h := range s.GetHosts() {
		if h.Address.String() == addr {
			return h.ID.String()
		}
	}
	t.Fatalf("no host at %s", addr)
	return ""
}

// usedAgain blocks until a request goes to the host, and returns the time of that.
func usedAgain(t *testing.T, s *vecql.Session, table, id string) time.Time {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for k := 0; time.Now().Before(deadline); k++ {
		it := s.Query("SELECT v FROM "+table+" WHERE k = ?", k).Consistency(cql.One).Idempotent(true).Iter(t.Context())
		if it.Close() == nil && it.Host() != nil && it.Host().ID.String() == id {
			return time.Now()
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("host %s serves no requests", id)
	return time.Time{}
}

// TestTokenAware checks that requests go to the owner of their partition. Each partition has one replica on one of
// three nodes.
func TestTokenAware(t *testing.T) {
	soak.Only(t)
	if external() != nil {
		t.Skip("VECQL_TEST_HOSTS is set: the test needs three nodes")
	}
	start(t, threeNodes)
	s := connect(t, config(t, threeNodes))
	ks := keyspace(t, s, 1)
	exec(t, s, "CREATE TABLE "+ks+".t (k int PRIMARY KEY, v int)")
	var ring []int64
	owners := map[int64]cql.UUID{}
	for _, h := range s.GetHosts() {
		ring = append(ring, h.Tokens...)
		for _, tok := range h.Tokens {
			owners[tok] = h.ID
		}
	}
	slices.Sort(ring)
	const n = 5000
	var hits atomic.Int64
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for k := w; k < n; k += 8 {
				it := s.Query("SELECT v, token(k) FROM "+ks+".t WHERE k = ?", k).Consistency(cql.One).Iter(context.Background())
				if err := it.Close(); err != nil {
					t.Error(err)
					return
				}
				key, err := vecql.Marshal(cql.NewNativeType(5, cql.TypeInt, ""), k)
				if err != nil {
					t.Error(err)
					return
				}
				if owners[ring[token.Search(ring, token.Murmur3(key))]] == it.Host().ID {
					hits.Add(1)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d of %d requests went to the owner of their partition", hits.Load(), n)
	require.GreaterOrEqual(t, hits.Load(), int64(n*99/100))
}
