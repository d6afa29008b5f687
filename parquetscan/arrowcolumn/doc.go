// SPDX-License-Identifier: Apache-2.0

// Package arrowcolumn converts batches of package column to Apache Arrow's record batches and back. It does not copy
// values whose layouts agree, which is nearly always.
//
//	rec, err := arrowcolumn.Record(batch)
//	batch, err := arrowcolumn.Batch(rec)
//
// [RecordAs] makes records of a given schema; [Reader] and [Batches] convert streams.
//
// # Types
//
// A kind of column converts to Arrow's type of the same layout, and back. A kind that Arrow does not have is stored as
// a common type with a mark: the name of an extension in the metadata of the field (key "ARROW:extension:name").
// Converting to Arrow and back keeps the type.
//
//	column                     Arrow                              mark
//	Bool                       bool, copied
//	Time in milliseconds       time32, copied
//	Time of UTC                time32, time64                     vecql.time_utc
//	Timestamp of UTC           timestamp with time zone "UTC"
//	Duration                   month_day_nano_interval
//	Decimal64                  decimal128, copied                 vecql.decimal64
//	UUID                       fixed_size_binary(16)              arrow.uuid
//	Inet, Varint, Decimal      utf8 in canonical text, copied     vecql.inet, vecql.varint, vecql.decimal
//	String, Binary with codes  dictionary with uint32 indices
//	Vector                     fixed_size_list, not nullable elements
//	Vector of dimension 0      list                               vecql.vector
//	Tuple                      struct                             vecql.tuple
//
// [Fields] lists all other types that are read.
//
// # Memory
//
// A record shares memory with the batch that it is made of, and a batch with its record: neither may change while the
// other is used. Records of this package use Go's memory, so Retain and Release are not needed. A batch of a record
// with other memory (of C, of an allocator that frees) is valid until that record is released; [column.Batch.Clone]
// copies it.
package arrowcolumn

import (
	"errors"
	"fmt"
)

// Errors of conversions, wrapped with the name of the column. [column.ErrTooLarge] means more than 2 GiB of text or
// 2^31 elements in one column, or more than 2^26 rows of a type without memory per row: null, run-end encoding, list
// views that overlap.
var (
	// ErrUnsupported means that a type of Arrow has no kind of column, or a kind no type of Arrow.
	ErrUnsupported = errors.New("no conversion for this type")
	// ErrMalformed means that an array breaks the rules of Arrow's format: a buffer too short, offsets that decrease,
	// an index beyond the dictionary.
	ErrMalformed = errors.New("malformed array")
	// ErrRange means that a value does not fit into the target type.
	ErrRange = errors.New("value out of range")
	// ErrSchema means that a column does not match the schema of the record: the name or the type differs, or a NULL is
	// in a field that is not nullable.
	ErrSchema = errors.New("column does not match the schema")
)

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}
