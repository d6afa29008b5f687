// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
)

// The pager: a program that shows long results on a terminal.

// pagerCommand returns the command line of the pager: $PAGER, or less if there is such a program; "" means none.
func pagerCommand(getenv func(string) string) string {
	if command := strings.TrimSpace(getenv("PAGER")); command != "" {
		return command
	}
	if _, err := exec.LookPath("less"); err != nil {
		return ""
	}
	return "less -FRX"
}

// errPagerEnded means that the user has left the pager before the end of a result.
var errPagerEnded = errors.New("the pager has ended")

// A pager is a writer of one result. A result that fits on the screen goes to the terminal, a longer one to a program.
type pager struct {
	out      io.Writer // the terminal
	terminal *os.File  // the terminal for the program
	command  string
	screen   int // lines

	held    []byte // what is written before the program starts
	to      io.Writer
	program *exec.Cmd // nil means that the program does not run
	input   io.Closer // of the program
}

// Write implements io.Writer. It returns errPagerEnded if the program has ended.
func (p *pager) Write(b []byte) (int, error) {
	if p.to == nil {
		p.held = append(p.held, b...)
		if bytes.Count(p.held, []byte("\n")) < p.screen {
			return len(b), nil
		}
		p.start()
		if _, err := p.to.Write(p.held); err != nil {
			return 0, p.failure(err)
		}
		p.held = nil
		return len(b), nil
	}
	n, err := p.to.Write(b)
	return n, p.failure(err)
}

// start starts the program. Without it the result goes to the terminal.
func (p *pager) start() {
	p.to = p.out
	words := strings.Fields(p.command)
	program := exec.Command(words[0], words[1:]...)
	program.Stdout, program.Stderr = p.terminal, p.terminal
	program.Env = os.Environ()
	if _, ok := os.LookupEnv("LESS"); !ok {
		program.Env = append(program.Env, "LESS=FRX") // for PAGER=less
	}
	input, err := program.StdinPipe()
	if err != nil {
		return
	}
	if err := program.Start(); err != nil {
		return
	}
	p.program, p.input, p.to = program, input, input
}

// failure returns the error of a write.
func (p *pager) failure(err error) error {
	if err != nil && p.program != nil {
		return errPagerEnded
	}
	return err
}

// Close writes a short result to the terminal, or waits until the user has left the program.
func (p *pager) Close() error {
	if p.program == nil {
		_, err := p.out.Write(p.held)
		return err
	}
	_ = p.input.Close()
	_ = p.program.Wait() // the exit code is of no interest: the user has seen the rows
	return nil
}
