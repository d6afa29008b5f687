// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"math"
	"reflect"
	"unsafe"

	"github.com/vecql/vecql/internal/wire"
)

// Plans of ascii, text, blob and custom types: the bytes as they are. The server checks the encoding.

func planTextEncode(t reflect.Type) EncodeAt {
	switch {
	case t.Kind() == reflect.String:
		return encodeString
	case isBytes(t):
		return encodeBytes
	}
	return nil
}

func planTextDecode(t reflect.Type) DecodeAt {
	switch {
	case t.Kind() == reflect.String:
		return decodeString
	case isBytes(t):
		return decodeBytes
	}
	return nil
}

func encodeString(dst []byte, p unsafe.Pointer) ([]byte, error) {
	return appendText(dst, *(*string)(p))
}

func encodeBytes(dst []byte, p unsafe.Pointer) ([]byte, error) {
	return appendContent(dst, *(*[]byte)(p))
}

func appendText(dst []byte, s string) ([]byte, error) {
	if len(s) > math.MaxInt32 {
		return dst, errTooLong
	}
	return append(wire.AppendInt(dst, int32(len(s))), s...), nil
}

func decodeString(cell []byte, p unsafe.Pointer, s *Shared) error {
	*(*string)(p) = s.text(cell)
	return nil
}

func decodeBytes(cell []byte, p unsafe.Pointer, s *Shared) error {
	*(*[]byte)(p) = s.bytes(cell)
	return nil
}
