// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"reflect"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// Dialects: the meanings of values in the three APIs.

// A Dialect is one API's meaning of Go values in CQL and of cells in Go. Dialects are immutable.
type Dialect struct {
	inetText bool // an inet value in an any is text, else a net.IP
}

// The dialects.
var (
	V1   = &Dialect{inetText: true} // github.com/gocql/gocql v1.7
	V2   = &Dialect{}               // github.com/apache/cassandra-gocql-driver/v2
	Fork = &Dialect{inetText: true} // github.com/scylladb/gocql
)

// Marshal returns the content of value's cell for type info, nil if value is NULL. The error is a *cql.MarshalError.
func (d *Dialect) Marshal(info cql.TypeInfo, value any) ([]byte, error) {
	return codec.Marshal(info, value)
}

// Unmarshal stores the cell of type info in dest; nil is NULL. The stored value shares no memory with data. The error
// is a *cql.UnmarshalError.
func (d *Dialect) Unmarshal(info cql.TypeInfo, data []byte, dest any) error {
	return codec.Unmarshal(info, data, dest)
}

// Bind returns values for a statement: itself if the driver encodes each value as the API does, else a copy in which
// the other values are wrapped.
func (d *Dialect) Bind(values []any) []any { return values }

// GoType returns the Go type of values of type info in MapScan, SliceMap and RowData. nil means none.
func (d *Dialect) GoType(info cql.TypeInfo) reflect.Type {
	return reflect.TypeOf(codec.NewDefault(info)).Elem()
}

// New returns a pointer to a new zero value of GoType(info), a *any if there is none.
func (d *Dialect) New(info cql.TypeInfo) any {
	if t := d.GoType(info); t != nil {
		return reflect.New(t).Interface()
	}
	return new(any)
}

// Zero returns the zero value of GoType(info): what MapScan stores for NULL. It is nil if there is no such type.
func (d *Dialect) Zero(info cql.TypeInfo) any {
	if t := d.GoType(info); t != nil {
		return reflect.Zero(t).Interface()
	}
	return nil
}
