// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Results of mutations of the syntax tree: the file of results, the list of justified survivors, and the report.

// A result is what tests have shown about a site.
type result struct {
	Key, Target, At, Diff string
	Verdict               verdict
	Test                  string  // the first test that failed
	NotRun                int     // the number of tests beyond the budget
	Far                   bool    // tests of far packages have run too
	Seconds               float64 // of the tests
}

func (r *result) survives() bool { return r.Verdict == survived || r.Verdict == unreached }

// merge adds the judgment of one more package.
func (r *result) merge(j judgment) {
	if j.Verdict == unreached {
		return
	}
	r.Verdict, r.Test = j.Verdict, j.Test
	r.NotRun += j.NotRun
}

// results are the results by key. Each one is appended to a file, a JSON object a line; the last one with a key counts.
type results struct {
	mu    sync.Mutex
	file  *os.File
	err   error // of the first write that failed
	byKey map[string]*result
}

func openResults(path string) (*results, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	rs := &results{file: f, byKey: map[string]*result{}}
	in := bufio.NewScanner(f)
	for in.Scan() {
		r := &result{}
		if err := json.Unmarshal(in.Bytes(), r); err != nil {
			continue // a line that a stopped run has not completed
		}
		rs.byKey[r.Key] = r
	}
	return rs, in.Err()
}

// of returns the result of a site, nil if none.
func (rs *results) of(s *site) *result {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.byKey[s.key()]
}

func (rs *results) add(r *result) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.byKey[r.Key] = r
	b, err := json.Marshal(r)
	if err == nil {
		_, err = rs.file.Write(append(b, '\n'))
	}
	rs.err = errors.Join(rs.err, err)
}

// A justification is an entry of the list of justified survivors: a function, with an operator, with a change. A
// function alone gets no mutations.
type justification struct {
	key    string
	exists bool // a site matches
}

// matches reports whether an entry is about a site.
func (j *justification) matches(s *site) bool {
	return j.key == s.functionKey() || j.key == s.functionKey()+": "+s.operator || j.key == s.key()
}

// readJustified reads the list. A file that does not exist is an empty list. Each entry is a key and, on the next line,
// "= " with the reason.
func readJustified(path string) (list []*justification, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	wantsReason := false
	for i, line := range strings.Split(string(b), "\n") {
		isReason := strings.HasPrefix(line, "= ")
		switch {
		case isReason != wantsReason:
			return nil, fmt.Errorf("%s:%d: an entry is a line with its key and a line with = and its reason", path, i+1)
		case isReason:
			wantsReason = false
		case line != "" && !strings.HasPrefix(line, "#"):
			list, wantsReason = append(list, &justification{key: line}), true
		}
	}
	return list, nil
}

// leftOut reports whether the list has the whole function of a site. It notes the entries that match.
func leftOut(list []*justification, s *site) (found bool) {
	for _, j := range list {
		if j.matches(s) {
			j.exists = true
			found = found || j.key == s.functionKey()
		}
	}
	return found
}

// counts are the numbers of a row of the report.
type counts struct{ planted, caught, crashed, timedOut, survived, justified int }

// report prints a table by target, the survivors, and entries of the list of justified survivors that are stale.
func (p *plan) report() error {
	byTarget := map[string]*counts{}
	var order, survivors []string
	for i, s := range p.sites {
		if s == nil || p.results.of(s) == nil {
			continue
		}
		name := p.targets[i].name
		if byTarget[name] == nil {
			byTarget[name], order = &counts{}, append(order, name)
		}
		r := p.results.of(s)
		justified := slices.ContainsFunc(p.justified, func(j *justification) bool { return j.matches(s) })
		byTarget[name].add(r, justified)
		if !justified && r.survives() {
			survivors = append(survivors, fmt.Sprintf("%s: %s: %s: %s%s\n%s\n", s.position(), s.functionKey(), s.operator, r.Verdict,
				r.notRun(), s.diff()))
		}
	}
	fmt.Print("\n| target | planted | caught | crashed | timed out | survived | justified | score |\n",
		"| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	sum := &counts{}
	for _, name := range order {
		fmt.Println(byTarget[name].row(name))
		sum.sum(byTarget[name])
	}
	fmt.Println(sum.row("all") + "\n")
	for _, text := range survivors {
		fmt.Println(text)
	}
	for _, line := range p.stale() {
		fmt.Println(line)
	}
	if len(survivors) > 0 {
		return fmt.Errorf("%d of %d mutations survived", len(survivors), sum.planted)
	}
	return nil
}

func (r *result) notRun() string {
	if r.NotRun == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d tests beyond the budget)", r.NotRun)
}

// add counts a result.
func (c *counts) add(r *result, justified bool) {
	c.planted++
	switch {
	case r.survives() && justified:
		c.justified++
	case r.survives():
		c.survived++
	case r.Verdict == crashed:
		c.crashed++
	case r.Verdict == timedOut:
		c.timedOut++
	default:
		c.caught++
	}
}

func (c *counts) sum(other *counts) {
	c.planted += other.planted
	c.caught += other.caught
	c.crashed += other.crashed
	c.timedOut += other.timedOut
	c.survived += other.survived
	c.justified += other.justified
}

// row returns a row of the table. The score is the part of the mutations that are not justified that tests notice.
func (c *counts) row(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %.1f %% |", name, c.planted, c.caught, c.crashed, c.timedOut, c.survived,
		c.justified, 100*float64(c.planted-c.justified-c.survived)/float64(max(c.planted-c.justified, 1)))
}

// stale returns a line for each entry of the list that has no site, or whose mutation a test notices.
func (p *plan) stale() (lines []string) {
	caughtNow := map[string]bool{}
	for _, s := range p.sites {
		if s != nil && p.results.of(s) != nil && !p.results.of(s).survives() {
			caughtNow[s.key()] = true
		}
	}
	for _, j := range p.justified {
		function, _, _ := strings.Cut(j.key, ": ")
		switch {
		case caughtNow[j.key]:
			lines = append(lines, "stale: a test notices "+j.key)
		case p.packages[folderOf(function)] != nil && !j.exists:
			lines = append(lines, "stale: no such mutation: "+j.key)
		}
	}
	return lines
}

// folderOf returns the folder of a function key.
func folderOf(key string) string {
	slash := strings.LastIndex(key, "/") + 1
	name, _, _ := strings.Cut(key[slash:], ".")
	if dir := key[:slash] + name; dir != "vecql" {
		return dir
	}
	return "."
}
