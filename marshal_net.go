// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"time"
	"unsafe"

	"github.com/vecql/vecql/internal/wire"
)

// This file holds the plans of uuid and timeuuid, 16 bytes as they are written, and of inet, 4 or 16 bytes
// (native_protocol_v5.spec, section 5).

func planNetEncode(typ Type, t reflect.Type) encodeAt {
	switch {
	case typ == TypeInet && t == reflect.TypeFor[net.IP]():
		return encodeIP
	case typ == TypeInet && t == reflect.TypeFor[netip.Addr]():
		return encodeAddr
	case typ != TypeInet && isID(t):
		return encodeUUID
	case typ != TypeInet && isBytes(t):
		return encodeUUIDBytes
	}
	return nil
}

func planNetDecode(typ Type, t reflect.Type) decodeAt {
	switch {
	case typ == TypeInet && t == reflect.TypeFor[net.IP]():
		return decodeIP
	case typ == TypeInet && t == reflect.TypeFor[netip.Addr]():
		return decodeAddr
	case typ != TypeInet && isID(t):
		return decodeUUID
	case typ != TypeInet && isBytes(t):
		return decodeUUIDBytes
	case typ == TypeTimeUUID && t == reflect.TypeFor[time.Time]():
		return decodeUUIDTime
	}
	return nil
}

func encodeUUID(dst []byte, p unsafe.Pointer) ([]byte, error) {
	return appendUUID(dst, (*UUID)(p)), nil
}

func appendUUID(dst []byte, u *UUID) []byte { return append(append(dst, 0, 0, 0, 16), u[:]...) }

func encodeUUIDBytes(dst []byte, p unsafe.Pointer) ([]byte, error) {
	b := *(*[]byte)(p)
	if b != nil && len(b) != 16 {
		return dst, fmt.Errorf("%w: %d bytes are not a UUID", ErrConversion, len(b))
	}
	return wire.AppendBytes(dst, b)
}

func decodeUUID(cell []byte, p unsafe.Pointer) error {
	if len(cell) != 16 {
		return cellSize(cell, 16)
	}
	*(*UUID)(p) = UUID(cell)
	return nil
}

func decodeUUIDBytes(cell []byte, p unsafe.Pointer) error {
	if len(cell) != 16 {
		return cellSize(cell, 16)
	}
	*(*[]byte)(p) = copyBytes(cell)
	return nil
}

func decodeUUIDTime(cell []byte, p unsafe.Pointer) error {
	if len(cell) != 16 {
		return cellSize(cell, 16)
	}
	u := UUID(cell)
	if u.Version() != 1 {
		return fmt.Errorf("%w: UUID %v has no time", ErrRange, u)
	}
	*(*time.Time)(p) = u.Time()
	return nil
}

func encodeIP(dst []byte, p unsafe.Pointer) ([]byte, error) {
	ip := *(*net.IP)(p)
	if ip == nil {
		return appendNull(dst), nil
	}
	b := ip.To4()
	if b == nil {
		b = ip.To16()
	}
	if b == nil {
		return dst, fmt.Errorf("%w: %d bytes are not an IP address", ErrConversion, len(ip))
	}
	return wire.AppendBytes(dst, b)
}

func encodeAddr(dst []byte, p unsafe.Pointer) ([]byte, error) {
	a := *(*netip.Addr)(p)
	if a.Zone() != "" {
		return dst, fmt.Errorf("%w: %v has a zone, which CQL has not", ErrConversion, a)
	}
	switch a = a.Unmap(); {
	case a.Is4():
		b := a.As4()
		return append(wire.AppendInt(dst, 4), b[:]...), nil
	case a.Is6():
		b := a.As16()
		return append(wire.AppendInt(dst, 16), b[:]...), nil
	}
	return dst, fmt.Errorf("%w: the zero netip.Addr", ErrConversion)
}

func decodeIP(cell []byte, p unsafe.Pointer) error {
	if err := inetSize(cell); err != nil {
		return err
	}
	*(*net.IP)(p) = copyBytes(cell)
	return nil
}

func decodeAddr(cell []byte, p unsafe.Pointer) error {
	if err := inetSize(cell); err != nil {
		return err
	}
	*(*netip.Addr)(p), _ = netip.AddrFromSlice(cell)
	return nil
}

func inetSize(cell []byte) error {
	if len(cell) == 4 {
		return nil
	}
	return cellSize(cell, 16)
}
