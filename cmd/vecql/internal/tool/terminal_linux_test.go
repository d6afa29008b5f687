// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// openTerminal returns both ends of a pseudo-terminal of 50 columns.
func openTerminal(t *testing.T) (user, program *os.File) {
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals:", err)
	}
	t.Cleanup(func() { user.Close() })
	fd := int(user.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: 50, Row: 20}))
	program, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { program.Close() })
	return user, program
}

// A screen is a run of the tool on a terminal of 50 columns and 20 lines.
type screen struct {
	t      *testing.T
	user   *os.File
	reader *bufio.Reader
	exit   chan int
}

// newScreen runs the tool with more variables of the environment.
func newScreen(t *testing.T, x *tester, variables map[string]string, args ...string) *screen {
	user, program := openTerminal(t)
	before, err := term.GetState(int(program.Fd()))
	require.NoError(t, err)
	e := newEnv(program, program, program)
	e.getenv = func(name string) string {
		if value, ok := variables[name]; ok {
			return value
		}
		return x.env[name]
	}
	require.True(t, e.isTerminal)
	require.Equal(t, 50, e.width)
	s := &screen{t, user, bufio.NewReader(user), make(chan int, 1)}
	go func() {
		code := run(x.ctx, e, args)
		if after, err := term.GetState(int(program.Fd())); err != nil || *after != *before {
			code = -1
		}
		s.exit <- code
	}()
	return s
}

// screenTimeout bounds the wait for a text of the tool.
const screenTimeout = 30 * time.Second

// expect reads until a text and returns what it has read.
func (s *screen) expect(text string) string {
	s.t.Helper()
	require.NoError(s.t, s.user.SetReadDeadline(time.Now().Add(screenTimeout)))
	var seen strings.Builder
	for !strings.Contains(strings.ReplaceAll(seen.String(), "\r", ""), text) {
		b, err := s.reader.ReadByte()
		require.NoError(s.t, err, seen.String())
		seen.WriteByte(b)
	}
	return strings.ReplaceAll(seen.String(), "\r", "")
}

// typed presses keys.
func (s *screen) typed(keys string) {
	s.t.Helper()
	_, err := s.user.WriteString(keys)
	require.NoError(s.t, err)
}

// hidden types text once the terminal does not show what is typed: the prompt comes first.
func (s *screen) hidden(text string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		mode, err := unix.IoctlGetTermios(int(s.user.Fd()), unix.TCGETS)
		return err == nil && mode.Lflag&unix.ECHO == 0
	}, 10*time.Second, time.Millisecond)
	s.typed(text)
}

// answer types a line at the prompt, which the tool shows in raw mode, and returns what is shown up to a text.
func (s *screen) answer(line, text string) string {
	s.t.Helper()
	s.expect("vecql> ")
	s.typed(line + "\r")
	return s.expect(text)
}

// end types the end of input at the prompt, and requires that the tool succeeds.
func (s *screen) end() {
	s.t.Helper()
	s.expect("vecql> ")
	s.typed("\x04")
	select {
	case code := <-s.exit:
		require.Zero(s.t, code, "the exit code, or the mode of the terminal has changed")
	case <-time.After(screenTimeout):
		require.Fail(s.t, "the shell does not end")
	}
}

// TestTerminal runs the shell on a terminal: the password, a table that fits, the mode of the terminal afterwards.
func TestTerminal(t *testing.T) {
	x := newTester(t, shop)
	x.SetUsers(map[string]string{"ann": "secret"})
	s := newScreen(t, x, nil, "query", "--user", "ann")
	s.expect("Password of ann: ")
	s.hidden("secret\n")
	s.expect("HELP for help.")
	require.Contains(t, s.answer("SELECT id, name, price, tags, v, v AS w FROM shop.items;", "2 rows"), ""+
		"id  name   price  tags       v          w\n"+
		"--  -----  -----  ---------  ---------  ----------\n"+
		" 1  chair   49.5  [new, wo…  [0.5, 1,…  [0.5, 1, …\n"+
		" 2  table   NULL  NULL       NULL       NULL\n")
	s.end()
}

// TestPager requires that a result which is longer than the screen goes to $PAGER, and no other one.
func TestPager(t *testing.T) {
	x := newTester(t, "CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}",
		"CREATE TABLE shop.days (year int, day int, PRIMARY KEY (year, day))")
	for day := range 60 {
		require.NoError(t, x.Exec(fmt.Sprintf("INSERT INTO shop.days (year, day) VALUES (2026, %d)", day)))
	}
	paged := filepath.Join(t.TempDir(), "paged.txt")
	s := newScreen(t, x, map[string]string{"PAGER": "tee " + paged}, "query")
	s.answer("SELECT day FROM shop.days LIMIT 10;", "10 rows")
	require.NoFileExists(t, paged, "a short result")
	s.answer("PAGING OFF", "Paging is off.")
	s.answer("SELECT day FROM shop.days;", "60 rows")
	require.NoFileExists(t, paged, "PAGING OFF")
	s.answer("PAGING ON", "Paging is on.")
	s.answer("SELECT day FROM shop.days;", "60 rows")
	s.end()
	text, err := os.ReadFile(paged)
	require.NoError(t, err)
	require.Equal(t, "day\n---\n  0\n", string(text[:12]))
	require.True(t, strings.HasSuffix(string(text), " 59\n60 rows\n"))

	// a pager that ends early is no error
	for day := range 3000 {
		require.NoError(t, x.Exec(fmt.Sprintf("INSERT INTO shop.days (year, day) VALUES (2027, %d)", day)))
	}
	s = newScreen(t, x, map[string]string{"PAGER": "head -n 3"}, "query")
	require.NotContains(t, s.answer("SELECT day FROM shop.days;", "  0\n"), "error")
	require.NotContains(t, s.answer("SELECT day FROM shop.days WHERE year = 2026 AND day = 7;", "  7\n1 row"), "error")
	s.end()

	s = newScreen(t, x, map[string]string{"PAGER": filepath.Join(t.TempDir(), "none")}, "query")
	s.answer("SELECT day FROM shop.days WHERE year = 2026;", "60 rows") // without the pager
	s.end()

	x.env["PAGER"] = "tee " + paged + ".2"
	require.Contains(t, x.requireRun("query", "SELECT day FROM shop.days"), "3060 rows")
	require.NoFileExists(t, paged+".2", "not in a pipe")
}

// TestLoginOnTerminal asks for the password of LOGIN.
func TestLoginOnTerminal(t *testing.T) {
	x := newTester(t, shop)
	x.SetUsers(map[string]string{"ann": "secret", "bob": "other"})
	s := newScreen(t, x, nil, "query", "-u", "ann", "-p", "secret")
	s.answer("LOGIN bob", "Password of bob: ")
	s.hidden("other\n")
	require.NotContains(t, s.expect("Connected as bob."), "other")
	s.answer("CLEAR", "\x1b[2J\x1b[H")
	s.answer("SELECT id FROM shop.items WHERE id = 1;", "1 row")
	s.end()
}

// TestEditorOnTerminal requires that the editor has the terminal, in its usual mode.
func TestEditorOnTerminal(t *testing.T) {
	x := newTester(t, shop)
	path := filepath.Join(t.TempDir(), "editor")
	const editor = `cat "$1"; echo editing; read -r text; echo "$text" > "$1"`
	require.NoError(t, os.WriteFile(path, []byte(editor), 0o600))
	s := newScreen(t, x, map[string]string{"EDITOR": "sh " + path}, "query")
	s.answer("SELECT name FROM shop.items WHERE id = 1;", "1 row")
	require.Contains(t, s.answer(`\e`, "editing\n"), "\nSELECT name FROM shop.items WHERE id = 1;\nediting\n")
	s.typed("SELECT name FROM shop.items WHERE id = 2;\n")
	require.Contains(t, s.expect("1 row"), "vecql> SELECT name FROM shop.items WHERE id = 2;\nname\n-----\ntable\n")
	s.end()
}
