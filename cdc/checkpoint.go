// SPDX-License-Identifier: Apache-2.0

package cdc

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql/cql"
)

// Checkpoints.

// A Checkpoint is the state of a reader: what is acknowledged. It can be stored as JSON.
type Checkpoint struct {
	Table string   `json:"table"` // keyspace.table
	Log   cql.UUID `json:"log"`   // id of the log
	// From is the time before which all changes are acknowledged.
	From time.Time `json:"from"`
	// To is the end of the window that is read, which begins at From; zero between windows. The others describe it.
	To time.Time `json:"to,omitzero"`
	// Generation is the start of the streams that are read; zero before the first window.
	Generation time.Time `json:"generation,omitzero"`
	// Done are the groups of streams whose window is acknowledged: the first stream of each, hexadecimal.
	Done []string `json:"done,omitempty"`
	// Positions are the streams whose window is acknowledged in part.
	Positions []Position `json:"positions,omitempty"`
	Rows      int64      `json:"rows"` // acknowledged
}

// A Position is the last acknowledged row of a stream.
type Position struct {
	Stream string   `json:"stream"` // hexadecimal
	Time   cql.UUID `json:"time"`   // cdc$time
	Seq    int32    `json:"seq"`    // cdc$batch_seq_no
}

// Checkpoint returns what is acknowledged. It may be called at any time, also while the reader runs.
func (r *Reader) Checkpoint() Checkpoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := Checkpoint{
		Table: r.name(), Log: r.id, From: r.window.from, To: r.window.to, Generation: r.generation.start, Rows: r.rows,
	}
	for key := range r.done {
		c.Done = append(c.Done, hex.EncodeToString([]byte(key)))
	}
	slices.Sort(c.Done)
	for stream, p := range r.positions {
		c.Positions = append(c.Positions, Position{hex.EncodeToString([]byte(stream)), p.time, p.seq})
	}
	slices.SortFunc(c.Positions, func(a, b Position) int { return strings.Compare(a.Stream, b.Stream) })
	return c
}

// restore sets the state of a reader.
func (r *Reader) restore(c *Checkpoint) error {
	damaged := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrCheckpoint}, args...)...)
	}
	switch {
	case c.Table != r.name():
		return damaged("it is of %s, want %s", c.Table, r.name())
	case c.Log != r.id:
		return fmt.Errorf("%w: %s: the checkpoint is of log %v, the log is %v", ErrDropped, r.name(), c.Log, r.id)
	case c.From.IsZero(), c.Rows < 0, !c.To.IsZero() && !c.To.After(c.From):
		return damaged("%d rows, from %v to %v", c.Rows, c.From, c.To)
	case c.To.IsZero() && len(c.Done)+len(c.Positions) > 0, !c.To.IsZero() && c.Generation.IsZero():
		return damaged("%d groups and %d positions without a window", len(c.Done), len(c.Positions))
	}
	for _, text := range c.Done {
		key, err := hex.DecodeString(text)
		if err != nil {
			return damaged("stream %q: %w", text, err)
		}
		r.done[string(key)] = true
	}
	for _, p := range c.Positions {
		stream, err := hex.DecodeString(p.Stream)
		if err != nil {
			return damaged("stream %q: %w", p.Stream, err)
		}
		if at := p.Time.Time(); p.Time.Version() != 1 || at.Before(c.From) || !at.Before(c.To) || p.Seq < 0 {
			return damaged("position %v, %d of stream %s is outside of the window", p.Time, p.Seq, p.Stream)
		}
		r.positions[string(stream)] = position{p.Time, p.Seq}
	}
	r.window, r.generation, r.rows = window{c.From, c.To}, generation{start: c.Generation}, c.Rows
	return nil
}

// checkStreams returns an error if the state has streams that a generation does not have.
func (r *Reader) checkStreams(g generation) error {
	keys, streams := map[string]bool{}, map[string]bool{}
	for _, one := range g.groups {
		keys[one.key()] = true
		for _, id := range one {
			streams[string(id)] = true
		}
	}
	for key := range r.done {
		if !keys[key] {
			return fmt.Errorf("%w: no group of streams begins with %x", ErrCheckpoint, key)
		}
	}
	for stream := range r.positions {
		if !streams[stream] {
			return fmt.Errorf("%w: no stream is %x", ErrCheckpoint, stream)
		}
	}
	return nil
}

// A position is the last acknowledged row of a stream.
type position struct {
	time cql.UUID
	seq  int32
}

// compare compares positions in the order of the log: by time, then by the other bytes of the UUID as signed numbers,
// then by number.
func (p position) compare(o position) int {
	if c := cmp.Compare(p.time.Timestamp(), o.time.Timestamp()); c != 0 {
		return c
	}
	for i := 8; i < 16; i++ {
		if c := cmp.Compare(int8(p.time[i]), int8(o.time[i])); c != 0 {
			return c
		}
	}
	return cmp.Compare(p.seq, o.seq)
}

// sameChange reports whether two rows of a stream are of one change.
func (p position) sameChange(o position) bool { return bytes.Equal(p.time[:], o.time[:]) }
