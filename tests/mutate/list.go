// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The list of mutations, mutations.txt. A mutation is a block of lines; empty lines separate blocks, and lines that
// begin with # are comments:
//
//	PROMISE FILE: NAME
//	- an old line
//	+ a new line
//	= PACKAGE PATTERN
//
// The lines of - joined by line feeds are the old text, those of + the new one. Both may be parts of lines. Each line
// of = has a package and a pattern for the flag -run of go test; PATTERN may be absent, which means all tests.

// mutation is one change of one file, with the tests that must fail after the change.
type mutation struct {
	promise  int    // of docs/promises.md
	file     string // relative to the root of the module
	name     string
	old, new string
	tests    []testRun
}

// testRun is a package and the pattern of its tests. An empty pattern means all tests.
type testRun struct{ pkg, pattern string }

func (m *mutation) String() string { return fmt.Sprintf("%d %s: %s", m.promise, m.file, m.name) }

// parseList reads the list in file.
func parseList(file string) ([]*mutation, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []*mutation
	var block []string
	in := bufio.NewScanner(f)
	for number := 1; ; number++ {
		more := in.Scan()
		if line := in.Text(); more && line != "" {
			if !strings.HasPrefix(line, "#") {
				block = append(block, line)
			}
			continue
		}
		if len(block) > 0 {
			m, err := parseMutation(block)
			if err != nil {
				return nil, fmt.Errorf("%s: the block before line %d: %w", file, number, err)
			}
			all, block = append(all, m), nil
		}
		if !more {
			return all, in.Err()
		}
	}
}

// parseMutation parses one block.
func parseMutation(block []string) (*mutation, error) {
	head, name, ok := strings.Cut(block[0], ": ")
	promise, file, ok2 := strings.Cut(head, " ")
	if !ok || !ok2 {
		return nil, fmt.Errorf("%q is not PROMISE FILE: NAME", block[0])
	}
	m := &mutation{file: file, name: name}
	var err error
	if m.promise, err = strconv.Atoi(promise); err != nil {
		return nil, err
	}
	var removed, added []string
	for _, line := range block[1:] {
		text := strings.TrimPrefix(line[1:], " ")
		switch line[0] {
		case '-':
			removed = append(removed, text)
		case '+':
			added = append(added, text)
		case '=':
			pkg, pattern, _ := strings.Cut(text, " ")
			m.tests = append(m.tests, testRun{pkg, pattern})
		default:
			return nil, fmt.Errorf("%q begins with none of -, + and =", line)
		}
	}
	m.old, m.new = strings.Join(removed, "\n"), strings.Join(added, "\n")
	if m.old == m.new || len(m.tests) == 0 {
		return nil, fmt.Errorf("%v: no change or no tests", m)
	}
	return m, nil
}

// apply returns the mutated text of the file and the line of the change. The old text must occur exactly once.
func (m *mutation) apply(root string) (text string, line int, err error) {
	b, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return "", 0, err
	}
	if n := strings.Count(string(b), m.old); n != 1 {
		return "", 0, fmt.Errorf("%v: the old text occurs %d times: %q", m, n, m.old)
	}
	before, after, _ := strings.Cut(string(b), m.old)
	return before + m.new + after, 1 + strings.Count(before, "\n"), nil
}
