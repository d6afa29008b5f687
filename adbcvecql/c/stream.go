// SPDX-License-Identifier: Apache-2.0

//go:build driverlib

package main

// #include "driver.h"
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/cdata"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Results as streams of C. Records are not copied: their memory is of Go and is pinned until C releases it.

// streams has the stream of each private_data that C holds, for vecqlErrorFromArrayStream.
var streams sync.Map // *stream by unsafe.Pointer

// A stream is an array.RecordReader whose records are pinned. Its error keeps the status.
type stream struct {
	array.RecordReader
	key     unsafe.Pointer // in streams
	current arrow.RecordBatch
	panic   error               // of Next
	failure *C.struct_AdbcError // of vecqlErrorFromArrayStream; memory of C
}

// exportStream passes a reader to C.
func exportStream(reader array.RecordReader, out *C.struct_ArrowArrayStream) {
	s := &stream{RecordReader: reader}
	cdata.ExportRecordReader(retained{s}, (*cdata.CArrowArrayStream)(unsafe.Pointer(out)))
	s.key = out.private_data
	streams.Store(s.key, s)
}

// retained is a stream whose only reference is C's.
type retained struct{ *stream }

// Retain implements array.RecordReader.
func (retained) Retain() {}

// Release implements array.RecordReader.
func (r retained) Release() {
	s := r.stream
	streams.Delete(s.key)
	if s.current != nil {
		s.current.Release()
	}
	if s.failure != nil {
		if s.failure.release != nil {
			C.vecqlReleaseError(s.failure)
		}
		C.free(unsafe.Pointer(s.failure))
	}
	s.RecordReader.Release()
}

// Err implements array.RecordReader.
func (s *stream) Err() error {
	if s.panic != nil {
		return s.panic
	}
	return s.RecordReader.Err()
}

// Next implements array.RecordReader. A panic is an error, because it must not reach C.
func (s *stream) Next() (more bool) {
	defer func() {
		if p := recover(); p != nil {
			more, s.panic = false, adbc.Error{Code: adbc.StatusInternal, Msg: fmt.Sprintf("adbcvecql: panic: %v", p)}
		}
	}()
	if s.current != nil {
		s.current.Release()
		s.current = nil
	}
	if !s.RecordReader.Next() {
		return false
	}
	s.current = pinned(s.RecordReader.RecordBatch())
	return true
}

// RecordBatch implements array.RecordReader.
func (s *stream) RecordBatch() arrow.RecordBatch { return s.current }

//export vecqlErrorFromArrayStream
func vecqlErrorFromArrayStream(p *C.struct_ArrowArrayStream, status *C.AdbcStatusCode) *C.struct_AdbcError {
	found, ok := streams.Load(p.private_data)
	if !ok || found.(*stream).Err() == nil {
		return nil
	}
	s := found.(*stream)
	if s.failure == nil {
		s.failure = (*C.struct_AdbcError)(C.calloc(1, C.sizeof_struct_AdbcError))
	}
	code := setError(s.failure, s.Err())
	if status != nil {
		*status = code
	}
	return s.failure
}

// pinned returns a record with the memory of rec, pinned until it is released.
func pinned(rec arrow.RecordBatch) arrow.RecordBatch {
	columns := make([]arrow.Array, rec.NumCols())
	for i, c := range rec.Columns() {
		data := pinnedData(c.Data())
		columns[i] = array.MakeFromData(data)
		data.Release()
	}
	out := array.NewRecordBatch(rec.Schema(), columns, rec.NumRows())
	for _, c := range columns {
		c.Release()
	}
	return out
}

// pinnedData returns the data of an array with pinned buffers.
func pinnedData(d arrow.ArrayData) arrow.ArrayData {
	buffers := make([]*memory.Buffer, len(d.Buffers()))
	for i, b := range d.Buffers() {
		if b != nil {
			buffers[i] = pinnedBuffer(b.Bytes())
			defer buffers[i].Release()
		}
	}
	children := make([]arrow.ArrayData, len(d.Children()))
	for i, child := range d.Children() {
		children[i] = pinnedData(child)
		defer children[i].Release()
	}
	if dict, ok := d.Dictionary().(*array.Data); ok && dict != nil {
		values := pinnedData(dict)
		defer values.Release()
		return array.NewDataWithDictionary(d.DataType(), d.Len(), buffers, d.NullN(), d.Offset(), values.(*array.Data))
	}
	return array.NewData(d.DataType(), d.Len(), buffers, children, d.NullN(), d.Offset())
}

// pinnedBuffer returns a buffer of pinned bytes.
func pinnedBuffer(b []byte) *memory.Buffer {
	pin := &pin{}
	if len(b) > 0 {
		pin.Pin(&b[0])
	}
	return memory.NewBufferWithAllocator(b, pin)
}

// memoryOfC collects the memory of records that C has released.
var memoryOfC = &collector{limit: 64 << 20, run: runtime.GC, cycles: cycles}

// A pin is the allocator of a pinned buffer: to free it is to unpin it. It never allocates, because such a buffer does
// not grow.
type pin struct{ runtime.Pinner }

var _ memory.Allocator = (*pin)(nil)

func (*pin) Allocate(size int) []byte             { return make([]byte, size) }
func (*pin) Reallocate(size int, b []byte) []byte { return append(make([]byte, 0, size), b...)[:size] }
func (p *pin) Free(b []byte)                      { p.Unpin(); memoryOfC.release(len(b)) }
