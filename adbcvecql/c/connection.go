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

	"github.com/vecql/vecql/adbcvecql"
)

// The functions of databases and connections.

//export vecqlDatabaseNew
func vecqlDatabaseNew(p unsafe.Pointer, out *C.struct_AdbcError) C.AdbcStatusCode {
	return call(out, func() error {
		db, err := adbcvecql.NewDriver().NewDatabase(nil)
		put(p, &object{db: db})
		return err
	})
}

//export vecqlDatabaseInit
func vecqlDatabaseInit(p unsafe.Pointer, out *C.struct_AdbcError) C.AdbcStatusCode {
	return with(p, out, func(*object) error { return nil })
}

//export vecqlConnectionNew
func vecqlConnectionNew(p unsafe.Pointer, out *C.struct_AdbcError) C.AdbcStatusCode {
	return call(out, func() error {
		put(p, &object{})
		return nil
	})
}

//export vecqlConnectionInit
func vecqlConnectionInit(p, db unsafe.Pointer, out *C.struct_AdbcError) C.AdbcStatusCode {
	return with(p, out, func(o *object) error {
		of, err := objectOf(db)
		if err != nil {
			return err
		}
		if o.conn != nil || of.db == nil {
			return errState("the connection is initialized already, or its database is none")
		}
		conn, err := of.db.Open(o.context())
		if err != nil {
			return err
		}
		for _, option := range o.early {
			if err := conn.(adbc.PostInitOptions).SetOption(option[0], option[1]); err != nil {
				return err
			}
		}
		o.conn = conn
		return nil
	})
}

// withConnection runs a function with the connection of a struct.
func withConnection(p unsafe.Pointer, out *C.struct_AdbcError, f func(o *object, conn adbc.Connection) error,
) C.AdbcStatusCode {
	return with(p, out, func(o *object) error {
		if o.conn == nil {
			return errState("the connection is not initialized")
		}
		return f(o, o.conn)
	})
}

// exported passes a reader to C, or returns its error.
func exported(reader array.RecordReader, err error, stream *C.struct_ArrowArrayStream) error {
	if err == nil {
		exportStream(reader, stream)
	}
	return err
}

//export vecqlConnectionCommit
func vecqlConnectionCommit(p unsafe.Pointer, out *C.struct_AdbcError) C.AdbcStatusCode {
	return withConnection(p, out, func(o *object, conn adbc.Connection) error { return conn.Commit(o.context()) })
}

//export vecqlConnectionRollback
func vecqlConnectionRollback(p unsafe.Pointer, out *C.struct_AdbcError) C.AdbcStatusCode {
	return withConnection(p, out, func(o *object, conn adbc.Connection) error { return conn.Rollback(o.context()) })
}

//export vecqlConnectionGetInfo
func vecqlConnectionGetInfo(p unsafe.Pointer, codes *C.cuint32_t, n C.size_t, stream *C.struct_ArrowArrayStream,
	out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withConnection(p, out, func(o *object, conn adbc.Connection) error {
		var list []adbc.InfoCode
		if codes != nil {
			list = append(list, unsafe.Slice((*adbc.InfoCode)(unsafe.Pointer(codes)), int(n))...)
		}
		reader, err := conn.GetInfo(o.context(), list)
		return exported(reader, err, stream)
	})
}

//export vecqlConnectionGetObjects
func vecqlConnectionGetObjects(p unsafe.Pointer, depth C.int, catalog, schema, table *C.cchar_t, types **C.cchar_t,
	column *C.cchar_t, stream *C.struct_ArrowArrayStream, out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withConnection(p, out, func(o *object, conn adbc.Connection) error {
		var kinds []string
		for at := types; at != nil && *at != nil; {
			kinds = append(kinds, *text(*at))
			at = (**C.cchar_t)(unsafe.Add(unsafe.Pointer(at), unsafe.Sizeof(*at)))
		}
		reader, err := conn.GetObjects(o.context(), adbc.ObjectDepth(depth), text(catalog), text(schema), text(table),
			text(column), kinds)
		return exported(reader, err, stream)
	})
}

//export vecqlConnectionGetTableSchema
func vecqlConnectionGetTableSchema(p unsafe.Pointer, catalog, schema, table *C.cchar_t, result *C.struct_ArrowSchema,
	out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withConnection(p, out, func(o *object, conn adbc.Connection) error {
		name, err := required("the name of the table", table)
		if err != nil {
			return err
		}
		s, err := conn.GetTableSchema(o.context(), text(catalog), text(schema), name)
		if err == nil {
			cdata.ExportArrowSchema(s, (*cdata.CArrowSchema)(unsafe.Pointer(result)))
		}
		return err
	})
}

//export vecqlConnectionGetTableTypes
func vecqlConnectionGetTableTypes(p unsafe.Pointer, stream *C.struct_ArrowArrayStream, out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withConnection(p, out, func(o *object, conn adbc.Connection) error {
		reader, err := conn.GetTableTypes(o.context())
		return exported(reader, err, stream)
	})
}

//export vecqlConnectionReadPartition
func vecqlConnectionReadPartition(p unsafe.Pointer, id *C.cuint8_t, n C.size_t, stream *C.struct_ArrowArrayStream,
	out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withConnection(p, out, func(o *object, conn adbc.Connection) error {
		reader, err := conn.ReadPartition(o.context(), bytes(id, n))
		return exported(reader, err, stream)
	})
}

//export vecqlConnectionGetStatistics
func vecqlConnectionGetStatistics(p unsafe.Pointer, catalog, schema, table *C.cchar_t, approximate C.char,
	stream *C.struct_ArrowArrayStream, out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withConnection(p, out, func(o *object, conn adbc.Connection) error {
		reader, err := conn.(adbc.ConnectionGetStatistics).GetStatistics(o.context(), text(catalog), text(schema),
			text(table), approximate != 0)
		return exported(reader, err, stream)
	})
}

//export vecqlConnectionGetStatisticNames
func vecqlConnectionGetStatisticNames(p unsafe.Pointer, stream *C.struct_ArrowArrayStream, out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withConnection(p, out, func(o *object, conn adbc.Connection) error {
		reader, err := conn.(adbc.ConnectionGetStatistics).GetStatisticNames(o.context())
		return exported(reader, err, stream)
	})
}
