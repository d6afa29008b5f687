// SPDX-License-Identifier: Apache-2.0

package semcache_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/search/semcache"
	"github.com/vecql/vecql/vector"
)

// config is the Config of most tests.
var config = semcache.Config{Table: "shop.answers", Model: "model-1", Dimension: 3}

// near has a cosine distance of 0.02 from prompt, far one of 0.4.
var prompt, near, far = []float32{1, 0, 0}, []float32{0.98, 0.199, 0}, []float32{0.6, 0.8, 0}

func newSession(t *testing.T) (*cqltest.Cluster, *vecql.Session) {
	t.Helper()
	return newServer(t, cqltest.Config{})
}

// newScylla starts a ScyllaDB with a service of vectors.
func newScylla(t *testing.T, store cqltest.VectorStore) (*cqltest.Cluster, *vecql.Session) {
	t.Helper()
	return newServer(t, cqltest.Config{Scylla: &cqltest.Scylla{VectorStore: &store}})
}

// onServers runs a test on each server.
func onServers(t *testing.T, test func(t *testing.T, cluster *cqltest.Cluster, session *vecql.Session)) {
	t.Run("Cassandra", func(t *testing.T) {
		cluster, session := newSession(t)
		test(t, cluster, session)
	})
	t.Run("ScyllaDB", func(t *testing.T) {
		cluster, session := newScylla(t, cqltest.VectorStore{})
		test(t, cluster, session)
	})
}

func newServer(t *testing.T, config cqltest.Config) (*cqltest.Cluster, *vecql.Session) {
	t.Helper()
	cluster := cqltest.New(t, config)
	require.NoError(t, cluster.Exec("CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3}"))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts(), Keyspace: "shop"})
	require.NoError(t, err)
	t.Cleanup(session.Close)
	return cluster, session
}

func open[V semcache.Value](t *testing.T, session *vecql.Session, c semcache.Config) *semcache.Cache[V] {
	t.Helper()
	require.NoError(t, semcache.Create(t.Context(), session, c))
	cache, err := semcache.Open[V](t.Context(), session, c)
	require.NoError(t, err)
	return cache
}

// requireHit requires the value of a lookup, "" for none.
func requireHit[V semcache.Value](t *testing.T, cache *semcache.Cache[V], embedding []float32, want V) semcache.Entry[V] {
	t.Helper()
	entry, ok, err := cache.Get(t.Context(), embedding)
	require.NoError(t, err)
	require.Equal(t, len(want) > 0, ok)
	require.Equal(t, want, entry.Value)
	return entry
}

func TestCache(t *testing.T) {
	onServers(t, func(t *testing.T, _ *cqltest.Cluster, session *vecql.Session) {
		cache := open[string](t, session, config)
		requireHit(t, cache, prompt, "")
		start := time.Now().Truncate(time.Millisecond)
		require.NoError(t, cache.Put(t.Context(), prompt, "blue"))

		equal := requireHit(t, cache, prompt, "blue")
		require.Equal(t, semcache.Key(prompt), equal.Key)
		require.Zero(t, equal.Distance)
		require.False(t, equal.Created.Before(start))
		require.True(t, equal.Expires.IsZero())
		close := requireHit(t, cache, near, "blue")
		require.InDelta(t, 0.02, close.Distance, 1e-3)
		require.Equal(t, equal.Key, close.Key)
		requireHit(t, cache, far, "")
		require.Equal(t, semcache.Stats{Hits: 2, Misses: 2}, cache.Stats())

		require.NoError(t, cache.Put(t.Context(), far, "red"))
		requireHit(t, cache, []float32{0.7, 0.7, 0}, "red")
		require.NoError(t, cache.Put(t.Context(), prompt, "green"))
		requireHit(t, cache, near, "green")
	})
}

// TestBytes stores bytes; a hit belongs to the caller.
func TestBytes(t *testing.T) {
	onServers(t, func(t *testing.T, _ *cqltest.Cluster, session *vecql.Session) {
		cache := open[[]byte](t, session, config)
		require.NoError(t, cache.Put(t.Context(), prompt, []byte{0, 255}))
		entry := requireHit(t, cache, near, []byte{0, 255})
		entry.Value[0] = 7
		requireHit(t, cache, near, []byte{0, 255})
		require.NoError(t, cache.Put(t.Context(), far, nil))
		empty, ok, err := cache.Get(t.Context(), far)
		require.NoError(t, err)
		require.True(t, ok)
		require.Empty(t, empty.Value)
	})
}

// TestModels keeps the models of one table apart.
func TestModels(t *testing.T) {
	onServers(t, func(t *testing.T, _ *cqltest.Cluster, session *vecql.Session) {
		one := open[string](t, session, config)
		other := config
		other.Model = "model-2"
		two := open[string](t, session, other)
		require.NoError(t, one.Put(t.Context(), prompt, "one"))
		requireHit(t, two, prompt, "")
		requireHit(t, two, near, "")
		require.NoError(t, two.Put(t.Context(), prompt, "two"))
		requireHit(t, one, near, "one")
		requireHit(t, two, near, "two")
	})
}

func TestThreshold(t *testing.T) {
	onServers(t, func(t *testing.T, _ *cqltest.Cluster, session *vecql.Session) {
		wide := config
		wide.Threshold = 0.5
		cache := open[string](t, session, wide)
		require.NoError(t, cache.Put(t.Context(), prompt, "blue"))
		requireHit(t, cache, far, "blue")
		strict := config
		strict.Threshold = 0.01
		requireHit(t, open[string](t, session, strict), near, "")
	})
}

// TestTTL lets rows expire. The index has no keys of rows that have expired: they would take the places of others.
func TestTTL(t *testing.T) {
	onServers(t, func(t *testing.T, cluster *cqltest.Cluster, session *vecql.Session) {
		limited := config
		limited.TTL = time.Hour
		cache := open[string](t, session, limited)
		require.NoError(t, cache.Put(t.Context(), prompt, "blue"))
		entry := requireHit(t, cache, near, "blue")
		require.Equal(t, time.Hour, entry.Expires.Sub(entry.Created))
		cluster.StepClock(59 * time.Minute)
		requireHit(t, cache, near, "blue")
		cluster.StepClock(2 * time.Minute)
		requireHit(t, cache, near, "")
		requireHit(t, cache, prompt, "")

		for i := range 20 {
			require.NoError(t, cache.Put(t.Context(), []float32{1, 0, float32(i+1) / 1000}, "old"))
		}
		cluster.StepClock(2 * time.Hour)
		require.NoError(t, open[string](t, session, config).Put(t.Context(), near, "new"))
		requireHit(t, cache, prompt, "new")
	})
}

// TestLag finds an entry by an equal embedding before the index has it.
func TestLag(t *testing.T) {
	cluster, session := newScylla(t, cqltest.VectorStore{Lag: time.Second})
	cache := open[string](t, session, config)
	require.NoError(t, cache.Put(t.Context(), prompt, "blue"))
	requireHit(t, cache, prompt, "blue")
	requireHit(t, cache, near, "")
	cluster.StepClock(2 * time.Second)
	requireHit(t, cache, near, "blue")
}

// TestNotReady looks values up by an index that is being built.
func TestNotReady(t *testing.T) {
	_, session := newScylla(t, cqltest.VectorStore{Build: time.Hour})
	tolerant := config
	var hidden error
	tolerant.OnError = func(err error) { hidden = err }
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	require.ErrorIs(t, semcache.Create(short, session, tolerant), context.DeadlineExceeded)
	cache, err := semcache.Open[string](t.Context(), session, tolerant)
	require.NoError(t, err)
	var waiting *search.IndexNotReadyError
	_, _, err = cache.Get(t.Context(), prompt)
	require.ErrorAs(t, err, &waiting)
	value, err := cache.Do(t.Context(), prompt, func(context.Context) (string, error) { return "blue", nil })
	require.NoError(t, err)
	require.Equal(t, "blue", value)
	require.ErrorAs(t, hidden, &waiting)
	requireHit(t, cache, prompt, "blue") // by its key
}

// TestExpired skips rows that the server has not removed yet, as on ScyllaDB.
func TestExpired(t *testing.T) {
	_, session := newSession(t)
	cache := open[string](t, session, config)
	require.NoError(t, cache.Put(t.Context(), prompt, "blue"))
	require.NoError(t, cache.Put(t.Context(), near, "green"))
	expire := "UPDATE answers SET expires = ? WHERE model = 'model-1' AND key = ?"
	require.NoError(t, session.Query(expire, time.Now().Add(-time.Second), semcache.Key(prompt)).Exec(t.Context()))
	requireHit(t, cache, prompt, "green")
	require.NoError(t, session.Query(expire, time.Now().Add(time.Hour), semcache.Key(prompt)).Exec(t.Context()))
	requireHit(t, cache, prompt, "blue")
}

func TestInvalidate(t *testing.T) {
	onServers(t, func(t *testing.T, _ *cqltest.Cluster, session *vecql.Session) {
		quorum := cql.Quorum
		strict := config
		strict.Consistency = &quorum
		cache := open[string](t, session, strict)
		other := config
		other.Model = "model-2"
		second := open[string](t, session, other)
		fill := func() {
			for i := range 100 {
				v := []float32{float32(i), 1, 1}
				require.NoError(t, cache.Put(t.Context(), v, "a"))
				require.NoError(t, second.Put(t.Context(), v, "b"))
			}
		}
		fill()
		v := []float32{50, 1, 1}
		require.NoError(t, cache.Invalidate(t.Context(), semcache.Key(v)))
		require.NoError(t, cache.Invalidate(t.Context(), "missing"))
		require.NotEqual(t, semcache.Key(v), requireHit(t, cache, v, "a").Key)
		require.Equal(t, semcache.Key(v), requireHit(t, second, v, "b").Key)

		require.NoError(t, cache.InvalidateModel(t.Context(), "model-1"))
		requireHit(t, cache, v, "")
		requireHit(t, second, v, "b")
		fill()
		require.NoError(t, cache.InvalidateAll(t.Context()))
		requireHit(t, cache, v, "")
		requireHit(t, second, v, "")
	})
}

// watched is a context that counts itself as seen when a call first waits for its end.
type watched struct {
	context.Context //nolint:containedctx // it is a context

	once sync.Once
	seen *atomic.Int64
}

func (w *watched) Done() <-chan struct{} {
	w.once.Do(func() { w.seen.Add(1) })
	return w.Context.Done()
}

// TestDo produces a value once for calls with equal embeddings.
func TestDo(t *testing.T) {
	_, session := newSession(t)
	cache := open[[]byte](t, session, config)
	const callers = 20
	entered, finish := make(chan struct{}), make(chan struct{})
	produced := 0
	var waiting atomic.Int64
	values := make([][]byte, callers)
	var wait sync.WaitGroup
	for i := range callers {
		wait.Go(func() {
			ctx := &watched{Context: t.Context(), seen: &waiting}
			value, err := cache.Do(ctx, prompt, func(context.Context) ([]byte, error) {
				produced++
				close(entered)
				<-finish
				return []byte("blue"), nil
			})
			if err == nil {
				values[i] = value
				value[0] = byte(i) // each caller has memory of its own
			}
		})
	}
	<-entered
	require.Eventually(t, func() bool { return waiting.Load() == callers }, time.Minute, time.Millisecond)
	close(finish)
	wait.Wait()
	require.Equal(t, 1, produced)
	for i, value := range values {
		require.Equal(t, append([]byte{byte(i)}, "lue"...), value)
	}
	require.Equal(t, semcache.Stats{Misses: 1, Shared: callers - 1}, cache.Stats())

	value, err := cache.Do(t.Context(), near, func(context.Context) ([]byte, error) { panic("not called") })
	require.NoError(t, err)
	require.Equal(t, "blue", string(value))
}

// TestDoFails returns the errors of the function as they are, and caches none.
func TestDoFails(t *testing.T) {
	_, session := newSession(t)
	cache := open[string](t, session, config)
	failure := errors.New("the model failed")
	_, err := cache.Do(t.Context(), prompt, func(context.Context) (string, error) { return "", failure })
	require.Equal(t, failure, err)
	require.PanicsWithValue(t, "boom", func() {
		_, _ = cache.Do(t.Context(), prompt, func(context.Context) (string, error) { panic("boom") })
	})
	value, err := cache.Do(t.Context(), prompt, func(context.Context) (string, error) { return "blue", nil })
	require.NoError(t, err)
	require.Equal(t, "blue", value)
}

// TestDoCanceled lets another caller produce the value when the first one is canceled.
func TestDoCanceled(t *testing.T) {
	_, session := newSession(t)
	cache := open[string](t, session, config)
	ctx, cancel := context.WithCancel(t.Context())
	entered := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		_, err := cache.Do(ctx, prompt, func(ctx context.Context) (string, error) {
			close(entered)
			<-ctx.Done()
			return "", ctx.Err()
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	<-entered
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err := cache.Do(gone, prompt, func(context.Context) (string, error) { panic("not called") })
	require.ErrorIs(t, err, context.Canceled)
	wait.Go(func() {
		value, err := cache.Do(t.Context(), prompt, func(context.Context) (string, error) { return "blue", nil })
		if value != "blue" || err != nil {
			t.Errorf("value %q, error %v", value, err)
		}
	})
	time.Sleep(20 * time.Millisecond)
	cancel()
	wait.Wait()
}

// TestDoAfterCancel stores a value although the context has ended meanwhile.
func TestDoAfterCancel(t *testing.T) {
	_, session := newSession(t)
	cache := open[string](t, session, config)
	ctx, cancel := context.WithCancel(t.Context())
	value, err := cache.Do(ctx, prompt, func(context.Context) (string, error) { cancel(); return "blue", nil })
	require.NoError(t, err)
	require.Equal(t, "blue", value)
	requireHit(t, cache, near, "blue")
}

// TestFailingCache calls the function without a cache if OnError is set.
func TestFailingCache(t *testing.T) {
	_, session := newSession(t)
	strict := open[string](t, session, config)
	var hidden []error
	tolerant := config
	tolerant.OnError = func(err error) { hidden = append(hidden, err) }
	tolerant.Timeout = 2 * time.Second
	cache := open[string](t, session, tolerant)
	session.Close()

	produce := func(context.Context) (string, error) { return "blue", nil }
	_, err := strict.Do(t.Context(), prompt, produce)
	var failure *semcache.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "get", failure.Op)
	require.ErrorIs(t, err, vecql.ErrSessionClosed)
	require.EqualValues(t, 1, strict.Stats().Failures)

	value, err := cache.Do(t.Context(), prompt, produce)
	require.NoError(t, err)
	require.Equal(t, "blue", value)
	require.Len(t, hidden, 2)
	require.ErrorAs(t, hidden[0], &failure)
	require.Equal(t, "get", failure.Op)
	require.ErrorAs(t, hidden[1], &failure)
	require.Equal(t, "put", failure.Op)
	require.EqualValues(t, 2, cache.Stats().Failures)
}

// TestPutFails returns a value that could not be stored, beside the error.
func TestPutFails(t *testing.T) {
	_, session := newSession(t)
	cache := open[string](t, session, config)
	value, err := cache.Do(t.Context(), prompt, func(context.Context) (string, error) { session.Close(); return "blue", nil })
	require.Equal(t, "blue", value)
	var failure *semcache.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "put", failure.Op)
}

// TestTimeout ends a lookup that takes too long.
func TestTimeout(t *testing.T) {
	_, session := newSession(t)
	short := config
	short.Timeout = time.Nanosecond
	cache := open[string](t, session, short)
	_, _, err := cache.Get(t.Context(), prompt)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, cache.Put(t.Context(), prompt, "blue"), context.DeadlineExceeded)
}

// TestRefused requires the errors of embeddings, configurations and tables.
func TestRefused(t *testing.T) {
	_, session := newSession(t)
	cache := open[string](t, session, config)
	nan := float32(0)
	nan /= nan
	for name, embedding := range map[string][]float32{"dimension": {1}, "zero": {0, 0, 0}, "NaN": {1, nan, 0}} {
		_, ok, err := cache.Get(t.Context(), embedding)
		require.False(t, ok)
		var failure *semcache.Error
		require.ErrorAs(t, err, &failure, name)
		require.ErrorAs(t, cache.Put(t.Context(), embedding, "x"), &failure, name)
	}
	_, _, err := cache.Get(t.Context(), nil)
	var dimension *vector.DimensionError
	require.ErrorAs(t, err, &dimension)
	_, _, err = cache.Get(t.Context(), make([]float32, 3))
	require.ErrorIs(t, err, vector.ErrZero)

	for name, change := range map[string]func(*semcache.Config){
		"table":     func(c *semcache.Config) { c.Table = "a; b" },
		"model":     func(c *semcache.Config) { c.Model = "" },
		"dimension": func(c *semcache.Config) { c.Dimension = 0 },
		"threshold": func(c *semcache.Config) { c.Threshold = nan },
		"TTL":       func(c *semcache.Config) { c.TTL = time.Millisecond },
		"timeout":   func(c *semcache.Config) { c.Timeout = -1 },
	} {
		c := config
		change(&c)
		require.ErrorIs(t, semcache.Create(t.Context(), session, c), semcache.ErrConfig, name)
		_, err := semcache.Open[string](t.Context(), session, c)
		require.ErrorIs(t, err, semcache.ErrConfig, name)
	}

	wider := config
	wider.Dimension = 4
	require.ErrorIs(t, semcache.Create(t.Context(), session, wider), semcache.ErrSchema)
	for i, columns := range []string{
		"model text PRIMARY KEY, embedding vector<float, 3>",
		"model text, key text, embedding vector<float, 3>, value blob, created timestamp, expires timestamp, PRIMARY KEY (model, key)",
	} {
		table := fmt.Sprint("shop.other", i)
		require.NoError(t, session.Query("CREATE TABLE "+table+" ("+columns+")").Exec(t.Context()))
		other := config
		other.Table = table
		_, err := semcache.Open[string](t.Context(), session, other)
		require.ErrorIs(t, err, semcache.ErrSchema)
	}
	missing := config
	missing.Table = "missing"
	_, err = semcache.Open[string](t.Context(), session, missing)
	require.ErrorIs(t, err, vecql.ErrNoTable)
}
