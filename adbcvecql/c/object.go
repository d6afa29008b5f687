// SPDX-License-Identifier: Apache-2.0

//go:build driverlib

package main

// #include "driver.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime/cgo"
	"strconv"
	"sync"
	"unsafe"

	"github.com/apache/arrow-adbc/go/adbc"
)

// Databases, connections and statements as C holds them: a handle in the field private_data, the first one of their
// structs.

func main() {}

// A canceler has the context of the operations of an object. Cancel ends those that are running, and the results that
// are being read.
type canceler struct {
	lock   sync.Mutex
	ctx    context.Context
	cancel context.CancelFunc
}

func (c *canceler) context() context.Context {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.ctx == nil || c.ctx.Err() != nil {
		c.ctx, c.cancel = context.WithCancel(context.Background())
	}
	return c.ctx
}

func (c *canceler) stop() {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
}

// An object is what a handle stands for. Of db, conn and statement the one of the kind is set; conn only after
// ConnectionInit, which applies the options that were set before.
type object struct {
	canceler
	db        adbc.Database
	conn      adbc.Connection
	statement adbc.Statement
	early     [][2]string
}

// errState returns an error of an object in the wrong state.
func errState(text string) error {
	return adbc.Error{Code: adbc.StatusInvalidState, Msg: "adbcvecql: " + text}
}

// private returns the field private_data of a struct as a number: a handle is no pointer.
func private(p unsafe.Pointer) *uintptr { return (*uintptr)(p) }

// objectOf returns the object of a struct.
func objectOf(p unsafe.Pointer) (*object, error) {
	if p == nil || *private(p) == 0 {
		return nil, errState("the object is not initialized")
	}
	return cgo.Handle(*private(p)).Value().(*object), nil
}

// put stores an object in a struct.
func put(p unsafe.Pointer, o *object) { *private(p) = uintptr(cgo.NewHandle(o)) }

// options returns the options of an object.
func (o *object) options() (adbc.GetSetOptions, error) {
	for _, v := range []any{o.statement, o.conn, o.db} {
		if options, ok := v.(adbc.GetSetOptions); ok {
			return options, nil
		}
	}
	return nil, errState("the connection is not initialized")
}

// setOption sets an option, of a connection also before ConnectionInit.
func (o *object) setOption(key, value string) error {
	options, err := o.options()
	if err != nil {
		o.early = append(o.early, [2]string{key, value})
		return nil
	}
	return options.SetOption(key, value)
}

// closeAll closes what the object has.
func (o *object) closeAll() error {
	switch {
	case o.statement != nil:
		return o.statement.Close()
	case o.conn != nil:
		return o.conn.Close()
	case o.db != nil:
		return o.db.Close()
	}
	return nil
}

// call runs a function and stores its error in out. A panic is an error.
func call(out *C.struct_AdbcError, f func() error) (status C.AdbcStatusCode) {
	defer func() {
		if p := recover(); p != nil {
			status = setError(out, adbc.Error{Code: adbc.StatusInternal, Msg: fmt.Sprintf("adbcvecql: panic: %v", p)})
		}
	}()
	return setError(out, f())
}

// with runs a function with the object of a struct.
func with(p unsafe.Pointer, out *C.struct_AdbcError, f func(o *object) error) C.AdbcStatusCode {
	return call(out, func() error {
		o, err := objectOf(p)
		if err != nil {
			return err
		}
		return f(o)
	})
}

// withOptions runs a function with the options of the object of a struct.
func withOptions(p unsafe.Pointer, out *C.struct_AdbcError, f func(o adbc.GetSetOptions) error) C.AdbcStatusCode {
	return with(p, out, func(o *object) error {
		options, err := o.options()
		if err != nil {
			return err
		}
		return f(options)
	})
}

// setError stores an error and returns its status. C releases the error.
func setError(out *C.struct_AdbcError, err error) C.AdbcStatusCode {
	if err == nil {
		return C.ADBC_STATUS_OK
	}
	failed := adbc.Error{Code: adbc.StatusUnknown, Msg: err.Error()}
	errors.As(err, &failed)
	if out == nil {
		return C.AdbcStatusCode(failed.Code)
	}
	if out.release != nil {
		C.vecqlReleaseError(out)
	}
	out.message = C.CString(failed.Msg)
	out.release = (*[0]byte)(C.vecqlReleaseError)
	out.vendor_code = C.int32_t(failed.VendorCode)
	for i, c := range failed.SqlState {
		out.sqlstate[i] = C.char(c)
	}
	return C.AdbcStatusCode(failed.Code)
}

// text returns the text of C, nil for NULL.
func text(s *C.cchar_t) *string {
	if s == nil {
		return nil
	}
	out := C.GoString((*C.char)(unsafe.Pointer(s)))
	return &out
}

// required returns the text of C, or an error for NULL.
func required(what string, s *C.cchar_t) (string, error) {
	if s == nil {
		return "", adbc.Error{Code: adbc.StatusInvalidArgument, Msg: "adbcvecql: " + what + " is NULL"}
	}
	return *text(s), nil
}

// bytes returns a copy of bytes of C.
func bytes(p *C.cuint8_t, n C.size_t) []byte {
	if p == nil {
		return nil
	}
	return append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(p)), int(n))...)
}

//export vecqlSetOption
func vecqlSetOption(p unsafe.Pointer, key, value *C.cchar_t, out *C.struct_AdbcError) C.AdbcStatusCode {
	return with(p, out, func(o *object) error {
		name, err := required("the name of the option", key)
		if err != nil {
			return err
		}
		set, err := required("the value of option "+name, value)
		if err != nil {
			return err
		}
		return o.setOption(name, set)
	})
}

//export vecqlSetOptionBytes
func vecqlSetOptionBytes(p unsafe.Pointer, key *C.cchar_t, v *C.cuint8_t, n C.size_t, out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withOptions(p, out, func(o adbc.GetSetOptions) error { return o.SetOptionBytes(*text(key), bytes(v, n)) })
}

//export vecqlSetOptionDouble
func vecqlSetOptionDouble(p unsafe.Pointer, key *C.cchar_t, v C.double, out *C.struct_AdbcError) C.AdbcStatusCode {
	return with(p, out, func(o *object) error {
		return o.setOption(*text(key), strconv.FormatFloat(float64(v), 'f', -1, 64))
	})
}

//export vecqlSetOptionInt
func vecqlSetOptionInt(p unsafe.Pointer, key *C.cchar_t, v C.int64_t, out *C.struct_AdbcError) C.AdbcStatusCode {
	return with(p, out, func(o *object) error { return o.setOption(*text(key), strconv.FormatInt(int64(v), 10)) })
}

//export vecqlGetOption
func vecqlGetOption(p unsafe.Pointer, key *C.cchar_t, value *C.char, n *C.size_t, out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withOptions(p, out, func(o adbc.GetSetOptions) error {
		v, err := o.GetOption(*text(key))
		if err == nil {
			copyOut(append([]byte(v), 0), unsafe.Pointer(value), n)
		}
		return err
	})
}

//export vecqlGetOptionBytes
func vecqlGetOptionBytes(p unsafe.Pointer, key *C.cchar_t, value *C.uint8_t, n *C.size_t, out *C.struct_AdbcError,
) C.AdbcStatusCode {
	return withOptions(p, out, func(o adbc.GetSetOptions) error {
		v, err := o.GetOptionBytes(*text(key))
		if err == nil {
			copyOut(v, unsafe.Pointer(value), n)
		}
		return err
	})
}

// copyOut copies bytes to a buffer of n bytes if they fit, and sets n to the size that they need.
func copyOut(v []byte, buffer unsafe.Pointer, n *C.size_t) {
	if len(v) > 0 && C.size_t(len(v)) <= *n && buffer != nil {
		copy(unsafe.Slice((*byte)(buffer), len(v)), v)
	}
	*n = C.size_t(len(v))
}

//export vecqlGetOptionDouble
func vecqlGetOptionDouble(p unsafe.Pointer, key *C.cchar_t, v *C.double, out *C.struct_AdbcError) C.AdbcStatusCode {
	return withOptions(p, out, func(o adbc.GetSetOptions) error {
		x, err := o.GetOptionDouble(*text(key))
		*v = C.double(x)
		return err
	})
}

//export vecqlGetOptionInt
func vecqlGetOptionInt(p unsafe.Pointer, key *C.cchar_t, v *C.int64_t, out *C.struct_AdbcError) C.AdbcStatusCode {
	return withOptions(p, out, func(o adbc.GetSetOptions) error {
		x, err := o.GetOptionInt(*text(key))
		*v = C.int64_t(x)
		return err
	})
}

//export vecqlRelease
func vecqlRelease(p unsafe.Pointer, out *C.struct_AdbcError) C.AdbcStatusCode {
	return with(p, out, func(o *object) error {
		cgo.Handle(*private(p)).Delete()
		*private(p) = 0
		return o.closeAll()
	})
}

//export vecqlCancel
func vecqlCancel(p unsafe.Pointer, out *C.struct_AdbcError) C.AdbcStatusCode {
	return with(p, out, func(o *object) error {
		o.stop()
		return nil
	})
}
