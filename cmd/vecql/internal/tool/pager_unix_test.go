// SPDX-License-Identifier: Apache-2.0

//go:build unix

package tool

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPagerWriter requires of a screen of three lines which results go to the program, and each of them once.
func TestPagerWriter(t *testing.T) {
	require.Equal(t, "more -s", pagerCommand(func(string) string { return " more -s " }))
	require.NotEqual(t, "  ", pagerCommand(func(string) string { return "  " }))
	page := func(command string, parts ...string) (onTerminal, ofProgram string) {
		var out bytes.Buffer
		terminal, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
		require.NoError(t, err)
		defer terminal.Close()
		p := &pager{out: &out, terminal: terminal, command: command, screen: 3}
		for _, part := range parts {
			if _, err := io.WriteString(p, part); err != nil {
				require.ErrorIs(t, err, errPagerEnded)
			}
		}
		require.NoError(t, p.Close())
		text, err := os.ReadFile(terminal.Name())
		require.NoError(t, err)
		return out.String(), string(text)
	}
	for _, parts := range [][]string{{"1\n", "2\n"}, {"1\n2\n3"}, {""}} {
		out, paged := page("cat", parts...)
		require.Equal(t, strings.Join(parts, ""), out)
		require.Empty(t, paged, "it fits on the screen")
	}
	for _, parts := range [][]string{{"1\n", "2\n", "3\n"}, {"1\n2\n3\n4\n"}, {"1\n2\n3\n", "4\n"}} {
		out, paged := page("cat", parts...)
		require.Empty(t, out)
		require.Equal(t, strings.Join(parts, ""), paged)
		out, _ = page(filepath.Join(t.TempDir(), "none"), parts...)
		require.Equal(t, strings.Join(parts, ""), out, "without the program")
	}
	t.Setenv("LESS", "S")
	_, environment := page("env", "1\n2\n3\n")
	require.Contains(t, environment, "LESS=S\n")
	require.NoError(t, os.Unsetenv("LESS"))
	_, environment = page("env", "1\n2\n3\n")
	require.Contains(t, environment, "LESS=FRX\n")
}

// TestPagerEnds requires the error of a program that has ended.
func TestPagerEnds(t *testing.T) {
	p := &pager{out: io.Discard, terminal: os.Stderr, command: "true", screen: 1}
	require.Eventually(t, func() bool {
		_, err := p.Write([]byte("line\n"))
		if err != nil {
			require.ErrorIs(t, err, errPagerEnded)
		}
		return err != nil
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, p.Close())
}
