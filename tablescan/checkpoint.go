// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// ErrCheckpoint means that a checkpoint belongs to another statement, or is damaged.
var ErrCheckpoint = errors.New("tablescan: resume: not a checkpoint of this scan")

// A Checkpoint is the state of a scan: what is left to read. It can be stored as JSON.
type Checkpoint struct {
	Statement string `json:"statement"` // of New; the values of its bind markers are not stored
	// Left are the unread parts in the order of their tokens. A scan that is done has none.
	Left  []Part  `json:"left"`
	Total float64 `json:"total"` // tokens of the whole scan, for Progress
	Rows  int64   `json:"rows"`  // acknowledged
	Bytes int64   `json:"bytes"` // of these rows
}

// check returns an error unless the checkpoint belongs to the statement and its parts are possible.
func (c *Checkpoint) check(statement string) error {
	if c.Statement != statement {
		return fmt.Errorf("%w: its statement is %q, want %q", ErrCheckpoint, c.Statement, statement)
	}
	for i, p := range c.Left {
		if !p.valid() || i > 0 && p.Start < c.Left[i-1].End {
			return fmt.Errorf("%w: part %d is from %d to %d, with %d rows skipped", ErrCheckpoint, i, p.Start, p.End, p.Skip)
		}
	}
	if !(c.Total >= 0) || c.Rows < 0 || c.Bytes < 0 {
		return fmt.Errorf("%w: %d rows, %d bytes and %v tokens in all", ErrCheckpoint, c.Rows, c.Bytes, c.Total)
	}
	return nil
}

// Checkpoint returns what is left to read. It may be called at any time, also while the scan runs.
func (s *Scan) Checkpoint() Checkpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Checkpoint{Statement: s.statement, Left: merge(s.left()), Total: s.total, Rows: s.rows, Bytes: s.bytes}
}

// merge sorts parts and joins those that adjoin, which makes the checkpoint of a scan that has just begun small.
func merge(parts []Part) []Part {
	slices.SortFunc(parts, func(a, b Part) int { return cmp.Compare(a.Start, b.Start) })
	merged := parts[:0]
	for _, p := range parts {
		if last := len(merged) - 1; last >= 0 && merged[last].End == p.Start && p.Skip == 0 {
			merged[last].End = p.End
			continue
		}
		merged = append(merged, p)
	}
	return merged
}
