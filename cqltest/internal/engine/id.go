// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"crypto/md5" //nolint:gosec // version 3 UUIDs are defined by it
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// UUIDs.

// newID returns a random UUID.
func newID() [16]byte { return [16]byte(uuid.New()) }

// nameID returns the UUID of a name, the same in every run.
func nameID(name string) [16]byte {
	id := md5.Sum([]byte(name)) //nolint:gosec // as above
	id[6] = id[6]&0x0F | 0x30
	id[8] = id[8]&0x3F | 0x80
	return id
}

// gregorian is the time between 1582-10-15 and 1970-01-01 in units of 100 ns.
const gregorian = 0x01B21DD213814000

// timeID returns a time UUID that is after all earlier ones and not before at.
func (e *Engine) timeID(at time.Time) [16]byte {
	for {
		last := e.tick.Load()
		next := max(at.UnixNano()/100, last+1)
		if e.tick.CompareAndSwap(last, next) {
			id := timeBytes(next)
			copy(id[8:], e.node[:])
			return id
		}
	}
}

// TimeUUID returns a time UUID of a time, with a random clock sequence and node.
func TimeUUID(at time.Time) [16]byte {
	id, random := timeBytes(at.UnixNano()/100), newID()
	copy(id[8:], random[8:])
	id[10] |= 1 // multicast bit: marks a random node id
	return id
}

// timeBytes returns a time UUID of a time in units of 100 ns since 1970. Its last eight bytes are zero.
func timeBytes(ticks int64) [16]byte {
	t := uint64(ticks + gregorian)
	var id [16]byte
	binary.BigEndian.PutUint32(id[:], uint32(t))
	binary.BigEndian.PutUint16(id[4:], uint16(t>>32))
	binary.BigEndian.PutUint16(id[6:], uint16(t>>48)&0x0FFF|0x1000)
	return id
}
