// SPDX-License-Identifier: Apache-2.0

package input

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A countedReader counts the bytes that are read.
type countedReader struct {
	content *bytes.Reader
	bytes   int
}

func (r *countedReader) ReadAt(b []byte, off int64) (int, error) {
	n, err := r.content.ReadAt(b, off)
	r.bytes += n
	return n, err
}

// TestWindowReadsOnce reads parts of a file in order, headers and then pages of more or less than a window: every byte
// is read once.
func TestWindowReadsOnce(t *testing.T) {
	content := make([]byte, 100_000)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range content {
		content[i] = byte(rng.Uint32())
	}
	reads := &countedReader{content: bytes.NewReader(content)}
	w := NewWindow(&File{Reader: reads, Size: int64(len(content))}, 4000)
	for at := 0; at < len(content); {
		page := min(1+rng.IntN(10_000), len(content)-at)
		for _, n := range []int{min(256, len(content)-at), page} {
			b, err := w.Bytes(int64(at), n, int64(len(content)))
			require.NoError(t, err)
			require.True(t, bytes.Equal(content[at:at+n], b), "%d bytes at %d", n, at)
		}
		at += page
	}
	require.Equal(t, len(content), reads.bytes)
}

// TestFaultsAreNotHidden checks that only memory faults become errors, and that the goroutine's setting is restored.
func TestFaultsAreNotHidden(t *testing.T) {
	require.PanicsWithValue(t, "mine", func() { _ = FaultError("mine") })
	err := func() (err error) {
		defer func() { err = recover().(error) }()
		return fmt.Errorf("%s", os.Args[len(os.Args)])
	}()
	require.Panics(t, func() { _ = FaultError(err) })
}
