// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/vecql/vecql/internal/atomicfile"
)

// The checkpoint: which rows are done.

// A Checkpoint lists the rows that are done: acknowledged, or rejected.
type Checkpoint struct {
	Job     string              `json:"job"` // the statement, or the table, and Options.Job
	Sources map[string]Progress `json:"sources"`
}

// A Progress is the part of a checkpoint for one source.
type Progress struct {
	// Done lists the numbers of rows that are done: from the first of a pair up to but not including the second.
	Done [][2]int64 `json:"done"`
	// Started lists rows that may have been sent. It is kept for statements that are not idempotent.
	Started [][2]int64 `json:"started,omitempty"`
	// Rejected lists the rows of Done that were rejected.
	Rejected [][2]int64 `json:"rejected,omitempty"`
}

// Watermark returns the number of rows at the start of the source that are all done.
func (p Progress) Watermark() int64 {
	if len(p.Done) == 0 || p.Done[0][0] != 0 {
		return 0
	}
	return p.Done[0][1]
}

// Has reports whether the rows from first up to but not including end are all done.
func (p Progress) Has(first, end int64) bool {
	for _, v := range p.Done {
		if v[0] <= first && end <= v[1] {
			return true
		}
	}
	return first >= end
}

// rowSets are the rows of one source. doubt are those that this writer or an earlier one sent and whose outcome is
// unknown.
type rowSets struct{ done, started, doubt, rejected intervals }

// A ledger records the positions of rows that are done, and stores them in a file.
type ledger struct {
	path string // empty means no file
	job  string
	// resumed are the sets that the file had at first. They do not change.
	resumed map[string]*rowSets

	mu      sync.Mutex
	sources map[string]*rowSets
	changed bool // since the last save
	settled bool // no further row is sent

	saving sync.Mutex // held while the file is written; never taken while mu is held
}

// openLedger reads the checkpoint; without a file it is empty.
func openLedger(path, job string) (*ledger, error) {
	l := &ledger{path: path, job: job, resumed: map[string]*rowSets{}, sources: map[string]*rowSets{}}
	if path == "" {
		return l, nil
	}
	text, err := atomicfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, l.save() // a path that cannot be written to is an error before the first row
	}
	var c Checkpoint
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err == nil && c.Job != job {
		return nil, &JobError{Checkpoint: path, Got: c.Job, Want: job}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: read %s: %w", ErrCheckpoint, path, err)
	}
	for name, p := range c.Sources {
		sets, again := &rowSets{}, &rowSets{}
		for _, s := range []*rowSets{sets, again} {
			s.done, s.started, s.rejected = toIntervals(p.Done), toIntervals(p.Started), toIntervals(p.Rejected)
		}
		if !sets.done.valid() || !sets.started.valid() || !sets.rejected.valid() {
			return nil, fmt.Errorf("%w: read %s: invalid intervals of source %q", ErrCheckpoint, path, name)
		}
		again.doubt = toIntervals(p.Started)
		l.resumed[name], l.sources[name] = sets, again
	}
	return l, nil
}

func toIntervals(pairs [][2]int64) intervals {
	set := make(intervals, len(pairs))
	for i, p := range pairs {
		set[i] = interval(p)
	}
	return set
}

func toPairs(set intervals) [][2]int64 {
	pairs := make([][2]int64, len(set))
	for i, v := range set {
		pairs[i] = [2]int64(v)
	}
	return pairs
}

// source returns the sets of a source. Callers hold l.mu.
func (l *ledger) source(name string) *rowSets {
	s := l.sources[name]
	if s == nil {
		s = &rowSets{}
		l.sources[name] = s
	}
	return s
}

// done records that n rows are done.
func (l *ledger) done(sets *rowSets, index int64, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(&sets.done, index, n)
}

// reject records that n rows are done, because they were rejected.
func (l *ledger) reject(sets *rowSets, index int64, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(&sets.done, index, n)
	l.add(&sets.rejected, index, n)
}

// add adds n rows to a set. Callers hold l.mu.
func (l *ledger) add(set *intervals, index int64, n int) {
	set.add(index, index+int64(n))
	l.changed = true
}

// start records durably that rows may be sent. A row that starts after Close would be in doubt for the next run.
func (l *ledger) start(sets *rowSets, first, end int64) error {
	l.mu.Lock()
	if l.settled {
		l.mu.Unlock()
		return ErrClosed
	}
	sets.started.add(first, end)
	l.changed = true
	l.mu.Unlock()
	return l.save()
}

// doubt records that n rows were sent and that their outcome is unknown.
func (l *ledger) doubt(sets *rowSets, index int64, n int) {
	l.mu.Lock()
	sets.doubt.add(index, index+int64(n))
	l.mu.Unlock()
}

// settle records that no further rows will be sent: rows that were not sent are no longer in doubt.
func (l *ledger) settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settled = true
	for _, s := range l.sources {
		if len(s.started) > 0 {
			s.started, l.changed = s.doubt.without(s.done), true
		}
	}
}

// checkpoint returns a copy of the sets.
func (l *ledger) checkpoint() Checkpoint {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.copy()
}

// copy is checkpoint for a caller that holds l.mu.
func (l *ledger) copy() Checkpoint {
	c := Checkpoint{Job: l.job, Sources: make(map[string]Progress, len(l.sources))}
	for _, name := range slices.Sorted(maps.Keys(l.sources)) {
		s := l.sources[name]
		p := Progress{Done: toPairs(s.done)}
		if len(s.started) > 0 {
			p.Started = toPairs(s.started)
		}
		if len(s.rejected) > 0 {
			p.Rejected = toPairs(s.rejected)
		}
		c.Sources[name] = p
	}
	return c
}

// save writes the file if it would change.
func (l *ledger) save() error {
	if l.path == "" {
		return nil
	}
	l.saving.Lock()
	defer l.saving.Unlock()
	l.mu.Lock()
	if !l.changed && len(l.sources) > 0 {
		l.mu.Unlock()
		return nil
	}
	c := l.copy()
	l.changed = false
	l.mu.Unlock()
	text, err := json.Marshal(c)
	if err == nil {
		err = atomicfile.Replace(l.path, append(text, '\n'))
	}
	if err != nil {
		l.mu.Lock()
		l.changed = true
		l.mu.Unlock()
		return fmt.Errorf("%w: write %s: %w", ErrCheckpoint, l.path, err)
	}
	return nil
}
