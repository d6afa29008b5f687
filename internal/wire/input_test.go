// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// FuzzInput compares an Input with a bufio.Reader on sources that return bytes in pieces.
func FuzzInput(f *testing.F) {
	f.Add(uint64(1), uint32(5000), []byte{9, 200, 3, 255, 0, 17})
	f.Add(uint64(2), uint32(400_000), []byte{250, 251, 252, 253, 254, 255})
	f.Fuzz(func(t *testing.T, seed uint64, size uint32, steps []byte) {
		data := make([]byte, size%(1<<20))
		rnd := rand.New(rand.NewPCG(seed, 0))
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		in := NewInput(iotest.DataErrReader(&pieces{data: data, rnd: rnd}))
		want := bufio.NewReaderSize(bytes.NewReader(data), InputMost)
		for _, s := range steps {
			n := int(s) * InputMost / 255
			switch s % 4 {
			case 0:
				in.Shrink()
			case 1:
				got, err := in.Peek(n)
				expected, wantErr := want.Peek(n)
				require.Equal(t, expected, got)
				require.Equal(t, wantErr, err)
				if err == nil {
					in.Discard(n)
					_, _ = want.Discard(n)
				}
			default:
				got, expected := make([]byte, n), make([]byte, n)
				count, err := io.ReadFull(in, got)
				wantCount, wantErr := io.ReadFull(want, expected)
				require.Equal(t, wantErr, err)
				require.Equal(t, expected[:wantCount], got[:count])
			}
			require.LessOrEqual(t, in.Size(), InputMost)
		}
	})
}

// pieces is a source that returns its data in pieces of random sizes.
type pieces struct {
	data []byte
	rnd  *rand.Rand
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.rnd.IntN(3*InputLeast))], p.data)
	p.data = p.data[n:]
	return n, nil
}

func TestInputMemory(t *testing.T) {
	in := NewInput(bytes.NewReader(make([]byte, 1<<20)))
	read := func(n int) {
		t.Helper()
		b, err := in.Peek(n)
		require.NoError(t, err)
		in.Discard(len(b))
	}
	read(100)
	require.Equal(t, InputLeast, in.Size(), "one read of the source, which fills the memory")
	for _, size := range []int{8 << 10, 32 << 10, InputMost, InputMost} {
		read(in.Buffered())
		read(1)
		require.Equal(t, size, in.Size(), "a read that fills the memory makes the next one larger")
	}
	in.Shrink()
	require.Equal(t, InputMost, in.Size(), "bytes are unread")
	read(in.Buffered())
	in.Shrink()
	require.Equal(t, InputLeast, in.Size())
	read(InputMost)
	require.Equal(t, InputMost, in.Size(), "a segment is checked in place")
	require.Positive(t, in.Burst())
	require.Zero(t, in.Burst())
}

func TestInputBrokenSource(t *testing.T) {
	for name, c := range map[string]struct {
		n    int
		want error
	}{"no progress": {0, io.ErrNoProgress}, "negative": {-1, errReadCount}, "too many": {1 << 30, errReadCount}} {
		t.Run(name, func(t *testing.T) {
			in := NewInput(readFunc(func([]byte) (int, error) { return c.n, nil }))
			_, err := in.Read(make([]byte, 10))
			require.ErrorIs(t, err, c.want)
			_, err = in.Read(make([]byte, 1<<20))
			require.ErrorIs(t, err, c.want)
		})
	}
	failure, calls := errors.New("once"), 0
	in := NewInput(readFunc(func(b []byte) (int, error) {
		if calls++; calls == 1 {
			return 3, failure
		}
		return 2, nil
	}))
	b, err := in.Peek(4)
	require.ErrorIs(t, err, failure)
	require.Len(t, b, 3)
	b, err = in.Peek(4)
	require.NoError(t, err, "an error of the source is returned once")
	require.Len(t, b, 4)
}

type readFunc func(b []byte) (int, error)

func (f readFunc) Read(b []byte) (int, error) { return f(b) }
