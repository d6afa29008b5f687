// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"bytes"
	"errors"
	"net"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/frame"
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
	frame.LZ4
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
		c.Config.Version, c.compress = frame.V4, lengthCompressor{n: m.packed}
		c.w.leading = true // another call writes
		body := GetBuffer(m.size)
		before := outstanding.Load()
		w := startCall(t, c)
		require.NoError(t, c.send(t.Context(), w, &Request{Op: frame.OpQuery, Flags: wire.FlagTracing, Body: body}))
		require.Equal(t, before, outstanding.Load())
		h, err := wire.ParseHeader(c.w.pending.B)
		require.NoError(t, err)
		want, flags := m.size, byte(wire.FlagTracing)
		if m.compressed {
			want, flags = m.packed, flags|wire.FlagCompressed
		}
		require.Equal(t, wire.Header{Version: frame.V4, Flags: flags, Stream: int16(w.id), Opcode: byte(frame.OpQuery), Length: want}, h)
		require.Len(t, c.w.pending.B, wire.HeaderSize+want)
		require.EqualValues(t, wire.HeaderSize+want, c.w.queued)
		require.Zero(t, w.start.Load())
		c.compress = lengthCompressor{n: -1}
		if m.size >= compressFrom {
			err = c.send(t.Context(), w, &Request{Op: frame.OpQuery, Body: body})
			require.ErrorIs(t, err, errFixed)
			require.ErrorContains(t, err, "compress: ")
			require.Len(t, c.w.pending.B, wire.HeaderSize+want)
		}
		body.Release()
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

// busyConn is a socket that queues a further frame during each of its first writes, as the callers of a busy connection
// do.
type busyConn struct {
	net.Conn
	c                *Conn
	further          int
	byCaller, byTask int           // writes
	held             chan struct{} // writes wait until it is closed; nil means that they do not
}

func (b *busyConn) Write(p []byte) (int, error) {
	w := &b.c.w
	if w.since.Load() != 0 {
		b.byCaller++
	} else {
		b.byTask++
	}
	if b.held != nil {
		<-b.held
	}
	if b.further > 0 {
		b.further--
		w.mu.Lock()
		w.add(&wire.Header{Version: frame.V4}, nil, false)
		w.mu.Unlock()
	}
	return len(p), nil
}

// TestCallerWritesForOthers requires that a caller writes the frames of others at most leaderRounds times, before it
// hands over to a goroutine, and that the leader steps down when all frames are written.
func TestCallerWritesForOthers(t *testing.T) {
	for _, m := range []struct{ writes, byCaller int }{
		{1, 1},
		{2, 2},
		{leaderRounds - 1, leaderRounds - 1},
		{leaderRounds, leaderRounds},
		{leaderRounds + 1, leaderRounds},
		{50, leaderRounds},
	} {
		synctest.Test(t, func(t *testing.T) {
			sock := &busyConn{further: m.writes - 1}
			c := New(&Config{Version: frame.V4}, "", sock)
			sock.c = c
			c.w.leading = true
			c.w.add(&wire.Header{Version: frame.V4}, nil, false)
			c.lead()
			require.Equal(t, m.byCaller, sock.byCaller)
			synctest.Wait()
			require.Equal(t, []any{m.byCaller, m.writes - m.byCaller}, []any{sock.byCaller, sock.byTask})
			require.False(t, c.w.leading)
			require.Equal(t, c.w.queued, c.w.handed)
		})
	}
}

// TestOneLeaderForRecords requires that a leader is started for what TLS writes on its own, unless there is one or the
// writer has stopped.
func TestOneLeaderForRecords(t *testing.T) {
	for _, m := range []struct{ leading, stopped, starts bool }{
		{false, false, true}, {true, false, false}, {false, true, false}, {true, true, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			sock := &busyConn{held: make(chan struct{})}
			c := New(&Config{Version: frame.V4}, "", sock)
			sock.c = c
			c.w.add(&wire.Header{Version: frame.V4}, nil, false)
			c.w.leading, c.w.stopped = m.leading, m.stopped
			for range 2 { // the second time during the write of the first leader
				c.flushSoon()
				synctest.Wait()
				require.Equal(t, m.leading || m.starts, c.w.leading, "%+v", m)
			}
			close(sock.held)
			synctest.Wait()
			require.Equal(t, m.leading, c.w.leading, "the leader steps down: %+v", m)
			require.Equal(t, m.starts, sock.byTask == 1, "%+v", m)
			require.Zero(t, sock.byCaller)
		})
	}
}

// TestFramesBegunByATornWrite requires how many bytes of frames count as begun after a write that ended early: each
// byte without segments. A segment counts if a byte of it was written, with its size before the compression.
func TestFramesBegunByATornWrite(t *testing.T) {
	frameOf := func(size int) []byte {
		b := make([]byte, size)
		wire.PutHeader(b, wire.Header{Version: frame.V5, Length: size - wire.HeaderSize})
		return b
	}
	sizes := []int{100, 5000, 700, 300}
	for name, compress := range map[string]cql.Compressor{"plain": nil, "compressed": lengthCompressor{n: 50}} {
		c := newIdleConn()
		c.compress = compress
		w := &c.w
		var callback func(dst, payload []byte) ([]byte, error)
		if compress != nil {
			callback = c.compressSegment
		}
		var ends []int // of the segments
		for _, size := range sizes {
			var err error
			w.plain, err = wire.AppendSegments(w.plain, frameOf(size), callback)
			require.NoError(t, err)
			ends = append(ends, len(w.plain))
			w.size += size
		}
		require.Equal(t, compress != nil, len(w.plain) < w.size)
		begun := 0
		for i, end := range ends {
			start := 0
			if i > 0 {
				start = ends[i-1]
			}
			w.written = start
			require.Equal(t, begun, c.framesBegun(), "%s, %d bytes", name, start)
			begun += sizes[i]
			for _, w.written = range []int{start + 1, end - 1, end} {
				require.Equal(t, begun, c.framesBegun(), "%s, %d bytes", name, w.written)
			}
		}
		require.Equal(t, w.size, begun)
		w.plain[0] ^= 0xFF
		require.Equal(t, w.size, c.framesBegun(), "what cannot be read may have left")
		c.Config.Version = frame.V4
		for _, w.written = range []int{0, 1, 150} {
			require.Equal(t, w.written, c.framesBegun())
		}
	}
}

// TestWriterThatHasStopped requires that no frame is queued and no chunk is made after the end of a connection, and how
// many of the queued bytes were handed to the socket.
func TestWriterThatHasStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sock := &busyConn{}
		c := New(&Config{Version: frame.V4}, "", sock)
		sock.c = c
		w := &c.w
		w.mu.Lock()
		w.add(&wire.Header{Version: frame.V4}, nil, false)
		w.mu.Unlock()
		require.True(t, w.next())
		w.mu.Lock()
		w.add(&wire.Header{Version: frame.V4}, make([]byte, 10), false)
		w.mu.Unlock()
		require.EqualValues(t, wire.HeaderSize, w.stop(), "the second frame is pending")
		require.Empty(t, w.pending.B)
		require.False(t, w.next(), "also if a chunk is being written")
		w.failed(0)
		require.EqualValues(t, wire.HeaderSize, w.handed, "outcomes were delivered by the number before")
		w.leading = false
		body := GetBuffer(10)
		defer body.Release()
		require.ErrorIs(t, c.send(t.Context(), startCall(t, c), &Request{Op: frame.OpQuery, Body: body}), ErrClosed)
		require.Empty(t, w.pending.B)
		require.False(t, w.leading)
		c.flushSoon()
		synctest.Wait()
		require.Zero(t, sock.byCaller+sock.byTask)
	})
}

// TestWriterDropsItsMemory requires that a writer without a leader drops its memory, and that one with a leader keeps
// the frames that are written and those that wait.
func TestWriterDropsItsMemory(t *testing.T) {
	for _, leading := range []bool{true, false} {
		c := newIdleConn()
		w := &c.w
		w.leading = leading
		w.add(&wire.Header{Version: frame.V4}, nil, false)
		w.frames, w.spare, w.segments, w.sealed = make([]byte, 1), make([]byte, 2), make([]byte, 3), make([]byte, 4)
		w.records = &records{stored: make([]byte, 0, 5)}
		w.shrink()
		sizes := []int{len(w.pending.B), cap(w.frames), cap(w.spare), cap(w.segments), cap(w.sealed), cap(w.records.stored)}
		want := make([]int, 6)
		if leading {
			want = []int{wire.HeaderSize, 1, 2, 3, 4, 5}
		}
		require.Equal(t, want, sizes)
	}
}
