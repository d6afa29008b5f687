// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// Filters that change while a Scan is read.

// Narrow leaves out rows that do not pass a filter, from now on, while goroutines read: batches that are being read may
// still have such rows. Row groups and pages are skipped as by Options.Filter, and of a batch without a row that passes
// no other column is decoded. A later filter replaces an earlier one. The filter may test the columns that
// Options.Narrow lists, and no others (ErrNoColumn). Buckets and numbers of rows are not affected.
func (s *Scan) Narrow(f Filter) error {
	n := &narrowing{}
	var err error
	n.pred, err = f.node.Compile(func(path string) (column.Type, bool) {
		if !slices.Contains(s.o.Narrow, path) {
			return column.Type{}, false
		}
		return footer.Lookup(s.ds.files[0].Nodes, path).Field.Type, true
	})
	if err != nil {
		return fmt.Errorf("%w (Options.Narrow lists %q)", err, s.o.Narrow)
	}
	if n.pred.Everything() {
		s.narrowing.Store(nil)
		return nil
	}
	for _, path := range n.pred.Paths {
		n.columns = append(n.columns, s.narrows[slices.Index(s.o.Narrow, path)])
	}
	s.narrowing.Store(n)
	return nil
}
