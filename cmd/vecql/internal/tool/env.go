// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/vecql/vecql"
)

// What a command runs in.

// An env is what a command runs in: its streams, its terminal and its cluster flags.
type env struct {
	in     io.Reader
	inUsed bool // a verb has read in
	// out gets results. What a terminal shows of them is printable.
	out io.Writer
	// text is out for text that is for people, which is printable in a pipe or a file, too. err is such a text always.
	text, err io.Writer
	raw       *checkedWriter // out for the shell, which moves the cursor
	streams   []io.Writer    // out and err as they were passed

	isTerminal bool // out is a terminal
	width      int  // characters in a line of out; 0 means no limit
	errWidth   int  // characters in a line of err; 0 means that err is no terminal

	flags    clusterFlags
	cfg      *vecql.ClusterConfig // of the shell; nil means the one of flags
	output   string               // --output
	expand   bool                 // tables have a cell on each line
	null     *string              // text of NULL in tables and CSV; nil means the one of the format
	draws    bool                 // the verb has --chart
	chart    string               // --chart
	progress string               // --progress

	metricsListen string           // --metrics-listen
	verb          string           // of the command, for metrics
	sessions      []*vecql.Session // opened with --metrics-listen

	now    func() time.Time
	getenv func(name string) string
}

// newEnv returns the env of a process with these streams.
func newEnv(in io.Reader, out, errOut io.Writer) *env {
	e := &env{in: in, raw: &checkedWriter{w: out}, now: time.Now, getenv: os.Getenv}
	e.streams = []io.Writer{out, errOut}
	e.out = &plainWriter{w: e.raw, isOn: func() bool { return e.isTerminal }}
	e.text, e.err = &plainWriter{w: e.raw}, &plainWriter{w: errOut}
	e.width, e.errWidth = terminalWidth(out), terminalWidth(errOut)
	e.isTerminal = e.width > 0
	e.flags.init()
	return e
}

// terminalWidth returns the width of the terminal that stream is, 0 if stream is no terminal.
func terminalWidth(stream any) int {
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// isTerminal reports whether a file is a terminal. nil is none.
func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// terminalHeight returns the number of lines of a terminal.
func terminalHeight(f *os.File) int {
	if _, height, err := term.GetSize(int(f.Fd())); err == nil && height > 0 {
		return height
	}
	return 24
}

// A checkedWriter keeps the first error of its writes, so that Main reports it when the command does not. Several
// goroutines may write: the shell leaves one that waits for a line.
type checkedWriter struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// Write implements io.Writer. It writes nothing after an error.
func (c *checkedWriter) Write(p []byte) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		n, c.err = c.w.Write(p)
	}
	return n, c.err
}

// failure returns the first error.
func (c *checkedWriter) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
