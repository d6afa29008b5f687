// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// ReadParquet: buckets of row groups as elements, which a runner distributes.

func init() {
	beam.RegisterDoFn(&planFn{})
	beam.RegisterDoFn(&bucketFn{})
}

// ErrBucket means that an element is not a bucket of ReadParquet.
var ErrBucket = errors.New("beamvecql: read a bucket: not a bucket of ReadParquet")

// ParquetOptions configure ReadParquet: the options of parquetscan.Options of the same names, and BucketBytes.
type ParquetOptions struct {
	Columns    []string
	Vectors    []string
	Lists      []string
	RowNumbers string
	BatchRows  int
	BatchBytes int
	// BucketBytes is the size of a part of the files that one worker reads, compressed. Default 64 MiB. A part has at
	// least one row group.
	BucketBytes int64
}

// ReadParquet reads Parquet files as a PCollection<*column.Batch>. patterns are as in parquetscan.Open; every worker
// must have the files under the same names. One worker reads the footers; the others read buckets of row groups.
// Source.FirstRow of a batch counts through all files. The bundle fails if a file changes meanwhile.
//
// Lists that parquetscan reads as vectors because of the footers are vectors in all batches: a row of another length
// fails the bundle, unless ParquetOptions.Lists names its column.
func ReadParquet(s beam.Scope, o ParquetOptions, patterns ...string) beam.PCollection {
	s = s.Scope("beamvecql.ReadParquet")
	buckets := beam.ParDo(s, &planFn{Patterns: patterns, Options: o}, beam.Impulse(s))
	return beam.ParDo(s, &bucketFn{Options: o}, beam.Reshuffle(s, buckets))
}

// A bucket is an element of the distributed buckets, as JSON.
type bucket struct {
	parquetscan.Bucket
	// Before is the number of rows of the dataset before the first file of the bucket.
	Before int64 `json:"before"`
	// Vectors and Lists are the columns that all buckets read as vectors, and as lists.
	Vectors []string `json:"vectors,omitempty"`
	Lists   []string `json:"lists,omitempty"`
}

// planFn emits the buckets of files. It has the parameters of ReadParquet.
type planFn struct {
	Patterns []string
	Options  ParquetOptions
}

// ProcessElement opens the files and emits their buckets.
func (fn *planFn) ProcessElement(ctx context.Context, _ []byte, emit func(string)) error {
	files, err := parquetscan.Open(ctx, fn.Patterns...)
	if err != nil {
		return fmt.Errorf("beamvecql: open %q: %w", fn.Patterns, err)
	}
	defer files.Close()
	list, err := fn.buckets(files)
	if err != nil {
		return fmt.Errorf("beamvecql: plan the read of %q: %w", fn.Patterns, err)
	}
	for _, b := range list {
		text, err := json.Marshal(b)
		if err != nil {
			return fmt.Errorf("beamvecql: plan the read of %q: %w", fn.Patterns, err)
		}
		emit(string(text))
	}
	return nil
}

// buckets returns the buckets of files, with what is decided once for all of them.
func (fn *planFn) buckets(files *parquetscan.Dataset) ([]bucket, error) {
	scan, err := files.Scan(fn.Options.scan(nil, nil))
	if err != nil {
		return nil, err
	}
	var vectors, lists []string
	for _, f := range scan.Schema() {
		switch f.Type.Kind {
		case column.Vector:
			vectors = append(vectors, f.Name)
		case column.List:
			lists = append(lists, f.Name)
		}
	}
	rows, before, sum := map[string]int64{}, map[string]int64{}, int64(0)
	for _, group := range scan.SplitByBytes(1) {
		rows[group.Parts[0].File] += group.Rows
	}
	for _, name := range files.Files() {
		before[name] = sum
		sum += rows[name]
	}
	var list []bucket
	for _, b := range scan.SplitByBytes(orDefault(fn.Options.BucketBytes, 64<<20)) {
		list = append(list, bucket{Bucket: b, Before: before[b.Parts[0].File], Vectors: vectors, Lists: lists})
	}
	return list, nil
}

// scan returns the options of a scan.
func (o ParquetOptions) scan(vectors, lists []string) parquetscan.Options {
	return parquetscan.Options{
		Columns: o.Columns, Vectors: union(o.Vectors, vectors), Lists: union(o.Lists, lists), RowNumbers: o.RowNumbers,
		BatchRows: o.BatchRows, BatchBytes: o.BatchBytes,
	}
}

// union returns the names of both lists, each once.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// bucketFn reads buckets. It has the parameters of ReadParquet.
type bucketFn struct {
	Options ParquetOptions

	names []string // of the open files
	files *parquetscan.Dataset
}

// ProcessElement reads a bucket.
func (fn *bucketFn) ProcessElement(ctx context.Context, element string, emit func(*column.Batch)) error {
	var b bucket
	if err := json.Unmarshal([]byte(element), &b); err != nil {
		return fmt.Errorf("%w: %w", ErrBucket, err)
	}
	if len(b.Parts) == 0 || b.Before < 0 {
		return fmt.Errorf("%w: %d parts, %d rows before", ErrBucket, len(b.Parts), b.Before)
	}
	scan, err := fn.open(ctx, &b)
	if err != nil {
		return fmt.Errorf("beamvecql: read bucket %d: %w", b.Number, err)
	}
	for batch, err := range scan.Batches(ctx, b.Bucket) {
		if err != nil {
			return fmt.Errorf("beamvecql: read bucket %d: %w", b.Number, err)
		}
		batch.Source.FirstRow += b.Before
		if err := fn.shiftNumbers(batch, b.Before); err != nil {
			return fmt.Errorf("beamvecql: read bucket %d: %w", b.Number, err)
		}
		rowsRead.Inc(ctx, int64(batch.Rows))
		bytesRead.Inc(ctx, sizeOf(batch.Columns))
		emit(batch)
	}
	bucketsRead.Inc(ctx, 1)
	return nil
}

// open opens the files of a bucket, unless they are open already, and returns a scan of them.
func (fn *bucketFn) open(ctx context.Context, b *bucket) (*parquetscan.Scan, error) {
	names := make([]string, len(b.Parts))
	for i, p := range b.Parts {
		names[i] = p.File
	}
	if names = slices.Compact(names); !slices.Equal(names, fn.names) || fn.files == nil {
		fn.close()
		files, err := parquetscan.Open(ctx, names...)
		if err != nil {
			return nil, err
		}
		fn.names, fn.files = names, files
	}
	return fn.files.Scan(fn.Options.scan(b.Vectors, b.Lists))
}

// shiftNumbers adds the rows of the files before to the column of row numbers, if there is one.
func (fn *bucketFn) shiftNumbers(batch *column.Batch, before int64) error {
	if fn.Options.RowNumbers == "" || before == 0 {
		return nil
	}
	numbers, err := column.Slice[int64](&batch.Columns[len(batch.Columns)-1])
	for i := range numbers {
		numbers[i] += before
	}
	return err
}

func (fn *bucketFn) close() {
	if fn.files != nil {
		fn.files.Close()
		fn.files = nil
	}
}

// FinishBundle closes the files.
func (fn *bucketFn) FinishBundle(func(*column.Batch)) { fn.close() }

// Teardown closes the files of a bundle that failed.
func (fn *bucketFn) Teardown() { fn.close() }
