// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"slices"
)

// The columns of a Scan that are read before others.

// addSelector adds the columns that only the selector needs, and the columns of each phase of reading.
func (s *Scan) addSelector() error {
	if s.o.RowNumbers != "" && slices.ContainsFunc(s.columns[:s.outputs], func(c scanColumn) bool {
		return c.Name == s.o.RowNumbers
	}) {
		return fmt.Errorf("parquetscan: RowNumbers: there is a column %s", s.o.RowNumbers)
	}
	if s.pred == nil {
		s.filter = nil
	}
	if s.o.Selector == nil {
		return nil
	}
	var err error
	s.chosen, err = s.addOnce(s.o.Selector.Columns)
	return err
}

// setFirst sets the columns that are read before rows of a batch are selected.
func (s *Scan) setFirst() {
	switch {
	case len(s.narrows) > 0:
		s.first = s.narrows
	case s.pred != nil:
		s.first = []int{}
		for _, c := range s.pred.Stages[0].Columns {
			s.first = append(s.first, s.filter[c])
		}
	case s.o.Selector != nil:
		s.first = append([]int{}, s.chosen...)
	}
}

// late reports whether a column is read after some rows of a batch have been selected.
func (s *Scan) late(at int) bool { return s.first != nil && !slices.Contains(s.first, at) }
