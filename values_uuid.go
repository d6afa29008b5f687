// SPDX-License-Identifier: Apache-2.0

package vecql

// UUID is a universally unique identifier (RFC 9562), in the byte order of the wire.
type UUID [16]byte
