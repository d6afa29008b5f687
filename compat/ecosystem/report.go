// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/vecql/vecql/internal/cassandra"
)

// report writes the table of all kept results.
func (e *ecosystem) report(path string) error {
	var table, failures strings.Builder
	for _, p := range programs {
		own, err := load(e.work, p, "gocql")
		if err != nil {
			return err
		}
		vecql, err := load(e.work, p, "vecql")
		if err != nil {
			return err
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s | %s | %s |\n", p.name, p.version, p.api,
			pair(own, vecql, func(r *result) string { return yes(r.Build) }),
			pair(own, vecql, func(r *result) string { return r.vets() }),
			pair(own, vecql, func(r *result) string { return r.tests(p) }), p.noteOf(own))
		describeFailures(&failures, p, own, vecql)
	}
	document := fmt.Sprintf(header, cassandra.Version) + table.String() + failures.String()
	return os.WriteFile(path, []byte(document), 0o644)
}

const header = "# Programs on the compat modules\n\n" +
	"Each program was fetched at this version, from the module proxy or, where that does not serve it, from its\n" +
	"repository, and built, vetted and tested twice: with the gocql that it requires, and with a compat module in its\n" +
	"place by one `replace` line in go.mod. Programs are not modified; where the notes name an added test, the program's\n" +
	"own starts servers with Docker. Both runs have at least vecql's version of Go, which vet depends on. The server is Cassandra %s. `make ecosystem` writes this file.\n\n" +
	"In each cell the first value is that of the program's own gocql, the second that of vecql. Tests are passed/failed.\n\n" +
	"| program | version | API | builds | vets | tests | notes |\n|---|---|---|---|---|---|---|\n"

// noteOf returns the note of a program; for the tests of an API it has the number of declarations.
func (p program) noteOf(own *result) string {
	if own == nil || own.All == 0 {
		return p.note
	}
	return fmt.Sprintf("%s: %d of %d", p.note, own.Kept, own.All)
}

// pair returns one value if both results agree, or both values.
func pair(own, vecql *result, value func(*result) string) string {
	values := []string{"not run", "not run"}
	for i, r := range []*result{own, vecql} {
		if r != nil {
			values[i] = value(r)
		}
	}
	if values[0] == values[1] {
		return values[0]
	}
	return values[0] + ", " + values[1]
}

func yes(failure string) string {
	if failure == "" {
		return "yes"
	}
	return "no"
}

func (r *result) vets() string {
	if r.Build != "" {
		return "-"
	}
	return yes(r.Vet)
}

func (r *result) tests(p program) string {
	if r.Build != "" || len(p.runs) == 0 && r.Outcomes == nil {
		return "-"
	}
	on := ""
	if r.Emulated {
		on = " on cqltest"
	}
	return fmt.Sprintf("%d/%d%s", r.Passed, len(r.Failed), on)
}

// reason returns why a test fails, of the longest name that the program has for it.
func (p program) reason(name string) string {
	_, test, _ := strings.Cut(name, " ")
	key := ""
	for k := range p.why {
		if strings.HasPrefix(test, k) && len(k) > len(key) {
			key = k
		}
	}
	if key == "" {
		return ""
	}
	return ": " + p.why[key]
}

// describeFailures writes what fails with vecql and not with the program's own gocql, and what fails with both.
func describeFailures(b *strings.Builder, p program, own, vecql *result) {
	if vecql == nil {
		return
	}
	if own == nil {
		own = &result{}
	}
	var lines []string
	if vecql.Build != "" {
		lines = append(lines, "does not build with vecql:\n\n```\n"+vecql.Build+"\n```")
	}
	if vecql.Vet != "" && own.Vet == "" {
		lines = append(lines, "vet:\n\n```\n"+vecql.Vet+"\n```")
	}
	lines = append(lines, p.failures(own, vecql)...)
	for _, name := range slices.Sorted(maps.Keys(own.Failed)) {
		if _, both := vecql.Failed[name]; !both && vecql.Build == "" {
			lines = append(lines, "`"+name+"` fails with gocql only")
		}
	}
	lines = append(lines, otherOutcomes(own, vecql)...)
	if len(lines) > 0 {
		fmt.Fprintf(b, "\n## %s\n\n- %s\n", p.name, strings.Join(lines, "\n- "))
	}
}

// failures returns a line for each test that fails with vecql. A part of a test that fails alike, for the same reason,
// is counted in the line of the test.
func (p program) failures(own, vecql *result) (lines []string) {
	outcome := func(name string) string {
		if _, both := own.Failed[name]; both {
			return "fails with both" + p.reason(name)
		}
		return "fails with vecql only" + p.reason(name)
	}
	isCounted := func(name string) bool {
		return name != wholeTest(name) && p.reason(name) != "" && outcome(name) == outcome(wholeTest(name))
	}
	parts := map[string]int{} // that are counted, by the whole test
	for name := range vecql.Failed {
		if isCounted(name) {
			parts[wholeTest(name)]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(vecql.Failed)) {
		switch {
		case isCounted(name):
		case parts[name] > 0:
			lines = append(lines, fmt.Sprintf("`%s`, with %d of its parts, %s", name, parts[name], outcome(name)))
		default:
			lines = append(lines, fmt.Sprintf("`%s` %s", name, outcome(name)))
		}
	}
	return lines
}

// wholeTest returns the name, "package Test", of the test that a test is a part of.
func wholeTest(name string) string {
	pkg, test, _ := strings.Cut(name, " ")
	test, _, _ = strings.Cut(test, "/")
	return pkg + " " + test
}

// otherOutcomes returns the tests of an API that neither fails and that only one of the drivers skips or has. The names
// of parts may have values, whose texts differ: of a test with as many passed parts that only the other has, none is
// listed.
func otherOutcomes(own, vecql *result) (lines []string) {
	names := maps.Clone(own.Outcomes)
	if names == nil {
		return nil
	}
	maps.Copy(names, vecql.Outcomes)
	renamed := map[string]int{} // passed parts that only gocql has, less those that only vecql has, by the whole test
	isRenamed := func(name, a, b string) bool {
		return name != wholeTest(name) && (a == "" && b == "pass" || a == "pass" && b == "")
	}
	for name := range names {
		switch a, b := own.Outcomes[name], vecql.Outcomes[name]; {
		case !isRenamed(name, a, b):
		case b == "":
			renamed[wholeTest(name)]++
		default:
			renamed[wholeTest(name)]--
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, b := own.Outcomes[name], vecql.Outcomes[name]
		if a != b && a != "fail" && b != "fail" && !(isRenamed(name, a, b) && renamed[wholeTest(name)] == 0) {
			lines = append(lines, fmt.Sprintf("`%s`: %s with gocql, %s with vecql", name, cmp.Or(a, "absent"), cmp.Or(b, "absent")))
		}
	}
	return lines
}
