// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// New numbers for the nodes of the list, after a change of declarations: a node of an earlier revision is found again
// by its text.

// renumber rewrites the list for the tree, given a revision for which its numbers are right.
func renumber(list, revision string) error {
	folder, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	archive := exec.Command("sh", "-c", `git archive "$1" | tar -x -C "$2"`, "sh", revision, folder)
	if out, err := archive.CombinedOutput(); err != nil {
		return fmt.Errorf("read revision %s: %w\n%s", revision, err, out)
	}
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	all, err := parseList(list, ".")
	if err != nil {
		return err
	}
	before := newPlaces(folder)
	blocks := strings.Split(string(text), "\n\n")
	var failures []error
	for _, m := range all {
		old, err := before.find(m)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		for _, e := range m.edits {
			moved, err := e.follow(old, m.at)
			if err != nil {
				failures = append(failures, fmt.Errorf("%v: %w", m, err))
				continue
			}
			for i, block := range blocks {
				if strings.Contains("\n"+block, "\n"+m.String()+"\n") {
					blocks[i] = strings.Replace(block, e.place(), moved.place(), 1)
				}
			}
		}
	}
	if err := os.WriteFile(list, []byte(strings.Join(blocks, "\n\n")), 0o644); err != nil {
		return err
	}
	return errors.Join(failures...)
}

// place returns KIND N/TOTAL: as the list has it.
func (e edit) place() string { return fmt.Sprintf("@ %s %d/%d:", e.kind, e.nth, e.of) }

// follow returns the edit with its number in the declaration now, given the declaration for which its number is right.
// Of several nodes with one text it follows the one with the same rank, if their number has not changed.
func (e edit) follow(old, now *place) (edit, error) {
	after := nodesOf(now.node, e.kind)
	if len(after) == e.of {
		return e, nil
	}
	n, err := e.find(old.node)
	if err != nil {
		return e, err
	}
	text := func(p *place, i int) string {
		n := nodesOf(p.node, e.kind)[i]
		return spaces.ReplaceAllString(p.file.between(n.Pos(), n.End()), " ")
	}
	want := spaces.ReplaceAllString(old.file.between(n.Pos(), n.End()), " ")
	rank, equal := 0, 0 // among the nodes with that text
	for i := range e.of {
		if text(old, i) == want {
			if equal++; i < e.nth {
				rank++
			}
		}
	}
	var found []int
	for i := range after {
		if text(now, i) == want {
			found = append(found, i+1)
		}
	}
	if len(found) != equal {
		return e, fmt.Errorf("%s %d/%d: %d nodes are now %s, %d were", e.kind, e.nth, e.of, len(found), oneLine(want), equal)
	}
	return edit{e.kind, found[rank-1], len(after), e.text}, nil
}
