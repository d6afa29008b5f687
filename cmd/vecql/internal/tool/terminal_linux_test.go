// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

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

// TestTerminal runs the shell on a terminal: the password, a table that fits, the mode of the terminal afterwards.
func TestTerminal(t *testing.T) {
	x := newTester(t, shop)
	x.SetUsers(map[string]string{"ann": "secret"})
	user, program := openTerminal(t)
	before, err := term.GetState(int(program.Fd()))
	require.NoError(t, err)
	exit := make(chan int, 1)
	e := newEnv(program, program, program)
	e.getenv = func(name string) string { return x.env[name] }
	require.True(t, e.isTerminal)
	require.Equal(t, 50, e.width)
	go func() { exit <- run(x.ctx, e, []string{"query", "--user", "ann"}) }()
	screen := bufio.NewReader(user)
	expect := func(text string) string {
		var seen strings.Builder
		for !strings.Contains(seen.String(), text) {
			b, err := screen.ReadByte()
			require.NoError(t, err, seen.String())
			seen.WriteByte(b)
		}
		return strings.ReplaceAll(seen.String(), "\r", "")
	}
	typed := func(keys string) {
		_, err := user.WriteString(keys)
		require.NoError(t, err)
	}
	expect("Password of ann: ")
	typed("secret\n")
	expect("HELP for help.")
	expect("vecql> ")
	typed("SELECT id, name, price, tags, v, v AS w FROM shop.items;\r")
	require.Contains(t, expect("2 rows"), ""+
		"id  name   price  tags       v          w\n"+
		"--  -----  -----  ---------  ---------  ----------\n"+
		" 1  chair   49.5  [new, wo…  [0.5, 1,…  [0.5, 1, …\n"+
		" 2  table   NULL  NULL       NULL       NULL\n")
	expect("vecql> ")
	typed("\x04")
	require.Zero(t, <-exit)
	after, err := term.GetState(int(program.Fd()))
	require.NoError(t, err)
	require.Equal(t, before, after)
}
