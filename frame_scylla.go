// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"encoding/binary"

	"github.com/vecql/vecql/internal/wire"
)

// This file turns the body of an EXECUTE into that for a connection with other extensions of ScyllaDB (scylladb
// docs/dev/protocol-extensions.md): nodes of one cluster differ while it is upgraded, and a request is encoded once.

// translateExecute appends to dst the message of a v4 EXECUTE, without what comes before the message, with the result metadata id taken
// out or an empty one put in. hasID and wantID say whether it is there, and whether it shall be. Without an id the server can not tell
// that metadata changed, so that it is asked not to leave them out. An empty id is never that of the server's metadata: they come, with
// their id. message must be what appendExecute wrote.
func translateExecute(dst, message []byte, hasID, wantID bool) ([]byte, error) {
	r := wire.NewReader(message)
	id := r.ShortBytes()
	if hasID {
		r.ShortBytes()
	}
	const parameters = 2 + 1 // consistency and flags
	rest := r.Rest()
	if err := malformed("EXECUTE", &r); err != nil || len(rest) < parameters {
		return dst, &ProtocolError{Message: "EXECUTE to translate is cut off", Err: err}
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(id)))
	dst = append(dst, id...)
	if wantID {
		dst = append(dst, 0, 0)
	}
	flags := len(dst) + parameters - 1
	dst = append(dst, rest...)
	dst[flags] &^= queryFlagSkipMetadata
	return dst, nil
}
