// SPDX-License-Identifier: Apache-2.0

package flight

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

type plan struct{ text string }

func BenchmarkKnown(b *testing.B) {
	c := New[plan](1000)
	key := Key{Text: "INSERT INTO items (id, name, embedding) VALUES (?, ?, ?)"}
	_, err := c.Get(context.Background(), key, func() (*plan, error) { return &plan{}, nil })
	require.NoError(b, err)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if c.Known(key) == nil {
				b.Error("not known")
			}
		}
	})
}

func TestKnown(t *testing.T) {
	const most = 10
	c := New[plan](most)
	key := func(i int) Key { return Key{Scope: fmt.Sprint(i % 3), Text: fmt.Sprint("SELECT ", i)} }
	plans := map[int]*plan{}
	for i := range 5 * most {
		plans[i] = &plan{text: fmt.Sprint(i)}
		_, err := c.Get(t.Context(), key(i), func() (*plan, error) { return plans[i], nil })
		require.NoError(t, err)
		require.Same(t, plans[i], c.Known(key(i)))
		require.Same(t, plans[i], c.Known(key(i)))
	}
	known := 0
	for i, p := range plans {
		if got := c.Known(key(i)); got != nil {
			require.Same(t, p, got)
			known++
		}
	}
	require.Equal(t, most, known, "evicted values are not known")
	last := 5*most - 1
	c.Drop(key(last), plans[last])
	require.Nil(t, c.Known(key(last)))
	require.Nil(t, c.Known(Key{Text: "SELECT 1"}), "another scope")
}

// TestKeysOfOneSlot has more keys than the table that is read without a lock has slots, and texts in several scopes:
// each key has its own value.
func TestKeysOfOneSlot(t *testing.T) {
	const most = 3 * recentKeys
	c := New[plan](2 * most)
	for range 2 {
		for i := range most {
			for _, scope := range []string{"a", "b"} {
				text := fmt.Sprint("SELECT ", i)
				p, err := c.Get(t.Context(), Key{scope, text}, func() (*plan, error) { return &plan{scope + text}, nil })
				require.NoError(t, err)
				require.Equal(t, scope+text, p.text)
				require.Equal(t, scope+text, c.Known(Key{scope, text}).text)
			}
		}
	}
	require.Equal(t, 2*most, c.Len())
	c = New[plan](0)
	_, err := c.Get(t.Context(), Key{"", "SELECT"}, func() (*plan, error) { return &plan{}, nil })
	require.NoError(t, err)
	require.NotNil(t, c.Known(Key{"", "SELECT"}), "at least one value is kept")
}

func TestKnownTakesNoLockAndNoMemory(t *testing.T) {
	c := New[plan](10)
	key := Key{Text: "SELECT 1"}
	_, err := c.Get(t.Context(), key, func() (*plan, error) { return &plan{}, nil })
	require.NoError(t, err)
	require.NotNil(t, c.Known(key))
	c.mu.Lock() // Known would block forever
	defer c.mu.Unlock()
	require.Zero(t, testing.AllocsPerRun(100, func() { c.Known(key) }))
}

func TestErrorsAreNotKept(t *testing.T) {
	c := New[plan](10)
	key := Key{Text: "SELECT 1"}
	boom := errors.New("boom")
	_, err := c.Get(t.Context(), key, func() (*plan, error) { return nil, boom })
	require.ErrorIs(t, err, boom)
	want := &plan{}
	got, err := c.Get(t.Context(), key, func() (*plan, error) { return want, nil })
	require.NoError(t, err)
	require.Same(t, want, got)
	c.Drop(key, &plan{}) // another value, so the entry stays
	require.Equal(t, 1, c.Len())
	c.Drop(key, want)
	require.Equal(t, 0, c.Len())
	c.Drop(key, want)
}

// TestOneFlight has many callers of one key at once; one is canceled.
func TestOneFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New[plan](10)
		key := Key{Text: "SELECT 1"}
		var made atomic.Int32
		ready := make(chan struct{})
		produce := func() (*plan, error) {
			made.Add(1)
			<-ready
			return &plan{}, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		gaveUp := make(chan error, 1)
		go func() { _, err := c.Get(ctx, key, produce); gaveUp <- err }()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				p, err := c.Get(t.Context(), key, produce)
				require.NoError(t, err)
				require.NotNil(t, p)
			})
		}
		synctest.Wait()
		require.Nil(t, c.Known(key), "the value is being produced")
		c.Drop(key, &plan{})
		cancel()
		require.ErrorIs(t, <-gaveUp, context.Canceled)
		close(ready)
		wg.Wait()
		require.EqualValues(t, 1, made.Load())
		require.NotNil(t, c.Known(key))
	})
}

// TestDropWhere drops values that match, and those that are being produced meanwhile once their callers have them.
func TestDropWhere(t *testing.T) {
	c := New[int](8)
	get := func(key string, value int) int {
		v, err := c.Get(t.Context(), Key{Text: key}, func() (*int, error) { return &value, nil })
		require.NoError(t, err)
		return *v
	}
	for i := range 4 {
		get(strconv.Itoa(i), i)
		require.NotNil(t, c.Known(Key{Text: strconv.Itoa(i)}))
	}
	began, end := make(chan struct{}), make(chan struct{})
	got := make(chan int)
	go func() {
		v, _ := c.Get(t.Context(), Key{Text: "slow"}, func() (*int, error) {
			close(began)
			<-end
			return new(int), nil
		})
		got <- *v
	}()
	<-began
	c.DropWhere(func(v *int) bool { return *v%2 == 1 })
	close(end)
	require.Zero(t, <-got)
	require.Nil(t, c.Known(Key{Text: "slow"}))
	for i := range 4 {
		if known := c.Known(Key{Text: strconv.Itoa(i)}); i%2 == 0 {
			require.Equal(t, i, *known)
		} else {
			require.Nil(t, known)
			require.Equal(t, 10+i, get(strconv.Itoa(i), 10+i))
		}
	}
	require.Equal(t, 4, c.Len())
	c.DropWhere(func(*int) bool { return true })
	require.Zero(t, c.Len())
}
