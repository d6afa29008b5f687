// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
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

// addProgressFlag defines a verb's flags --progress and --metrics-listen.
func (e *env) addProgressFlag(c *cobra.Command) {
	c.Flags().StringVar(&e.progress, "progress", progressAuto,
		"`mode`: auto, a line on a terminal; plain, a line every 10 seconds; or none")
	must(c.RegisterFlagCompletionFunc("progress",
		cobra.FixedCompletions([]string{progressAuto, progressPlain, progressNone}, cobra.ShellCompDirectiveNoFileComp)))
	c.Flags().StringVar(&e.metricsListen, "metrics-listen", "",
		"serve metrics for Prometheus at this `address`, such as :9100, while the work runs")
	c.PreRun = func(c *cobra.Command, _ []string) { e.verb = c.Name() }
}

// A state is the progress of work at one time.
type state struct {
	fraction float64 // of the work that is done, 0 to 1; negative means unknown
	text     string  // counts and rates
	counts   counts
}

// startProgress shows the state of long work on standard error, and serves its metrics, until stop is called. Both call
// now on other goroutines. stop removes the line and may be called several times.
func (e *env) startProgress(now func() state) (stop func(), err error) {
	show, err := e.showProgress(now)
	if err != nil {
		return nil, err
	}
	serve, err := e.serveMetrics(now)
	if err != nil {
		show()
		return nil, err
	}
	return func() { show(); serve() }, nil
}

// showProgress is startProgress without metrics.
func (e *env) showProgress(now func() state) (stop func(), err error) {
	switch e.progress {
	case progressAuto, "":
		if e.errWidth == 0 {
			return func() {}, nil
		}
		bar := e.newBar(now().fraction >= 0)
		show := func() {
			s := now()
			bar.Describe(clip(printableLine(s.text), e.errWidth-barRest))
			_ = bar.Set(s.steps()) // an error of the terminal does not fail the work
		}
		return every(progressInterval, show, func() { _ = bar.Clear() }), nil
	case progressPlain:
		began := e.now()
		show := func() { fmt.Fprintln(e.err, now().line(e.now().Sub(began))) }
		return every(plainProgressInterval, show, func() {}), nil
	case progressNone:
		return func() {}, nil
	}
	return nil, usagef("--progress is %q, want auto, plain or none", e.progress)
}

// every calls show at intervals on a goroutine until stop is called, and end afterwards.
func every(interval time.Duration, show, end func()) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				show()
			case <-done:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(done)
		<-ended
		end()
	})
}

const (
	barSteps = 1000
	barWidth = 20
	barRest  = 50 // characters of a line besides the text
)

// newBar returns a progress bar, or a spinner if the fraction of the work that is done is unknown. Each state turns the
// spinner: the package would start a goroutine for that, which draws until the process ends and reads without a lock.
func (e *env) newBar(known bool) *progressbar.ProgressBar {
	steps := barSteps
	if !known {
		steps = -1
	}
	return progressbar.NewOptions(steps, progressbar.OptionSetWriter(e.terminal()), progressbar.OptionSetWidth(barWidth),
		progressbar.OptionUseANSICodes(true), progressbar.OptionShowDescriptionAtLineEnd(),
		progressbar.OptionSetTheme(progressbar.ThemeASCII), progressbar.OptionSetSpinnerChangeInterval(0))
}

// terminal returns standard error for the bar, which moves the cursor.
func (e *env) terminal() io.Writer {
	if p, ok := e.err.(*plainWriter); ok {
		return p.w
	}
	return e.err
}

// steps returns the number of steps of a bar that are done.
func (s state) steps() int { return int(max(0, min(s.fraction, 1)) * barSteps) }

// line returns the state on one line, with the time that is left at the same speed.
func (s state) line(elapsed time.Duration) string {
	fraction := min(s.fraction, 1)
	if fraction < 0 {
		return s.text
	}
	line := fmt.Sprintf("%3.0f%%  %s", 100*fraction, s.text)
	if fraction > 0 && fraction < 1 {
		left := time.Duration(float64(elapsed) * (1 - fraction) / fraction)
		line += fmt.Sprintf(", %v left", left.Round(time.Second))
	}
	return line
}
