// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd || netbsd || openbsd

package input

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWindowLoads reads parts of a mapped range in order: the bytes are the file's, and the window never loads
// or requests bytes outside of the range.
func TestWindowLoads(t *testing.T) {
	content := make([]byte, 3*ReadStep+1234)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range content {
		content[i] = byte(rng.Uint32())
	}
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	local, err := os.Open(path)
	require.NoError(t, err)
	f := File{Local: local, Size: int64(len(content))}
	require.NoError(t, f.Map())
	require.NotNil(t, f.Mapped)
	defer func() { require.NoError(t, f.Close()) }()
	const start = 5000
	end := int64(len(content) - 17)
	w := NewWindow(&f, 0)
	w.StartMapped(start)
	w.Request(start + 100)
	require.EqualValues(t, start+100, w.requested)
	for at := int64(start); ; {
		n := min(int64(rng.IntN(ReadStep/3)), end-at)
		b, err := w.Bytes(at, int(n), end)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content[at:at+n], b))
		require.GreaterOrEqual(t, w.loaded, at+n)
		require.LessOrEqual(t, w.loaded, w.requested)
		require.LessOrEqual(t, w.requested, end)
		if at+n == end {
			break
		}
		at = min(end, at+n+int64(rng.IntN(ReadStep))) // the walker may skip a page
	}
	require.Equal(t, end, w.loaded)
	_, err = w.Bytes(0, len(content), int64(len(content))) // more than a step
	require.NoError(t, err)
	require.EqualValues(t, len(content), w.loaded)
	w.StartMapped(start) // the next column chunk may be anywhere
	w.Request(start + 100)
	require.EqualValues(t, start+100, w.requested)
	_, err = w.Bytes(start, 10, end)
	require.NoError(t, err)
	require.EqualValues(t, start+ReadStep, w.loaded)
	require.EqualValues(t, start+2*ReadStep, w.requested)
}
