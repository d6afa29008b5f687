// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// The table of docs/versions.md.

const document = "docs/versions.md"

// The table is between these lines of the document.
const (
	firstMark = "<!-- begin: go run ./tests/servers -->\n"
	lastMark  = "<!-- end: go run ./tests/servers -->"
)

// writeDocument replaces the table of the document.
func writeDocument(all []result) error {
	b, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(b), firstMark)
	_, after, closed := strings.Cut(rest, lastMark)
	if !ok || !closed {
		return fmt.Errorf("%s has no lines %q and %q", document, firstMark, lastMark)
	}
	return os.WriteFile(document, []byte(before+firstMark+table(all)+lastMark+after), 0o644)
}

// table returns the numbers of tests by version, protocol and part, the missing ones by their reason, and the names of
// the tests that failed.
func table(all []result) string {
	letters := lettersOf(all)
	type row struct {
		version  string
		protocol int
	}
	var rows []row
	cells, oldest := map[row]map[string]string{}, map[row]string{}
	failures := ""
	for _, r := range all {
		of := row{r.Version, r.Protocol}
		if cells[of] == nil {
			rows = append(rows, of)
			cells[of], oldest[of] = map[string]string{}, r.Date
		}
		cells[of][r.Part], oldest[of] = r.cell(letters), min(oldest[of], r.Date)
		for _, name := range r.Failed {
			failures += fmt.Sprintf("- %s, v%d, %s: `%s`\n", r.Version, r.Protocol, r.Part, name)
		}
	}
	var b strings.Builder
	b.WriteString("| Cassandra | protocol |")
	for _, p := range parts {
		fmt.Fprintf(&b, " %s |", p.name)
	}
	b.WriteString(" since |\n" + strings.Repeat("| --- ", len(parts)+3) + "|\n")
	for _, of := range rows {
		fmt.Fprintf(&b, "| %s | v%d |", of.version, of.protocol)
		for _, p := range parts {
			cell := cells[of][p.name]
			switch {
			case !p.runsOn(of.version) || !p.speaks(of.version, strconv.Itoa(of.protocol)):
				cell = "–"
			case cell == "":
				cell = "not run"
			}
			fmt.Fprintf(&b, " %s |", cell)
		}
		fmt.Fprintf(&b, " %s |\n", oldest[of])
	}
	if len(letters) > 0 {
		b.WriteString("\nMissing:")
		for _, reason := range slices.Sorted(maps.Keys(letters)) {
			fmt.Fprintf(&b, " %s: %s.", letters[reason], reason)
		}
		b.WriteString("\n")
	}
	if failures != "" {
		b.WriteString("\nFailed:\n\n" + failures)
	}
	return b.String()
}

// lettersOf returns a letter for each reason of missing tests.
func lettersOf(all []result) map[string]string {
	letters := map[string]string{}
	for _, r := range all {
		for reason := range r.Missing {
			letters[reason] = ""
		}
	}
	for i, reason := range slices.Sorted(maps.Keys(letters)) {
		letters[reason] = string(rune('a' + i))
	}
	return letters
}

// cell returns the numbers of a result: passed, missing with the letters of their reasons, failed.
func (r result) cell(letters map[string]string) string {
	text := fmt.Sprint(r.Passed)
	for _, reason := range slices.Sorted(maps.Keys(r.Missing)) {
		text += fmt.Sprintf(", %d %s", r.Missing[reason], letters[reason])
	}
	if len(r.Failed) > 0 {
		text += fmt.Sprintf(", **%d failed**", len(r.Failed))
	}
	return text
}
