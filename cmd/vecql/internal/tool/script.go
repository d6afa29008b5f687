// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/vecql/vecql/internal/cqltext"
)

// Scripts: statements and commands of the shell, in arguments and in files.

// A source is where statements of the command line are: a text, or a file.
type source struct {
	text   string // or the name of the file
	isFile bool
}

// A sourceFlag is the value of a flag that adds a source to a list.
type sourceFlag struct {
	list   *[]source
	isFile bool
}

// Set implements pflag.Value.
func (f sourceFlag) Set(s string) error {
	*f.list = append(*f.list, source{s, f.isFile})
	return nil
}

func (sourceFlag) String() string { return "" }

// Type implements pflag.Value.
func (sourceFlag) Type() string { return "string" }

// A script is the items of a text. name is the name of its file, "" for an argument.
type script struct {
	name  string
	items []item
}

// An item is a statement, or a command of the shell with its argument.
type item struct {
	text    string
	line    int // of its start
	command *command
	arg     string
}

// standardInput is the name of standard input in errors.
const standardInput = "standard input"

// readScripts returns the items of the sources, of the arguments, or of standard input.
func (e *env) readScripts(sources []source, args []string) ([]script, error) {
	for _, arg := range args {
		sources = append(sources, source{text: arg})
	}
	if len(sources) == 0 {
		sources = []source{{text: "-", isFile: true}}
	}
	var scripts []script
	count := 0
	for _, s := range sources {
		name, text := "", s.text
		if s.isFile {
			var err error
			if name, text, err = e.readScript(s.text); err != nil {
				return nil, err
			}
		}
		scripts = append(scripts, newScript(name, text))
		for _, it := range scripts[len(scripts)-1].items {
			if it.hasResult() {
				count++
			}
		}
	}
	if count > 1 {
		if err := e.refuseBinary(fmt.Sprintf("is for one statement, not %d", count)); err != nil {
			return nil, err
		}
	}
	return scripts, nil
}

// readScript returns the text of a file, - for standard input, and its name in errors.
func (e *env) readScript(path string) (name, text string, err error) {
	var b []byte
	if path == "-" {
		name, e.inUsed = standardInput, true
		b, err = io.ReadAll(e.in)
	} else {
		name = path
		b, err = os.ReadFile(path)
	}
	return name, string(b), err
}

// refuseBinary returns a usage error if the results are of a format that keeps one result in a file.
func (e *env) refuseBinary(text string) error {
	if slices.Contains([]string{"parquet", "arrow", svgOutput}, e.output) {
		return usagef("--output %s %s", e.output, text)
	}
	return nil
}

// newScript returns the script of a text, whose last statement may lack a ";". A byte order mark is left out.
func newScript(name, text string) script {
	items, rest, line := splitItems(strings.TrimPrefix(text, "\ufeff"))
	if rest != "" {
		it := newItem(rest)
		it.line = line
		items = append(items, it)
	}
	return script{name, items}
}

// splitItems returns the statements of a text that end in ";", and the commands, which end in ";" or with their line,
// long ones in ";".
// rest is the statement that the end of the text cuts off, "" for none, and line the line of its start.
func splitItems(text string) (items []item, rest string, line int) {
	line = 1
	for {
		skipped := len(text) - len(trimEmpty(text))
		line, text = line+strings.Count(text[:skipped], "\n"), text[skipped:]
		it, next := readCommand(text)
		if it.command == nil {
			var start, end int
			start, end, next = cqltext.Next(text)
			if next == 0 {
				return items, text[start:end], line
			}
			it = newItem(text[start:end])
		}
		it.line = line
		items = append(items, it)
		line, text = line+strings.Count(text[:next], "\n"), text[next:]
	}
}

// newItem returns the item of a text that ends in ";": a statement or a long command.
func newItem(text string) item {
	if c, length := commandAt(text); c != nil && c.isLong {
		return item{text: text, command: c, arg: strings.TrimSpace(text[length:])}
	}
	return item{text: text}
}

// trimEmpty returns a text from its first statement or command on.
func trimEmpty(text string) string {
	for at, token := range cqltext.Tokens(text) {
		if token != ";" {
			return text[at:]
		}
	}
	return ""
}

// hasResult reports whether an item prints rows.
func (i *item) hasResult() bool { return i.command == nil || i.command.hasResult }

// errExit is the error of EXIT, which ends a script or the shell.
var errExit = errors.New("EXIT")

// runScript executes the items of a script until one fails, or EXIT.
func (r *runner) runScript(ctx context.Context, s script) error {
	for i, it := range s.items {
		switch err := r.runItem(ctx, it); {
		case errors.Is(err, errExit):
			return nil
		case err != nil && s.name != "":
			return fmt.Errorf("%s:%d: %w", s.name, it.line, err)
		case err != nil && len(s.items) > 1:
			return fmt.Errorf("statement %d: %w", i+1, err)
		case err != nil:
			return err
		}
	}
	return nil
}

// runItem executes a statement or a command.
func (r *runner) runItem(ctx context.Context, it item) error {
	if it.command == nil {
		return r.run(ctx, it.text)
	}
	return it.command.run(r, ctx, it.arg)
}
