// SPDX-License-Identifier: Apache-2.0

//go:build unix

package rowfile

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Tests that need named pipes, signals, umask or guard pages of Unix.

// TestPipeEndsWithItsFile writes to a pipe: its reader sees the end only when the file closes it.
func TestPipeEndsWithItsFile(t *testing.T) {
	b := column.NewBatch(column.Of("id", []int64{1}))
	for name, end := range map[string]func(*File) error{"close": (*File).Close, "abort": (*File).Abort} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pipe.csv")
			require.NoError(t, syscall.Mkfifo(path, 0o600))
			texts := make(chan string, 1)
			go func() {
				text, err := os.ReadFile(path)
				texts <- fmt.Sprint(string(text), err)
			}()
			f, err := Create(path, b.Schema(), WriterOptions{})
			require.NoError(t, err)
			require.NoError(t, f.Write(b))
			require.NoError(t, end(f))
			select {
			case text := <-texts:
				require.Equal(t, map[string]string{"close": "id\n1\n<nil>", "abort": "<nil>"}[name], text)
			case <-time.After(10 * time.Second):
				t.Fatal("the pipe is still open")
			}
		})
	}
}
