// SPDX-License-Identifier: Apache-2.0

// Command gbmem measures the memory of one grouping: the peak of the resident set while it runs, less the resident set
// before. It runs on Linux. peers.py --memory does the same for other engines.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/vecql/vecql/bench/groupby/data"
	"github.com/vecql/vecql/bench/groupby/run"
	"github.com/vecql/vecql/groupby"
)

func main() {
	dir := flag.String("dir", os.Getenv("VECQL_GROUPBY_DATA"), "folder that gbdata wrote (default $VECQL_GROUPBY_DATA)")
	cases := flag.String("cases", `keys=random/groups=5000000/agg=count\+sum$`,
		"regular expression of the case; the first match is measured")
	impl := flag.String("impl", "vecql", "implementation: vecql, vecql-ordered or map")
	threads := flag.Int("threads", 2, "number of threads")
	flag.Parse()
	if err := measure(*dir, *cases, *impl, *threads); err != nil {
		fmt.Fprintln(os.Stderr, "gbmem:", err)
		os.Exit(1)
	}
}

func measure(dir, cases, impl string, threads int) error {
	match, err := regexp.Compile(cases)
	if err != nil {
		return err
	}
	set, err := data.Open(dir)
	if err != nil {
		return err
	}
	var c *data.Case
	for _, x := range set.Cases {
		if match.MatchString(x.Name) {
			c = x
			break
		}
	}
	if c == nil {
		return errors.New("-cases matches no case")
	}
	table, err := set.Table(c.Table)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(threads)
	var query func() (any, error)
	switch impl {
	case "vecql", "vecql-ordered":
		order := groupby.Unordered
		if impl == "vecql-ordered" {
			order = groupby.FirstAppearance
		}
		q := run.New(c, table, order, threads)
		query = func() (any, error) {
			res, err := q.Run(context.Background())
			if err == nil && res == nil {
				err = errors.New("no result")
			}
			return res, err
		}
	case "map":
		q, err := run.Map(c, table)
		if err != nil {
			return err
		}
		query = func() (any, error) { return q.Run(), nil }
		threads = 1
		runtime.GOMAXPROCS(1)
	default:
		return fmt.Errorf("unknown -impl %q, want vecql, vecql-ordered or map", impl)
	}
	debug.FreeOSMemory()
	// This resets the peak to the current resident set; see proc_pid_clear_refs(5).
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return err
	}
	before, err := status("VmRSS")
	if err != nil {
		return err
	}
	res, err := query()
	if err != nil {
		return err
	}
	peak, err := status("VmHWM")
	if err != nil {
		return err
	}
	runtime.KeepAlive(res)
	runtime.KeepAlive(table)
	fmt.Printf("BenchmarkGroupByMemory/impl=%s/%s/threads=%d\t1\t%d peak-bytes\t%.1f bytes/group\n",
		impl, c.Name, threads, peak-before, float64(peak-before)/float64(c.Answer.Groups))
	return nil
}

// status returns a field of /proc/self/status in bytes.
func status(name string) (int64, error) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no field %s", name)
}
