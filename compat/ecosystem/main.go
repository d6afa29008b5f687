// SPDX-License-Identifier: Apache-2.0

// Command ecosystem builds, vets and tests public programs twice: with the gocql that they require, and with a compat
// module in its place, by a replace directive alone. It fetches the programs from the module proxy at pinned versions,
// and those that the proxy does not serve from their repositories; it starts one Cassandra node for each run that needs
// a server.
//
//	ecosystem [-only regexp] [-sides gocql,vecql] [-tests=false] [-cqltest] [-compat dir] [-work dir] [-repos prefix] [-out file]
//
// Results are kept in the work folder, so a later call may run a part again. The table has every result that is kept.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// main runs the programs and writes the table.
func main() {
	e := ecosystem{}
	only := flag.String("only", "", "run the programs whose name matches this regular expression")
	sides := flag.String("sides", "gocql,vecql", "what to run: the program with its own gocql, and with vecql")
	out := flag.String("out", "bench/results/ecosystem.md", "the file that receives the table")
	flag.BoolVar(&e.tests, "tests", true, "run the tests; false builds and vets only")
	flag.BoolVar(&e.cqltest, "cqltest", false, "run the tests on cqltest in place of Cassandra")
	flag.StringVar(&e.compat, "compat", "compat", "the folder of the compat modules")
	flag.StringVar(&e.work, "work", filepath.Join(os.TempDir(), "vecql-ecosystem"), "the folder for sources and results")
	flag.StringVar(&e.repos, "repos", "https://github.com/", "the prefix of the URLs of repositories, or a folder of them")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := e.run(ctx, *only, strings.Split(*sides, ","))
	if err == nil {
		err = e.report(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ecosystem:", err)
		os.Exit(1)
	}
}

// An ecosystem runs programs.
type ecosystem struct {
	compat string // folder of the compat modules
	work   string // folder of the programs' sources, logs and results
	repos  string // prefix of the URLs of repositories
	tests  bool

	cqltest bool
	suites  map[string]*suite // of the APIs, by name of the program
}

// run runs the selected programs, one at a time.
func (e *ecosystem) run(ctx context.Context, only string, sides []string) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if e.compat, err = filepath.Abs(e.compat); err != nil {
		return err
	}
	for _, p := range programs {
		if !match.MatchString(p.name) {
			continue
		}
		for _, side := range sides {
			if !slices.Contains([]string{"gocql", "vecql"}, side) {
				return fmt.Errorf("no side is named %q", side)
			}
			if err := e.runSide(ctx, p, side); ctx.Err() != nil {
				return ctx.Err()
			} else if err != nil {
				fmt.Printf("%s with %s: %v\n", p.name, side, err) // the other programs run nevertheless
			}
		}
	}
	return nil
}

// runSide fetches, builds, vets and tests one program, and stores the result. An error means that the run failed, not
// that the program did.
func (e *ecosystem) runSide(ctx context.Context, p program, side string) error {
	r := result{Program: p.name, Side: side}
	fmt.Printf("== %s %s with %s\n", p.name, p.version, side)
	dir := filepath.Join(e.work, side, p.slug()) // cadence looks for a folder of its name above its tests
	err := p.fetch(ctx, dir, e.repos)
	dir = filepath.Join(dir, p.sub)
	compat := filepath.Join(e.compat, p.api)
	switch {
	case err != nil:
	case p.own:
		return e.runSuite(ctx, p, dir, compat, side)
	case side == "vecql":
		err = p.replace(ctx, dir, compat)
	}
	if err != nil {
		return err
	}
	r.Build = firstLines(goCommand(ctx, dir, append([]string{"build"}, p.packages...)...))
	if r.Build == "" {
		r.Vet = firstLines(goCommand(ctx, dir, append([]string{"vet"}, p.packages...)...))
	}
	fmt.Printf("build: %s\nvet: %s\n", cmp.Or(r.Build, "ok"), cmp.Or(r.Vet, "ok"))
	if r.Build == "" && len(p.runs) > 0 && e.tests {
		if err := r.test(ctx, p, dir, filepath.Join(e.work, side, p.slug()+".log"), e.cqltest); err != nil {
			return err
		}
		fmt.Printf("tests: %d passed, %d failed, %d skipped\n", r.Passed, len(r.Failed), r.Skipped)
	}
	if ctx.Err() != nil {
		return ctx.Err() // a command was stopped; that is no result of the program
	}
	return r.store(e.work)
}

// slug returns the name as a file name.
func (p program) slug() string { return strings.NewReplacer(" ", "-", "/", "-").Replace(p.name) }
