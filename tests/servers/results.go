// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Results: the events of go test, counted by part, and their file.

const resultsFile = "tests/servers/results.json"

// result is what one part of the tests gave with one protocol version on one version of Cassandra.
type result struct {
	Version  string         `json:"version"`
	Protocol int            `json:"protocol"`
	Part     string         `json:"part"`
	Passed   int            `json:"passed"`
	Missing  map[string]int `json:"missing,omitempty"` // tests by the reason why the server gives no way to run them
	Failed   []string       `json:"failed,omitempty"`  // names of tests
	Date     string         `json:"date"`
	Commit   string         `json:"commit"`
	Seconds  int            `json:"seconds"`
}

func (r result) missing() int {
	n := 0
	for _, tests := range r.Missing {
		n += tests
	}
	return n
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// outcome is the end of a test.
type outcome struct {
	action  string
	reason  string  // of a skip
	elapsed float64 // seconds
}

// outcomes are the ends of tests, by package and name.
type outcomes map[[2]string]outcome

// missingReason finds the reason in the output of a test that was skipped because of its server.
var missingReason = regexp.MustCompile(`missing: (.+)`)

// readEvents reads the events of a run, and writes the outputs of tests to log.
func readEvents(r io.Reader, log io.Writer) (outcomes, error) {
	all, reasons := outcomes{}, map[[2]string]string{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			e = event{Action: "output", Output: lines.Text() + "\n"} // of the compiler
		}
		key := [2]string{e.Package, e.Test}
		switch e.Action {
		case "output", "build-output":
			if _, err := io.WriteString(log, e.Output); err != nil {
				return nil, err
			}
			if m := missingReason.FindStringSubmatch(e.Output); m != nil {
				reasons[key] = m[1]
			}
		case "pass", "fail", "skip":
			all[key] = outcome{e.Action, reasons[key], e.Elapsed}
		}
	}
	return all, lines.Err()
}

// count adds the tests to the results of their parts. A test that no part names is one of the first part, such as a
// package that failed without a failed test. A test that was skipped for another reason than its server has failed.
func (all outcomes) count(parts []part, found []result) {
	for key, o := range all {
		r := &found[max(0, slices.IndexFunc(parts, func(p part) bool { return key[1] != "" && p.has(key[1]) }))]
		if key[1] != "" && !strings.Contains(key[1], "/") {
			r.Seconds += int(math.Ceil(o.elapsed))
		}
		switch {
		case all.stand(key):
			continue
		case key[1] == "" && o.action != "fail":
			continue
		case o.action == "pass":
			r.Passed++
		case o.action == "skip" && o.reason != "":
			r.Missing[o.reason]++
		default:
			r.Failed = append(r.Failed, strings.TrimSuffix(key[0]+" "+key[1], " "))
		}
	}
	for i := range found {
		slices.Sort(found[i].Failed)
	}
}

// stand reports whether the tests within a test, or within a package, stand for its own end: each end but a failure of
// its own.
func (all outcomes) stand(key [2]string) bool {
	for other, o := range all {
		within := other[0] == key[0] && other != key && (key[1] == "" || strings.HasPrefix(other[1], key[1]+"/"))
		if within && (all[key].action != "fail" || o.action == "fail") {
			return true
		}
	}
	return false
}

// failed reports whether a test or a package failed.
func (all outcomes) failed() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(all)), func(o outcome) bool { return o.action == "fail" })
}

// ran reports whether a test ran, or a package failed.
func (all outcomes) ran() bool {
	for key := range all {
		if key[1] != "" {
			return true
		}
	}
	return all.failed()
}

// merge replaces the results of the same parts on the same versions.
func merge(all, found []result) []result {
	same := func(a, b result) bool { return a.Version == b.Version && a.Protocol == b.Protocol && a.Part == b.Part }
	all = slices.DeleteFunc(all, func(r result) bool {
		return slices.ContainsFunc(found, func(f result) bool { return same(r, f) })
	})
	all = append(all, found...)
	slices.SortFunc(all, func(a, b result) int {
		return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(b.Protocol, a.Protocol), cmp.Compare(a.Part, b.Part))
	})
	return all
}

func readResults() ([]result, error) {
	b, err := os.ReadFile(resultsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []result
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", resultsFile, err)
	}
	return all, nil
}

// writeResults writes a line for each result.
func writeResults(all []result) error {
	var lines []string
	for _, r := range all {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		lines = append(lines, string(line))
	}
	return os.WriteFile(resultsFile, []byte("[\n"+strings.Join(lines, ",\n")+"\n]\n"), 0o644)
}
