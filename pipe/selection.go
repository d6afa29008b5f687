// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"

	"github.com/vecql/vecql/groupby"
)

// Selections: the consumers of parts that have only some rows of their batch.

// materialize returns the part with all rows of a batch. The batch is the memory of s.
func (s *state) materialize(p part) (part, error) {
	if p.rows == nil {
		return p, nil
	}
	err := p.b.TakeInto(&s.taken, p.rows)
	return part{b: &s.taken}, err
}

// addTo adds the rows of a part to groups.
func (p part) addTo(ctx context.Context, w *groupby.Worker) error {
	if p.rows == nil {
		return w.Add(ctx, p.b)
	}
	return w.AddRows(ctx, p.b, p.rows)
}
