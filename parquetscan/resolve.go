// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/chunk"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// Scans: the options, resolved by the files of a Dataset.

// Scan checks the options against the files and returns a Scan. Every file must have the columns, with the same types
// (ErrNoColumn).
func (d *Dataset) Scan(o Options) (*Scan, error) {
	if o.BatchRows < 0 || o.BatchBytes < 0 || o.MaxBatchBytes < 0 || o.MaxBatchBytes > mostBatchBytes+buffer.Slack ||
		o.Workers < 0 {
		return nil, fmt.Errorf("parquetscan: options out of range: BatchRows %d, BatchBytes %d, MaxBatchBytes %d, Workers %d",
			o.BatchRows, o.BatchBytes, o.MaxBatchBytes, o.Workers)
	}
	setDefault(&o.BatchRows, defaultBatchRows)
	setDefault(&o.BatchBytes, defaultBatchBytes)
	setDefault(&o.MaxBatchBytes, defaultMaxBatchBytes)
	setDefault(&o.Workers, runtime.GOMAXPROCS(0))
	o.MaxBatchBytes = min(o.MaxBatchBytes, mostBatchBytes)
	o.BatchBytes = min(o.BatchBytes, o.MaxBatchBytes)
	s := &Scan{ds: d, o: o, byName: map[string]int{}, piece: leastPiece}
	for i, f := range d.files {
		s.byName[f.src.Name] = i
	}
	if err := s.addColumns(); err != nil {
		return nil, err
	}
	if err := s.addFilter(); err != nil {
		return nil, err
	}
	if err := s.addSelector(); err != nil {
		return nil, err
	}
	var err error
	if s.narrows, err = s.addOnce(o.Narrow); err != nil {
		return nil, err
	}
	if err := s.checkBeginning(); err != nil {
		return nil, err
	}
	if err := s.addLengths(); err != nil {
		return nil, err
	}
	if err := s.checkNamed(); err != nil {
		return nil, err
	}
	s.setFirst()
	for _, f := range d.files {
		if err := s.addFile(f); err != nil {
			return nil, err
		}
	}
	shared := make([]chunk.Shared, len(s.columns))
	for i := range s.columns {
		c := &s.columns[i]
		c.Limit, c.Text, c.Late, c.Shared = o.MaxBatchBytes, o.Text, s.late(i), &shared[i]
		c.Paged = c.Lengths || slices.Contains(s.filter, i)
		if err := s.setVectors(i); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func setDefault(v *int, to int) {
	if *v == 0 {
		*v = to
	}
}

// addFilter compiles the filter and adds columns that only it needs.
func (s *Scan) addFilter() error {
	var err error
	if s.filter, err = s.addOnce(s.o.Filter.node.ColumnNames()); err != nil {
		return err
	}
	s.pred, err = s.o.Filter.node.Compile(func(path string) (column.Type, bool) {
		n := footer.Lookup(s.ds.files[0].Nodes, path)
		if n == nil {
			return column.Type{}, false
		}
		return n.Field.Type, true
	})
	if err == nil && s.pred.Everything() {
		s.pred = nil
	}
	return err
}
