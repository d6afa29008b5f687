// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math"
	"slices"
)

// Indexes of vectors: the vectors that they take, and what a search by one warns of.

func (i *index) similarity() func(a, b []float64) float32 {
	if f := similarities[i.options["similarity_function"]]; f != nil {
		return f
	}
	return similarities["cosine"]
}

// accepts reports whether the index takes a vector: finite numbers, and with cosine not only zeros.
func (i *index) accepts(v []float64) bool {
	zero := true
	for _, f := range v {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
		zero = zero && f == 0
	}
	switch i.options["similarity_function"] {
	case "euclidean", "dot_product":
		return true
	}
	return !zero
}

// annTarget returns the vector of a search, and Cassandra's warnings: the search has one page, and reads from one
// replica. limit and per come from the statement, -1 means none.
func (p *selectPlan) annTarget(x *env, r *Request, limit, per int64) ([]float64, []string, error) {
	v, err := p.ann.eval(x)
	switch {
	case err != nil:
		return nil, nil, err
	case isUnset(v):
		return nil, nil, invalid("Unsupported unset value for column %s", p.annColumn.name)
	case len(v) == 0:
		return nil, nil, invalid("Unsupported null value for column %s", p.annColumn.name)
	case p.aggregated:
		return nil, nil, invalid("Top-K queries can not be run with aggregation")
	case r.Consistency == consistencySerial || r.Consistency == consistencyLocalSerial:
		return nil, nil, invalid("Top-K queries can only be run with consistency level ONE/LOCAL_ONE. Consistency level %s "+
			"was used.", ConsistencyName(r.Consistency))
	}
	var warnings []string
	if level := ANNConsistency(r.Consistency); level != r.Consistency {
		warnings = append(warnings, fmt.Sprintf("Top-K queries can only be run with consistency level ONE / LOCAL_ONE / "+
			"NODE_LOCAL. Consistency level %s was requested. Downgrading the consistency level to %s.",
			ConsistencyName(r.Consistency), ConsistencyName(level)))
	}
	refuse := func(err error) ([]float64, []string, error) { return nil, nil, warned(err, warnings) }
	if limit < 0 {
		return refuse(invalid("Top-K queries must have a limit specified and the limit must be less than the query page size"))
	}
	if per >= 0 {
		return refuse(invalid("Top-K queries do not support per-partition limits"))
	}
	if r.PageSize > 0 && int64(r.PageSize) < limit {
		warnings = append(warnings, fmt.Sprintf("Top-K queries do not support paging and the page size is set to %d, which "+
			"is less than LIMIT %d. The page size has been set to %d to match the LIMIT.", r.PageSize, limit, limit))
	}
	if limit > maxANNLimit {
		return refuse(invalid("Use of ANN OF in an ORDER BY clause requires a LIMIT that is not greater than %d. LIMIT was %d",
			maxANNLimit, limit))
	}
	target := floats(v)
	if !p.annIndex.accepts(target) {
		return refuse(replicaFailure(CodeReadFailure))
	}
	return target, warnings, nil
}

// ANNConsistency returns the consistency level of a search by a vector for which a client requests level. The serial
// levels are errors.
func ANNConsistency(level uint16) uint16 {
	switch ConsistencyName(level) {
	case "ANY", "ONE", "LOCAL_ONE", "SERIAL", "LOCAL_SERIAL":
		return level
	case "LOCAL_QUORUM":
		return consistencyLocalOne
	}
	return consistencyOne
}

// checkVectors returns the error of vectors that an index does not take. Of several writes to a column it checks only
// the one that remains.
func checkVectors(mutations []*mutation) error {
	for _, i := range vectorIndexes(mutations) {
		final := map[string]cell{} // by row
		for _, m := range mutations {
			for j := range m.rows {
				row := string(joinTuple(append([][]byte{m.key}, m.rows[j].clustering...)))
				for _, o := range m.rows[j].ops {
					if old, ok := final[row]; o.col == i.column && (!ok || o.cell.supersedes(&old)) {
						final[row] = o.cell
					}
				}
			}
		}
		for _, c := range final {
			if !c.deleted && len(c.value) > 0 && !i.accepts(floats(c.value)) {
				return replicaFailure(CodeWriteFailure)
			}
		}
	}
	return nil
}

// vectorIndex is an index of a column of vectors.
type vectorIndex struct {
	*index
	column *column
}

// vectorIndexes returns the vector indexes of the tables of mutations.
func vectorIndexes(mutations []*mutation) []vectorIndex {
	var out []vectorIndex
	for at, m := range mutations {
		if len(m.t.indexes) == 0 || slices.ContainsFunc(mutations[:at], func(o *mutation) bool { return o.t == m.t }) {
			continue
		}
		for _, i := range m.t.indexes {
			if col := m.t.byName[i.column]; i.sai && col != nil && col.typ.Kind == KindVector {
				out = append(out, vectorIndex{i, col})
			}
		}
	}
	return out
}
