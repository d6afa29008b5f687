// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"net"
	"strings"
	"sync"

	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/wire"
)

// TLS below group commit. crypto/tls cannot continue a write that was interrupted, so once the handshake is done its
// records are not written to the socket, but stored: the leader has TLS encrypt a whole chunk, and writes the records
// itself. Many requests share one write and full records, and a stalled write can be continued, as without TLS.
//
// In the other direction crypto/tls would read some 500 bytes at a time, and would hide how many records it has read
// ahead. So one read takes all that the socket has, and TLS receives it record by record. The reader goroutine can
// therefore test whether another response has arrived.

// records is the net.Conn below the TLS of a connection.
type records struct {
	net.Conn             // the socket
	in       *wire.Input // its bytes, ahead of TLS; of the reader
	left     int         // bytes of the current record that TLS has not read
	mu       sync.Mutex
	stored   []byte // records to write
	storing  bool   // Write stores records; otherwise it writes to the socket
	sealing  bool   // the leader has TLS encrypt a chunk
	flush    func() // starts a leader
}

// Read reads bytes of one record.
func (r *records) Read(b []byte) (int, error) {
	if r.left == 0 {
		header, err := r.in.Peek(recordHeaderSize)
		if err != nil {
			n := copy(b, header)
			r.in.Discard(n)
			if n > 0 { // TLS reports what is left of the record
				return n, nil
			}
			return 0, err
		}
		r.left = recordSize(header)
	}
	n, err := r.in.Read(b[:min(len(b), r.left)])
	r.left -= n
	return n, err
}

// more reports whether a whole record was received that TLS has not read.
func (r *records) more() bool {
	ahead := r.in.Ahead()
	return len(ahead) >= recordHeaderSize && len(ahead) >= recordSize(ahead)
}

// recordSize returns the size of the record that begins with header.
func recordSize(header []byte) int {
	return recordHeaderSize + int(binary.BigEndian.Uint16(header[recordHeaderSize-2:]))
}

// Write stores the records of TLS. Those that are not of a chunk, such as the answer to a KeyUpdate, have a leader
// started.
func (r *records) Write(b []byte) (int, error) {
	r.mu.Lock()
	if !r.storing {
		r.mu.Unlock()
		return r.Conn.Write(b)
	}
	r.stored = append(r.stored, b...)
	sealing := r.sealing
	r.mu.Unlock()
	if !sealing {
		r.flush()
	}
	return len(b), nil
}

// store selects whether Write stores records.
func (r *records) store(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.storing = on
}

// waiting reports whether records are stored.
func (r *records) waiting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.stored) > 0
}

// seal returns the stored records and the records of plain, which t encrypts. reuse is memory for later records.
func (r *records) seal(t net.Conn, plain, reuse []byte) ([]byte, error) {
	r.mu.Lock()
	r.sealing = true
	r.mu.Unlock()
	var err error
	if len(plain) > 0 {
		_, err = t.Write(plain)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sealing = false
	out := r.stored
	r.stored = reuse[:0]
	return out, err
}

// shrink drops unused memory.
func (r *records) shrink() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.stored) == 0 {
		r.stored = nil
	}
}

const (
	recordHeaderSize = 5 // type, version, length: RFC 8446, section 5.1
	// recordOverhead is the least number of bytes that encryption adds to the content of a record.
	recordOverhead = 16
)

// contentBegun returns at most how many bytes of content the first n bytes of records contain. A record counts as a
// whole.
func contentBegun(records []byte, n int) (content int) {
	for at := 0; at < n && at+recordHeaderSize <= len(records); {
		length := int(binary.BigEndian.Uint16(records[at+3:]))
		content += max(length-recordOverhead, 0)
		at += recordHeaderSize + length
	}
	return content
}

// tlsError returns the error of a TLS handshake with one prefix "tls: ", which most errors of crypto/tls have.
func tlsError(err error) error {
	if strings.HasPrefix(err.Error(), "tls: ") {
		return errtext.Errorf("%w", err)
	}
	return errtext.Errorf("tls: %w", err)
}

// IsTLS reports whether a connection has TLS.
func IsTLS(sock net.Conn) bool {
	_, ok := sock.(interface{ ConnectionState() tls.ConnectionState })
	return ok
}

// startTLS wraps the socket in TLS. It verifies the peer, unless the user's configuration disables that.
func (c *Conn) startTLS(ctx context.Context) error {
	cfg := c.Config.TLS.Clone()
	cfg.DynamicRecordSizingDisabled = true // requests are small, and many share a record
	if cfg.ServerName == "" {
		host, _, err := net.SplitHostPort(c.address)
		if err != nil {
			return err
		}
		cfg.ServerName = host
	}
	r := &records{Conn: c.raw, in: wire.NewInput(c.raw), flush: c.flushSoon}
	t := tls.Client(r, cfg)
	if err := t.HandshakeContext(ctx); err != nil {
		return err
	}
	c.Sock, c.w.records = t, r
	return nil
}
