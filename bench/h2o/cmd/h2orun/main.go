// SPDX-License-Identifier: Apache-2.0

// Command h2orun answers questions of the group-by benchmark of h2o.ai with package pipe, and prints the times in Go's
// benchmark format. Other verbs write the statements for the other engines, and compare answers:
//
//	h2orun run -dir data/k100 -source memory -questions "q01 q02" -threads 2 -runs 2 [-answers ours.json]
//	h2orun statements                      the statements of the SQL dialects as JSON
//	h2orun check ours.json theirs.json     compares summaries of answers
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql/bench/answers"
	"github.com/vecql/vecql/bench/h2o"
	"github.com/vecql/vecql/bench/h2o/data"
	"github.com/vecql/vecql/bench/verbs"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/pipe"
)

func main() {
	verbs.Main("h2orun", map[string]verbs.Verb{
		"run": run, "statements": statements, "check": check,
	})
}

// A runner measures questions on the table of a folder.
type runner struct {
	dir, source, answers string
	threads, runs        int
	name                 string // of the case
	table                pipe.Pipe
}

func run(ctx context.Context, args []string) error {
	var r runner
	f := flag.NewFlagSet("run", flag.ExitOnError)
	f.StringVar(&r.dir, "dir", "", "folder of the table")
	f.StringVar(&r.source, "source", "memory", "memory or file: where the clock starts")
	f.StringVar(&r.answers, "answers", "", "file of answers to add the summaries to")
	f.IntVar(&r.threads, "threads", 2, "number of threads")
	f.IntVar(&r.runs, "runs", 2, "runs of each question")
	names := f.String("questions", "", "names of questions (default all)")
	profile := f.String("cpuprofile", "", "file of a profile of the questions")
	if err := f.Parse(args); err != nil {
		return err
	}
	o, err := data.Open(r.dir)
	if err != nil {
		return err
	}
	r.name = o.Case()
	runtime.GOMAXPROCS(r.threads)
	if err := r.open(ctx); err != nil {
		return err
	}
	if *profile != "" {
		file, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	for i := range h2o.Questions {
		q := &h2o.Questions[i]
		if *names != "" && !slices.Contains(strings.Fields(*names), q.Name) {
			continue
		}
		if err := r.ask(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// open prepares the table: in memory it consists of the batches of the file, in the order of their rows.
func (r *runner) open(ctx context.Context) error {
	r.table = pipe.Parquet(filepath.Join(r.dir, data.File))
	switch r.source {
	case "file":
	case "memory":
		var batches []*column.Batch
		for b, err := range r.table.Batches(ctx) {
			if err != nil {
				return err
			}
			batches = append(batches, b)
		}
		slices.SortFunc(batches, func(a, b *column.Batch) int { return cmp.Compare(a.Source.FirstRow, b.Source.FirstRow) })
		for i, b := range batches {
			if i > 0 && b.Source.FirstRow != batches[i-1].Source.FirstRow+int64(batches[i-1].Rows) {
				return fmt.Errorf("a batch begins with row %d, after a batch of %d rows from %d", b.Source.FirstRow,
					batches[i-1].Rows, batches[i-1].Source.FirstRow)
			}
		}
		r.table = pipe.Batches(batches...)
	default:
		return fmt.Errorf("source %q: want memory or file", r.source)
	}
	r.table = r.table.Configure(pipe.Config{Workers: r.threads})
	return nil
}

func (r *runner) ask(ctx context.Context, q *h2o.Question) error {
	for i := range r.runs {
		runtime.GC() // of the last answer
		start := time.Now()
		b, err := q.Answer(ctx, r.table)
		taken := time.Since(start)
		if err != nil {
			return err
		}
		fmt.Printf("BenchmarkH2O/case=%s/source=%s/question=%s/impl=vecql/threads=%d\t1\t%d ns/op\n",
			r.name, r.source, q.Name, r.threads, taken.Nanoseconds())
		if i > 0 || r.answers == "" {
			continue
		}
		s, err := q.Summarize(b)
		if err != nil {
			return fmt.Errorf("%s: %w", q.Name, err)
		}
		if err := answers.Add(r.answers, fmt.Sprintf("%s %s %s", r.name, r.source, q.Name), s); err != nil {
			return err
		}
	}
	return nil
}

// statements prints the questions for peers.py.
func statements(context.Context, []string) error {
	e := json.NewEncoder(os.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(h2o.Statements())
}

// check compares the answers of an engine with the answers of vecql.
func check(_ context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("usage: h2orun check ours.json theirs.json")
	}
	ours, err := answers.Read[map[string]*h2o.Summary](args[0])
	if err != nil {
		return err
	}
	theirs, err := answers.Read[map[string]*h2o.Summary](args[1])
	if err != nil {
		return err
	}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		switch s := theirs[name]; {
		case s == nil:
			faults = append(faults, fmt.Errorf("%s: no answer", name))
		default:
			if err := s.Check(ours[name]); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	return errors.Join(faults...)
}
