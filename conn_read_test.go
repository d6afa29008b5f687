// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

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
func readAll(c *conn, src io.Reader, reference bool) (got frameOutcome) {
	c.in = wire.NewInput(src)
	c.frames = c.in
	if c.version() >= protoV5 {
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
		got.headers, got.bodies = append(got.headers, h), append(got.bodies, string(body.b))
		body.release()
	}
}

// FuzzReadFrame holds frames that are read from memory equal to those that are awaited byte by byte, in one read and in
// many.
func FuzzReadFrame(f *testing.F) {
	void := append([]byte{0x84, 0, 0, 7, byte(opResult), 0, 0, 0, 4}, voidResult...)
	rows := append([]byte{0x84, 0, 0, 1, byte(opResult), 0, 0, 0, 6}, "rows.."...)
	empty := []byte{0x84, 0, 0, 1, byte(opReady), 0, 0, 0, 0}
	all := bytes.Join([][]byte{void, rows, empty, void, bytes.Repeat(rows, 300)}, nil)
	segments, err := wire.AppendSegments(nil, all, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(false, all)
	f.Add(true, segments)
	f.Add(false, append(bytes.Clone(all), void[:11]...))
	f.Add(true, segments[:len(segments)-1])
	f.Add(false, []byte{0x04, 0, 0, 1, byte(opReady), 0, 0, 0, 0})
	f.Add(false, []byte{0x84, 0, 0, 1, byte(opReady), 0xFF, 0, 0, 0})
	f.Fuzz(func(t *testing.T, v5 bool, stream []byte) {
		version := protoV4
		if v5 {
			version = protoV5
		}
		c := newConn(&connConfig{version: version}, "", nil)
		want := readAll(c, bytes.NewReader(stream), true)
		require.Equal(t, want, readAll(c, bytes.NewReader(stream), false), "in one read")
		require.Equal(t, want, readAll(c, iotest.HalfReader(bytes.NewReader(stream)), false), "in parts")
	})
}

// The answer to most inserts needs no memory.
func TestVoidBody(t *testing.T) {
	c := newConn(&connConfig{version: protoV4}, "", nil)
	void := append([]byte{0x84, 0, 0, 7, byte(opResult), 0, 0, 0, 4}, voidResult...)
	c.in = wire.NewInput(bytes.NewReader(bytes.Repeat(void, 3)))
	c.frames = c.in
	_, err := c.in.Peek(1)
	require.NoError(t, err)
	for range 3 {
		_, body, err := c.readFrame()
		require.NoError(t, err)
		require.Same(t, voidBody, body)
		body.release()
		body.release()
		require.Equal(t, voidResult, string(body.b))
	}
}
