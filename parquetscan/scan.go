// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
)

// Scans: the columns and rows of a Dataset that are read, and the types of the columns.

// Options select the columns and rows of a [Scan], and bound its batches. The zero Options read everything.
type Options struct {
	// Columns lists the names of the columns to read; a field of a struct has a path ("address.city"). nil means all.
	Columns []string
	// Positions lists the columns to read by position in the first file, in place of Columns. Columns that share a name
	// can only be selected by position, or with NumberNames.
	Positions []int
	// NumberNames gives numbers to the names of columns that share one: n, n_1, n_2, in the order of the file. A name of
	// another column is left out: n_1 may be n_2. Options, filters and batches have these names.
	NumberNames bool
	// Vectors names columns of lists that are always read as Vector: lists of float32, float64, int32, int64 and UUIDs.
	// A NULL list is a NULL of the column; a list of another length, or with a NULL among its elements, is an
	// ErrRagged. Programs that need vectors name their columns here.
	Vectors []string
	// Lists names columns that are always read as List, with Lists instead of vectors inside.
	//
	// Other lists of float32, float64, int32, int64 and UUIDs are read as Vector if Arrow's schema gives them the same
	// fixed size in all files. Lists of floats that are not nested are also read as Vector, unless a Writer of this
	// package wrote them as lists, or a footer contradicts: a row group whose number of elements does not divide by its
	// rows, or row groups with different quotients. Scan decides the type once for all files. If a row then has another
	// length, or contains a NULL, its batch and all later batches of the Scan, by any reader, have a List in place of
	// the Vector. Earlier batches do not change.
	Lists []string
	// Lengths names columns of String or Binary whose values are replaced by their lengths in bytes, an Int64. A Filter
	// tests the texts; a Selector cannot have these columns.
	Lengths []string
	// Text reads all strings as text, without codes and dictionaries.
	Text bool
	// Filter selects rows. Row groups and pages without selected rows are skipped if statistics, bloom filters or
	// indexes prove it. Its columns need not be among Columns.
	Filter Filter
	// Selector selects rows among those that Filter selects. nil means all of them.
	Selector *Selector
	// Narrow lists columns that the filters of [Scan.Narrow] may test. They need not be among Columns.
	Narrow []string
	// RowNumbers is the name of a further column, after all others: the number of the row in the Dataset, an Int64. ""
	// means none. [Dataset.Rows] reads rows by their numbers.
	RowNumbers string

	// BatchRows bounds the rows of a batch. Default 8192: the values of a few columns stay in the processor's caches.
	BatchRows int
	// BatchBytes bounds the bytes of a batch, estimated by the average row of its row group. Default 1 MiB: batches of
	// wide columns, such as vectors, stay in the caches too.
	BatchBytes int
	// MaxBatchBytes bounds the bytes of one column of a batch, and of a page. Larger ones are an ErrTooLarge. Default 1
	// GiB, at most 2 GiB less one byte. On 32-bit machines a page of 256 MiB is always an ErrTooLarge.
	MaxBatchBytes int

	// Workers is the number of goroutines that read in All, Borrow and Count. Default GOMAXPROCS.
	Workers int
	// Ordered makes All return batches in the order of rows. It costs memory for buckets that are read ahead of their
	// turn.
	Ordered bool
	// Progress is called after each row group, or piece of one, in All, Borrow and Count, by one goroutine at a
	// time, not always the same. It must not close the Dataset: Close waits for running reads.
	Progress func(Progress)
}

// Progress counts what a scan has read so far, and its total.
type Progress struct {
	Rows, TotalRows       int64 // before any filter
	Bytes, TotalBytes     int64 // compressed, of the columns that are read
	Buckets, TotalBuckets int
}

// The defaults and bounds of Options.
const (
	defaultBatchRows     = 8192
	defaultBatchBytes    = 1 << 20
	defaultMaxBatchBytes = 1 << 30
	mostBatchBytes       = 1<<31 - 1 - buffer.Slack
)

// A Scan selects columns and rows of a Dataset. It is safe for concurrent use.
type Scan struct {
	ds      *Dataset
	o       Options
	columns []scanColumn
	outputs int // number of columns that are returned; the columns after them are read for filter and selector only
	pred    *predicate.Predicate
	filter  []int // the columns that pred tests
	chosen  []int // the columns of the selector
	states  []columnState
	nodes   [][]*footer.Node // by file, by column
	leaves  [][]*footer.Leaf // by file
	// The row groups whose bytes were requested before they were opened, by file.
	requested [][]atomic.Bool
	byName    map[string]int
	piece     int64 // the least compressed bytes of a piece of a row group
	first     []int // the columns that are read before rows are selected; nil means all
	narrowed
}

// A scanColumn is a column that is read, as the first file has it.
type scanColumn struct {
	name   string
	nth    int // among the columns of that name
	node   *footer.Node
	vector bool // a list that is read as one matrix
	inner  bool // nested lists that are read as vectors
	must   bool // ragged rows are errors, never read as lists
	text   bool // text that is parsed
	length bool // the lengths of texts
}

// A columnState is the state of a column that all readers of the scan share.
type columnState struct {
	dim    atomic.Int64 // of a vector, 0 if not known yet
	ragged atomic.Bool  // vectors are read as lists
	used   atomic.Bool  // rows have been read
}

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
	s.states = make([]columnState, len(s.columns))
	for i := range s.columns {
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

// addColumns adds the columns that the options select.
func (s *Scan) addColumns() error {
	nodes := s.ds.files[0].Nodes
	var names []string // of all columns
	if s.o.NumberNames {
		names = footer.NumberedNames(nodes)
	}
	switch {
	case s.o.Positions != nil && s.o.Columns != nil:
		return errors.New("parquetscan: options have both Columns and Positions")
	case s.o.Columns != nil:
		for _, name := range s.o.Columns {
			if err := s.addColumn(name); err != nil {
				return err
			}
		}
	default:
		positions := s.o.Positions
		if positions == nil {
			for i := range nodes {
				positions = append(positions, i)
			}
		}
		for _, at := range positions {
			if at < 0 || at >= len(nodes) {
				return &Error{
					s.ds.files[0].src.Name, -1, "", -1,
					fmt.Errorf("%w: position %d of %d columns", ErrNoColumn, at, len(nodes)),
				}
			}
			c := scanColumn{name: nodes[at].Field.Name, node: nodes[at]}
			if c.nth = footer.CountNamed(nodes[:at], c.name); names != nil {
				c.name, c.nth = names[at], 0
			}
			s.columns = append(s.columns, c)
		}
	}
	s.outputs = len(s.columns)
	return nil
}

// checkNamed returns an error if Lists or Vectors name a column that is not read.
func (s *Scan) checkNamed() error {
	for _, o := range []struct {
		option string
		names  []string
	}{{"Lists", s.o.Lists}, {"Vectors", s.o.Vectors}} {
		for _, name := range o.names {
			if !slices.ContainsFunc(s.columns, func(c scanColumn) bool { return c.name == name }) {
				return fmt.Errorf("parquetscan: %s: column %s is not read", o.option, name)
			}
		}
	}
	return nil
}

// addColumn adds a column by name, as the first file has it.
func (s *Scan) addColumn(name string) error {
	f := s.ds.files[0]
	n := footer.Lookup(f.Nodes, name)
	if n == nil {
		return &Error{f.src.Name, -1, name, -1, ErrNoColumn}
	}
	if err := s.checkUnique(f, name); err != nil {
		return err
	}
	s.columns = append(s.columns, scanColumn{name: name, node: n})
	return nil
}

// checkUnique returns an error if a file has several columns of a name, unless they have numbers.
func (s *Scan) checkUnique(f *dataFile, name string) error {
	if count := footer.CountNamed(f.Nodes, name); count > 1 && !s.o.NumberNames {
		return &Error{
			f.src.Name, -1, name, -1,
			fmt.Errorf("%w: %d columns have this name; Options.Positions selects by position", ErrNoColumn, count),
		}
	}
	return nil
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

// addFile finds the columns in a file.
func (s *Scan) addFile(f *dataFile) error {
	nodes := make([]*footer.Node, len(s.columns))
	var leaves []*footer.Leaf
	for i, c := range s.columns {
		n := footer.LookupNth(f.Nodes, c.name, c.nth)
		if n == nil {
			return &Error{f.src.Name, -1, c.name, -1, ErrNoColumn}
		}
		if have, want := footer.CountNamed(f.Nodes, c.name), footer.CountNamed(s.ds.files[0].Nodes, c.name); have != want {
			return &Error{
				f.src.Name, -1, c.name, -1,
				fmt.Errorf("%w: %d columns have this name, and %d in %s", ErrNoColumn, have, want,
					s.ds.files[0].src.Name),
			}
		}
		if !sameType(&n.Field, &c.node.Field) {
			return &Error{
				f.src.Name, -1, c.name, -1,
				fmt.Errorf("%w: it is %v here and %v in %s", ErrNoColumn, n.Field, c.node.Field,
					s.ds.files[0].src.Name),
			}
		}
		nodes[i] = n
		leaves = n.Leaves(leaves)
	}
	s.nodes = append(s.nodes, nodes)
	s.leaves = append(s.leaves, leaves)
	s.requested = append(s.requested, make([]atomic.Bool, len(f.Groups)))
	return nil
}

// sameType reports whether fields of two files are read alike. One may be nullable and the other not.
func sameType(a, b *column.Field) bool {
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

// Schema returns the columns that are read, in the order of column.Batch.Columns. The dimension of a vector is 0 if the
// footers do not contain it and no row has been read yet. After a ragged row a column of vectors is a List: see
// [Options].Lists.
func (s *Scan) Schema() column.Schema {
	fields := make(column.Schema, s.outputs, s.width())
	for i, c := range s.columns[:s.outputs] {
		f := c.node.Field
		switch {
		case c.length:
			f.Type = column.TypeOf[int64]()
		case s.states[i].ragged.Load():
		case c.vector:
			f.Type, f.Fields = column.VectorOf(f.Fields[0].Type.Kind, int(s.states[i].dim.Load())), nil
		case c.inner:
			f = c.node.AsRead()
		}
		f.Name = c.name
		fields[i] = f
	}
	if s.o.RowNumbers != "" {
		fields = append(fields, column.Field{Name: s.o.RowNumbers, Type: column.TypeOf[int64]()})
	}
	return fields
}

// Ragged returns the names of the columns that the Scan read as vectors until a row did not fit, and reads as lists
// since: see [Options].Lists. Columns that only the Filter or the Selector needs are among them.
func (s *Scan) Ragged() []string {
	var names []string
	for i := range s.columns {
		if s.states[i].ragged.Load() && !slices.Contains(names, s.columns[i].name) {
			names = append(names, s.columns[i].name)
		}
	}
	return names
}

// width returns the number of columns of a batch.
func (s *Scan) width() int {
	if s.o.RowNumbers != "" {
		return s.outputs + 1
	}
	return s.outputs
}

// Count returns the number of rows in buckets; nil means all row groups, an empty slice none. Without a filter it
// returns the number of the footers and reads nothing.
func (s *Scan) Count(ctx context.Context, buckets ...Bucket) (int64, error) {
	if s.pred == nil && s.o.Selector == nil {
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
	o := s.o // the columns of filter and selector alone
	o.Columns, o.Positions, o.Lists, o.Vectors, o.Lengths, o.RowNumbers = []string{}, nil, nil, nil, nil, ""
	only, err := s.ds.Scan(o)
	if err != nil {
		return 0, err
	}
	var rows atomic.Int64
	err = only.Borrow(ctx, buckets, func(_ int, b *column.Batch) error {
		rows.Add(int64(b.Rows))
		return nil
	})
	return rows.Load(), err
}
