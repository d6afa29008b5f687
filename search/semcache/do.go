// SPDX-License-Identifier: Apache-2.0

package semcache

import (
	"context"
	"sync"
)

// Do returns the value of the nearest entry; if there is none, it calls produce, stores its value and returns it.
// Concurrent calls with equal embeddings share one lookup and one call of produce (singleflight), with the context of
// the first of them; if this context ends, another of the calls begins again.
//
// Errors of produce are returned as they are and are not cached. Errors of the cache are *Error. A value that was
// produced and could not be stored is returned beside the error. With Config.OnError the errors of the cache go there,
// and Do returns the value of produce.
func (c *Cache[V]) Do(ctx context.Context, embedding []float32, produce func(context.Context) (V, error)) (V, error) {
	value, shared, err := c.flights.do(ctx, Key(embedding), func() (V, error) { return c.load(ctx, embedding, produce) })
	if shared {
		c.shared.Add(1)
		value = copyOf(value)
	}
	return value, err
}

// load looks a value up, or produces and stores it. The end of the caller's context does not keep a produced value
// from being stored.
func (c *Cache[V]) load(ctx context.Context, embedding []float32, produce func(context.Context) (V, error)) (V, error) {
	entry, ok, err := c.Get(ctx, embedding)
	if ok {
		return entry.Value, nil
	}
	if err != nil && ctx.Err() == nil {
		err = c.hide(err)
	}
	if err != nil {
		return entry.Value, err
	}
	value, err := produce(ctx)
	if err != nil {
		return value, err
	}
	return value, c.hide(c.Put(context.WithoutCancel(ctx), embedding, value))
}

// hide passes an error to OnError, if there is one.
func (c *Cache[V]) hide(err error) error {
	if err == nil || c.config.OnError == nil {
		return err
	}
	c.config.OnError(err)
	return nil
}

// flights are the calls under way, by key.
type flights[V Value] struct {
	mu    sync.Mutex
	calls map[string]*flight[V]
}

// A flight is a call that others wait for.
type flight[V Value] struct {
	done  chan struct{}
	valid bool // value and err are the outcome for all callers; set before done is closed
	value V
	err   error
}

// do calls produce, or waits for a call with an equal key and returns its outcome. A call whose context has ended, or
// that has panicked, has no outcome for others: one of them calls produce then.
func (f *flights[V]) do(ctx context.Context, key string, produce func() (V, error)) (value V, shared bool, err error) {
	for {
		call, first := f.join(key)
		if first {
			value, err = f.lead(ctx, key, call, produce)
			return value, false, err
		}
		select {
		case <-call.done:
			if call.valid {
				return call.value, true, call.err
			}
		case <-ctx.Done():
			return value, false, context.Cause(ctx)
		}
	}
}

// join returns the call under way, or a new one that the caller leads.
func (f *flights[V]) join(key string) (call *flight[V], first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if call = f.calls[key]; call != nil {
		return call, false
	}
	if f.calls == nil {
		f.calls = map[string]*flight[V]{}
	}
	call = &flight[V]{done: make(chan struct{})}
	f.calls[key] = call
	return call, true
}

// lead runs a call and ends it, also if produce panics.
func (f *flights[V]) lead(ctx context.Context, key string, call *flight[V], produce func() (V, error)) (V, error) {
	defer func() {
		f.mu.Lock()
		delete(f.calls, key)
		f.mu.Unlock()
		close(call.done)
	}()
	value, err := produce()
	call.value, call.err, call.valid = copyOf(value), err, err == nil || ctx.Err() == nil
	return value, err
}

func copyOf[V Value](value V) V { return V(append([]byte{}, value...)) }
