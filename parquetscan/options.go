// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
)

// The options of a Scan.

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
	// Begin tells which row groups All, without Ordered, and Borrow read first. Default: as in the files.
	Begin Beginning
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

// A Selector selects rows by a function of the program, for conditions that a [Filter] lacks. It is evaluated after the
// Filter. The other columns of a Scan are read for the selected rows only: pages without a selected row are not
// decompressed.
type Selector struct {
	// Columns lists the names of the columns that the function needs. They need not be among Options.Columns.
	Columns []string
	// New returns a function that selects rows. A function is called by one goroutine at a time; New may be called by
	// several at once. The batch has the Columns, in their order, of the rows that the Filter selects; its Source is the
	// place of the rows before the Filter. The function appends the positions in the batch of the rows to keep to rows,
	// in ascending order, and returns them. The batch is valid until the function returns. An error ends the read.
	New func() func(b *column.Batch, rows []int32) ([]int32, error)
}
