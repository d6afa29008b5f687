// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"errors"
	"fmt"
	"time"
)

// What files are applied, and what is to be done.

var (
	// ErrChanged means that a file, or the part of it that was applied, differs from what was applied.
	ErrChanged = errors.New("the file was changed after it was applied")
	// ErrMissing means that there is no file for a version that was applied.
	ErrMissing = errors.New("the file of an applied version is missing")
	// ErrOlder means that a later version than the one of a new file was applied.
	ErrOlder = errors.New("a later version was applied")
)

// A Record is the row of a version in the table. Steps are its statements, Done the number of those that were executed,
// Started the number of those whose execution began, Prefix the checksum of those that were executed.
type Record struct {
	Version              int64
	Name                 string
	Steps, Done, Started int
	Prefix               string
	Applied              *time.Time // nil until the last statement was executed
}

// A State is a version: its file, and its record.
type State struct {
	File
	Record *Record // nil if no statement was begun
}

// done returns the number of statements that were executed.
func (s *State) done() int {
	if s.Record == nil {
		return 0
	}
	return s.Record.Done
}

// Pending returns the statements that were not executed.
func (s *State) Pending() []string { return s.Statements[s.done():] }

// String returns applied, pending, or the number of statements that were executed.
func (s *State) String() string {
	switch done := s.done(); {
	case s.Record == nil:
		return "pending"
	case done < len(s.Statements):
		return fmt.Sprintf("%d of %d statements", done, len(s.Statements))
	}
	return "applied"
}

// plan compares files with the records of the table, both by version. After an error the states are still right for
// people.
func plan(files []File, records []Record) (states []State, err error) {
	fail := func(version int64, name string, reason error) {
		if err == nil {
			err = fmt.Errorf("version %d, %s: %w", version, name, reason)
		}
	}
	last := int64(-1) // the last version that was begun
	for i := range records {
		last = max(last, records[i].Version)
	}
	for i := range files {
		s := State{File: files[i]}
		for len(records) > 0 && records[0].Version < s.Version {
			fail(records[0].Version, records[0].Name, ErrMissing)
			records = records[1:]
		}
		if len(records) > 0 && records[0].Version == s.Version {
			s.Record = &records[0]
			records = records[1:]
		}
		switch r := s.Record; {
		case r == nil && s.Version < last:
			fail(s.Version, s.Name, ErrOlder)
		case r == nil:
		case r.Done > len(s.Statements), r.Applied != nil && len(s.Statements) != r.Steps, s.checksum(r.Done) != r.Prefix:
			fail(s.Version, s.Name, ErrChanged)
			s.Statements = s.Statements[:min(len(s.Statements), r.Done)]
		}
		states = append(states, s)
	}
	if len(records) > 0 {
		fail(records[0].Version, records[0].Name, ErrMissing)
	}
	return states, err
}
