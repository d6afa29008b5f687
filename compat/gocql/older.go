// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"github.com/vecql/vecql/compat"
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// What v1.7 alone declares.

// dialect is the meaning of values in this API (package compat).
var dialect = compat.V1

// A TypeInfo describes a CQL type.
type TypeInfo interface {
	Type() Type
	// Version returns the version of the protocol.
	Version() byte
	// Custom returns the class of a TypeCustom.
	Custom() string
	// New is NewWithError, but panics instead of returning an error.
	New() any
	// NewWithError returns a pointer to the zero value of the Go type that stands for the CQL type in MapScan.
	NewWithError() (any, error)
}

// NewNativeType returns a type. custom is the class of a TypeCustom.
func NewNativeType(proto byte, typ Type, custom string) NativeType {
	return NativeType{api.NewNative(proto, typ, custom)}
}

// New implements TypeInfo.
func (t NativeType) New() any { return mustNew(t) }

// New implements TypeInfo.
func (t CollectionType) New() any { return mustNew(t) }

// New implements TypeInfo.
func (t TupleTypeInfo) New() any { return mustNew(t) }

// New implements TypeInfo.
func (t UDTTypeInfo) New() any { return mustNew(t) }

func mustNew(t TypeInfo) any {
	v, err := newValue(t)
	if err != nil {
		panic(err.Error())
	}
	return v
}

// toCQL returns the type of package cql that t stands for. t may be a type of the program.
func toCQL(t TypeInfo) cql.TypeInfo { return compositeToCQL(t) }

// A Batch is a list of statements that are sent in one request. Session.ExecuteBatch runs it.
type Batch struct {
	batch // the first field: see package api

	Type          BatchType
	Entries       []BatchEntry
	Cons          Consistency
	CustomPayload map[string][]byte

	observer BatchObserver
}

// NewBatch returns an empty batch without the defaults of a session.
//
// Deprecated: use Session.NewBatch.
func NewBatch(typ BatchType) *Batch {
	b := &Batch{Type: typ}
	api.StartBatch(&b.batch, nil)
	return b
}

// NewBatch returns an empty batch with the defaults of the session.
func (s *Session) NewBatch(typ BatchType) *Batch {
	b := &Batch{Type: typ, observer: s.cfg.BatchObserver}
	b.Cons = api.StartBatch(&b.batch, &s.core)
	return b
}

// Query adds a statement.
func (b *Batch) Query(stmt string, args ...any) {
	b.Entries = append(b.Entries, BatchEntry{Stmt: stmt, Args: args})
}

// A Query is a statement with its values and options. A setter modifies the query and returns it.
type Query struct {
	query   // the first field: see package api
	session *Session
}

// TimeoutLimit has no effect.
//
// Deprecated: as in gocql.
var TimeoutLimit int64

// Logger is the logger of sessions whose ClusterConfig.Logger is nil.
//
// Deprecated: set ClusterConfig.Logger.
var Logger StdLogger = &api.DefaultLogger{}

// plain returns the error that this API has for an error of vecql.
func plain(err error) error { return known.Plain(err) }

// attemptError returns the error of an attempt for an observer.
func attemptError(err error) error { return plain(err) }

// requestError returns the error of this API for an error of a server.
func requestError(err error) error { return fieldsError(err) }

// SnappyCompressor is the Snappy block format.
type SnappyCompressor = api.SnappyCompressor
