// SPDX-License-Identifier: Apache-2.0

//go:build driverlib

package main

// #include "driver.h"
import "C"

import (
	"unsafe"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/cdata"
)

// The functions of statements.

//export vecqlStatementNew
func vecqlStatementNew(conn, p unsafe.Pointer, out *C.struct_AdbcError) C.AdbcStatusCode {
	return withConnection(conn, out, func(_ *object, conn adbc.Connection) error {
		st, err := conn.NewStatement()
		if err == nil {
			put(p, &object{statement: st})
		}
		return err
	})
}

// withStatement runs a function with the statement of a struct.
func withStatement(p unsafe.Pointer, out *C.struct_AdbcError, f func(o *object, st adbc.Statement) error,
) C.AdbcStatusCode {
	return with(p, out, func(o *object) error {
		if o.statement == nil {
			return errState("not a statement")
		}
		return f(o, o.statement)
	})
}

//export vecqlStatementSetSqlQuery
func vecqlStatementSetSqlQuery(p unsafe.Pointer, query *C.cchar_t, out *C.struct_AdbcError) C.AdbcStatusCode {
	return withStatement(p, out, func(_ *object, st adbc.Statement) error {
		q, err := required("the query", query)
		if err != nil {
			return err
		}
		return st.SetSqlQuery(q)
	})
}

//export vecqlStatementSetSubstraitPlan
func vecqlStatementSetSubstraitPlan(p unsafe.Pointer, plan *C.cuint8_t, n C.size_t, out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withStatement(p, out, func(_ *object, st adbc.Statement) error { return st.SetSubstraitPlan(bytes(plan, n)) })
}

//export vecqlStatementPrepare
func vecqlStatementPrepare(p unsafe.Pointer, out *C.struct_AdbcError) C.AdbcStatusCode {
	return withStatement(p, out, func(o *object, st adbc.Statement) error { return st.Prepare(o.context()) })
}

//export vecqlStatementBind
func vecqlStatementBind(p unsafe.Pointer, values *C.struct_ArrowArray, schema *C.struct_ArrowSchema,
	out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withStatement(p, out, func(o *object, st adbc.Statement) error {
		rec, err := cdata.ImportCRecordBatch((*cdata.CArrowArray)(unsafe.Pointer(values)),
			(*cdata.CArrowSchema)(unsafe.Pointer(schema)))
		if err != nil {
			return adbc.Error{Code: adbc.StatusInvalidArgument, Msg: "adbcvecql: bind: " + err.Error()}
		}
		defer rec.Release()
		return st.Bind(o.context(), rec)
	})
}

//export vecqlStatementBindStream
func vecqlStatementBindStream(p unsafe.Pointer, stream *C.struct_ArrowArrayStream, out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withStatement(p, out, func(o *object, st adbc.Statement) error {
		imported, err := cdata.ImportCRecordReader((*cdata.CArrowArrayStream)(unsafe.Pointer(stream)), nil)
		if err != nil {
			return adbc.Error{Code: adbc.StatusInvalidArgument, Msg: "adbcvecql: bind: " + err.Error()}
		}
		reader := imported.(array.RecordReader)
		defer reader.Release()
		return st.BindStream(o.context(), reader)
	})
}

//export vecqlStatementExecuteQuery
func vecqlStatementExecuteQuery(p unsafe.Pointer, stream *C.struct_ArrowArrayStream, affected *C.int64_t,
	out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withStatement(p, out, func(o *object, st adbc.Statement) (err error) {
		n := int64(-1)
		if stream == nil {
			n, err = st.ExecuteUpdate(o.context())
		} else {
			var reader array.RecordReader
			reader, n, err = st.ExecuteQuery(o.context())
			err = exported(reader, err, stream)
		}
		if affected != nil {
			*affected = C.int64_t(n)
		}
		return err
	})
}

//export vecqlStatementExecuteSchema
func vecqlStatementExecuteSchema(p unsafe.Pointer, result *C.struct_ArrowSchema, out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withStatement(p, out, func(o *object, st adbc.Statement) error {
		schema, err := st.(adbc.StatementExecuteSchema).ExecuteSchema(o.context())
		if err == nil {
			cdata.ExportArrowSchema(schema, (*cdata.CArrowSchema)(unsafe.Pointer(result)))
		}
		return err
	})
}

//export vecqlStatementGetParameterSchema
func vecqlStatementGetParameterSchema(p unsafe.Pointer, result *C.struct_ArrowSchema, out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withStatement(p, out, func(_ *object, st adbc.Statement) error {
		schema, err := st.GetParameterSchema()
		if err == nil {
			cdata.ExportArrowSchema(schema, (*cdata.CArrowSchema)(unsafe.Pointer(result)))
		}
		return err
	})
}

//export vecqlStatementExecutePartitions
func vecqlStatementExecutePartitions(p unsafe.Pointer, result *C.struct_ArrowSchema, parts *C.struct_AdbcPartitions,
	affected *C.int64_t, out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withStatement(p, out, func(o *object, st adbc.Statement) error {
		schema, found, n, err := st.ExecutePartitions(o.context())
		if err != nil {
			return err
		}
		if result != nil {
			cdata.ExportArrowSchema(schema, (*cdata.CArrowSchema)(unsafe.Pointer(result)))
		}
		if affected != nil {
			*affected = C.int64_t(n)
		}
		exportPartitions(found.PartitionIDs, parts)
		return nil
	})
}

// exportPartitions copies partitions to memory of C, which vecqlReleasePartitions frees.
func exportPartitions(ids [][]byte, out *C.struct_AdbcPartitions) {
	count := len(ids)
	out.num_partitions = C.size_t(count)
	out.partitions = (**C.uint8_t)(C.calloc(C.size_t(count+1), C.size_t(unsafe.Sizeof(uintptr(0)))))
	out.partition_lengths = (*C.size_t)(C.calloc(C.size_t(count+1), C.sizeof_size_t))
	pointers, lengths := unsafe.Slice(out.partitions, count), unsafe.Slice(out.partition_lengths, count)
	for i, id := range ids {
		pointers[i], lengths[i] = (*C.uint8_t)(C.CBytes(id)), C.size_t(len(id))
	}
	out.private_data = nil
	out.release = (*[0]byte)(C.vecqlReleasePartitions)
}
