// SPDX-License-Identifier: Apache-2.0

package engine

import "math"

// Searches of ScyllaDB: checks and warnings.

const annPagingWarning = "Paging is not supported for Vector Search queries. The entire result set has been returned."

// scyllaTarget returns the vector of a search, the index that serves it, and the warnings. limit comes from the
// statement, -1 means that a marker is not set.
func (p *selectPlan) scyllaTarget(x *env, r *Request, limit int64) ([]byte, *index, []string, error) {
	if limit < 0 {
		limit = math.MaxInt32
	}
	if limit > maxANNLimit {
		return nil, nil, nil, invalid("Use of ANN OF in an ORDER BY clause requires a LIMIT that is not greater than %d. "+
			"LIMIT was %d", maxANNLimit, limit)
	}
	v, err := p.ann.eval(x)
	switch {
	case err != nil:
		return nil, nil, nil, err
	case isUnset(v) || len(v) == 0:
		return nil, nil, nil, invalid("Unsupported null value for column %s", p.annColumn.name)
	}
	index, err := x.e.route(p, x.e.options.Now())
	if err != nil {
		return nil, nil, nil, err
	}
	var warnings []string
	if r.PageSize > 0 && int64(r.PageSize) < limit {
		warnings = append(warnings, annPagingWarning)
	}
	return v, index, warnings, nil
}
