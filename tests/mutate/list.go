// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// The list of mutations, mutations.txt. A mutation is a block of lines; empty lines separate blocks, and lines that
// begin with # are comments:
//
//	PROMISE PACKAGE DECLARATION: NAME
//	@ KIND N/TOTAL: TEXT
//	= PACKAGE PATTERN
//
// PACKAGE is a folder relative to the root of the module, DECLARATION a function, a method as Type.method, or a
// variable, constant or type of the package. Each line of @ replaces the Nth of the TOTAL nodes of a KIND in the
// declaration (place.go) by TEXT. In TEXT, $0 is the replaced node, $2 its second child, $2.1 the first child of that.
// Without TEXT a statement is dropped. Each line of = has a package and a pattern for the flag -run of go test; PATTERN
// may be absent, which means all tests.

// mutation is one change of one declaration, with the tests that must fail after the change.
type mutation struct {
	promise  int    // of docs/promises.md
	dir      string // of the package, relative to the root of the module
	function string // or another declaration
	name     string
	edits    []edit
	tests    []testRun
	at       *place
}

// testRun is a package and the pattern of its tests. An empty pattern means all tests.
type testRun struct{ pkg, pattern string }

func (m *mutation) String() string {
	return fmt.Sprintf("%d %s %s: %s", m.promise, m.dir, m.function, m.name)
}

// parseList reads the list in file, and finds the declarations in the module in root. The error names every mutation
// whose declaration is missing.
func parseList(file, root string) ([]*mutation, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []*mutation
	declarations := newPlaces(root)
	var block []string
	var missing []error
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
			if m.at, err = declarations.find(m); err != nil {
				missing = append(missing, err)
			}
			all, block = append(all, m), nil
		}
		if !more {
			return all, errors.Join(append(missing, in.Err())...)
		}
	}
}

// parseMutation parses one block.
func parseMutation(block []string) (*mutation, error) {
	head, name, ok := strings.Cut(block[0], ": ")
	words := strings.Fields(head)
	if !ok || len(words) != 3 {
		return nil, fmt.Errorf("%q is not PROMISE PACKAGE DECLARATION: NAME", block[0])
	}
	m := &mutation{dir: words[1], function: words[2], name: name}
	var err error
	if m.promise, err = strconv.Atoi(words[0]); err != nil {
		return nil, err
	}
	for _, line := range block[1:] {
		text := strings.TrimPrefix(line[1:], " ")
		switch line[0] {
		case '@':
			e, err := parseEdit(text)
			if err != nil {
				return nil, err
			}
			m.edits = append(m.edits, e)
		case '=':
			pkg, pattern, _ := strings.Cut(text, " ")
			m.tests = append(m.tests, testRun{pkg, pattern})
		default:
			return nil, fmt.Errorf("%q begins with neither @ nor =", line)
		}
	}
	if len(m.edits) == 0 || len(m.tests) == 0 {
		return nil, fmt.Errorf("%v: no change or no tests", m)
	}
	return m, nil
}
