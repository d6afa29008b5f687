// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	api "github.com/vecql/vecql/compat/api"
)

// What v1.7 alone declares.

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

// NewBatch returns an empty batch without the defaults of a session.
//
// Deprecated: use Session.NewBatch.
func NewBatch(typ BatchType) *Batch {
	b := &Batch{Type: typ}
	api.StartBatch(&b.batch, nil)
	return b
}

// TimeoutLimit has no effect.
//
// Deprecated: as in gocql.
var TimeoutLimit int64

// Logger is the logger of sessions whose ClusterConfig.Logger is nil.
//
// Deprecated: set ClusterConfig.Logger.
var Logger StdLogger = &api.DefaultLogger{}
