// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math"
	"slices"
)

// Searches of Cassandra: the vectors that an index takes, checks, warnings and consistency levels.

// maxElement is Cassandra's bound on the elements of indexed vectors.
const maxElement = 1e17

// accepts reports whether the index takes a vector: numbers within bounds, and with cosine not only zeros.
func (v *vectorIndex) accepts(b []byte) bool {
	for i := range len(b) / 4 {
		if f := element32(b, i); !(math.Abs(f) <= maxElement) {
			return false
		}
	}
	return v.similarity != cosine || !isZero(b)
}

// annTarget returns the vector of a search, and Cassandra's warnings: the search has one page, and reads from one
// replica. limit and per come from the statement, -1 means none.
func (p *selectPlan) annTarget(x *env, r *Request, limit, per int64) ([]byte, []string, error) {
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
	refuse := func(err error) ([]byte, []string, error) { return nil, nil, warned(err, warnings) }
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
	if x.e.options.Now().Sub(p.annIndex.vector.created) < x.e.options.SAI.Build {
		err := &Error{Code: CodeReadFailure, Message: failedMessage, Reason: ReasonIndexNotAvailable}
		return refuse(err)
	}
	if !p.annIndex.vector.accepts(v) {
		return refuse(replicaFailure(CodeReadFailure))
	}
	return v, warnings, nil
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
	for at, m := range mutations {
		if len(m.t.indexes) == 0 || slices.ContainsFunc(mutations[:at], func(o *mutation) bool { return o.t == m.t }) {
			continue
		}
		for _, i := range m.t.indexes {
			if i.vector != nil && !i.acceptsWrites(m.t, mutations) {
				return replicaFailure(CodeWriteFailure)
			}
		}
	}
	return nil
}

// acceptsWrites reports whether the index of a table takes the vectors that remain after the mutations.
func (i *index) acceptsWrites(t *table, mutations []*mutation) bool {
	final := map[string]cell{} // by row
	for _, m := range mutations {
		if m.t != t {
			continue
		}
		for j := range m.rows {
			row := string(joinTuple(append([][]byte{m.key}, m.rows[j].clustering...)))
			for _, o := range m.rows[j].ops {
				if old, ok := final[row]; o.col.name == i.column && (!ok || o.cell.supersedes(&old)) {
					final[row] = o.cell
				}
			}
		}
	}
	for _, c := range final {
		if !c.deleted && len(c.value) > 0 && !i.vector.accepts(c.value) {
			return false
		}
	}
	return true
}
