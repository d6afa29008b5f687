// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Preparation of searches by vectors.

// orderByANN prepares ORDER BY ... ANN OF.
func (c *compiler) orderByANN(p *selectPlan, s *cql.Select) error {
	if len(s.OrderBy) > 1 {
		return invalid("ANN ordering does not support any other ordering")
	}
	by := s.OrderBy[0]
	col, err := p.t.lookup(by.Column)
	if err != nil {
		return err
	}
	if _, ok := by.ANN.(*cql.ListLiteral); ok && col.typ.Kind != KindVector && col.typ.Kind != KindList {
		return invalid("Unexpected receiver type '%s'; only list and vector are expected", col.typ)
	}
	if by.Desc {
		return invalid("Descending ANN ordering is not supported")
	}
	if col.typ.Kind != KindVector || col.typ.Elems[0].Kind != KindFloat {
		return invalid("ANN ordering is only supported on float vector indexes")
	}
	for _, r := range p.where.all {
		if slices.Contains(r.cols, col) {
			return invalid("%s cannot be restricted by more than one relation if it includes an Equal", col.name)
		}
	}
	p.annColumn = col
	p.ann, err = c.term(by.ANN, p.t.column(col))
	return err
}

// maxANNLimit is the bound of both servers on the LIMIT of a search by a vector.
const maxANNLimit = 1000

// checkANN returns an error unless a search by a vector has an index, and in ScyllaDB a limit and no aggregates.
func (c *compiler) checkANN(p *selectPlan) error {
	indexes := p.t.vectorIndexes(p.annColumn)
	switch {
	case c.e.options.Scylla && len(indexes) == 0:
		return invalid("ANN ordering by vector requires the column to be indexed using 'vector_index'")
	case len(indexes) == 0:
		return invalid("ANN ordering by vector requires the column to be indexed")
	case !c.e.options.Scylla:
		p.annIndex = indexes[len(indexes)-1]
		return nil
	case p.limit == nil:
		return invalid("Vector ANN queries must have a limit specified")
	case p.perPartition != nil:
		return invalid("Vector ANN queries do not support per-partition limits")
	case p.aggregated:
		return invalid("Vector ANN queries cannot be run with aggregation")
	}
	return nil
}

// filterOfSearch checks the WHERE clause of a search of ScyllaDB. Old releases ignore relations of regular columns.
func (c *compiler) filterOfSearch(w *where) error {
	if !c.e.options.has(filteredSearches) {
		w.all = slices.DeleteFunc(w.all, func(r *restriction) bool { return !r.cols[0].isKey() })
		w.regular, w.statics = false, false
	}
	for _, r := range w.all {
		switch {
		case len(w.t.vectorIndexes(r.cols[0])) > 0:
			return invalid("Vector indexes only support ANN queries")
		case r.op != cql.Eq && r.op != cql.In && !r.isSlice() || r.key != nil:
			return &Error{Code: CodeServer, Message: "unsupported operation: Unsupported operator in restriction on column " +
				r.cols[0].name}
		}
	}
	return nil
}
