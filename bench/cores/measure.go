// SPDX-License-Identifier: Apache-2.0

package cores

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"time"

	"github.com/vecql/vecql/bench/workload"
)

// Measuring.

// Bounds of the repetitions of a case. They end after a second, or after three that took a quarter of a second, but not
// before the second one: the first one may have to wait for files and memory.
const (
	mostTime  = time.Second
	leastTime = time.Second / 4
	leastRuns = 2
	enough    = 3
)

// A Measurement measures cases.
type Measurement struct {
	Threads []int
	Match   *regexp.Regexp // of the names of the cases; nil means all
	Until   time.Time      // later no further measurement begins
	Once    bool           // without repetitions, for tests
	Out     io.Writer      // receives lines in Go's benchmark format
}

// Run measures the cases and returns their answers. Cases that fail, or whose answers differ between numbers of
// threads, are in the error.
func (m *Measurement) Run(ctx context.Context, cases []Case) (map[string]*Answer, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	answers := map[string]*Answer{}
	var faults []error
	for _, c := range cases {
		if m.Match != nil && !m.Match.MatchString(c.Name) {
			continue
		}
		a, err := m.measure(ctx, &c)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", c.Name, err))
		} else if a != nil {
			answers[c.Name] = a
		}
	}
	return answers, errors.Join(faults...)
}

// measure measures a case with each number of threads.
func (m *Measurement) measure(ctx context.Context, c *Case) (first *Answer, err error) {
	var work Work
	for _, n := range m.Threads {
		if time.Now().After(m.Until) {
			fmt.Fprintf(m.Out, "left-out: case=%s/impl=vecql/threads=%d\n", c.Name, n)
			continue
		}
		if work == nil {
			var closed func()
			if work, closed, err = c.Open(ctx); err != nil {
				return nil, err
			}
			defer closed()
		}
		procs := runtime.GOMAXPROCS(n)
		a, err := m.repeat(ctx, c, work, n)
		runtime.GOMAXPROCS(procs)
		if err != nil {
			return nil, fmt.Errorf("%d threads: %w", n, err)
		}
		if first == nil {
			first = a
		} else if err := first.Check(c.Name, a.Rows); err != nil {
			return nil, fmt.Errorf("%d threads: the answer differs from the answer with %d: %w", n, m.Threads[0], err)
		}
	}
	return first, nil
}

// repeat prints the least time of a case, and the mean of its processor time.
func (m *Measurement) repeat(ctx context.Context, c *Case, work Work, n int) (*Answer, error) {
	var answer *Answer
	var least, all, used time.Duration
	runs := 0
	for ; !m.done(runs, all); runs++ {
		runtime.GC()
		before, start := workload.CPU(), time.Now()
		result, err := work(ctx, n)
		taken := time.Since(start)
		if err != nil {
			return nil, err
		}
		used += workload.CPU() - before
		if all += taken; runs == 0 || taken < least {
			least = taken
		}
		if answer == nil {
			if answer, err = result(); err != nil {
				return nil, err
			}
		}
	}
	fmt.Fprintf(m.Out, "BenchmarkCores/case=%s/impl=vecql/threads=%d\t%d\t%d ns/op\t%d cpu-ns/op\n",
		c.Name, n, runs, least.Nanoseconds(), used.Nanoseconds()/int64(runs))
	return answer, nil
}

func (m *Measurement) done(runs int, taken time.Duration) bool {
	if m.Once {
		return runs == 1
	}
	return runs >= leastRuns && (taken >= mostTime || runs >= enough && taken >= leastTime)
}
