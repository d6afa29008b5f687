// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math"
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

// annWarnings returns Cassandra's warnings for a search by a vector: it has one page, and reads from one replica.
func annWarnings(r *Request, limit int64) []string {
	var out []string
	if level := ANNConsistency(r.Consistency); level != r.Consistency {
		out = append(out, fmt.Sprintf("Top-K queries can only be run with consistency level ONE / LOCAL_ONE / NODE_LOCAL. "+
			"Consistency level %s was requested. Downgrading the consistency level to %s.", ConsistencyName(r.Consistency),
			ConsistencyName(level)))
	}
	if r.PageSize > 0 && int64(r.PageSize) < limit {
		out = append(out, fmt.Sprintf("Top-K queries do not support paging and the page size is set to %d, which is less "+
			"than LIMIT %d. The page size has been set to %d to match the LIMIT.", r.PageSize, limit, limit))
	}
	return out
}

// ANNConsistency returns the consistency level of a search by a vector for which a client requests level.
func ANNConsistency(level uint16) uint16 {
	switch ConsistencyName(level) {
	case "ONE", "LOCAL_ONE":
		return level
	case "LOCAL_QUORUM", "LOCAL_SERIAL":
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
	seen := map[*table]bool{}
	for _, m := range mutations {
		if seen[m.t] {
			continue
		}
		seen[m.t] = true
		for _, i := range m.t.indexes {
			if col := m.t.byName[i.column]; i.sai && col != nil && col.typ.Kind == KindVector {
				out = append(out, vectorIndex{i, col})
			}
		}
	}
	return out
}
