// SPDX-License-Identifier: Apache-2.0

package apidiff

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// A list holds the known differences of an API, each with the reason for it.
type list map[string]string

const separator = "  # "

// readList reads a file of differences. A file that does not exist is an empty list.
func readList(path string) (list, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l := list{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		difference, reason, _ := strings.Cut(line, separator)
		l[difference] = reason
	}
	return l, nil
}

// with returns the list of these differences, with the reasons that the old list has.
func (l list) with(lines []string) list {
	next := list{}
	for _, line := range lines {
		next[line] = l[line]
	}
	return next
}

// check returns an error for each difference that is not listed, that is listed without a reason, or that is gone.
func (l list) check(lines []string) error {
	var faults []error
	for _, line := range lines {
		reason, ok := l[line]
		switch {
		case !ok:
			faults = append(faults, fmt.Errorf("not listed: %s", line))
		case reason == "":
			faults = append(faults, fmt.Errorf("no reason beside: %s", line))
		}
	}
	for _, line := range l.sorted() {
		if !slices.Contains(lines, line) {
			faults = append(faults, fmt.Errorf("no longer a difference: %s", line))
		}
	}
	return errors.Join(faults...)
}

func (l list) sorted() []string {
	var lines []string
	for line := range l {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// write stores the list as a file.
func (l list) write(path, name string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# What compat/%s lacks, adds or has otherwise than the API that it stands for, with the reason.\n", name)
	b.WriteString("# Written by go test ./apidiff -update in compat/cmd; the reasons stay.\n")
	for _, line := range l.sorted() {
		b.WriteString(line)
		if reason := l[line]; reason != "" {
			b.WriteString(separator + reason)
		}
		b.WriteString("\n")
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
