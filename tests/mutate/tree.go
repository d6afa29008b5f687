// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// Mutations of the syntax tree: the verb tree.

// treeFlags are the flags of the verb tree.
type treeFlags struct {
	targets, results, justified string
	sample, jobs                int
	seed                        uint64
	again, far, list            bool
	budget                      time.Duration
}

// treeMain runs the verb with those arguments.
func treeMain(args []string) error {
	var f treeFlags
	set := flag.NewFlagSet("mutate tree", flag.ExitOnError)
	set.StringVar(&f.targets, "target", ".", "plant in the targets whose names this regular `expression` matches; targets.go lists them")
	set.StringVar(&f.results, "results", ".cache/mutate.jsonl", "the `file` of results; mutations that it has are not planted again")
	set.StringVar(&f.justified, "justified", "tests/mutate/justified.txt", "the `list` of justified survivors")
	set.IntVar(&f.sample, "sample", 0, "the `number` of mutations of each target, 0 means all")
	set.IntVar(&f.jobs, "jobs", 2, "the number of test processes at a time")
	set.Uint64Var(&f.seed, "seed", 1, "selects the sample")
	set.BoolVar(&f.again, "again", false, "plant the survivors in the file of results again, and nothing else")
	set.BoolVar(&f.far, "far", true, "run tests of other packages with the survivors of the package's own tests")
	set.BoolVar(&f.list, "list", false, "print the mutations and run no test")
	set.DurationVar(&f.budget, "budget", 20*time.Second, "limit of the normal duration of tests per mutation and package")
	if err := set.Parse(args[1:]); err != nil {
		return err
	}
	wanted, err := regexp.Compile(f.targets)
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(targets), func(t target) bool { return !wanted.MatchString(t.name) })
	p, err := newPlan(chosen, &f)
	if err != nil {
		return err
	}
	if f.list {
		for _, s := range p.sites {
			fmt.Printf("%s: %s\n", s.position(), s.key())
		}
		fmt.Println(len(p.sites), "mutations")
		return nil
	}
	return p.run()
}

// A plan is the sites to plant. Site i has the number i+1, and its target the same index.
type plan struct {
	flags     *treeFlags
	sites     []*site
	targets   []*target
	functions map[*ast.FuncDecl]int // from 1
	loader    *loader
	packages  map[string][]*combinedFile // by folder
	justified []*justification
	results   *results
}

// newPlan selects the sites.
func newPlan(chosen []target, f *treeFlags) (*plan, error) {
	p := &plan{flags: f, functions: map[*ast.FuncDecl]int{}, packages: map[string][]*combinedFile{}}
	var err error
	if p.justified, err = readJustified(f.justified); err != nil {
		return nil, err
	}
	if p.results, err = openResults(f.results); err != nil {
		return nil, err
	}
	var dirs []string
	for _, t := range chosen {
		dirs = append(dirs, t.dir)
	}
	if p.loader, err = newLoader(".", "poison", dirs); err != nil {
		return nil, err
	}
	all := map[string][]*site{} // by folder
	for i := range chosen {
		t := &chosen[i]
		if p.packages[t.dir] == nil {
			if p.packages[t.dir], all[t.dir], err = p.loader.load(t.dir); err != nil {
				return nil, err
			}
		}
		p.add(t, all[t.dir])
	}
	return p, nil
}

// add adds the sites of a target, or only the sites that survived.
func (p *plan) add(t *target, sites []*site) {
	sites = slices.DeleteFunc(slices.Clone(sites), func(s *site) bool {
		return t.files != nil && !t.files.MatchString(filepath.Base(s.file.path)) || leftOut(p.justified, s)
	})
	if p.flags.again {
		sites = slices.DeleteFunc(sites, func(s *site) bool { return p.results.of(s) == nil || !p.results.of(s).survives() })
	} else {
		sites = sample(sites, p.flags.sample, p.flags.seed)
	}
	for _, s := range sites {
		p.sites, p.targets = append(p.sites, s), append(p.targets, t)
		if p.functions[s.original] == 0 {
			p.functions[s.original] = len(p.functions) + 1
		}
	}
}

// combine makes the files with copies. It removes the sites that do not compile.
func (p *plan) combine(folder string) (*schemata, error) {
	s := &schemata{map[string]*combinedFile{}, len(p.functions), filepath.Join(folder, "combined.json")}
	for i, site := range p.sites {
		f := site.file
		s.files[f.path] = f
		if f.reached == nil {
			f.reached = map[*ast.FuncDecl]int{}
		}
		f.reached[site.original] = p.functions[site.original]
		f.addCopy(site.original, i+1, site.begin, site.end, site.text)
	}
	var removed []int
	for dir, files := range p.packages {
		wrong, err := p.loader.check(dir, files)
		if err != nil {
			return nil, err
		}
		removed = append(removed, wrong...)
	}
	wrong, err := s.compile()
	if err != nil {
		return nil, err
	}
	for _, n := range append(removed, wrong...) {
		p.sites[n-1] = nil
	}
	fmt.Printf("%d mutations in %d functions compile, %d do not\n", len(p.sites)-len(removed)-len(wrong), len(p.functions),
		len(removed)+len(wrong))
	return s, nil
}

// check removes the copies of a package that the type checker rejects, and returns their numbers.
func (l *loader) check(dir string, files []*combinedFile) (removed []int, err error) {
	for {
		lines, err := l.wrongLines(dir, files)
		if err != nil {
			return nil, err
		}
		wrong := removeAt(lines)
		if removed = append(removed, wrong...); len(wrong) == 0 {
			return removed, nil
		}
	}
}

// run plants all mutations, by target.
func (p *plan) run() error {
	folder, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	s, err := p.combine(folder)
	if err != nil {
		return err
	}
	suites := map[string]*suite{}
	suiteOf := func(dir string) (*suite, error) {
		if suites[dir] == nil {
			suites[dir], err = newSuite(dir, s, folder, p.flags.jobs)
		}
		return suites[dir], err
	}
	for _, t := range slices.Compact(slices.Clone(p.targets)) {
		if err := p.stage(t, false, suiteOf); err != nil {
			return err
		}
		if !p.flags.far {
			continue
		}
		if err := p.stage(t, true, suiteOf); err != nil {
			return err
		}
	}
	return p.report()
}

// stage runs the tests of the near packages of a target, or of the far ones, with the mutations that lack a result of
// them.
func (p *plan) stage(t *target, far bool, suiteOf func(dir string) (*suite, error)) error {
	dirs := t.near
	if far {
		dirs = t.far
	}
	var pending []int // numbers
	for i, s := range p.sites {
		if s != nil && p.targets[i] == t && p.lacks(s, far) {
			pending = append(pending, i+1)
		}
	}
	if len(pending) == 0 || len(dirs) == 0 {
		return nil
	}
	var suites []*suite
	for _, dir := range dirs {
		u, err := suiteOf(dir)
		if err != nil {
			return err
		}
		suites = append(suites, u)
	}
	each(p.flags.jobs, pending, func(_, n int) {
		s, began := p.sites[n-1], time.Now()
		r := &result{Key: s.key(), Target: t.name, At: s.position(), Diff: s.diff(), Far: far, Verdict: unreached}
		if old := p.results.of(s); far && old != nil {
			r.Verdict, r.NotRun = old.Verdict, old.NotRun
		}
		for _, u := range suites {
			if r.merge(u.judge(p.functions[s.original], n, p.flags.budget)); !r.survives() {
				break
			}
		}
		r.Seconds = time.Since(began).Seconds()
		p.results.add(r)
		fmt.Printf("%-9s %5.1f s  %s\n", r.Verdict, r.Seconds, r.Key)
	})
	return p.results.err
}

// lacks reports whether the tests of the near or far packages are still to be run with a site.
func (p *plan) lacks(s *site, far bool) bool {
	r := p.results.of(s)
	if far {
		return r != nil && r.survives() && !r.Far
	}
	return r == nil || p.flags.again
}
