// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// Frames as the writer queues them.

var errFixed = errors.New("not compressed")

func fixedBytes(dst []byte, n int) ([]byte, error) {
	if n < 0 {
		return nil, errFixed
	}
	return append(dst, bytes.Repeat([]byte("z"), n)...), nil
}

// lengthCompressor compresses any bytes to n, or fails if n is negative.
type lengthCompressor struct {
	LZ4Compressor
	n int
}

func (c lengthCompressor) AppendCompressed(dst, _ []byte) ([]byte, error) {
	return fixedBytes(dst, c.n)
}

func (c lengthCompressor) AppendCompressedWithLength(dst, _ []byte) ([]byte, error) {
	return fixedBytes(dst, c.n)
}

// TestFramesOfV4AreCompressed requires that a body from 512 bytes on is sent compressed if that is shorter, with the
// flag and the length of what is sent, and that a failing Compressor sends nothing.
func TestFramesOfV4AreCompressed(t *testing.T) {
	for _, m := range []struct {
		size, packed int
		compressed   bool
	}{
		{compressFrom - 1, 10, false},
		{compressFrom, 10, true},
		{compressFrom, compressFrom - 1, true},
		{compressFrom, compressFrom, false},
		{compressFrom, compressFrom + 1, false},
		{5000, 0, true},
	} {
		c := newIdleConn()
		c.cfg.version, c.compress = protoV4, lengthCompressor{n: m.packed}
		c.w.leading = true // another call writes
		body := getBuffer(m.size)
		before := outstanding.Load()
		w := startCall(t, c)
		require.NoError(t, c.send(t.Context(), w, &request{op: opQuery, flags: wire.FlagTracing, body: body}))
		require.Equal(t, before, outstanding.Load())
		h, err := wire.ParseHeader(c.w.pending.B)
		require.NoError(t, err)
		want, flags := m.size, byte(wire.FlagTracing)
		if m.compressed {
			want, flags = m.packed, flags|wire.FlagCompressed
		}
		require.Equal(t, wire.Header{Version: protoV4, Flags: flags, Stream: int16(w.id), Opcode: byte(opQuery), Length: want}, h)
		require.Len(t, c.w.pending.B, wire.HeaderSize+want)
		require.EqualValues(t, wire.HeaderSize+want, c.w.queued)
		require.Zero(t, w.start.Load())
		c.compress = lengthCompressor{n: -1}
		if m.size >= compressFrom {
			err = c.send(t.Context(), w, &request{op: opQuery, body: body})
			require.ErrorIs(t, err, errFixed)
			require.ErrorContains(t, err, "compress: ")
			require.Len(t, c.w.pending.B, wire.HeaderSize+want)
		}
		body.release()
	}
}

// TestSegmentsAreCompressed requires that a payload from 512 bytes on is compressed, and that a failing Compressor
// leaves it as it is.
func TestSegmentsAreCompressed(t *testing.T) {
	for _, m := range []struct {
		size, packed int
		compressed   bool
	}{{compressFrom - 1, 10, false}, {compressFrom, 10, true}, {compressFrom, -1, false}} {
		c := newIdleConn()
		c.compress = lengthCompressor{n: m.packed}
		payload := bytes.Repeat([]byte("x"), m.size)
		got, err := c.compressSegment([]byte("before "), payload)
		require.NoError(t, err)
		want := payload
		if m.compressed {
			want = bytes.Repeat([]byte("z"), m.packed)
		}
		require.Equal(t, "before "+string(want), string(got), "%+v", m)
	}
}
