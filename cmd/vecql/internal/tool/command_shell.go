// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// Commands of the shell itself: the editor and the history.

// shellCommands are the commands that are for the shell, and PSET.
func shellCommands() []command {
	return []command{
		{
			name: "PSET", args: "[option [value]]", text: "print or set how results are printed",
			shortcuts: []shortcut{{name: `\pset`}},
			more: `  format table|json|csv    how rows are printed
  null 'text'              what is printed for NULL in tables and in csv
  pager [on|off]           show long results in a pager
  expanded [on|off]        print each cell on a line
  Without a value pager and expanded change from on to off, and back.
`, run: (*runner).pset,
		},
		{
			name: "EDIT", text: "edit the last statement in $EDITOR",
			shortcuts: []shortcut{{name: editShortcut}},
			more: `  The editor is $EDITOR, $VISUAL or vi. Within a statement \e edits its lines. What
  is saved is executed if it ends in ";", and continued in the shell otherwise.
  Without a change nothing is executed.
`, run: (*runner).edit,
		},
		{
			name: "HISTORY", args: "[number|CLEAR]", text: "print the last statements",
			shortcuts: []shortcut{{name: `\s`}},
			more: `  The number is how many are printed, from now on; at first 50. CLEAR empties the
  file of the history, too.
`, run: (*runner).printHistory,
		},
	}
}

// editShortcut is the name of EDIT in psql, also within a statement.
const editShortcut = `\e`

// errNoShell returns the error of a command that a script cannot have.
func errNoShell(command string) error {
	return fmt.Errorf("%s is for the shell: vecql query without a statement on a terminal", command)
}

// edit lets the user edit the lines of the incomplete statement, or the last statement.
func (r *runner) edit(_ context.Context, arg string) error {
	switch {
	case r.shell == nil:
		return errNoShell("EDIT")
	case arg != "":
		return errors.New("EDIT has no argument: it edits the last statement")
	}
	return r.shell.edit()
}

// edit stores what the user saves as the next line. A text that is saved as it was is none.
func (s *shell) edit() error {
	text := cmp.Or(s.pending, s.last)
	edited, err := s.run.e.editText(text)
	if err != nil {
		return err
	}
	if edited = strings.TrimSpace(edited); edited == strings.TrimSpace(text) {
		return nil
	}
	s.pending, s.edited = "", edited
	return nil
}

// editText returns a text as the user saves it in an editor.
func (e *env) editText(text string) (edited string, err error) {
	f, err := os.CreateTemp("", "vecql-*.cql") // of the user's alone
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(strings.TrimRight(text, "\n") + "\n")
	if err = cmp.Or(err, f.Close()); err != nil {
		return "", err
	}
	words := strings.Fields(cmp.Or(strings.TrimSpace(e.getenv("EDITOR")), strings.TrimSpace(e.getenv("VISUAL")), "vi"))
	editor := exec.Command(words[0], append(words[1:], f.Name())...)
	if terminal, ok := e.in.(*os.File); ok {
		editor.Stdin = terminal
	}
	editor.Stdout, editor.Stderr = e.streams[0], e.streams[1]
	if err := editor.Run(); err != nil {
		return "", advise(fmt.Errorf("the editor %s: %w", words[0], err), "nothing is executed; EDITOR names another editor")
	}
	b, err := os.ReadFile(f.Name())
	return string(b), err
}

// printHistory prints the last entries of the history, or removes all.
func (r *runner) printHistory(_ context.Context, arg string) error {
	if r.shell == nil {
		return errNoShell("HISTORY")
	}
	h := r.shell.history
	if strings.EqualFold(arg, "CLEAR") {
		err := h.clear()
		if err == nil {
			r.confirm("The history is empty.\n")
		}
		return err
	}
	if arg != "" {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 {
			return fmt.Errorf("HISTORY is %s, want CLEAR or a number, at least 1", arg)
		}
		h.shown = n
	}
	for _, entry := range h.entries[max(0, len(h.entries)-h.shown):] {
		fmt.Fprintln(r.e.out, printableLine(entry))
	}
	return nil
}
