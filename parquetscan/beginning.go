// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
)

// A Beginning tells which row groups are read first: those with the least values of a column according to the footers,
// or with the greatest. Row groups whose footer does not bound their values come last. A program that needs the first
// rows in the order of the column narrows the Scan sooner ([Scan.Narrow]), so that more row groups are skipped.
type Beginning struct {
	Column   string // "" means the order of the files
	Greatest bool
}

// checkBeginning returns an error if the column of Options.Begin is missing.
func (s *Scan) checkBeginning() error {
	name := s.o.Begin.Column
	if name == "" {
		return nil
	}
	for _, f := range s.ds.files {
		if footer.Lookup(f.Nodes, name) == nil {
			return &Error{f.src.Name, -1, name, -1, ErrNoColumn}
		}
		if err := s.checkUnique(f, name); err != nil {
			return err
		}
	}
	return nil
}

// begin orders buckets of one row group each by Options.Begin.
func (s *Scan) begin(buckets []Bucket) []Bucket {
	if s.o.Begin.Column == "" || s.o.Ordered {
		return buckets
	}
	chunks := make([]predicate.Chunk, len(buckets))
	for i := range buckets {
		f, group := s.place(&buckets[i])
		n := footer.Lookup(f.Nodes, s.o.Begin.Column)
		if n.Leaf == nil || n.HasText() {
			return buckets // no bounds
		}
		chunks[i] = predicate.Chunk{Footer: f.Footer, Group: group, Leaf: n.Leaf}
	}
	out := make([]Bucket, len(buckets))
	for i, k := range predicate.Leading(chunks, s.o.Begin.Greatest) {
		out[i] = buckets[k]
	}
	return out
}
