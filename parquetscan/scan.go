// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
)

// This file holds scans: what of the files is to be read.

// Options say what is read, and in which pieces. The zero Options read everything.
type Options struct {
	// Columns are the columns to be read, by name; fields of structs by path ("address.city"). nil reads all.
	Columns []string
	// Lists are columns of lists of floats that are read as List. Others are read as Vector, and are an error if their rows differ in length.
	Lists []string
	// Text asks for strings as text throughout: codes of a dictionary are looked up.
	Text bool
	// Filter selects rows. Row groups and pages in which it selects none are not read, as far as statistics, bloom filters and indexes tell. Its
	// columns need not be among Columns.
	Filter Filter

	// BatchRows bounds the rows of a Batch. Default 8192: what is worked on stays in the processor's caches.
	BatchRows int
	// BatchBytes is about how long a batch gets at most, by the averages of its row group: rows are fewer if they are long. Default 8 MiB.
	BatchBytes int
	// MaxBatchBytes bounds what a column of a Batch, and a page, may take: beyond it ErrTooLarge is returned. Default 1 GiB, at most 2 GiB less one
	// byte.
	MaxBatchBytes int

	// Workers is how many goroutines read in All, Borrow and Count. Default GOMAXPROCS.
	Workers int
	// Ordered makes All give batches in the order of rows. It costs memory: buckets that are ahead of their turn wait.
	Ordered bool
	// Progress is called after each row group in All, Borrow and Count: by one goroutine at a time, not always the same. It must not close the
	// Dataset, which waits for it.
	Progress func(Progress)
}

// Progress is how far a scan has come.
type Progress struct {
	Rows, TotalRows       int64 // before any filter
	Bytes, TotalBytes     int64 // compressed, of the columns that are read
	Buckets, TotalBuckets int
}

// The defaults and bounds of Options.
const (
	defaultBatchRows     = 8192
	defaultBatchBytes    = 8 << 20
	defaultMaxBatchBytes = 1 << 30
	mostBatchBytes       = 1<<31 - 1 - slack
)

// A Scan is what is to be read of a Dataset: some columns, some rows. It may be used by many goroutines at once.
type Scan struct {
	ds      *Dataset
	o       Options
	columns []scanColumn
	outputs int // the first of columns; those behind are needed by the filter only
	pred    *predicate
	filter  []int // the columns that pred looks at
	dims    []atomic.Int64
	nodes   [][]*node // by file, by column
	leaves  [][]*leaf // by file: those of all columns
	byName  map[string]int
}

// A scanColumn is a column to be read.
type scanColumn struct {
	name   string
	vector bool
	field  Field
}

// Scan checks the options against the files: columns must be there in all of them, with the same type (ErrNoColumn).
func (d *Dataset) Scan(o Options) (*Scan, error) {
	if o.BatchRows < 0 || o.BatchBytes < 0 || o.MaxBatchBytes < 0 || o.MaxBatchBytes > mostBatchBytes+slack || o.Workers < 0 {
		return nil, fmt.Errorf("parquetscan: options out of range: BatchRows %d, BatchBytes %d, MaxBatchBytes %d, Workers %d",
			o.BatchRows, o.BatchBytes, o.MaxBatchBytes, o.Workers)
	}
	setDefault(&o.BatchRows, defaultBatchRows)
	setDefault(&o.BatchBytes, defaultBatchBytes)
	setDefault(&o.MaxBatchBytes, defaultMaxBatchBytes)
	setDefault(&o.Workers, runtime.GOMAXPROCS(0))
	o.MaxBatchBytes = min(o.MaxBatchBytes, mostBatchBytes)
	o.BatchBytes = min(o.BatchBytes, o.MaxBatchBytes)
	s := &Scan{ds: d, o: o, byName: map[string]int{}}
	for i, f := range d.files {
		s.byName[f.src.Name] = i
	}
	names := o.Columns
	if names == nil {
		for _, n := range d.files[0].nodes {
			names = append(names, n.field.Name)
		}
	}
	for _, name := range names {
		if err := s.addColumn(name); err != nil {
			return nil, err
		}
	}
	for _, name := range o.Lists {
		if !slices.ContainsFunc(s.columns, func(c scanColumn) bool { return c.name == name }) {
			return nil, fmt.Errorf("parquetscan: Lists: %s is not read", name)
		}
	}
	s.outputs = len(s.columns)
	if err := s.addFilter(); err != nil {
		return nil, err
	}
	s.dims = make([]atomic.Int64, len(s.columns))
	for _, f := range d.files {
		if err := s.addFile(f); err != nil {
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

// addColumn adds a column, as the first file has it.
func (s *Scan) addColumn(name string) error {
	f := s.ds.files[0]
	n := lookup(f.nodes, name)
	if n == nil {
		return &Error{f.src.Name, -1, name, -1, ErrNoColumn}
	}
	c := scanColumn{name: name, field: n.field}
	if n.vector() && !slices.Contains(s.o.Lists, name) {
		c.vector = true
	}
	s.columns = append(s.columns, c)
	return nil
}

// addFilter compiles the filter and adds columns that only it needs.
func (s *Scan) addFilter() error {
	paths := s.o.Filter.columns()
	if len(paths) == 0 {
		return nil
	}
	for _, path := range paths {
		at := slices.IndexFunc(s.columns, func(c scanColumn) bool { return c.name == path })
		if at < 0 {
			at = len(s.columns)
			if err := s.addColumn(path); err != nil {
				return err
			}
		}
		s.filter = append(s.filter, at)
	}
	var err error
	s.pred, err = s.o.Filter.compile(func(path string) (Type, bool) {
		n := lookup(s.ds.files[0].nodes, path)
		if n == nil {
			return Type{}, false
		}
		return n.field.Type, true
	})
	if err == nil && s.pred.everything() {
		s.pred = nil
	}
	return err
}

// addFile looks the columns up in a file.
func (s *Scan) addFile(f *dataFile) error {
	nodes := make([]*node, len(s.columns))
	var leaves []*leaf
	for i, c := range s.columns {
		n := lookup(f.nodes, c.name)
		if n == nil {
			return &Error{f.src.Name, -1, c.name, -1, ErrNoColumn}
		}
		if slices.ContainsFunc(f.nodes, func(other *node) bool { return other != n && other.field.Name == c.name }) {
			return &Error{f.src.Name, -1, c.name, -1, fmt.Errorf("%w: there are several of this name", ErrNoColumn)}
		}
		if !sameType(&n.field, &c.field) {
			return &Error{f.src.Name, -1, c.name, -1, fmt.Errorf("%w: it is %v here and %v in %s", ErrNoColumn, n.field, c.field,
				s.ds.files[0].src.Name)}
		}
		nodes[i] = n
		leaves = n.leaves(leaves)
	}
	s.nodes = append(s.nodes, nodes)
	s.leaves = append(s.leaves, leaves)
	return nil
}

// sameType tells whether fields of two files are read alike. One may be nullable and the other not.
func sameType(a, b *Field) bool {
	if a.Type != b.Type || len(a.Fields) != len(b.Fields) {
		return false
	}
	for i := range a.Fields {
		if a.Fields[i].Name != b.Fields[i].Name || !sameType(&a.Fields[i], &b.Fields[i]) {
			return false
		}
	}
	return true
}

// Fields returns the columns that are read, in the order of Batch.Columns.
func (s *Scan) Fields() []Field {
	fields := make([]Field, s.outputs)
	for i, c := range s.columns[:s.outputs] {
		fields[i] = c.field
		fields[i].Name = c.name
		if c.vector {
			fields[i].Type = Type{Kind: Vector, Elem: c.field.Fields[0].Type.Kind}
			fields[i].Fields = nil
		}
	}
	return fields
}

// Count returns the number of rows in some buckets, in all if there is no such argument (an empty slice is none). Without a filter it is what the footers say, and nothing is read.
func (s *Scan) Count(ctx context.Context, buckets ...Bucket) (int64, error) {
	if s.pred == nil {
		if buckets == nil {
			return s.ds.rows, nil
		}
		rows := int64(0)
		for _, b := range buckets {
			if _, err := s.check(b); err != nil {
				return 0, err
			}
			for _, p := range b.Parts {
				rows += p.Rows
			}
		}
		return rows, nil
	}
	o := s.o // the filter's columns alone
	o.Columns, o.Lists = []string{}, nil
	only, err := s.ds.Scan(o)
	if err != nil {
		return 0, err
	}
	var rows atomic.Int64
	err = only.Borrow(ctx, buckets, func(_ int, b *Batch) error {
		rows.Add(int64(b.Rows))
		return nil
	})
	return rows.Load(), err
}
