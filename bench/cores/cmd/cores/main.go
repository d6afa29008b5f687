// SPDX-License-Identifier: Apache-2.0

// Command cores makes the data of the measurements over processors, measures, and reports: see ../../run.sh.
//
//	cores data -dir d                       writes the files
//	cores measure -dir d -threads 1,2       prints times in Go's benchmark format
//	cores profile -dir d -threads 2 -out r  writes profiles of locks, and prints the places that wait the longest
//	cores statements -dir d                 prints the work of the other engines as JSON
//	cores check ours.json theirs.json       compares answers
//	cores report results/cores.txt          writes results/cores.md
//	cores serve                             is the server of the requests
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql/bench/answers"
	"github.com/vecql/vecql/bench/clickbench"
	"github.com/vecql/vecql/bench/cores"
	"github.com/vecql/vecql/bench/tables"
	"github.com/vecql/vecql/bench/verbs"
	"github.com/vecql/vecql/bench/workload"
)

func main() {
	verbs.Main("cores", map[string]verbs.Verb{
		"data": data, "measure": measure, "profile": profile, "statements": statements, "check": check,
		"report": report, "serve": serve,
	})
}

func data(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("data", flag.ExitOnError)
	dir := f.String("dir", "", "folder of the data")
	var s cores.Sizes
	f.IntVar(&s.Rows, "rows", 20_000_000, "rows of the table that is grouped and scanned")
	f.IntVar(&s.Hits, "hits", 10_000_000, "rows of ClickBench's table")
	f.IntVar(&s.Vectors, "vectors", 200_000, "rows of the matrix")
	f.IntVar(&s.Dim, "dim", 768, "elements of a vector")
	f.IntVar(&s.Requests, "requests", 200_000, "requests with small rows; a tenth as many have vectors")
	if err := f.Parse(args); err != nil {
		return err
	}
	return cores.Write(ctx, *dir, s, func(what string) { fmt.Fprintln(os.Stderr, "cores: writing", what) })
}

// A selection is the data, cases and numbers of threads of a verb.
type selection struct {
	dir, cases, queries, threads *string
}

func selectionOf(f *flag.FlagSet) *selection {
	return &selection{
		f.String("dir", "", "folder of the data"),
		f.String("cases", "", "regular expression of the cases (default all)"),
		f.String("queries", "", "queries of ClickBench (default the ten slowest)"),
		f.String("threads", "1,2", "numbers of threads, separated by commas"),
	}
}

// read opens the data, and returns it with the pattern of the cases.
func (s *selection) read() (*cores.Data, *regexp.Regexp, error) {
	match, err := regexp.Compile(*s.cases)
	if err != nil {
		return nil, nil, err
	}
	d, err := cores.Open(*s.dir)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range strings.Fields(*s.queries) {
		if clickbench.Find(name) == nil {
			return nil, nil, fmt.Errorf("there is no query %q", name)
		}
		d.Queries = append(d.Queries, name)
	}
	return d, match, nil
}

// open opens the data and starts the server, which the second function stops.
func (s *selection) open() (*cores.Data, *cores.Measurement, func(), error) {
	m := &cores.Measurement{Out: os.Stdout}
	d, match, err := s.read()
	if err != nil {
		return nil, nil, nil, err
	}
	m.Match = match
	for _, text := range strings.Split(*s.threads, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, nil, nil, fmt.Errorf("-threads %s: want positive numbers separated by commas", *s.threads)
		}
		m.Threads = append(m.Threads, n)
	}
	var stop func()
	d.Server, _, stop, err = workload.Start(exec.Command(os.Args[0], "serve"))
	return d, m, stop, err
}

func measure(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("measure", flag.ExitOnError)
	s := selectionOf(f)
	seconds := f.Int("seconds", 480, "no measurement begins later")
	answers := f.String("answers", "", "file of the answers")
	if err := f.Parse(args); err != nil {
		return err
	}
	d, m, stop, err := s.open()
	if err != nil {
		return err
	}
	defer stop()
	cores.Describe(os.Stdout)
	m.Until = time.Now().Add(time.Duration(*seconds) * time.Second)
	all, err := m.Run(ctx, d.Cases())
	if *answers == "" {
		return err
	}
	b, e := json.Marshal(all)
	if e == nil {
		e = os.WriteFile(*answers, b, 0o644)
	}
	return errors.Join(err, e)
}

// profile profiles each case in a process of its own.
func profile(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("profile", flag.ExitOnError)
	s := selectionOf(f)
	out := f.String("out", ".", "folder of the profiles")
	if err := f.Parse(args); err != nil {
		return err
	}
	d, m, stop, err := s.open()
	if err != nil {
		return err
	}
	defer stop()
	most := slices.Max(m.Threads)
	cases := slices.DeleteFunc(d.Cases(), func(c cores.Case) bool { return !m.Match.MatchString(c.Name) })
	if len(cases) == 1 {
		return cores.Profile(ctx, &cases[0], most, *out, os.Stdout)
	}
	for _, c := range cases {
		cmd := exec.CommandContext(ctx, os.Args[0], "profile", "-dir", *s.dir, "-queries", *s.queries, "-threads",
			strconv.Itoa(most), "-out", *out, "-cases", "^"+regexp.QuoteMeta(c.Name)+"$")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

func statements(_ context.Context, args []string) error {
	f := flag.NewFlagSet("statements", flag.ExitOnError)
	s := selectionOf(f)
	if err := f.Parse(args); err != nil {
		return err
	}
	d, match, err := s.read()
	if err != nil {
		return err
	}
	e := json.NewEncoder(os.Stdout)
	e.SetEscapeHTML(false)
	return e.Encode(d.Statements(match))
}

// check compares the answers of another engine with ours, as far as both have one.
func check(_ context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("usage: cores check ours.json theirs.json")
	}
	ours, err := answers.Read[map[string]*cores.Answer](args[0])
	if err != nil {
		return err
	}
	theirs, err := answers.Read[map[string]clickbench.Answer](args[1])
	if err != nil {
		return err
	}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if a := ours[name]; a != nil {
			faults = append(faults, a.Check(name, theirs[name]))
		}
	}
	return errors.Join(faults...)
}

func report(_ context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("usage: cores report results/cores.txt [requirements.txt]")
	}
	return tables.Write(args[0], args[1:], cores.Report)
}

func serve(context.Context, []string) error {
	workload.Serve("127.0.0.1:0")
	return nil
}
