// SPDX-License-Identifier: Apache-2.0

// Command cbrun answers a ClickBench query with package pipe, the first time cold and then warm, and prints the times
// in Go's benchmark format. Other verbs write the statements for the other engines, and check answers:
//
//	cbrun run -dir data -query q01 -threads 2 -warm 3 [-answers ours.json]
//	cbrun statements -dir data              the statements of the SQL dialects as JSON
//	cbrun check reference.json answers.json compares answers
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/vecql/vecql/bench/answers"
	"github.com/vecql/vecql/bench/clickbench"
	"github.com/vecql/vecql/bench/clickbench/data"
	"github.com/vecql/vecql/bench/verbs"
)

func main() {
	verbs.Main("cbrun", map[string]verbs.Verb{
		"run": run, "statements": statements, "check": check,
	})
}

// scale returns the Scale of the data in a folder.
func scale(dir string) (clickbench.Scale, error) {
	o, err := data.Open(dir)
	return clickbench.NewScale(o.Rows), err
}

func run(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("run", flag.ExitOnError)
	dir, name := f.String("dir", "", "folder of the data"), f.String("query", "", "name of the query")
	threads, warm := f.Int("threads", 2, "number of threads"), f.Int("warm", 3, "runs after the first one")
	file := f.String("answers", "", "file of answers to add this one to")
	profile := f.String("cpuprofile", "", "file of a profile of the warm runs")
	if err := f.Parse(args); err != nil {
		return err
	}
	q := clickbench.Find(*name)
	if q == nil {
		return fmt.Errorf("there is no query %q", *name)
	}
	n, err := scale(*dir)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(*threads)
	for i := range 1 + *warm {
		cache := "warm"
		if i == 0 {
			cache = "cold"
		}
		if i == 1 && *profile != "" {
			stop, err := profiled(*profile)
			if err != nil {
				return err
			}
			defer stop()
		}
		start := time.Now()
		b, err := q.Run(ctx, *dir, n, *threads)
		taken := time.Since(start)
		if err != nil {
			return err
		}
		fmt.Printf("BenchmarkClickBench/query=%s/cache=%s/impl=vecql/threads=%d\t1\t%d ns/op\n",
			q.Name, cache, *threads, taken.Nanoseconds())
		if i == 0 && *file != "" {
			if err := answers.Add(*file, q.Name, clickbench.NewAnswer(b)); err != nil {
				return err
			}
		}
	}
	return nil
}

// profiled starts a profile. The caller calls stop at the end.
func profiled(path string) (stop func(), err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close() // a profile that is cut short cannot be read
	}, pprof.StartCPUProfile(f)
}

// statements prints the queries for peers.py.
func statements(_ context.Context, args []string) error {
	f := flag.NewFlagSet("statements", flag.ExitOnError)
	dir := f.String("dir", "", "folder of the data")
	if err := f.Parse(args); err != nil {
		return err
	}
	n, err := scale(*dir)
	if err != nil {
		return err
	}
	var all []clickbench.Statement
	for i := range clickbench.Queries {
		all = append(all, clickbench.Queries[i].Statement(n))
	}
	e := json.NewEncoder(os.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(all)
}

func check(_ context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("usage: cbrun check reference.json answers.json")
	}
	references, err := clickbench.ReadReferences(args[0])
	if err != nil {
		return err
	}
	got, err := answers.Read[map[string]clickbench.Answer](args[1])
	if err != nil {
		return err
	}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(got)) {
		r := references[name]
		if r == nil {
			faults = append(faults, fmt.Errorf("%s: no reference", name))
			continue
		}
		faults = append(faults, r.Check(got[name]))
	}
	return errors.Join(faults...)
}
