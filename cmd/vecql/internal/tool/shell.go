// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"
)

// The shell: statements from a terminal, with history and completion.

// A shell reads statements from a terminal and executes them.
type shell struct {
	run      *runner
	terminal *term.Terminal
	raw      func() (restore func(), err error) // sets the mode of the terminal in which single keys are read
	history  *history

	names   schemaNames // of the last completion
	search  historySearch
	pending string // lines of an incomplete statement
	last    string // statement, with its ";"
	edited  string // lines from the editor, which come before the next line; "" means none
}

// shell runs the shell on the terminal of standard input.
func (e *env) shell(ctx context.Context, r *runner, stdin *os.File) error {
	fd := int(stdin.Fd())
	s := newShell(r, stdin, e.raw, openHistory(defaultHistoryFile()))
	s.raw = func() (func(), error) {
		before, err := term.MakeRaw(fd)
		if err != nil {
			return nil, err
		}
		if width, height, err := term.GetSize(fd); err == nil {
			_ = s.terminal.SetSize(width, height) // an error is one of writing to the terminal, which the next write has too
		}
		return func() { _ = term.Restore(fd, before) }, nil
	}
	host := r.session.GetHosts()[0]
	fmt.Fprintf(e.text, "Connected to cluster %s, version %s, protocol v%d. HELP for help.\n", host.ClusterName,
		host.Version, r.session.ProtoVersion())
	return s.loop(ctx)
}

func newShell(r *runner, in io.Reader, out io.Writer, h *history) *shell {
	s := &shell{run: r, history: h, raw: func() (func(), error) { return func() {}, nil }}
	s.terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{&keys{in: in}, out}, "")
	r.shell = s
	s.terminal.History = h
	s.terminal.AutoCompleteCallback = s.complete
	return s
}

// loop reads and executes lines until the end of the input, EXIT, or SIGTERM. SIGINT ends only the statement under way.
func (s *shell) loop(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	defer signal.Stop(terminated)
	for {
		line, err := s.next(terminated)
		if err != nil {
			fmt.Fprintln(s.run.e.out)
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if s.line(ctx, line) {
			return nil
		}
	}
}

// next returns the lines from the editor, if there are some, which it prints, otherwise the next line of the input.
func (s *shell) next(terminated <-chan os.Signal) (line string, err error) {
	if s.edited == "" {
		return s.readLine(terminated)
	}
	line, s.edited = s.edited, ""
	fmt.Fprintln(s.run.e.out, s.prompt()+line)
	return line, nil
}

// readLine returns the next line, and io.EOF at the end of the input or after SIGTERM.
func (s *shell) readLine(terminated <-chan os.Signal) (line string, err error) {
	restore, err := s.raw()
	if err != nil {
		return "", err
	}
	defer restore()
	s.terminal.SetPrompt(s.prompt())
	done := make(chan struct{})
	var typed string
	var failure error
	go func() {
		defer close(done)
		typed, failure = s.terminal.ReadLine()
	}()
	select {
	case <-done:
	case <-terminated:
		return "", io.EOF
	}
	if errors.Is(failure, term.ErrPasteIndicator) {
		failure = nil
	}
	return typed, failure
}

// prompt returns the keyspace, or spaces of the same width within a statement.
func (s *shell) prompt() string {
	name := "vecql"
	if ks := s.run.cfg.Keyspace; ks != "" {
		name += ":" + printableLine(ks)
	}
	if s.pending != "" {
		return strings.Repeat(" ", max(0, len(name)-3)) + "...> "
	}
	return name + "> "
}

// line takes a line of input: commands and parts of statements. It reports whether the shell ends.
func (s *shell) line(ctx context.Context, line string) (ended bool) {
	if line == interruptedLine {
		s.pending = ""
		return false
	}
	for _, it := range s.split(line) {
		err := s.execute(ctx, it)
		if errors.Is(err, errExit) {
			return true
		}
		s.remember(it)
		if err != nil {
			fmt.Fprintln(s.run.e.err, "error:", oneLine(explain(err)))
			break
		}
	}
	return false
}

// split returns the items that end with a line, and keeps what the line begins.
func (s *shell) split(line string) []item {
	if name := strings.TrimRight(strings.TrimSpace(line), ";"); name == editShortcut && s.pending != "" {
		return []item{readShortcut(name)} // within a statement
	}
	items, rest, _ := splitItems(s.pending + line + "\n")
	if s.pending = rest; rest != "" {
		s.pending += "\n"
	}
	return items
}

// remember adds an item to the history.
func (s *shell) remember(it item) {
	switch c := it.command; {
	case c == nil || c.isLong:
		it.text += ";"
		s.last = it.text
	case c.name == "HISTORY" || c.name == "EDIT": // they would stand before what is looked for
		return
	}
	s.history.append(it.text)
}

// execute executes a statement or a command that SIGINT interrupts.
func (s *shell) execute(ctx context.Context, it item) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	s.names = schemaNames{} // the statement may change the schema
	err := s.run.runItem(ctx, it)
	if err != nil && ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return err
}

// complete is the callback of the terminal for Ctrl-R and Tab. A second Tab lists what a first one could not decide
// between.
func (s *shell) complete(line string, pos int, key rune) (newLine string, newPos int, ok bool) {
	switch key {
	case ctrlR:
		found := s.search.next(s.history, line)
		return found, len(found), true
	case '\t':
		return s.completeNames(line, pos)
	}
	return "", 0, false
}

// completeNames completes the word before pos.
func (s *shell) completeNames(line string, pos int) (newLine string, newPos int, ok bool) {
	text, tail := s.pending+line[:pos], line[pos:]
	start, candidates := s.candidates(text, tail)
	candidates = slices.DeleteFunc(candidates, hasControl) // the terminal shows the line as it is
	if len(candidates) == 0 {
		return line, pos, true
	}
	word := text[start:]
	common := candidates[0]
	for _, c := range candidates[1:] {
		n := 0
		for n < min(len(common), len(c)) && common[n] == c[n] {
			n++
		}
		common = common[:n]
	}
	if len(candidates) == 1 && !strings.ContainsAny(common[len(common)-1:], ".(/") {
		common += " "
	}
	if len(common) <= len(word) {
		fmt.Fprintln(s.terminal, printableLine(strings.Join(candidates, "  ")))
		return line, pos, true
	}
	head := line[:pos-len(word)]
	return head + common + tail, len(head) + len(common), true
}

// candidates returns what may stand in place of the word at the end of text, which begins at start.
func (s *shell) candidates(text, tail string) (start int, candidates []string) {
	if m := fileWord.FindStringSubmatchIndex(text); m != nil {
		return m[4], completeFile(text[m[4]:], text[m[2]:m[3]])
	}
	if s.names.tables == nil {
		ctx, cancel := context.WithTimeout(context.Background(), completeTimeout)
		defer cancel()
		s.names, _ = readNames(ctx, s.run.session) // without names there are keywords
	}
	return s.names.complete(s.run.cfg.Keyspace, text, tail)
}

// Keys: interrupt, go to the end of the line, recall by a text, delete to the start of the line.
const ctrlC, ctrlE, ctrlR, ctrlU = 3, 5, 18, 21

// interruptedLine is the line that the terminal returns after Ctrl-C.
const interruptedLine = "^C"

// keys is the input of the terminal. Ctrl-C, which would end the input, replaces the line by interruptedLine.
type keys struct {
	in   io.Reader
	rest []byte // read and not returned
}

// Read implements io.Reader.
func (k *keys) Read(p []byte) (int, error) {
	if len(k.rest) == 0 {
		buf := make([]byte, 256)
		n, err := k.in.Read(buf)
		if err != nil {
			return 0, err
		}
		replaced := string([]byte{ctrlE, ctrlU}) + interruptedLine + "\r"
		k.rest = bytes.ReplaceAll(buf[:n], []byte{ctrlC}, []byte(replaced))
	}
	n := copy(p, k.rest)
	k.rest = k.rest[n:]
	return n, nil
}
