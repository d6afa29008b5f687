// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"time"
	"unsafe"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Plans of uuid and timeuuid, 16 bytes in the order of their text, and of inet, 4 or 16 bytes (native_protocol_v5.spec,
// section 5).

// planNetEncode returns the plan of inet, uuid or timeuuid. Strings take the reference, which parses them.
func planNetEncode(typ cql.Type, t reflect.Type) EncodeAt {
	switch {
	case typ == cql.TypeInet && t == reflect.TypeFor[net.IP]():
		return encodeIP
	case typ == cql.TypeInet && t == reflect.TypeFor[netip.Addr]():
		return encodeAddr
	case typ != cql.TypeInet && isID(t):
		return encodeUUID
	case typ != cql.TypeInet && isBytes(t):
		return encodeUUIDBytes
	}
	return nil
}

// planNetDecode also decodes the time of a timeuuid into a time.Time, which has no way back.
func planNetDecode(typ cql.Type, t reflect.Type) DecodeAt {
	switch {
	case typ == cql.TypeInet && t == reflect.TypeFor[net.IP]():
		return decodeIP
	case typ == cql.TypeInet && t == reflect.TypeFor[netip.Addr]():
		return decodeAddr
	case typ != cql.TypeInet && isID(t):
		return decodeUUID
	case typ != cql.TypeInet && isBytes(t):
		return decodeUUIDBytes
	case typ == cql.TypeTimeUUID && t == reflect.TypeFor[time.Time]():
		return decodeUUIDTime
	}
	return nil
}

func encodeUUID(dst []byte, p unsafe.Pointer) ([]byte, error) {
	return appendUUID(dst, (*cql.UUID)(p)), nil
}

func appendUUID(dst []byte, u *cql.UUID) []byte { return append(append(dst, 0, 0, 0, 16), u[:]...) }

func encodeUUIDBytes(dst []byte, p unsafe.Pointer) ([]byte, error) {
	b := *(*[]byte)(p)
	if b != nil && len(b) != 16 {
		return dst, fmt.Errorf("%w: %d bytes are not a UUID", cql.ErrConversion, len(b))
	}
	return wire.AppendBytes(dst, b)
}

func decodeUUID(cell []byte, p unsafe.Pointer, _ *Shared) error {
	if len(cell) != 16 {
		return cellSize(cell, 16)
	}
	*(*cql.UUID)(p) = cql.UUID(cell)
	return nil
}

func decodeUUIDBytes(cell []byte, p unsafe.Pointer, s *Shared) error {
	if len(cell) != 16 {
		return cellSize(cell, 16)
	}
	*(*[]byte)(p) = s.bytes(cell)
	return nil
}

func decodeUUIDTime(cell []byte, p unsafe.Pointer, _ *Shared) error {
	if len(cell) != 16 {
		return cellSize(cell, 16)
	}
	u := cql.UUID(cell)
	if u.Version() != 1 {
		return fmt.Errorf("%w: UUID %v has no time", cql.ErrRange, u)
	}
	*(*time.Time)(p) = u.Time()
	return nil
}

// encodeIP appends a net.IP in 4 bytes if it is an IPv4 address in either form. nil is NULL.
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
		return dst, fmt.Errorf("%w: %d bytes are not an IP address", cql.ErrConversion, len(ip))
	}
	return wire.AppendBytes(dst, b)
}

func encodeAddr(dst []byte, p unsafe.Pointer) ([]byte, error) {
	return appendAddr(dst, *(*netip.Addr)(p))
}

// appendAddr appends an address; an IPv4 address mapped to IPv6 is stored as IPv4. The zero Addr is an error, not NULL.
func appendAddr(dst []byte, a netip.Addr) ([]byte, error) {
	if a.Zone() != "" {
		return dst, fmt.Errorf("%w: %v has a zone, which CQL cannot store", cql.ErrConversion, a)
	}
	switch a = a.Unmap(); {
	case a.Is4():
		b := a.As4()
		return append(wire.AppendInt(dst, 4), b[:]...), nil
	case a.Is6():
		b := a.As16()
		return append(wire.AppendInt(dst, 16), b[:]...), nil
	}
	return dst, fmt.Errorf("%w: the zero netip.Addr", cql.ErrConversion)
}

func decodeIP(cell []byte, p unsafe.Pointer, s *Shared) error {
	if err := inetSize(cell); err != nil {
		return err
	}
	*(*net.IP)(p) = s.bytes(cell)
	return nil
}

func decodeAddr(cell []byte, p unsafe.Pointer, _ *Shared) error {
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
