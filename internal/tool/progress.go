// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
)

// The line that shows the progress of long work.

// The values of --progress.
const (
	progressAuto  = "auto"
	progressPlain = "plain"
	progressNone  = "none"
)

// How often progress is shown on a terminal, and in plain lines.
const (
	progressInterval      = 200 * time.Millisecond
	plainProgressInterval = 10 * time.Second
)

// addProgressFlag gives a verb the flag --progress.
func (e *env) addProgressFlag(c *cobra.Command) {
	c.Flags().StringVar(&e.progress, "progress", progressAuto,
		"`mode`: auto, a line on a terminal; plain, a line every 10 seconds; or none")
	must(c.RegisterFlagCompletionFunc("progress",
		cobra.FixedCompletions([]string{progressAuto, progressPlain, progressNone}, cobra.ShellCompDirectiveNoFileComp)))
}

// A state is the progress of work at one time.
type state struct {
	fraction float64 // of the work that is done, 0 to 1; negative means unknown
	text     string  // counts and rates
}

// startProgress shows the state of long work on standard error until stop is called, and calls now for it on another
// goroutine. stop removes the line and may be called several times.
func (e *env) startProgress(now func() state) (stop func(), err error) {
	interval, show := progressInterval, func(line string) { fmt.Fprint(e.err, "\r\x1b[K"+clip(line, e.errWidth-1)) }
	switch e.progress {
	case progressAuto, "":
		if e.errWidth == 0 {
			return func() {}, nil
		}
	case progressPlain:
		interval, show = plainProgressInterval, func(line string) { fmt.Fprintln(e.err, line) }
	case progressNone:
		return func() {}, nil
	default:
		return nil, usagef("--progress is %q, want auto, plain or none", e.progress)
	}
	began, done, ended := e.now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				show(now().line(e.now().Sub(began)))
			case <-done:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(done)
		<-ended
		if e.progress != progressPlain {
			fmt.Fprint(e.err, "\r\x1b[K")
		}
	}), nil
}

// barWidth is the number of characters of a bar.
const barWidth = 20

// line returns the state on one line, with the time that is left at the same speed.
func (s state) line(elapsed time.Duration) string {
	if s.fraction < 0 {
		return s.text
	}
	fraction := min(s.fraction, 1)
	filled := int(fraction * barWidth)
	bar := strings.Repeat("#", filled) + strings.Repeat(".", barWidth-filled)
	line := fmt.Sprintf("[%s] %3.0f%%  %s", bar, 100*fraction, s.text)
	if fraction > 0 && fraction < 1 {
		left := time.Duration(float64(elapsed) * (1 - fraction) / fraction)
		line += fmt.Sprintf(", %v left", left.Round(time.Second))
	}
	return line
}
