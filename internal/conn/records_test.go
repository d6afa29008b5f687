// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// Records of TLS between the socket and crypto/tls.

// tlsRecord returns a record with n bytes.
func tlsRecord(n int) []byte {
	head := binary.BigEndian.AppendUint16([]byte{23, 3, 3}, uint16(n))
	return append(head, bytes.Repeat([]byte("r"), n)...)
}

// TestRecordsAhead requires that a record is ahead as soon as its last byte was received, also one without content.
func TestRecordsAhead(t *testing.T) {
	for _, size := range []int{0, 1, 2, 300} {
		whole := tlsRecord(size)
		stream := append(bytes.Clone(whole), tlsRecord(100)...)
		for n := range stream {
			r := &records{in: wire.NewInput(bytes.NewReader(stream[:n]))}
			require.False(t, r.more(), "nothing was received")
			_ = r.in.Fill()
			require.Equal(t, n >= len(whole), r.more(), "%d bytes of a record of %d", n, len(whole))
		}
	}
}

// TestReadsOfRecords requires that a read returns bytes of one record alone, and the part of a record that ends early.
func TestReadsOfRecords(t *testing.T) {
	stream := bytes.Join([][]byte{tlsRecord(3), tlsRecord(0), tlsRecord(10), {23, 3, 3}}, nil)
	for size, want := range map[int][]int{100: {8, 5, 15, 3}, 15: {8, 5, 15, 3}, 6: {6, 2, 5, 6, 6, 3, 3}} {
		r := &records{in: wire.NewInput(bytes.NewReader(stream))}
		b := make([]byte, size)
		var got []int
		var all []byte
		for {
			n, err := r.Read(b)
			if err != nil {
				require.ErrorIs(t, err, io.EOF)
				require.Zero(t, n)
				break
			}
			got = append(got, n)
			all = append(all, b[:n]...)
		}
		require.Equal(t, want, got)
		require.Equal(t, stream, all)
	}
}

// sealer is a TLS connection that encrypts by brackets. Each write makes one record.
type sealer struct {
	net.Conn
	below *records
	err   error
}

func (s *sealer) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	return s.below.Write([]byte("[" + string(b) + "]"))
}

// TestRecordsOfAChunk requires that the records of a chunk follow those that TLS has written before on its own, and
// that only the latter start a leader.
func TestRecordsOfAChunk(t *testing.T) {
	var socket bytes.Buffer
	leaders := 0
	r := &records{Conn: writeConn{to: &socket}, flush: func() { leaders++ }}
	s := &sealer{below: r}
	n, err := r.Write([]byte("hello"))
	require.NoError(t, err)
	require.Equal(t, []any{5, "hello", false, 0}, []any{n, socket.String(), r.waiting(), leaders}, "in the handshake")

	r.store(true)
	reuse := make([]byte, 3, 100)
	out, err := r.seal(s, []byte("chunk"), reuse)
	require.NoError(t, err)
	require.Equal(t, []any{"[chunk]", false, 0}, []any{string(out), r.waiting(), leaders})
	n, err = r.Write([]byte("(keys)"))
	require.NoError(t, err)
	require.Equal(t, []any{6, true, 1}, []any{n, r.waiting(), leaders})
	r.shrink()
	require.True(t, r.waiting(), "what waits is not dropped")
	out, err = r.seal(s, []byte("next"), nil)
	require.NoError(t, err)
	require.Equal(t, []any{"(keys)[next]", false, 1}, []any{string(out), r.waiting(), leaders})
	require.Same(t, &reuse[0], &out[0], "the memory is used again")
	_, err = r.Write([]byte("(alone)"))
	require.NoError(t, err)
	out, err = r.seal(s, nil, make([]byte, 100))
	require.NoError(t, err)
	require.Equal(t, []any{"(alone)", false, 2}, []any{string(out), r.waiting(), leaders})
	require.NotZero(t, cap(r.stored))
	r.shrink()
	require.Zero(t, cap(r.stored))

	s.err = io.ErrClosedPipe
	_, err = r.seal(s, []byte("chunk"), nil)
	require.ErrorIs(t, err, io.ErrClosedPipe)
	r.store(false)
	_, err = r.Write([]byte(", bye"))
	require.NoError(t, err)
	require.Equal(t, []any{"hello, bye", false, 2}, []any{socket.String(), r.waiting(), leaders})
}

// writeConn is a socket that writes to memory.
type writeConn struct {
	net.Conn
	to *bytes.Buffer
}

func (c writeConn) Write(b []byte) (int, error) { return c.to.Write(b) }

// TestContentOfRecords requires how much content the begun records of a torn write may have. Encryption adds at least
// 16 bytes to a record. A record without a whole header counts as not begun.
func TestContentOfRecords(t *testing.T) {
	written := bytes.Join([][]byte{tlsRecord(116), tlsRecord(10), tlsRecord(16), tlsRecord(66), tlsRecord(1016)[:recordHeaderSize]}, nil)
	const second = recordHeaderSize + 116
	const third = second + recordHeaderSize + 10
	const fourth = third + recordHeaderSize + 16
	const fifth = fourth + recordHeaderSize + 66
	for n, want := range map[int]int{
		0: 0, 1: 100, second: 100, second + 1: 100, third + 1: 100, fourth: 100, fourth + 1: 150, fifth: 150, fifth + 1: 1150,
		1 << 20: 1150,
	} {
		require.Equal(t, want, contentBegun(written, n), "%d bytes", n)
	}
	require.Equal(t, 150, contentBegun(written[:fifth+recordHeaderSize-1], 1<<20))
	require.Zero(t, contentBegun(nil, 1))
}

// TestTLSErrorHasOnePrefix requires that the error of a handshake names TLS once.
func TestTLSErrorHasOnePrefix(t *testing.T) {
	for text, want := range map[string]string{
		"tls: bad certificate": "vecql: tls: bad certificate", "EOF": "vecql: tls: EOF", "": "vecql: tls: ",
	} {
		cause := errors.New(text)
		err := tlsError(cause)
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, cause)
	}
	require.True(t, IsTLS(tls.Client(nil, nil)))
	require.False(t, IsTLS(writeConn{}))
}
