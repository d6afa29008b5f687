// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/queue"
	"github.com/vecql/vecql/internal/wire"
)

// frameOutcome is what a reader makes of a stream: the frames, and the error that ends it.
type frameOutcome struct {
	headers []wire.Header
	bodies  []string
	err     string
}

// blindSource is a source that shows nothing ahead, so that each frame is awaited: the reference.
type blindSource struct{ frameSource }

func (blindSource) Ahead() []byte { return nil }

// readAll reads the frames of src; reference selects how.
func readAll(c *Conn, src io.Reader, reference bool) (got frameOutcome) {
	c.in = wire.NewInput(src)
	c.frames = c.in
	if c.Version() >= frame.V5 {
		c.frames = wire.NewSegmentReader(c.in, nil)
	}
	if reference {
		c.frames = blindSource{c.frames}
	}
	for {
		h, body, err := c.readFrame()
		if err != nil {
			got.err = err.Error()
			return got
		}
		got.headers, got.bodies = append(got.headers, h), append(got.bodies, string(body.B))
		body.Release()
	}
}

// FuzzReadFrame holds frames that are read from memory equal to those that are awaited byte by byte, in one read and in
// many.
func FuzzReadFrame(f *testing.F) {
	void := append([]byte{0x84, 0, 0, 7, byte(frame.OpResult), 0, 0, 0, 4}, voidResult...)
	rows := append([]byte{0x84, 0, 0, 1, byte(frame.OpResult), 0, 0, 0, 6}, "rows.."...)
	empty := []byte{0x84, 0, 0, 1, byte(frame.OpReady), 0, 0, 0, 0}
	all := bytes.Join([][]byte{void, rows, empty, void, bytes.Repeat(rows, 300)}, nil)
	segments, err := wire.AppendSegments(nil, all, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(false, all)
	f.Add(true, segments)
	f.Add(false, append(bytes.Clone(all), void[:11]...))
	f.Add(true, segments[:len(segments)-1])
	f.Add(false, []byte{0x04, 0, 0, 1, byte(frame.OpReady), 0, 0, 0, 0})
	f.Add(false, []byte{0x84, 0, 0, 1, byte(frame.OpReady), 0xFF, 0, 0, 0})
	f.Fuzz(func(t *testing.T, v5 bool, stream []byte) {
		version := frame.V4
		if v5 {
			version = frame.V5
		}
		c := New(&Config{Version: version}, "", nil)
		want := readAll(c, bytes.NewReader(stream), true)
		require.Equal(t, want, readAll(c, bytes.NewReader(stream), false), "in one read")
		require.Equal(t, want, readAll(c, iotest.HalfReader(bytes.NewReader(stream)), false), "in parts")
	})
}

// The answer to most inserts needs no memory.
func TestVoidBody(t *testing.T) {
	c := New(&Config{Version: frame.V4}, "", nil)
	void := append([]byte{0x84, 0, 0, 7, byte(frame.OpResult), 0, 0, 0, 4}, voidResult...)
	c.in = wire.NewInput(bytes.NewReader(bytes.Repeat(void, 3)))
	c.frames = c.in
	_, err := c.in.Peek(1)
	require.NoError(t, err)
	for range 3 {
		_, body, err := c.readFrame()
		require.NoError(t, err)
		require.Same(t, voidBody, body)
		body.Release()
		body.Release()
		require.Equal(t, voidResult, string(body.B))
	}
}

// TestBodyThatEndsEarly requires that a stream that ends within a body is an error, also when a socket of the program
// returns an io.EOF of its own, and that another error of the socket stays.
func TestBodyThatEndsEarly(t *testing.T) {
	out := append([]byte{0x84, 0, 0, 1, byte(frame.OpResult), 0, 0, 0, 6}, "rows.."...)
	for _, m := range []struct{ end, want error }{
		{io.EOF, io.ErrUnexpectedEOF}, {fmt.Errorf("proxy: %w", io.EOF), io.ErrUnexpectedEOF}, {io.ErrClosedPipe, io.ErrClosedPipe},
	} {
		for n := wire.HeaderSize; n < len(out); n++ {
			c := New(&Config{Version: frame.V4}, "", nil)
			c.in = wire.NewInput(io.MultiReader(bytes.NewReader(out[:n]), iotest.ErrReader(m.end)))
			c.frames = c.in
			_, body, err := c.readFrame()
			require.ErrorIs(t, err, m.want, "%d bytes, then %v", n, m.end)
			require.Nil(t, body)
		}
	}
}

// TestFrameHeaders requires that a header is refused if its body is too large, or if it is of a request, with the first
// reason, also with the flag of a compressed body.
func TestFrameHeaders(t *testing.T) {
	tooLarge := uint32(wire.MaxBody + 1)
	for name, m := range map[string]struct {
		version byte
		length  uint32
		tooLong bool
		want    string // empty means no error
	}{
		"a response":          {0x84, 0, false, ""},
		"a large response":    {0x84, tooLarge, true, "the limit is"},
		"a request":           {0x04, 0, false, "a request frame from the server: 04 01 00 01 08 00 00 00 00"},
		"a request too large": {0x04, tooLarge, true, "the limit is"},
	} {
		head := binary.BigEndian.AppendUint32([]byte{m.version, wire.FlagCompressed, 0, 1, byte(frame.OpResult)}, m.length)
		h, err := parseHeader(head)
		require.EqualValues(t, 1, h.Stream, name)
		for range 2 {
			if m.want == "" {
				require.NoError(t, err, name)
				break
			}
			require.ErrorContains(t, err, "frame header")
			require.ErrorContains(t, err, m.want, name)
			require.Equal(t, m.tooLong, errors.Is(err, wire.ErrLength))
			var broken *cql.ProtocolError
			require.ErrorAs(t, err, &broken)
			c := New(&Config{Version: frame.V4}, "", nil)
			c.in = wire.NewInput(bytes.NewReader(head))
			c.frames = c.in
			_, _, err = c.readFrame()
		}
	}
}

// TestAcquiredMemory requires that a response uses the memory that its request has acquired, unless its caller has
// left.
func TestAcquiredMemory(t *testing.T) {
	c := newIdleConn()
	w := startCall(t, c)
	w.expected.Store(100)
	at := wire.Header{Stream: int16(w.id)}
	require.Zero(t, c.acquired(at), "without a budget")
	c.Config.Memory = queue.NewBudget(1<<20, nil)
	require.EqualValues(t, 100, c.acquired(at))
	require.Zero(t, c.acquired(wire.Header{Stream: -1}), "an event")
	require.Zero(t, c.acquired(wire.Header{Stream: 20_000}), "a stream that was never used")
	w.state.Store(slotOrphaned)
	require.Zero(t, c.acquired(at))
}

// TestCompressedFrames requires that a frame of v4 is decompressed and counted, that one of v5 is not, and that one
// that cannot be decompressed is an error. No buffer is left.
func TestCompressedFrames(t *testing.T) {
	plain := bytes.Repeat([]byte("compress me "), 1000)
	packed, err := frame.LZ4{}.AppendCompressedWithLength(nil, plain)
	require.NoError(t, err)
	before := outstanding.Load()
	for name, m := range map[string]struct {
		version  byte
		flags    byte
		compress cql.Compressor
		body     []byte
		want     []byte // nil means an error
	}{
		"compressed":     {4, wire.FlagCompressed | wire.FlagWarning, frame.LZ4{}, packed, plain},
		"plain":          {4, wire.FlagWarning, frame.LZ4{}, packed, packed},
		"v5":             {5, wire.FlagCompressed | wire.FlagWarning, frame.LZ4{}, packed, packed},
		"not negotiated": {4, wire.FlagCompressed, nil, packed, nil},
		"damaged":        {4, wire.FlagCompressed, frame.LZ4{}, packed[:len(packed)/2], nil},
	} {
		t.Run(name, func(t *testing.T) {
			head := make([]byte, wire.HeaderSize)
			wire.PutHeader(head, wire.Header{
				Version: m.version, Response: true, Flags: m.flags, Stream: 1, Opcode: byte(frame.OpResult), Length: len(m.body),
			})
			for _, whole := range []bool{true, false} {
				budget := queue.NewBudget(1<<20, nil)
				c := New(&Config{Version: m.version, Memory: budget}, "", nil)
				c.compress = m.compress
				var src io.Reader = bytes.NewReader(append(head[:len(head):len(head)], m.body...))
				if !whole {
					src = iotest.HalfReader(src)
				}
				c.in = wire.NewInput(src)
				c.frames = c.in
				h, body, err := c.readFrame()
				if m.want == nil {
					var broken *cql.ProtocolError
					require.ErrorAs(t, err, &broken)
					require.Nil(t, body)
					require.Zero(t, budget.Usage().InFlight)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, m.want, body.B)
				require.Equal(t, len(m.want), h.Length)
				flags := m.flags
				if m.version == frame.V4 {
					flags = wire.FlagWarning
				}
				require.Equal(t, flags, h.Flags)
				require.Equal(t, body.MemorySize(), budget.Usage().InFlight)
				body.Release()
			}
		})
	}
	require.Equal(t, before, outstanding.Load())
}

// TestReaderHasDeliveredAll requires that a reader has delivered all that was received when neither the socket, nor a
// segment, nor TLS has a further byte.
func TestReaderHasDeliveredAll(t *testing.T) {
	input := func(b []byte) *wire.Input {
		in := wire.NewInput(bytes.NewReader(b))
		_ = in.Fill()
		return in
	}
	c := New(&Config{Version: frame.V4}, "", nil)
	for n := range 4 {
		c.in = input(make([]byte, n))
		c.frames = c.in
		require.Equal(t, n == 0, c.drained(), "%d bytes", n)
	}
	c.in = input(nil)
	c.frames = c.in
	c.w.records = &records{in: input(tlsRecord(10)[:10])}
	require.True(t, c.drained(), "a part of a record")
	c.w.records = &records{in: input(tlsRecord(10))}
	require.False(t, c.drained(), "a record")
	c.w.records = nil
	segment, err := wire.AppendSegments(nil, make([]byte, 20), nil)
	require.NoError(t, err)
	c.in = input(segment)
	segments := wire.NewSegmentReader(c.in, nil)
	c.frames = segments
	require.False(t, c.drained(), "a segment")
	require.NoError(t, segments.Fill())
	for n := 20; n > 0; n-- {
		require.False(t, c.drained(), "%d bytes of a segment", n)
		segments.Discard(1)
	}
	require.True(t, c.drained())
}

// singleConn is a socket that returns one byte at a time, then an error with no byte.
type singleConn struct {
	net.Conn
	left int
}

func (c *singleConn) Read(b []byte) (int, error) {
	if c.left--; c.left < 0 {
		return 0, io.ErrClosedPipe
	}
	b[0] = 'x'
	return 1, nil
}

// TestTimeOfBytes requires that each byte that arrives sets the time of the last one, and that an error does not. Bytes
// of an incomplete frame count as an answer once they are many.
func TestTimeOfBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newIdleConn()
		sock := timedReader{c, &singleConn{left: 2}}
		b := make([]byte, 100)
		for range 2 {
			time.Sleep(time.Second)
			n, err := sock.Read(b)
			require.NoError(t, err)
			require.Equal(t, 1, n)
			require.Equal(t, c.now(), c.readAt)
		}
		last := c.readAt
		time.Sleep(time.Second)
		n, err := sock.Read(b)
		require.ErrorIs(t, err, io.ErrClosedPipe)
		require.Zero(t, n)
		require.Equal(t, last, c.readAt)
		require.Equal(t, 2, c.partial)
		require.Zero(t, c.answered.Load())
		c.partial = progressSize - 2
		sock.sock = &singleConn{left: 2}
		_, _ = sock.Read(b)
		require.Zero(t, c.answered.Load())
		_, _ = sock.Read(b)
		require.Equal(t, c.now(), c.answered.Load())
		require.Zero(t, c.partial, "the next ones count for themselves")
	})
}

// TestReaderIsCalm requires that a reader returns the memory of a busy time a second after it last received much at a
// time, also the memory of the records of TLS.
func TestReaderIsCalm(t *testing.T) {
	grown := func() *wire.Input {
		in := wire.NewInput(bytes.NewReader(make([]byte, wire.InputMost)))
		for range 2 { // a read that fills the memory makes the next one larger
			require.NoError(t, in.Fill())
			in.Discard(in.Buffered())
		}
		require.Greater(t, in.Size(), wire.InputLeast)
		return in
	}
	for _, m := range []struct{ in, records bool }{{true, false}, {false, true}, {true, true}} {
		c := New(&Config{Version: frame.V4}, "", nil)
		c.in = wire.NewInput(bytes.NewReader(nil))
		c.frames = c.in
		inputs := []*wire.Input{c.in}
		if m.in {
			c.in = grown()
			inputs[0] = c.in
		}
		if m.records {
			c.w.records = &records{in: grown()}
			inputs = append(inputs, c.w.records.in)
		}
		before := memoryOfInputs(inputs)
		c.readAt = int64(time.Minute)
		c.calm()
		require.Equal(t, before, memoryOfInputs(inputs), "much has just arrived")
		c.readAt += int64(calmAfter)
		c.calm()
		require.Equal(t, before, memoryOfInputs(inputs))
		c.readAt++
		c.calm()
		require.Equal(t, len(inputs)*wire.InputLeast, memoryOfInputs(inputs), "%+v", m)
	}
}

// TestReaderDropsDecompressedSegments requires that a calm reader drops the memory for decompressed segments with that
// of its input, and uses it again while it is busy.
func TestReaderDropsDecompressedSegments(t *testing.T) {
	payload := make([]byte, 10_000)
	for i := range payload {
		payload[i] = byte(i*i>>3 ^ i>>5)
	}
	stream, err := wire.AppendSegments(nil, payload, func(dst, src []byte) ([]byte, error) { return append(dst, src[:9000]...), nil })
	require.NoError(t, err)
	c := New(&Config{Version: frame.V5}, "", nil)
	c.in = wire.NewInput(bytes.NewReader(bytes.Repeat(stream, 3)))
	var reused []bool
	segments := wire.NewSegmentReader(c.in, func(dst, _ []byte, _ int) ([]byte, error) {
		reused = append(reused, cap(dst) > 0)
		return append(dst, payload...), nil
	})
	c.frames = segments
	next := func() {
		require.NoError(t, segments.Fill())
		segments.Discard(len(payload))
		c.readAt++
		c.calm()
	}
	next()
	next()
	require.Greater(t, c.in.Size(), wire.InputLeast)
	c.readAt += int64(2 * calmAfter)
	c.calm()
	require.NoError(t, segments.Fill())
	require.Equal(t, []bool{false, true, false}, reused)
}

func memoryOfInputs(inputs []*wire.Input) (n int) {
	for _, in := range inputs {
		n += in.Size()
	}
	return n
}
