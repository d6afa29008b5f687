// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"reflect"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// Dialects: the meanings of values in the three APIs. Package codec makes the conversions that the driver makes as the
// API does. The others are here, by reflection: natives in marshal.go and unmarshal.go, nested types in
// marshal_nested.go and unmarshal_nested.go. A conversion that the API refuses and the driver makes is made.

// A Dialect is one API's meaning of Go values in CQL and of cells in Go. Dialects are immutable.
type Dialect struct {
	inetText    bool // an inet value in an any is text, else a net.IP
	emptySlices bool // MapScan stores an empty slice for NULL, else a nil slice
	emptyBlobs  bool // MapScan stores an empty slice for a blob without bytes, else a nil slice
	emptyRows   bool // SliceMap of no row is an empty slice, else nil
	nullTuple   bool // NULL in a slice for a tuple is a nil slice, else a slice of zero values
	typedZeros  bool // NULL in an any of a tuple's slice is the typed zero value, else nil
	strictText  bool // NULL of a text or blob is refused by a destination that no text fits, else it is the zero value
	fork        bool // the conversions of fork.go

	foreign codec.Foreign // the dialect as the driver calls it
}

// The dialects.
var (
	// V1 is the dialect of github.com/gocql/gocql v1.7.
	V1 = newDialect(Dialect{inetText: true, emptySlices: true, emptyRows: true, typedZeros: true, strictText: true})
	// V2 is the dialect of github.com/apache/cassandra-gocql-driver/v2.
	V2 = newDialect(Dialect{emptyBlobs: true, nullTuple: true})
	// Fork is the dialect of github.com/scylladb/gocql.
	Fork = newDialect(Dialect{inetText: true, emptyRows: true, typedZeros: true, strictText: true, fork: true})
)

func newDialect(d Dialect) *Dialect {
	d.foreign.Dialect = &d
	return &d
}

// Marshal returns the content of value's cell for type info, nil if value is NULL. The error is a *cql.MarshalError.
func (d *Dialect) Marshal(info cql.TypeInfo, value any) ([]byte, error) {
	content, err := d.encode(info, reflect.ValueOf(value), 0)
	//nolint:errorlint // an error inside of another concerns a part of the value
	if _, ok := err.(*cql.MarshalError); err != nil && !ok {
		err = &cql.MarshalError{Type: info, GoType: codec.GoTypeName(value), Err: err}
	}
	return content, err
}

// Unmarshal stores the cell of type info in dest; nil is NULL. dest is a pointer, a []any of one pointer for each
// element of a tuple, or a value that decodes itself. The stored value shares no memory with data. The error is a
// *cql.UnmarshalError.
func (d *Dialect) Unmarshal(info cql.TypeInfo, data []byte, dest any) error {
	err := d.decodeInto(info, data, dest)
	//nolint:errorlint // an error inside of another concerns a part of the value
	if _, ok := err.(*cql.UnmarshalError); err != nil && !ok {
		err = &cql.UnmarshalError{Type: info, GoType: codec.GoTypeName(dest), Err: err}
	}
	return err
}
