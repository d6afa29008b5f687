// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vecql/vecql/bench/stall/load"
)

// slowClient answers at once, except one key that fails after a second.
type slowClient struct{ bad int }

func (c slowClient) Read(key int) (int, error) {
	if key == c.bad {
		time.Sleep(time.Second)
		return 0, errors.New("late by 1.7 ms")
	}
	return key, nil
}

func (slowClient) ReadVector(int) ([]float32, error) { return nil, errors.New("not used") }

func (slowClient) Insert(int, int) error { return errors.New("not used") }

// TestLoop has one request that fails late. The others do not wait for it, and requests of the warm-up do not count.
func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := load.Options{Case: "read", Rate: 100, Duration: 2 * time.Second, Warmup: time.Second, Timeout: time.Second, Keys: 1000}
		began := time.Now()
		var start time.Time
		run := load.Loop(o, slowClient{7919 % 1000}, func(at time.Time) { start = at })
		if start != began.Add(time.Second) || run.Start != start.UnixMicro() || time.Since(began) > 3*time.Second {
			t.Errorf("started after %v, ended after %v", start.Sub(began), time.Since(began))
		}
		want := make([]int64, 200)
		want[1] = -1_000_000
		if !slices.Equal(run.Latencies, want) {
			t.Error(run.Latencies)
		}
		if len(run.Errors) != 1 || run.Errors["late by 0 ms"] != 1 || run.Peak < 3 {
			t.Error(run.Errors, run.Peak)
		}
	})
}
