// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Results: the events of go test, counted by version and protocol, and their table.

// result is what one part of the tests gave with one protocol version on one version of Cassandra.
type result struct {
	Version, Part, Date string
	Protocol, Nodes     int
	Passed              int
	Missing             map[string]int // tests by the reason that the server gives no way to run them
	Failed              []string       // names of tests
}

func (r result) missing() int {
	n := 0
	for _, tests := range r.Missing {
		n += tests
	}
	return n
}

// event is a line of go test -json.
type event struct{ Action, Package, Test, Output string }

// outcome is the end of a test.
type outcome struct {
	action string
	reason string // of a skip
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
			all[key] = outcome{e.Action, reasons[key]}
		}
	}
	return all, lines.Err()
}

// protocolOf finds the protocol version in the name of a test; the others use the latest.
var protocolOf = regexp.MustCompile(`version=(\d)`)

const latestProtocol = 5

// results counts the tests without subtests. A package that failed without a failed test counts as one, and so does a
// test that was skipped for another reason than its server.
func (all outcomes) results(version string, p part, date string) []result {
	by := map[int]*result{}
	for key, o := range all {
		protocol := latestProtocol
		if m := protocolOf.FindStringSubmatch(key[1]); m != nil {
			protocol = int(m[1][0] - '0')
		}
		r := by[protocol]
		if r == nil {
			r = &result{Version: version, Part: p.name, Date: date, Protocol: protocol, Nodes: p.nodes}
			r.Missing = map[string]int{}
		}
		switch {
		case key[1] == "" && (o.action != "fail" || all.failed(key[0])), all.hasSubtests(key):
			continue
		case o.action == "pass":
			r.Passed++
		case o.action == "skip" && o.reason != "":
			r.Missing[o.reason]++
		default:
			r.Failed = append(r.Failed, strings.TrimSuffix(key[0]+" "+key[1], " "))
		}
		by[protocol] = r
	}
	var found []result
	for _, protocol := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[protocol].Failed)
		found = append(found, *by[protocol])
	}
	return found
}

// failed reports whether a test of the package failed.
func (all outcomes) failed(pkg string) bool {
	for key, o := range all {
		if key[0] == pkg && key[1] != "" && o.action == "fail" {
			return true
		}
	}
	return false
}

// hasSubtests reports whether the test has subtests, whose results stand for its own.
func (all outcomes) hasSubtests(test [2]string) bool {
	for key := range all {
		if key[0] == test[0] && test[1] != "" && strings.HasPrefix(key[1], test[1]+"/") {
			return true
		}
	}
	return false
}

// merge replaces the results of a part on a version.
func merge(all []result, version, part string, found []result) []result {
	all = slices.DeleteFunc(all, func(r result) bool { return r.Version == version && r.Part == part })
	return append(all, found...)
}

// The table stands between these lines of the document.
const (
	firstMark = "<!-- begin: go run ./tests/servers -->\n"
	lastMark  = "<!-- end: go run ./tests/servers -->"
)

// table returns the sums of the results by version, nodes and protocol.
func table(all []result) string {
	sums := map[[3]string]result{}
	for _, r := range all {
		key := [3]string{r.Version, fmt.Sprint(r.Nodes), fmt.Sprint(r.Protocol)}
		sum, ok := sums[key]
		if !ok {
			sum = result{Version: r.Version, Nodes: r.Nodes, Protocol: r.Protocol, Date: r.Date, Missing: map[string]int{}}
		}
		sum.Passed, sum.Failed, sum.Date = sum.Passed+r.Passed, append(sum.Failed, r.Failed...), min(sum.Date, r.Date)
		for reason, n := range r.Missing {
			sum.Missing[reason] += n
		}
		sums[key] = sum
	}
	rows := slices.SortedFunc(maps.Values(sums), func(a, b result) int {
		return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(b.Protocol, a.Protocol))
	})
	var b strings.Builder
	b.WriteString("| Cassandra | nodes | protocol | passed | missing | failed | since |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, r := range rows {
		var reasons []string
		for _, reason := range slices.Sorted(maps.Keys(r.Missing)) {
			reasons = append(reasons, fmt.Sprintf("%d: %s", r.Missing[reason], reason))
		}
		fmt.Fprintf(&b, "| %s | %d | v%d | %d | %s | %d | %s |\n", r.Version, r.Nodes, r.Protocol, r.Passed,
			cmp.Or(strings.Join(reasons, "; "), "0"), len(r.Failed), r.Date)
	}
	return b.String()
}
