// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/chunk"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// The columns of a Scan, found in its files.

// addColumns adds the columns that the options select.
func (s *Scan) addColumns() error {
	nodes := s.ds.files[0].Nodes
	var names []string // of all columns
	if s.o.NumberNames {
		names = footer.NumberedNames(nodes)
	}
	switch {
	case s.o.Positions != nil && s.o.Columns != nil:
		return errors.New("parquetscan: options have both Columns and Positions")
	case s.o.Columns != nil:
		for _, name := range s.o.Columns {
			if err := s.addColumn(name); err != nil {
				return err
			}
		}
	default:
		positions := s.o.Positions
		if positions == nil {
			for i := range nodes {
				positions = append(positions, i)
			}
		}
		for _, at := range positions {
			if at < 0 || at >= len(nodes) {
				return &Error{
					s.ds.files[0].src.Name, -1, "", -1,
					fmt.Errorf("%w: position %d of %d columns", ErrNoColumn, at, len(nodes)),
				}
			}
			c := scanColumn{node: nodes[at]}
			c.Name = nodes[at].Field.Name
			if c.nth = footer.CountNamed(nodes[:at], c.Name); names != nil {
				c.Name, c.nth = names[at], 0
			}
			s.columns = append(s.columns, c)
		}
	}
	s.outputs = len(s.columns)
	return nil
}

// checkNamed returns an error if Lists or Vectors name a column that is not read.
func (s *Scan) checkNamed() error {
	for _, o := range []struct {
		option string
		names  []string
	}{{"Lists", s.o.Lists}, {"Vectors", s.o.Vectors}} {
		for _, name := range o.names {
			if !slices.ContainsFunc(s.columns, func(c scanColumn) bool { return c.Name == name }) {
				return fmt.Errorf("parquetscan: %s: column %s is not read", o.option, name)
			}
		}
	}
	return nil
}

// addColumn adds a column by name, as the first file has it.
func (s *Scan) addColumn(name string) error {
	f := s.ds.files[0]
	n := footer.Lookup(f.Nodes, name)
	if n == nil {
		return &Error{f.src.Name, -1, name, -1, ErrNoColumn}
	}
	if err := s.checkUnique(f, name); err != nil {
		return err
	}
	s.columns = append(s.columns, scanColumn{Settings: chunk.Settings{Name: name}, node: n})
	return nil
}

// checkUnique returns an error if a file has several columns of a name, unless they have numbers.
func (s *Scan) checkUnique(f *dataFile, name string) error {
	if count := footer.CountNamed(f.Nodes, name); count > 1 && !s.o.NumberNames {
		return &Error{
			f.src.Name, -1, name, -1,
			fmt.Errorf("%w: %d columns have this name; Options.Positions selects by position", ErrNoColumn, count),
		}
	}
	return nil
}

// addOnce returns the positions of columns among those that are read. It adds columns that are not read yet.
func (s *Scan) addOnce(names []string) ([]int, error) {
	var positions []int
	for _, name := range names {
		if err := s.checkUnique(s.ds.files[0], name); err != nil {
			return nil, err
		}
		at := slices.IndexFunc(s.columns, func(c scanColumn) bool { return c.Name == name })
		if at < 0 {
			at = len(s.columns)
			if err := s.addColumn(name); err != nil {
				return nil, err
			}
		}
		positions = append(positions, at)
	}
	return positions, nil
}

// addFile finds the columns in a file.
func (s *Scan) addFile(f *dataFile) error {
	nodes := make([]*footer.Node, len(s.columns))
	var leaves []*footer.Leaf
	for i, c := range s.columns {
		n := footer.LookupNth(f.Nodes, c.Name, c.nth)
		if n == nil {
			return &Error{f.src.Name, -1, c.Name, -1, ErrNoColumn}
		}
		if have, want := footer.CountNamed(f.Nodes, c.Name), footer.CountNamed(s.ds.files[0].Nodes, c.Name); have != want {
			return &Error{
				f.src.Name, -1, c.Name, -1,
				fmt.Errorf("%w: %d columns have this name, and %d in %s", ErrNoColumn, have, want,
					s.ds.files[0].src.Name),
			}
		}
		if !sameType(&n.Field, &c.node.Field) {
			return &Error{
				f.src.Name, -1, c.Name, -1,
				fmt.Errorf("%w: it is %v here and %v in %s", ErrNoColumn, n.Field, c.node.Field,
					s.ds.files[0].src.Name),
			}
		}
		nodes[i] = n
		leaves = n.Leaves(leaves)
		s.columns[i].nullable = c.nullable || n.Field.Nullable
	}
	s.nodes = append(s.nodes, nodes)
	s.leaves = append(s.leaves, leaves)
	s.requested = append(s.requested, make([]atomic.Bool, len(f.Groups)))
	s.barren = append(s.barren, make([]atomic.Bool, len(f.Groups)))
	return nil
}

// sameType reports whether fields of two files are read alike. One may be nullable and the other not.
func sameType(a, b *column.Field) bool {
	if a.Type != b.Type || len(a.Fields) != len(b.Fields) {
		return false
	}
	for i := range a.Fields {
		if a.Fields[i].Name != b.Fields[i].Name || !sameType(&a.Fields[i], &b.Fields[i]) {
			return false
		}
	}
	return true
}
