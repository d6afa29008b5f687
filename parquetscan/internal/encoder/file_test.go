// SPDX-License-Identifier: Apache-2.0

package encoder

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/format"
)

// A fullDisk is a Writer that fails after some bytes.
type fullDisk struct{ room int }

var errFull = errors.New("no space left")

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(len(b), d.room)
	if d.room -= n; n < len(b) {
		return n, errFull
	}
	return n, nil
}

// TestFileKeepsItsError requires that nothing is written after an error, which is returned again.
func TestFileKeepsItsError(t *testing.T) {
	disk := &fullDisk{6}
	f, err := NewFile(disk)
	require.NoError(t, err)
	require.ErrorIs(t, f.write([]byte("defg")), errFull)
	disk.room = 100
	require.ErrorIs(t, f.write([]byte("h")), errFull)
	require.EqualValues(t, 6, f.at)
	require.Equal(t, 100, disk.room)
	require.ErrorIs(t, f.Append(1, []*Encoded{{column: &Column{}}}), errFull)
	require.ErrorIs(t, f.Finish(&Footer{}), errFull)
	_, err = NewFile(&fullDisk{3})
	require.ErrorIs(t, err, errFull)
}

// A shortWriter writes less than it is given.
type shortWriter struct{}

func (shortWriter) Write(b []byte) (int, error) { return len(b) - 1, nil }

func TestShortWrite(t *testing.T) {
	_, err := NewFile(shortWriter{})
	require.ErrorIs(t, err, io.ErrShortWrite)
}

// TestBlocks appends pieces of all lengths around the sizes of blocks.
func TestBlocks(t *testing.T) {
	var b blocks
	var want []byte
	for _, n := range []int{0, 1, 511, 512, 513, 3, mostBlock, mostBlock + 1, 2*mostBlock - 7, 1} {
		piece := make([]byte, n)
		for i := range piece {
			piece[i] = byte(len(want) + i*7)
		}
		b.append(piece)
		want = append(want, piece...)
	}
	var got []byte
	for _, block := range b.all {
		require.LessOrEqual(t, cap(block), mostBlock)
		got = append(got, block...)
	}
	require.Equal(t, want, got)
	require.EqualValues(t, len(want), b.size)
}

// TestSizes: sizes that the format cannot express are errors.
func TestSizes(t *testing.T) {
	for _, v2 := range []bool{false, true} {
		c := NewChunks([]*Column{{Type: format.ByteArray, Order: Texts, MaxDef: 1}}, &Options{PageBytes: 1 << 20, V2: v2, Codec: format.Snappy})[0]
		c.mostPage = 100
		put := func(n int) error {
			c.Def.Run(1, 1)
			c.PutTexts([][]byte{make([]byte, n)})
			require.NoError(t, c.End(1, 1))
			_, err := c.Finish()
			return err
		}
		require.NoError(t, put(80))
		require.ErrorContains(t, put(100), "bytes, of at most 100: a row is too large")
	}
	var out bytes.Buffer
	f, err := NewFile(&out)
	require.NoError(t, err)
	f.mostFooter = 20
	require.ErrorContains(t, f.Finish(&Footer{CreatedBy: "a name that is longer"}), "of at most 20: write fewer row groups")
	require.Equal(t, format.Magic, out.String())
}
