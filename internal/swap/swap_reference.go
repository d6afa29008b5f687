// SPDX-License-Identifier: Apache-2.0

package swap

import "encoding/binary"

// The reference: one element at a time, on every machine. The other implementations must produce the same bytes.

func put32Reference(dst []byte, src []uint32) {
	for i, v := range src {
		binary.BigEndian.PutUint32(dst[4*i:], v)
	}
}

func get32Reference(dst []uint32, src []byte) {
	for i := range dst {
		dst[i] = binary.BigEndian.Uint32(src[4*i:])
	}
}

func put64Reference(dst []byte, src []uint64) {
	for i, v := range src {
		binary.BigEndian.PutUint64(dst[8*i:], v)
	}
}

func get64Reference(dst []uint64, src []byte) {
	for i := range dst {
		dst[i] = binary.BigEndian.Uint64(src[8*i:])
	}
}
