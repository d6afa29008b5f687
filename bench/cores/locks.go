// SPDX-License-Identifier: Apache-2.0

package cores

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"
)

// Locks and channels that a case waits for.

// Profile runs a case once more with all events of locks and channels recorded, writes the profiles to a folder, and
// prints the places that waited the longest. A profile has all events of a process, which should have no other case.
func Profile(ctx context.Context, c *Case, n int, dir string, out io.Writer) error {
	work, closed, err := c.Open(ctx)
	if err != nil {
		return err
	}
	defer closed()
	runtime.GOMAXPROCS(n)
	if _, err := work(ctx, n); err != nil { // connects, and fills caches
		return err
	}
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	if _, err := work(ctx, n); err != nil {
		return err
	}
	runtime.SetMutexProfileFraction(0)
	runtime.SetBlockProfileRate(0)
	var faults []error
	for kind, records := range map[string]func([]runtime.BlockProfileRecord) (int, bool){
		"mutex": runtime.MutexProfile, "block": runtime.BlockProfile,
	} {
		for _, p := range longest(kind, records) {
			fmt.Fprintf(out, "lock: %s %s %s %d\n", c.Name, kind, p.name, p.waited.Nanoseconds())
		}
		path := filepath.Join(dir, "cores-"+strings.NewReplacer("/", "-", "=", "-").Replace(c.Name)+"-"+kind+".prof")
		faults = append(faults, writeProfile(path, kind))
	}
	return errors.Join(faults...)
}

func writeProfile(path, kind string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup(kind).WriteTo(f, 0), f.Close())
}

// A place is a line of code, and the time that goroutines waited there.
type place struct {
	name   string
	waited time.Duration
}

// places is the number of places in a report.
const places = 3

// longest returns the places of a profile that waited the longest.
func longest(kind string, records func([]runtime.BlockProfileRecord) (int, bool)) (found []place) {
	n, _ := records(nil)
	all := make([]runtime.BlockProfileRecord, n+100) // events may come meanwhile
	n, _ = records(all)
	cycles := map[string]int64{}
	for i := range all[:min(n, len(all))] {
		cycles[placeOf(all[i].Stack())] += all[i].Cycles
	}
	for name, n := range cycles {
		found = append(found, place{name, time.Duration(float64(n) / cyclesPerSecond(kind) * 1e9)})
	}
	slices.SortFunc(found, func(a, b place) int { return cmp.Compare(b.waited, a.waited) })
	return found[:min(places, len(found))]
}

// placeOf returns the innermost line of a stack that is not in the runtime or in a package of locks.
func placeOf(stack []uintptr) string {
	name := "runtime"
	for frames := runtime.CallersFrames(stack); ; {
		f, more := frames.Next()
		library := strings.HasPrefix(f.Function, "sync.") || strings.HasPrefix(f.Function, "runtime.") ||
			strings.HasPrefix(f.Function, "internal/") || strings.HasPrefix(f.Function, "golang.org/x/sync/")
		if !library && f.Function != "" {
			_, function, _ := strings.Cut(f.Function, "github.com/vecql/vecql/")
			return fmt.Sprintf("%s(%s:%d)", cmp.Or(function, f.Function), filepath.Base(f.File), f.Line)
		}
		if name == "runtime" && f.Function != "" {
			name = f.Function
		}
		if !more {
			return name
		}
	}
}

// cyclesPerSecond returns the unit of the records of a profile, which only its text has.
func cyclesPerSecond(kind string) float64 {
	var text strings.Builder
	var n float64
	if err := pprof.Lookup(kind).WriteTo(&text, 1); err == nil {
		_, line, _ := strings.Cut(text.String(), "cycles/second=")
		_, _ = fmt.Sscan(line, &n)
	}
	return max(n, 1)
}
