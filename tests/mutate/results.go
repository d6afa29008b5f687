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
	keys := s.entryKeys()
	return slices.Contains(keys[:], j.key)
}

// entryKeys returns the keys of the entries about a site: of its function, of an operator in the function, of the site.
func (s *site) entryKeys() [3]string {
	function := s.functionKey()
	return [...]string{function, function + ": " + s.operator, s.key()}
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
	keys := s.entryKeys() // once: there are tens of thousands of sites, and hundreds of entries
	for _, j := range list {
		if slices.Contains(keys[:], j.key) {
			j.exists = true
			found = found || j.key == keys[0]
		}
	}
	return found
}

// A row is the number of mutations of a target by verdict.
type row map[verdict]int

// justified is the verdict in the report about a survivor that the list of justified survivors has.
const justified verdict = "justified"

// columns are the verdicts of the report, in the order of its columns.
var columns = []verdict{caught, crashed, timedOut, unreached, survived, justified}

// report prints a table by target, the survivors, and entries of the list of justified survivors that are stale.
func (p *plan) report() error {
	rows, sum := map[string]row{}, row{}
	var order []string
	var survivors strings.Builder
	for i, s := range p.sites {
		if s == nil || p.results.of(s) == nil {
			continue
		}
		name := p.targets[i].name
		if rows[name] == nil {
			rows[name], order = row{}, append(order, name)
		}
		r := p.results.of(s)
		v := r.Verdict
		if r.survives() && slices.ContainsFunc(p.justified, func(j *justification) bool { return j.matches(s) }) {
			v = justified
		} else if r.survives() {
			fmt.Fprintf(&survivors, "%s: %s: %s: %s%s\n%s\n\n", s.position(), s.functionKey(), s.operator, v, r.notRun(),
				s.diff())
		}
		rows[name][v]++
		sum[v]++
	}
	fmt.Print("\n| target | planted | caught | crashed | timed out | unreached | survived | justified | score |\n",
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, name := range order {
		fmt.Println(rows[name].text(name))
	}
	fmt.Printf("%s\n\n%s", sum.text("all"), &survivors)
	for _, line := range p.stale() {
		fmt.Println(line)
	}
	if n := sum[survived] + sum[unreached]; n > 0 {
		return fmt.Errorf("%d mutations survived", n)
	}
	return nil
}

// text returns a row of the table. The score is the part that tests notice of the mutations that are not justified.
func (r row) text(name string) string {
	planted, cells := 0, ""
	for _, v := range columns {
		planted += r[v]
		cells += fmt.Sprintf(" %d |", r[v])
	}
	noticed := float64(r[caught] + r[crashed] + r[timedOut])
	return fmt.Sprintf("| %s | %d |%s %.1f %% |", name, planted, cells, 100*noticed/float64(max(planted-r[justified], 1)))
}

func (r *result) notRun() string {
	if r.NotRun == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d tests beyond the budget)", r.NotRun)
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
